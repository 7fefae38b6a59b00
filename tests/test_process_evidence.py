"""Evidence: what speaks for a row when vectors, blocks, grams or differences are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import (
    CUE,
    EVERYTHING,
    LONG,
    QUESTIONS,
    adaptive,
    answer,
    ask,
    complete,
    filled,
    talk,
    talked,
)
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit import Memory, Record
from cpersona_jit.recall.adaptive_settings import Calibration


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with talked(tmp_path_factory.mktemp("process")) as memory:
        yield memory


def test_without_a_matching_gram_the_order_is_the_dense_one(memory: Memory) -> None:
    """`zzqqxx` shares no gram with any row, in either size."""
    dense_only = adaptive(calibration=Calibration(gram_weight=0.0))
    for chosen in (adaptive(), adaptive(calibration=Calibration(conditional=True))):
        found = ask(memory, "zzqqxx", chosen, limit=EVERYTHING)
        assert not found.trace.forms[1].any()
        assert not found.trace.pool_reached[1].any()
        assert answer(found) == answer(ask(memory, "zzqqxx", dense_only, limit=EVERYTHING))
        assert len(found.rows) == 20


def test_the_best_row_of_each_kind_is_a_candidate(memory: Memory) -> None:
    deep = adaptive(depth=EVERYTHING)
    for query in QUESTIONS:
        trace = ask(memory, query, deep).trace
        shallow = set(ask(memory, query, adaptive(depth=1)).trace.pool_ids.tolist())
        offset = trace.pool_signals - trace.mean[:, None]
        for form in trace.forms[:2]:
            evidence = form @ offset
            if form.any():
                best = trace.pool_ids[evidence >= evidence.max() - 1e-9]
                assert shallow & set(best.tolist())


def test_a_row_that_only_text_finds_is_first_and_survives_the_gate(tmp_path: Path) -> None:
    """The embedder knows nothing of the identifier: the model gives each row the same vector."""

    class Indifferent(BagOfWords):
        def _vector(self, text: str) -> np.ndarray:
            return super()._vector("same") + 1e-3 * super()._vector(text)

    rows = talk(times=4)
    wanted = "The staging key is K-4471, keep it safe."
    with filled(tmp_path, "m.db", rows, Indifferent()) as memory:
        for gate in (None, 1.0, 2.0, 3.0):
            found = ask(memory, "K-4471", adaptive(gate=gate), limit=5)
            assert found.rows[0].content.startswith(wanted[:20])
        assert found.trace.pool_gated.any()


def test_the_gate_judges_a_row_by_the_strongest_of_its_evidence(memory: Memory) -> None:
    kept_by = np.zeros(2, int)
    for query in QUESTIONS:
        for gate in (0.5, 1.0, 1.5):
            result = ask(memory, query, adaptive(depth=EVERYTHING, gate=gate), limit=EVERYTHING)
            trace = result.trace
            evidence = trace.forms @ (trace.pool_signals - trace.mean[:, None])
            assert (trace.pool_gated == (evidence.max(axis=0) < gate)).all()
            stays = trace.pool_ids[~trace.pool_gated].tolist()
            assert sorted(int(row.ref[4:]) for row in result.rows) == sorted(stays)
            kept_by += ((evidence[2] < gate) & (evidence[:2] >= gate)).sum(axis=1)
    assert (kept_by > 0).all()  # the fused evidence alone would have lost them


def test_rows_without_vectors_are_found_by_their_words(tmp_path: Path) -> None:
    model = BagOfWords()
    with filled(tmp_path, "m.db", talk(), model) as memory:
        model.fails_after = 0
        memory.store("The passport number is QX-90210.", agent_id="a")
        memory.store("旅券は引き出しの中。" * 60, agent_id="a")
        model.fails_after = None
        found = ask(memory, "QX-90210", adaptive())
        assert found.rows[0].content == "The passport number is QX-90210."
        assert ask(memory, "旅券の引き出し", complete()).rows[0].content.startswith("旅券")
        assert found.degraded[0].startswith("rows_without_vector: 2 of 34 rows")
        everyone = ask(memory, "zzqqxx", adaptive(depth=EVERYTHING), limit=EVERYTHING)
        assert len(everyone.rows) == 32  # nothing speaks for the two


def test_nothing_speaks_against_a_row_without_a_vector(tmp_path: Path) -> None:
    """Not even where most rows are long, whose best block is better than the row as a whole."""
    model = BagOfWords()
    longs = [Record(f"{text} {n}", "a") for n in range(8) for text in LONG]
    with filled(tmp_path, "m.db", [*talk(), *longs], model) as memory:
        model.fails_after = 0
        ref = memory.store("The passport number is QX-90210.", agent_id="a").ref
        model.fails_after = None
        trace = ask(memory, "QX-90210 doctor", adaptive()).trace
        (at,) = np.flatnonzero(trace.pool_ids == int(ref[4:]))
        assert abs(trace.contributions["dense"][at]) < 0.01


def test_rows_without_a_model_and_without_blocks(tmp_path: Path) -> None:
    short = [row for row in talk() if len(row.content) < 200]
    with cpersona_jit.open(tmp_path / "m.db", "none", wait_for_kernels=False) as memory:
        memory.store_many(short)
        found = ask(memory, "K-4471", complete())
        assert "K-4471" in found.rows[0].content
        assert [note.partition(":")[0] for note in found.degraded] == ["no_embedder"]
        assert ask(memory, "zzqqxx", complete()).rows == ()


@pytest.mark.parametrize("embedder", ["bag", "none"])
@pytest.mark.parametrize("copies", [1, 3])
def test_a_store_of_one_text_returns_it(tmp_path: Path, embedder: str, copies: int) -> None:
    """Signals that do not vary have no deviation, and are evidence all the same."""
    model = BagOfWords() if embedder == "bag" else "none"
    rows = [Record("緑茶 green tea", "a")] * copies
    with filled(tmp_path, "m.db", rows, model) as memory:
        for chosen in (adaptive(), complete(gate=1.0)):
            for query in ("green tea", "緑茶"):
                found = ask(memory, query, chosen)
                assert [row.ref for row in found.rows] == [f"mem:{i + 1}" for i in range(copies)]
        silent = ask(memory, "zzqqxx", adaptive())
        assert len(silent.rows) == (copies if embedder == "bag" else 0)


def test_an_empty_store_and_an_unknown_agent_answer_nothing(tmp_path: Path) -> None:
    with filled(tmp_path, "m.db", []) as memory:
        assert ask(memory, "tea", complete(), time_cue=CUE).rows == ()
        memory.store("tea", agent_id="a")
        found = ask(memory, "tea", complete(), agent_id="nobody", time_cue=CUE)
        assert (found.rows, found.trace.admitted) == ((), 0)


def test_a_query_of_separators_is_answered_by_the_dense_evidence(memory: Memory) -> None:
    assert len(ask(memory, "?!…", adaptive()).rows) == 4

"""The gate: it spares scopes that are too small for it, and rows that text alone finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import EVERYTHING, adaptive, answer, ask, filled, leading_ids, talk
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords

from cpersona_jit import Memory, Record
from cpersona_jit.recall.gate import ANSWERS, gated_rows, least_rows
from cpersona_jit.recall.process_trace import ProcessTrace

FEW = [
    Record("The boiler was serviced in October.", "a"),
    Record("給湯器は十月に点検しました。", "a"),
    Record("The spare key hangs behind the door.", "a"),
    Record("合鍵は玄関の裏に掛けてあります。", "a"),
    Record("Lunch with Ken was moved to Friday.", "a"),
]
IDENTIFIERS = [
    ("Which pipe has number ZX-90417?", "The pipe with number ZX-90417 leaks."),
    ("製造番号ヌ八二六の管", "製造番号ヌ八二六の部品が漏れている。"),
]


class Indifferent(BagOfWords):
    """Gives all texts nearly the same vector: it knows nothing of identifiers."""

    def _vector(self, text: str) -> np.ndarray:
        return super()._vector("same") + 1e-3 * super()._vector(text)


def gate_stage(trace: ProcessTrace) -> dict:
    (found,) = [one for one in trace.stages if one["stage"] == "gate"]
    return found


@pytest.mark.parametrize("gate", [1.5, 3.0, 50.0])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_small_store_is_not_emptied_and_the_trace_says_why(
    tmp_path: Path, size: int, gate: float
) -> None:
    questions = ["When was the boiler serviced?", "給湯器の点検はいつ", "spare key", "合鍵"]
    with filled(tmp_path, "m.db", FEW[:size]) as memory:
        for question in questions:
            gated = ask(memory, question, adaptive(gate=gate))
            assert answer(gated) == answer(ask(memory, question, adaptive()))
            facts = gate_stage(gated.trace)
            assert (facts["acts_from"], facts["admitted"]) == (least_rows(gate), size)
            assert facts["removed"] == 0 and facts["value"] == gate


@pytest.fixture(scope="module", params=[BagOfWords, Indifferent])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Memory]:
    rows = [*talk(times=4), *(Record(text, "a") for _, text in IDENTIFIERS)]
    rows += [Record(text, "small") for _, text in IDENTIFIERS]
    rows += [Record("tea and more tea", "small")]
    with filled(tmp_path_factory.mktemp("gate"), "m.db", rows, request.param()) as memory:
        yield memory


@pytest.mark.parametrize(("question", "text"), IDENTIFIERS)
@pytest.mark.parametrize("agent_id", ["a", "small"])
def test_an_identifier_that_only_text_finds_is_evidence(
    memory: Memory, agent_id: str, question: str, text: str
) -> None:
    for gate in (1.0, 2.0, 3.0):
        found = ask(memory, question, adaptive(gate=gate), agent_id=agent_id)
        assert found.rows[0].content == text
        assert ("acts_from" in gate_stage(found.trace)) == (agent_id == "small")
    # As alone as it can be, evidence of one kind: the embedder puts others first or all alike.
    assert f"mem:{leading_ids(found.trace)[-1]}" == found.rows[0].ref


def test_in_a_scope_that_is_large_enough_a_gate_acts(memory: Memory) -> None:
    for question in ("zzqqxx", "ガガガ"):
        found = ask(memory, question, adaptive(gate=3.0, depth=EVERYTHING), limit=EVERYTHING)
        free = ask(memory, question, adaptive(depth=EVERYTHING), limit=EVERYTHING)
        assert "acts_from" not in gate_stage(found.trace)
        assert len(found.rows) < len(free.rows) / 2
        assert gate_stage(found.trace)["removed"] == len(free.rows) - len(found.rows)


@given(gate=st.floats(-3.0, 9.0), extra=st.integers(0, 30))
def test_a_gate_that_acts_can_be_passed_by_several_answers_at_once(gate: float, extra: int) -> None:
    """Rows of which some answer alike and the others show nothing: the sharpest there can be."""
    forms = np.ones((3, 7))
    size = least_rows(gate) + extra
    answers = np.arange(size) < ANSWERS
    spread = np.sqrt(answers.mean() * (1 - answers.mean())) if size > ANSWERS else 1.0
    evidence = np.tile((answers - answers.mean()) / spread, (3, 1))
    removed = gated_rows(evidence + 1e-7, forms, gate, size)  # the slack is for rounding
    assert not removed[:ANSWERS].any()
    assert not gated_rows(evidence, forms, gate, least_rows(gate) - 1).any()
    assert not gated_rows(evidence, forms, None, size).any()
    assert not gated_rows(evidence, np.zeros((3, 7)), gate, size).any()

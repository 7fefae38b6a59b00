"""A large scope is measured in two phases: as small scopes are where the shortlist is long enough,
and always from exact scores of the rows that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from adaptive_cases import CUE, EVERYTHING, QUESTIONS, SETTINGS, ask, filled, talk, told
from memory_cases import BagOfWords

from cpersona_jit import Memory
from cpersona_jit.columns.sample import sample_of
from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, Scan
from cpersona_jit.recall.kernel_set import numpy_kernels, warm_kernels

EXACT = Scan(exact_rows=1 << 20)
WHOLE = Scan(exact_rows=0, shortlist=1 << 20, sample=1 << 20)
SHORT = Scan(exact_rows=0, shortlist=6, sample=9)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Rows of agents a and b, some of them stored while the embedder failed."""
    folder = tmp_path_factory.mktemp("two_phase")
    model = BagOfWords()
    with filled(folder, "m.db", [*talk(), *talk("b", times=1)], model) as memory:
        model.fails_after = 0
        outcome = memory.store("A row without a vector: 抹茶 and green tea.", agent_id="a")
        assert outcome.status == "stored"
        model.fails_after = None
        yield memory


def scanned(settings: AdaptiveSettings, scan: Scan) -> AdaptiveSettings:
    return replace(settings, scan=scan)


def without_settings(result: object) -> object:
    return told(replace(result, trace=replace(result.trace, settings={})))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("cue", [None, CUE], ids=["no cue", "cue"])
def test_with_a_shortlist_of_everything_nothing_changes(
    memory: Memory, name: str, cue: dict | None
) -> None:
    for query in QUESTIONS:
        call = {"time_cue": cue, "limit": EVERYTHING}
        exact, whole = (
            ask(memory, query, scanned(SETTINGS[name], scan), **call) for scan in (EXACT, WHOLE)
        )
        assert without_settings(exact) == without_settings(whole)


@pytest.mark.parametrize("name", SETTINGS)
def test_compiled_and_plain_kernels_agree(
    memory: Memory, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for kernels in (numpy_kernels(), warm_kernels()):
        monkeypatch.setattr(memory, "_kernels", lambda kernels=kernels: kernels)
        found.append([told(ask(memory, q, scanned(SETTINGS[name], SHORT))) for q in QUESTIONS])
    assert found[0] == found[1]


def test_candidates_have_their_exact_signals(memory: Memory) -> None:
    for query in QUESTIONS:
        deep = scanned(SETTINGS["shallow"], SHORT)
        trace = ask(memory, query, deep).trace
        everyone = ask(memory, query, scanned(replace(SETTINGS["plain"], depth=1000), EXACT)).trace
        place = {ref: at for at, ref in enumerate(everyone.pool_ids.tolist())}
        # A row without a vector shows the mean, and that is of the sample.
        at = [place[ref] for ref in trace.pool_ids.tolist()]
        exact = everyone.pool_signals[:, at]
        vectorless = trace.pool_ids == max(place)
        assert np.array_equal(trace.pool_signals[2:], exact[2:])
        assert np.array_equal(trace.pool_signals[:2, ~vectorless], exact[:2, ~vectorless])


def test_another_agents_rows_change_nothing(tmp_path: Path) -> None:
    alone = filled(tmp_path, "alone.db", talk())
    crowded = filled(tmp_path, "crowded.db", [*talk("b", times=3), *talk()])
    with alone, crowded:
        for query in QUESTIONS:
            of_alone, of_crowded = (
                ask(m, query, scanned(SETTINGS["complete"], SHORT)) for m in (alone, crowded)
            )
            assert [(r.content, r.score) for r in of_alone.rows] == [
                (r.content, r.score) for r in of_crowded.rows
            ]


def test_the_sample_is_spread_over_the_scope(memory: Memory) -> None:
    ask(memory, "tea", SETTINGS["plain"])
    columns, axes = memory._keeper.columns, Axes.agent("a")
    admitted = np.flatnonzero(columns.mask(axes).as_bools(columns.n))
    few = sample_of(columns, axes, 9)
    assert few.rows.tolist() == admitted[np.arange(9) * admitted.size // 9].tolist()
    assert np.array_equal(few.codes, columns.codes[few.rows])
    assert sample_of(columns, axes, 9) is few
    every = sample_of(columns, axes, 1000)
    assert every.rows.tolist() == admitted.tolist()
    assert np.bitwise_count(every.seen).sum() == every.rows.size - 1
    assert every.block_ptr[-1] == len(every.block_codes)


@pytest.mark.parametrize("field", sorted(asdict(Scan())))
@pytest.mark.parametrize("value", [-1, 1.5, "1", True, 1 << 40, None])
def test_numbers_that_are_none(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"scan.{field}"):
        Scan(**{field: value})

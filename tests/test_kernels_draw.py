"""The pool of a recall and the rows beside it: Numba, NumPy and the naive twin give the same."""

from __future__ import annotations

from typing import NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from signal_cases import admitted_share, random_arrays, random_weights

from cpersona_jit.kernels import beside, draw, int8_scan, tie_order
from cpersona_jit.kernels.cpu import available_tiers, compiled_features
from cpersona_jit.kernels.numpy_path import beside as numpy_beside
from cpersona_jit.kernels.numpy_path import draw as numpy_draw
from cpersona_jit.kernels.numpy_path.draw import Measured, Wanted
from cpersona_jit.kernels.row_mask import pack_mask

DRAWS = [draw, numpy_draw]
BESIDES = [beside, numpy_beside]
TIERS = available_tiers(compiled_features())
UNDATED = np.iinfo(np.int64).min
LAWS = settings(deadline=None, max_examples=60)
SIZES = st.one_of(st.integers(0, 9), st.integers(60, 70), st.integers(500, 600))
SHARES = st.sampled_from([0.0, 0.02, 0.5, 1.0])
SEEDS = st.integers(0, 2**32 - 1)


class Case(NamedTuple):
    """What the kernels are called with, and what is known of it row by row."""

    arrays: tuple
    forms: np.ndarray
    bias: np.ndarray
    regions: np.ndarray  # bool (R, n)
    embedded: np.ndarray  # bool (n,)
    times: np.ndarray
    ids: np.ndarray

    @property
    def given(self):
        words = np.array([pack_mask(region) for region in self.regions])
        return tuple(self.arrays), self.forms, self.bias, words, pack_mask(self.embedded)


def random_case(seed, n, parted, levels, regions, share):
    rng = np.random.default_rng(seed)
    arrays = random_arrays(rng, n, parted, levels)
    arrays.gram3[rng.random(n) < 0.4] = 0
    arrays.gram4[rng.random(n) < 0.4] = 0
    arrays.parted_values[2:6, rng.random(arrays.parted.size) < 0.4] = 0
    forms = np.array([random_weights(rng) for _ in range(3)])
    forms[0, 2:6] = forms[1, :2] = 0.0
    inside = np.array([admitted_share(rng, n, share) for _ in range(regions)])
    times = rng.choice([UNDATED, -5, 0, 7, 10**15], n)
    ids = rng.permutation(n).astype(np.int64) * 3
    return Case(arrays, forms, rng.normal(size=3), inside, rng.random(n) < 0.8, times, ids)


def inside(scores, admitted):
    return [x if there else -np.inf for x, there in zip(scores, admitted, strict=True)]


def naive_draw(case, depth, use3, use4, dense_lists=None):
    """Rows in tie order, which kind of list holds them, and their evidence."""
    signals, everyone = case.arrays.signals(), [True] * len(case.ids)
    evidence = [
        naive.linear_scores(signals, form.tolist(), float(bias), everyone)
        for form, bias in zip(case.forms, case.bias, strict=True)
    ]
    held = [set(), set()]
    for number, region in enumerate(case.regions):
        found = naive.top_rows(inside(evidence[0], region & case.embedded), depth)
        held[0].update(found if dense_lists is None else dense_lists[number])
        alike = naive.top_rows(inside(evidence[1], region), depth)
        shares = {2: use3, 4: use3, 3: use4, 5: use4}
        held[1].update(
            row for row in alike if any(used and signals[s][row] for s, used in shares.items())
        )
    rows = sorted(
        held[0] | held[1],
        key=lambda row: (case.times[row] == UNDATED, -int(case.times[row]), case.ids[row]),
    )
    reached = [[row in kind for row in rows] for kind in held]
    return rows, reached, [[of_form[row] for row in rows] for of_form in evidence]


def as_lists(drawn):
    assert drawn.rows.dtype == np.int64 and drawn.reached.dtype == bool
    return tuple(part.tolist() for part in drawn)


@LAWS
@given(
    seed=SEEDS,
    n=SIZES,
    parted=SHARES,
    levels=st.sampled_from([1, 3, 2**29]),
    regions=st.integers(1, 3),
    share=SHARES,
    depth=st.sampled_from([1, 7, 64, 10**6]),
    use3=st.booleans(),
    use4=st.booleans(),
)
def test_rows_drawn_from_a_small_scope(seed, n, parted, levels, regions, share, depth, use3, use4):
    case = random_case(seed, n, parted, levels, regions, share)
    rows, reached, evidence = naive_draw(case, depth, use3, use4)
    for module in DRAWS:
        wanted = Wanted(depth, use3, use4)
        drawn = module.draw_rows(*case.given, wanted, case.times, case.ids)
        assert as_lists(drawn) == (rows, reached, evidence)


class Large(NamedTuple):
    """A scope whose rows are measured when they are asked for."""

    case: Case  # its dense signals are those that measuring every row gives
    measured: Measured
    estimates: np.ndarray


def large_scope(seed, n, parted, regions, share):
    rng = np.random.default_rng(seed)
    case = random_case(seed, n, parted, 50, regions, share)
    counts = rng.integers(0, 4, case.arrays.parted.size)
    block_ptr = np.cumsum([0, *counts]).astype(np.int64)
    codes = rng.integers(-127, 128, (n, 64)).astype(np.int8)
    block_codes = rng.integers(-127, 128, (block_ptr[-1], 64)).astype(np.int8)
    planes, means = rng.integers(-64, 64, (2, 64)).astype(np.int8), np.array([11, 13])
    seen = rng.random(block_ptr[-1]) < 0.8
    values = case.arrays.parted_values
    scores = naive.int8_scores(codes.tolist(), planes.tolist())
    of_blocks = naive.int8_scores(block_codes.tolist(), planes.tolist())
    own = [scores[row] for row in case.arrays.parted]
    best = naive.best_of_blocks(block_ptr.tolist(), of_blocks, seen.tolist(), own)
    for at, row in enumerate(case.arrays.parted.tolist()):
        values[:2, at] = (own[at], best[at]) if case.embedded[row] else means
    case.arrays.dense[:] = [
        score if has else means[0] for score, has in zip(scores, case.embedded, strict=True)
    ]
    measured = Measured(
        *(codes, block_codes, planes, pack_mask(case.embedded), pack_mask(seen)),
        *(block_ptr, means, np.zeros(n, bool), values[0], values[1]),
    )
    estimates = rng.integers(-9, 9, 64 * ((n + 63) // 64)).astype(np.int32)
    return Large(case, measured, estimates)


def unmeasured(large):
    """The same with nothing measured yet."""
    arrays = large.case.arrays
    values = arrays.parted_values.copy()
    values[:2] = 77
    arrays = arrays._replace(dense=np.full_like(arrays.dense, 77), parted_values=values)
    measured = large.measured._replace(
        known=np.zeros(arrays.dense.size, bool), own=values[0], best=values[1]
    )
    return large.case._replace(arrays=arrays), measured


def check_near(large, modules, depth, shortlist):
    case = large.case
    signals = case.arrays.signals()
    dense = naive.linear_scores(
        signals, case.forms[0].tolist(), float(case.bias[0]), [True] * len(case.ids)
    )
    lists = []
    for region in case.regions:
        rough = large.estimates[: region.size].tolist()
        short = naive.top_rows(inside(rough, region & case.embedded), shortlist)
        exact = [dense[row] if row in short else -np.inf for row in range(len(dense))]
        lists.append(naive.top_rows(exact, depth))
    expected = naive_draw(case, depth, True, True, lists)
    drawing, standing = modules
    fresh, measured = unmeasured(large)
    drawn = drawing.draw_near_rows(
        *(*fresh.given, Wanted(depth, True, True), case.times, case.ids),
        *(large.estimates, shortlist, measured),
    )
    assert as_lists(drawn) == expected
    rng = np.random.default_rng(depth)
    n = len(case.ids)
    links = rng.integers(-1, max(n, 1), (2, n)), pack_mask(case.regions[0]), drawn.rows
    before, after, words, rows = *links[0], *links[1:]
    given = case.forms[2], float(case.bias[2]), before, after, words, rows
    near = standing.near_evidence_beside(tuple(fresh.arrays), *given, measured)
    assert near.tolist() == naive_beside(case, before, after, rows.tolist())


def naive_beside(case, before, after, rows):
    everyone = [True] * len(case.ids)
    form, bias = case.forms[2].tolist(), float(case.bias[2])
    evidence = naive.linear_scores(case.arrays.signals(), form, bias, everyone)

    def of(row):
        return evidence[row] if row >= 0 and case.regions[0][row] else -np.inf

    def step(row, links):
        return int(links[row]) if row >= 0 else -1

    return [
        [of(step(row, before)) for row in rows],
        [of(step(row, after)) for row in rows],
        [of(step(step(row, before), before)) for row in rows],
        [of(step(step(row, after), after)) for row in rows],
    ]


@pytest.mark.parametrize("tier", [*TIERS, "numpy"])
@settings(deadline=None, max_examples=25)
@given(
    seed=SEEDS,
    n=st.one_of(st.integers(0, 9), st.integers(60, 150)),
    parted=SHARES,
    regions=st.integers(1, 2),
    share=st.sampled_from([0.02, 0.5, 1.0]),
    depth=st.sampled_from([1, 7, 10**6]),
    shortlist=st.sampled_from([1, 9, 10**6]),
)
def test_rows_drawn_from_a_large_scope_and_those_beside_them(
    tier, seed, n, parted, regions, share, depth, shortlist
):
    large = large_scope(seed, n, parted, regions, share)
    if tier == "numpy":
        check_near(large, (numpy_draw, numpy_beside), depth, shortlist)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_scan, "TIER", int8_scan.TIER_TAGS[tier])
        check_near(large, (draw, beside), depth, shortlist)


@LAWS
@given(seed=SEEDS, n=SIZES, parted=SHARES, share=SHARES)
def test_evidence_beside_rows_of_a_small_scope(seed, n, parted, share):
    case = random_case(seed, n, parted, 2**29, 1, share)
    rng = np.random.default_rng(seed)
    before, after = rng.integers(-1, max(n, 1), (2, n))
    rows = rng.permutation(n)[: rng.integers(0, n + 1)]
    expected = naive_beside(case, before, after, rows.tolist())
    for module in BESIDES:
        where = before, after, pack_mask(case.regions[0]), rows
        given = tuple(case.arrays), case.forms[2], float(case.bias[2])
        assert module.evidence_beside(*given, *where).tolist() == expected


@njit
def sorted_by_kernel(values):
    return tie_order.sort_ascending(values)


@njit
def tie_order_of(rows, times, ids):
    return tie_order.sort_by_tie(rows, times, ids)


@LAWS
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), max_size=150))
def test_sorting_inside_a_kernel(values):
    given = np.array(values, np.int64)
    assert sorted_by_kernel(given).tolist() == sorted(values)
    assert given.tolist() == values
    rows = np.arange(len(values))
    order = tie_order_of(rows, given, rows[::-1].copy()).tolist()
    assert order == sorted(rows.tolist(), key=lambda row: (-values[row], -row))

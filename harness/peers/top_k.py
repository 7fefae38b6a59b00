"""What keeping the best k rows costs the int8 scan, also in the order of rows that is worst."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.kernels.int8_scan import dense_scores, dense_top_k
from harness.peers.figures import TIMES_AS_LONG, add_figure, comparison
from harness.peers.goals import NO_TOP_K, TOP_K, WORST_ORDER
from harness.peers.turns import ratio, take_turns
from harness.peers.vectors import Coded

DEPTHS = (10, 100)
NANOSECONDS = "ns a row more"


def compare_top_k(data: Coded, budget: float) -> list[dict]:
    """Time the scan with and without its top-k, on the same rows in two orders.

    Without: the same scan asked for no rows, which compares each score with a limit and keeps
    none, and still adds up the statistics. Worst: ascending scores, so that each row is better than
    all before it.

    Parameters
    ----------
    data : Coded
        Rows and queries; the first query is asked.
    budget : float
        Seconds to spend on rounds.

    Returns
    -------
    list of dict
        A comparison for each depth.
    """
    order = np.argsort(
        dense_scores(data.codes, data.planes[0], np.arange(data.rows)), kind="stable"
    )
    ascending = data.codes[order]
    calls = {NO_TOP_K: _Scan(data, data.codes, 0)}
    for k in DEPTHS:
        calls[_name(k)] = _Scan(data, data.codes, k)
        calls[_name(k, WORST_ORDER)] = _Scan(data, ascending, k)
    seconds = take_turns(calls, budget)
    without = seconds[NO_TOP_K]
    found = []
    for k in DEPTHS:
        usual, worst = seconds[_name(k)], seconds[_name(k, WORST_ORDER)]
        names = {NO_TOP_K: without, _name(k): usual, _name(k, WORST_ORDER): worst}
        one = comparison(TOP_K, data.rows, names, dim=data.dim, k=k)
        cost = ratio(usual, without)
        add_figure(one, NO_TOP_K, cost.value, TIMES_AS_LONG, quartiles=(cost.low, cost.high))
        extra = float(np.median(worst - without)) / data.rows * 1e9
        add_figure(one, WORST_ORDER, extra, NANOSECONDS)
        found.append(one)
    return found


@dataclass(frozen=True)
class _Scan:
    """The scan by the first query, ready to be called."""

    data: Coded
    codes: np.ndarray
    k: int

    def __call__(self) -> object:
        return dense_top_k(self.codes, self.data.planes[0], self.data.mask, self.k)


def _name(k: int, order: str = "") -> str:
    return f"top {k}, {order}" if order else f"top {k}"

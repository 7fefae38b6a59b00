"""Evidence of the rows: the calibrated sums of their signals, computed where they are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cpersona_jit.columns.snapshot import Columns, Mask
from cpersona_jit.kernels.numpy_path.draw import DrawnRows, Wanted
from cpersona_jit.kernels.row_mask import pack_mask
from cpersona_jit.recall.kernel_set import KernelSet
from cpersona_jit.recall.signals import Signals

# The kinds of evidence, in the order of every array of forms.
DENSE, GRAM, FUSED = range(3)


@dataclass(frozen=True)
class Evidence:
    """Dense, gram and fused evidence of every admitted row; no array of all rows is kept of it.

    Attributes
    ----------
    signals : Signals
        What the rows show.
    forms : ndarray of float64, shape (F, 7)
        Weights of the signals in each kind of evidence.
    bias : ndarray of float64, shape (F,)
        What each sum starts from.
    mask : Mask
        Admitted rows.
    """

    signals: Signals
    forms: np.ndarray
    bias: np.ndarray
    mask: Mask

    @property
    def kernels(self) -> KernelSet:
        """The kernels to call: those that measured the signals."""
        return self.signals.kernels

    def within(self, region: np.ndarray | None) -> np.ndarray:
        """Return the admitted rows of a region, a bool per row or None for all, as mask words."""
        return self.mask.words if region is None else self.mask.words & pack_mask(region)

    def best(self, form: int, words: np.ndarray, depth: int) -> np.ndarray:
        """Return the `depth` rows of a mask with the most evidence of one kind, best first.

        In a large scope the rows with the most dense evidence are those of a shortlist.
        """
        two_phase = self.signals.two_phase
        if form == DENSE and two_phase is not None:
            near = two_phase.nearest(words)
            return near[self.kernels.top_rows(self.at(near)[DENSE], depth)]
        return self.kernels.best_rows(
            *self.signals.arrays, self.forms[form], self.bias[form], words, depth
        )

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Return the evidence of admitted rows, float64, shape (F, P)."""
        self.signals.measure(rows)
        return self.kernels.evidence_at(*self.signals.arrays, self.forms, self.bias, rows)

    def draw(self, columns: Columns, regions: np.ndarray, wanted: Wanted) -> DrawnRows:
        """Draw the dense and the gram list of each region, mask words by row, and unite them.

        Rows that all show the same, as the one row of a young store does, are listed lowest first.
        A row without a vector is in no dense list, and one that shares no gram in no gram list,
        however few others are: having nothing against a row is no reason to find it.
        """
        signals = self.signals
        embedded = columns.embedded.words
        if not signals.compared:
            embedded = np.zeros_like(embedded)
        given = tuple(signals.arrays), self.forms, self.bias, regions, embedded, wanted
        near = signals.two_phase
        if near is None:
            return self.kernels.draw_rows(*given, columns.event_time, columns.ids)
        shortlisted = near.estimates, near.shortlist, near.measured
        return self.kernels.draw_near_rows(*given, columns.event_time, columns.ids, *shortlisted)

    def fused_beside(self, columns: Columns, rows: np.ndarray) -> np.ndarray:
        """Return the fused evidence of the rows beside some rows, float64, shape (4, P).

        Of ``kernels.structure.neighbour_rows``; -inf where there is none.
        """
        near = self.signals.two_phase
        given = tuple(self.signals.arrays), self.forms[FUSED], float(self.bias[FUSED])
        beside = columns.before, columns.after, self.mask.words, rows
        if near is None:
            return self.kernels.evidence_beside(*given, *beside)
        return self.kernels.near_evidence_beside(*given, *beside, near.measured)


def evidence_of(signals: Signals, forms: np.ndarray, mask: Mask) -> Evidence:
    """Return the evidence whose mean over the admitted rows is 0."""
    mean = signals.mean.tolist()
    bias = np.array([-_inner(form, mean) for form in forms.tolist()])
    return Evidence(signals, forms, bias, mask)


def _inner(a: list[float], b: list[float]) -> float:
    """Sum of products in the order of the signals, whatever library adds it up elsewhere."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total

"""Sets of rows, as words of 64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cpersona_jit.kernels.row_mask import count_admitted, pack_mask


class Mask(NamedTuple):
    """Some of the rows, above all those that a call may see."""

    words: np.ndarray  # uint64 (ceil(n / 64),), bit r & 63 of word r >> 6
    count: int

    def as_bools(self, n: int) -> np.ndarray:
        """Return whether each of the `n` rows is admitted, shape (n,)."""
        as_bytes = self.words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(as_bytes, count=n, bitorder="little").view(bool)

    def edited(self, n: int, without: np.ndarray, also: np.ndarray) -> Mask:
        """Return the mask over `n` rows, at least as many, with some rows out and some in.

        Parameters
        ----------
        n : int
            Rows from now on; those behind the old ones are out.
        without, also : ndarray of int64
            Rows to leave out, then rows to take in.
        """
        words = np.zeros((n + 63) // 64, np.uint64)
        words[: self.words.size] = self.words
        np.bitwise_and.at(words, without >> 6, ~_bits(without))
        np.bitwise_or.at(words, also >> 6, _bits(also))
        return Mask(words, count_admitted(words))


def _bits(rows: np.ndarray) -> np.ndarray:
    return np.uint64(1) << (rows & 63).astype(np.uint64)


def no_rows(n: int) -> Mask:
    """Return the mask over `n` rows that admits none."""
    return Mask(np.zeros((n + 63) // 64, np.uint64), 0)


def mask_of(admitted: np.ndarray) -> Mask:
    """Return the mask that admits the rows set in a boolean array of shape (n,)."""
    return Mask(pack_mask(admitted), int(np.count_nonzero(admitted)))

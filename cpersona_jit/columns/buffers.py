"""Arrays that grow at their end, under the views that snapshots hold of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

_SPARE_ROWS = 4096  # spare places at least, where an array is made or grows
_SPARE_SHARE = 8  # an eighth of it, where that is more


def spare_places(used: int) -> int:
    """Return how many places an array gets of which `used` are needed."""
    return used + max(used // _SPARE_SHARE, _SPARE_ROWS)


class Buffers:
    """The arrays of one run of snapshots, by name, with places to spare behind what is in use.

    A snapshot is a view of the first rows. What comes later is written behind every view there is,
    so that no older snapshot changes and nothing is copied but, now and then, a full array.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays to begin with; what lies behind the rows in use is room.
    rows, blocks : int
        How many rows and blocks are in use.
    """

    def __init__(
        self, arrays: Mapping[str, np.ndarray] | None = None, rows: int = 0, blocks: int = 0
    ) -> None:
        self._arrays = dict(arrays or {})
        self.rows = rows
        self.blocks = blocks

    def put(self, name: str, at: int, values: np.ndarray, capacity: int = 0) -> np.ndarray:
        """Write `values` from place `at` on, and return the array up to their end.

        Parameters
        ----------
        name : str
            Of the array; it is made when there is none.
        at : int
            The first place that no snapshot looks at.
        values : ndarray, shape (m, ...)
            What comes there.
        capacity : int
            Places that will be needed in all, where that is known.
        """
        array, end = self._arrays.get(name), at + values.shape[0]
        if array is None or end > array.shape[0]:
            places = max(spare_places(end), capacity)
            grown = np.empty((places, *values.shape[1:]), values.dtype)
            if array is not None:
                grown[:at] = array[:at]
            self._arrays[name] = array = grown
        array[at:end] = values
        return array[:end]

    def replace(self, name: str, values: np.ndarray) -> np.ndarray:
        """Put a new array in the place of one whose older rows changed, and return it."""
        self._arrays.pop(name, None)
        return self.put(name, 0, values)

    def edit(
        self, name: str, known: np.ndarray, size: int, rows: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        """Return an array of `size` rows with new values at some of them, -1 at other new rows.

        Parameters
        ----------
        name : str
            Of the array.
        known : ndarray of int64
            Its first rows as older snapshots see them: they are copied when one of them changes.
        size : int
            Rows in all.
        rows, values : ndarray of int64, shape (m,)
            Distinct rows, and what they hold from now on.
        """
        old = rows < known.size
        behind = np.full(size - known.size, -1, np.int64)
        behind[rows[~old] - known.size] = values[~old]
        if np.array_equal(known[rows[old]], values[old]):
            return self.put(name, known.size, behind)
        array = self.replace(name, np.concatenate((known, behind)))
        array[rows] = values
        return array


def put_signs(buffers: Buffers, name: str, at: int, words: np.ndarray, capacity: int) -> np.ndarray:
    """Write sign words of the rows from `at` on into blocks of eight rows; return all blocks.

    Parameters
    ----------
    buffers : Buffers
        Where the blocks are.
    name : str
        Of the array, uint64, shape (blocks of eight, W, 8).
    at : int
        The first new row. A block that is not full yet is filled up: older snapshots hold it too,
        and never look at the places of rows that they do not have.
    words : ndarray of uint64, shape (m, W)
        As :func:`~cpersona_jit.kernels.quantize.sign_words` makes them.
    capacity : int
        Rows that will be needed in all, where that is known.
    """
    places = np.arange(at, at + words.shape[0])
    end = (at + words.shape[0] + 7) // 8
    begun = (at + 7) // 8  # blocks that older rows lie in
    empty = np.zeros((end - begun, words.shape[1], 8), np.uint64)
    blocks = buffers.put(name, begun, empty, (capacity + 7) // 8)
    blocks[places // 8, :, places % 8] = words
    return blocks

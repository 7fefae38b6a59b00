"""Where the keys of a query stand in a vocabulary: one look into a hash table instead of a search.

A binary search over 100,000 keys waits for memory six or seven times, each time for an address that
the last one gave. Here the waits are two, and those of different keys overlap.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.gram_lists import HASH_MULTIPLIER, SLOTS_PER_KEY, GramIndex

__all__ = ["key_slots", "lookup_keys"]


def lookup_keys(index: GramIndex, keys: np.ndarray) -> np.ndarray:
    """Find gram keys in the vocabulary of an index.

    Parameters
    ----------
    index : GramIndex
        Index of the snapshot.
    keys : uint64 (Q,)
        Gram keys, in any order.

    Returns
    -------
    int64 (Q,)
        Position of each in ``index.keys``, -1 for those that are not there.
    """
    positions = np.empty(len(keys), np.int64)
    _lookup(index.keys, index.slots, keys, positions)
    return positions


def key_slots(keys: np.ndarray) -> np.ndarray:
    """Hash table of a vocabulary; see `cpersona_jit.kernels.gram_lists.key_slots`."""
    homes = SLOTS_PER_KEY * len(keys)
    cursor = np.zeros(homes, np.int32)
    end = _place_homes(keys, cursor)
    slots = np.full(max(homes, end) + 1, -1, np.int32)
    _fill_slots(keys, cursor, slots)
    return slots


@kernel_part
def _home(key, homes):
    return (key * HASH_MULTIPLIER >> np.uint64(32)) * np.uint64(homes) >> np.uint64(32)


@kernel_part
def find_key(keys, slots, key):
    """Position of a key in the vocabulary, -1 when it is not there."""
    at = _home(key, SLOTS_PER_KEY * len(keys))
    position = slots[at]
    while position >= 0 and keys[position] != key:
        at += np.uint64(1)
        position = slots[at]
    return position


@kernel
def _lookup(keys, slots, wanted, positions):
    for i in range(len(wanted)):
        positions[i] = find_key(keys, slots, wanted[i])


@kernel
def _place_homes(keys, cursor):
    """Set where the first key of each home lies; return the end of the last."""
    homes, end = len(cursor), 0
    for i in range(len(keys)):
        cursor[_home(keys[i], homes)] += 1
    for home in range(homes):
        held = cursor[home]
        cursor[home] = max(home, end)
        if held > 0:
            end = cursor[home] + held
    return end


@kernel
def _fill_slots(keys, cursor, slots):
    homes = len(cursor)
    for i in range(len(keys)):
        home = _home(keys[i], homes)
        slots[cursor[home]] = i
        cursor[home] += 1

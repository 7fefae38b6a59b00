"""Character n-grams of a text, as sorted arrays of 64-bit keys.

The grams need no knowledge of a language: a text is normalised (NFKC, lower case), everything that
is not a word character becomes one space, and one space is put at either end so that the first and
last letters of a word make grams of their own. Japanese and Chinese write no spaces and say in two
characters what takes English a word, so size 3 also holds the 2-grams inside CJK runs.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

GRAM_SIZES = (3, 4)
MAX_COUNT = 3  # term frequencies are kept in two bits

_SEPARATORS = re.compile(r"[\W_]+")
_BITS = np.uint64(21)  # a code point fits in 21 bits

# The finaliser of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
# generators", OOPSLA 2014); it mixes the 84 bits of a 4-gram into 64.
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
HASH_STEP = np.uint64(0x9E3779B97F4A7C15)

# The marks that repeat, close or stand for an ideograph, hiragana, katakana (with half width, which
# NFKC folds away), CJK ideographs and their compatibility forms and extensions: runs of these also
# give 2-grams.
CJK_RANGES = (
    (0x3005, 0x3007),
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)


def normalise(text: str) -> str:
    """Return the form of `text` that is cut into grams.

    Parameters
    ----------
    text : str
        Any text without lone surrogates.

    Returns
    -------
    str
        NFKC, lower case, runs of non-word characters as one space, one space at either end; empty
        when nothing but separators is left.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    words = _SEPARATORS.sub(" ", folded).strip()
    return f" {words} " if words else ""


def code_points(text: str) -> np.ndarray:
    """Return the code points of `text`, uint64, shape (len(text),)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)


def gram_keys(points: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct grams of one normalised text.

    Parameters
    ----------
    points : ndarray of uint64, shape (length,)
        From :func:`code_points` of a text from :func:`normalise`.
    size : {3, 4}
        Size 3 includes the 2-grams inside CJK runs.

    Returns
    -------
    keys : ndarray of uint64, shape (grams,)
        Sorted and distinct. Keys of size 3 (and 2) hold the code points themselves; keys of size 4
        are 64-bit hashes of theirs (for a million distinct grams two share a key with a chance of
        about 3e-8). Keys of the two sizes are not comparable.
    counts : ndarray of uint8, shape (grams,)
        How often each occurs, at most ``MAX_COUNT``.
    """
    if size == 3:
        keys = np.concatenate((packed_triples(points), _cjk_pairs(points)))
    else:
        keys = _quadruples(points)
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if keys.size else _NONE
    counts = np.diff(first, append=keys.size)
    return keys[first], np.minimum(counts, MAX_COUNT).astype(np.uint8)


_NONE = np.zeros(0, np.int64)


def packed_triples(points: np.ndarray) -> np.ndarray:
    """Return the key of the three code points from each place on, shape (length - 2,)."""
    if points.size < 3:
        return np.zeros(0, np.uint64)
    return (((points[:-2] << _BITS) | points[1:-1]) << _BITS) | points[2:]


def _quadruples(points: np.ndarray) -> np.ndarray:
    if points.size < 4:
        return np.zeros(0, np.uint64)
    return _mix(_mix(packed_triples(points)[:-1]) + points[3:] * HASH_STEP)


def packed_pairs(points: np.ndarray) -> np.ndarray:
    """Return the key of the two code points from each place on, shape (length - 1,)."""
    return (points[:-1] << _BITS) | points[1:]


def _cjk_pairs(points: np.ndarray) -> np.ndarray:
    if points.size < 2 or int(points.max()) < CJK_RANGES[0][0]:
        return np.zeros(0, np.uint64)
    cjk = np.zeros(points.size, bool)
    for low, high in CJK_RANGES:
        cjk |= (points >= low) & (points <= high)
    start = np.flatnonzero(cjk[:-1] & cjk[1:])
    return (points[start] << _BITS) | points[start + 1]


def _mix(keys: np.ndarray) -> np.ndarray:
    keys = (keys ^ (keys >> np.uint64(30))) * MIX_1
    keys = (keys ^ (keys >> np.uint64(27))) * MIX_2
    return keys ^ (keys >> np.uint64(31))

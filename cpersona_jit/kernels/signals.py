"""Signals of calibrated fusion: one exact integer per row, and their moments.

A signal is one arm's score of every row of a snapshot. Calibrated fusion standardises signals, adds
them, and standardises again, all of which is linear: the moments of the signals over the admitted
rows say by which weight each signal enters the fused score (``kernels.evidence``).

A *parted* row is one whose blocks have scores of their own. Any other row is its own one block, so
its signals are three numbers and not seven.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.kernels.row_mask import count_admitted

# Rows that are worked on together: their shifted signals stay in the first-level cache.
_CHUNK_WORDS = 8
_CHUNK = 64 * _CHUNK_WORDS
_NONE = np.int64(-(1 << 62))  # below every score
# Which of dense, 3-grams and 4-grams each signal of a row that is its own one block is; the last
# signal, the logarithm of the number of blocks, is then 0.
_AS_WHOLE = np.array([0, 0, 1, 2, 1, 2])


def best_of_blocks(
    block_ptr: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    own: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score each parted row by the best of its blocks.

    Parameters
    ----------
    block_ptr : int64 (m + 1,)
        Row i of the m parted rows owns the blocks ``block_ptr[i]:block_ptr[i + 1]``, if any.
    block_scores : int32 or uint32 (nb,)
        Score of each block; only admitted blocks are read.
    block_mask : uint64 (ceil(nb / 64),)
        Admitted blocks; bits past nb are zero.
    own : int64 (m,)
        Score of each of the rows as a whole: what a row without an admitted block gets.
    out : int64 (m,)
        Written: the largest score of the row's admitted blocks.
    """
    take_best_blocks(block_ptr, block_scores, block_mask, own, out)


def best_gram_blocks(
    block_ptr: np.ndarray,
    counters: np.ndarray,
    factor: np.ndarray,
    block_mask: np.ndarray,
    rows: np.ndarray,
    of_rows: np.ndarray,
    own: np.ndarray,
    out: np.ndarray,
) -> None:
    """Score each parted row by its grams as a whole, and by those of the best of its blocks.

    The same as `gram_scores` of the blocks and `best_of_blocks`, with no score of a block written
    down.

    Parameters
    ----------
    block_ptr, block_mask : ndarray
        As in `best_of_blocks`.
    counters : uint16 (64 * words of the mask,)
        Of the blocks, from `gram_overlap.overlap_all`.
    factor : uint16 (nb,)
        Length factor of each block.
    rows : int64 (m,)
        The parted rows.
    of_rows : uint32 (n,)
        Score of every row as a whole.
    own, out : int64 (m,)
        Written: the scores of the parted rows, and of their best admitted blocks.
    """
    take_best_gram_blocks(block_ptr, counters, factor, block_mask, rows, of_rows, own, out)


def blend_best_blocks(
    block_ptr: np.ndarray,
    block_scores: np.ndarray,
    block_mask: np.ndarray,
    rows: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Replace the score of each parted row by the mean of it and the best block's, rounded down.

    Parameters
    ----------
    block_ptr, block_mask : ndarray
        As in `best_of_blocks`.
    block_scores : int32 (at least nb,)
        Score of each block; only admitted blocks are read.
    rows : int64 (m,)
        The parted rows.
    scores : int32 (at least n,)
        Scores of all rows; those of parted rows without an admitted block stay.
    """
    blend_blocks(block_ptr, block_scores, block_mask, rows, scores)


def scope_moments(
    dense: np.ndarray,
    gram3: np.ndarray,
    gram4: np.ndarray,
    parted_values: np.ndarray,
    shifts: np.ndarray,
    alone: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the signals of a scope and their products, exactly, as `signal_moments` does.

    Parameters
    ----------
    dense : int32 (n,)
        Score of each row by its embedding.
    gram3, gram4 : uint32 (n,)
        Scores by its grams.
    parted_values : int64 (7, m)
        Signals of the parted rows, in the order of ``numpy_path.calibration``; zeros for those that
        are not admitted.
    shifts : int64 (7,)
        As in `signal_moments`; those of a row and of its blocks are the same.
    alone : uint64 (ceil(n / 64),)
        Admitted rows that are not parted: each is its own one block, so that it shows of its one
        block what it shows as a whole, and the logarithm of one block is 0.

    Returns
    -------
    sums : int64 (7,)
    products : int64 (7, 7)
    """
    sums, products = np.zeros(len(shifts), np.int64), np.zeros((len(shifts),) * 2, np.int64)
    _add_scope_moments(dense, gram3, gram4, parted_values, shifts, alone, sums, products)
    return sums, products


def gram_scores(
    counters: np.ndarray, factor: np.ndarray, mask: np.ndarray, out: np.ndarray
) -> None:
    """Turn the counters of `gram_overlap.overlap_all` into scores.

    Parameters
    ----------
    counters : uint16 (64 * ceil(n / 64),)
        Sum of the matched weights of each row.
    factor : uint16 (n,)
        Length factor of each row.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.
    out : uint32 (n,)
        Written: counter times factor, 0 for rows that are not admitted.
    """
    multiply_counters(counters, factor, mask, out)


def signal_moments(
    signals: np.ndarray, shifts: np.ndarray, mask: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Sum the signals, and all products of two of them, over the admitted rows, exactly.

    Parameters
    ----------
    signals : int64 (A, n), C order
        One signal per row of the array. Shifted, a value must lie within -2**21 and 2**21: dense
        scores shifted by ``DENSE_STAT_SHIFT`` and gram scores by ``GRAM_STAT_SHIFT`` do. The sums
        of products are then below 2**63 for 2**21 admitted rows even at the largest values, and
        for more rows as long as the mean product is smaller.
    shifts : int64 (A,)
        Bits by which each signal is shifted right (arithmetically) before it is summed.
    mask : uint64 (ceil(n / 64),)
        Admitted rows; bits past n are zero.

    Returns
    -------
    count : int
        Admitted rows.
    sums : int64 (A,)
        Sum of each shifted signal.
    products : int64 (A, A)
        Sum of the product of each two shifted signals; symmetric.
    """
    arms = len(signals)
    sums, products = np.zeros(arms, np.int64), np.zeros((arms, arms), np.int64)
    keep, steps = np.empty(_CHUNK, np.int64), np.empty((arms, _CHUNK), np.int64)
    add_moments(signals, shifts, mask, keep, steps, sums, products)
    return count_admitted(mask), sums, products


@kernel_part
def _best_block(block_scores, block_mask, first, end):
    """The largest score of the admitted blocks of a row, or ``_NONE``."""
    best = _NONE
    for block in range(first, end):
        score = np.int64(block_scores[block])
        seen = (np.int64(block_mask[block >> 6]) >> (block & 63)) & 1
        if seen == 1 and score > best:
            best = score
    return best


@kernel
def take_best_blocks(block_ptr, block_scores, block_mask, own, out):
    for i in range(len(own)):
        best = _best_block(block_scores, block_mask, block_ptr[i], block_ptr[i + 1])
        out[i] = own[i] if best == _NONE else best


@kernel
def take_best_gram_blocks(block_ptr, counters, factor, block_mask, rows, of_rows, own, out):
    for i in range(len(rows)):
        whole = np.int64(of_rows[rows[i]])
        best = _NONE
        for block in range(block_ptr[i], block_ptr[i + 1]):
            seen = (np.int64(block_mask[block >> 6]) >> (block & 63)) & 1
            score = np.int64(counters[block]) * np.int64(factor[block])
            if seen == 1 and score > best:
                best = score
        own[i], out[i] = whole, whole if best == _NONE else best


@kernel
def blend_blocks(block_ptr, block_scores, block_mask, rows, scores):
    for i in range(len(rows)):
        best = _best_block(block_scores, block_mask, block_ptr[i], block_ptr[i + 1])
        if best != _NONE:
            scores[rows[i]] = (np.int64(scores[rows[i]]) + best) >> 1


@kernel
def multiply_counters(counters, factor, mask, out):
    for word in range(len(mask)):
        admitted, first = np.int64(mask[word]), 64 * word
        score, by = out[first : first + 64], factor[first : first + 64]
        _multiply_word(counters[first : first + 64], by, admitted, score)


@kernel_part
def _multiply_word(counters, factor, admitted, out):
    if admitted == -1:
        for bit in range(len(out)):
            out[bit] = np.uint32(counters[bit]) * np.uint32(factor[bit])
        return
    for bit in range(len(out)):
        score = np.int64(counters[bit]) * np.int64(factor[bit])
        out[bit] = score & -((admitted >> bit) & 1)


@kernel
def add_moments(signals, shifts, mask, keep, steps, sums, products):
    arms, n = signals.shape
    for first_word in range(0, len(mask), _CHUNK_WORDS):
        words = mask[first_word : first_word + _CHUNK_WORDS]
        if not _any_admitted(words):
            continue
        first = 64 * first_word
        size = min(_CHUNK, n - first)
        _spread(words, keep)
        for a in range(arms):
            sums[a] += _shift(signals[a, first : first + size], shifts[a], keep, steps[a])
        _add_products(steps, arms, size, products)
    _mirror(products)


@kernel_part
def moment_scratch(arms, n):
    """Return what `add_moments` works in, and a mask of n rows that admits all of them."""
    everyone = np.empty((n + 63) // 64, np.uint64)
    for word in range(len(everyone)):
        everyone[word] = ~np.uint64(0)
    if n & 63:
        everyone[-1] = (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    return np.empty(_CHUNK, np.int64), np.empty((arms, _CHUNK), np.int64), everyone


@kernel
def _add_scope_moments(dense, gram3, gram4, parted_values, shifts, alone, sums, products):
    of_whole, with_whole = np.zeros(3, np.int64), np.zeros((3, 3), np.int64)
    _add_whole_rows(dense, gram3, gram4, shifts, alone, of_whole, with_whole)
    for a in range(len(_AS_WHOLE)):
        sums[a] = of_whole[_AS_WHOLE[a]]
        for b in range(len(_AS_WHOLE)):
            products[a, b] = with_whole[_AS_WHOLE[a], _AS_WHOLE[b]]
    keep, steps, everyone = moment_scratch(len(shifts), parted_values.shape[1])
    add_moments(parted_values, shifts, everyone, keep, steps, sums, products)


@kernel_part
def _add_whole_rows(dense, gram3, gram4, shifts, mask, sums, products):
    """Sum the three signals of the rows of a mask, and all products of two of them."""
    by_dense, by3, by4 = shifts[0], shifts[2], shifts[3]
    x_sum, y_sum, z_sum, xx, xy, xz, yy, yz, zz = 0, 0, 0, 0, 0, 0, 0, 0, 0
    for word in range(len(mask)):
        admitted, first = np.int64(mask[word]), 64 * word
        if admitted == 0:
            continue
        of_word = dense[first : first + 64]
        three, four = gram3[first : first + 64], gram4[first : first + 64]
        for bit in range(len(of_word)):
            keep = -((admitted >> bit) & 1)
            x = (np.int64(of_word[bit]) >> by_dense) & keep
            y = (np.int64(three[bit]) >> by3) & keep
            z = (np.int64(four[bit]) >> by4) & keep
            x_sum, y_sum, z_sum = x_sum + x, y_sum + y, z_sum + z
            xx, xy, xz = xx + x * x, xy + x * y, xz + x * z
            yy, yz, zz = yy + y * y, yz + y * z, zz + z * z
    sums[0], sums[1], sums[2] = x_sum, y_sum, z_sum
    products[0, 0], products[1, 1], products[2, 2] = xx, yy, zz
    products[0, 1] = products[1, 0] = xy
    products[0, 2] = products[2, 0] = xz
    products[1, 2] = products[2, 1] = yz


@kernel_part
def _add_products(steps, arms, size, products):
    for a in range(arms):
        for b in range(0, a + 1, 2):
            # The last of an odd number comes twice, and is stored once.
            c = min(b + 1, a)
            with_b, with_c = _multiply_add(steps[a], steps[b], steps[c], size)
            products[a, b] += with_b
            if c > b:
                products[a, c] += with_c


@kernel_part
def _mirror(products):
    for a in range(len(products)):
        for b in range(a):
            products[b, a] = products[a, b]


@kernel_part
def _spread(words, keep):
    """-1 for every admitted row of a chunk, 0 for the others: what to mask a value with."""
    for word in range(len(words)):
        admitted, of_word = np.int64(words[word]), keep[64 * word : 64 * word + 64]
        for bit in range(64):
            of_word[bit] = -((admitted >> bit) & 1)


@kernel_part
def _shift(signal, shift, keep, steps):
    """Shift the admitted rows' values of a chunk, set the others to 0; return the sum."""
    total = 0
    for i in range(len(signal)):
        step = (np.int64(signal[i]) >> shift) & keep[i]
        steps[i] = step
        total += step
    return total


@kernel_part
def _multiply_add(a, b, c, size):
    """Inner products of a with b and with c, of values of 32 bits: one instruction multiplies."""
    with_b, with_c = 0, 0
    for i in range(size):
        step = np.int64(np.int32(a[i]))
        with_b += step * np.int64(np.int32(b[i]))
        with_c += step * np.int64(np.int32(c[i]))
    return with_b, with_c


@kernel_part
def _any_admitted(words):
    found = np.uint64(0)
    for word in words:
        found |= word
    return found != 0

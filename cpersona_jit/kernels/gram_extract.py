"""Grams of many texts at once: keys cut, sorted and counted text by text.

Nothing compares where counting will do. Triples are sorted as numbers of the letters that the texts
use, some 6 bits a letter where a code point has 21; hashed grams lie evenly, so that sorting by
their first bits leaves a text almost in order. A text that was made to defeat this takes a few
times as long, never the square of its length.
"""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.bits import popcount, trailing_zeros
from cpersona_jit.kernels.compiled import kernel, kernel_part
from cpersona_jit.text.grams import CJK_RANGES, HASH_STEP, MAX_COUNT, MIX_1, MIX_2

__all__ = ["extract_grams"]

_POINT_BITS = 21
_WIDEST_DIGIT = 8  # bits of a key that one pass of a radix sort looks at
_WIDEST_START = 12  # the same for the first bits of hashes
_MOST_PASSES = 9  # 64 bits by digits of 8, or 3 letters of 21 bits by digits of 7
_FEW = 24  # so few keys are put in order one by one
_MANY = 1024  # so many are sorted by wider digits: narrow ones repeat, and wait for their counts
_PATIENCE = 8  # steps for each key after which putting in order one by one is given up


def extract_grams(
    points: np.ndarray, ptr: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut normalised texts into grams, each as `cpersona_jit.text.grams.gram_keys` does.

    Parameters
    ----------
    points : uint32 (ptr[m],)
        Code points of all texts, one text behind the other.
    ptr : int64 (m + 1,)
        Text i is ``points[ptr[i] : ptr[i + 1]]``.
    size : {3, 4}
        Size 3 includes the 2-grams inside CJK runs.

    Returns
    -------
    row_ptr : int64 (m + 1,)
        Text i has the grams ``row_ptr[i]`` to ``row_ptr[i + 1]``.
    keys : uint64 (row_ptr[m],)
        Sorted and distinct within a text.
    counts : uint8 (row_ptr[m],)
        Times the text has the gram, at most 3.
    """
    if not points.flags.writeable:  # as `np.frombuffer` gives it; to the compiler another type
        points = points.copy()
    return cut_texts(points, ptr, size)


@kernel
def cut_texts(points, ptr, size):
    """Cut and sort text by text; what all of them need is made once."""
    used = points if size == 3 else points[:0]
    seen, before, letters, in_pairs, grams = _alphabet(used)
    width, digit_of_letter = _letter_bits(len(letters))
    longest, most = _sizes(ptr, grams)
    work = np.empty((2, longest), np.uint64)
    starts = np.empty((_MOST_PASSES, 1 << (_WIDEST_START if longest >= _MANY else 10)), np.uint32)
    row_ptr = np.zeros(len(ptr), np.int64)
    keys, counts = np.empty(most, np.uint64), np.empty(most, np.uint8)
    filled = np.int64(0)
    for row in range(len(ptr) - 1):
        text, side = points[ptr[row] : ptr[row + 1]], np.int64(0)
        if size == 3:
            held = _number_triples(text, seen, before, in_pairs, width, work[0])
            low, digit, passes = 0, digit_of_letter, 3 * width // digit_of_letter
            if held >= _MANY:
                passes = (3 * width + _WIDEST_START - 1) // _WIDEST_START
                digit = (3 * width + passes - 1) // passes
        else:
            held = _hash(text, work[0])
            digit = 1
            while digit < _WIDEST_START and (1 << digit) < held:
                digit += 1
            passes = 1 if held <= 1 << digit else 2
            low = 64 - passes * digit
        while True:
            if held > _FEW:
                side = _sort_by_digits(work, side, held, low, passes, digit, starts)
            if _put_in_order(work[side], held):
                break
            low, passes, digit = 0, 64 // _WIDEST_DIGIT, _WIDEST_DIGIT
        start = filled
        filled = _write_distinct(work[side], held, keys, counts, filled)
        row_ptr[row + 1] = filled
        if size == 3:
            _spell(keys[start:filled], letters, width)
    return row_ptr, keys[:filled].copy(), counts[:filled].copy()


@kernel_part
def _sizes(ptr, grams):
    """Most grams that a text can have, at least 1, and all texts together."""
    longest = 1
    for row in range(len(ptr) - 1):
        own = grams * (ptr[row + 1] - ptr[row])
        longest = own if own > longest else longest
    return longest, grams * (ptr[-1] - ptr[0])


@kernel_part
def _alphabet(points):
    """The code points that occur, ascending, and what it takes to find the number of one.

    Also says of each whether it gives pairs, and how many grams a code point can end. Code point 0
    is always among them: a pair is then a triple that begins with number 0, as its key is.
    """
    highest = np.uint32(0)
    for i in range(len(points)):
        highest = points[i] if points[i] > highest else highest
    seen = np.zeros((highest >> np.uint32(6)) + 1, np.uint64)
    seen[0] = 1
    for i in range(len(points)):
        seen[points[i] >> np.uint32(6)] |= np.uint64(1) << np.uint64(points[i] & np.uint32(63))
    before = np.zeros(len(seen) + 1, np.int64)
    for word in range(len(seen)):
        before[word + 1] = before[word] + popcount(seen[word])
    letters, in_pairs = np.empty(before[-1], np.uint64), np.zeros(before[-1], np.bool_)
    filled, grams = 0, 1
    for word in range(len(seen)):
        bits = seen[word]
        while bits != 0:
            point = 64 * word + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            letters[filled] = point
            for low, high in CJK_RANGES:
                if low <= point <= high:
                    in_pairs[filled], grams = True, 2
            filled += 1
    return seen, before, letters, in_pairs, grams


@kernel_part
def _letter_bits(letters):
    """Bits of a letter's number, and of the digits that it is sorted by, of which it has a few."""
    width = 1
    while (1 << width) < letters:
        width += 1
    digits = (width + _WIDEST_DIGIT - 1) // _WIDEST_DIGIT
    digit = (width + digits - 1) // digits
    return digits * digit, digit


@kernel_part
def _number_triples(points, seen, before, in_pairs, width, values):
    """Write the triples and CJK pairs of a text as numbers of its letters; return how many."""
    shift, last = np.uint64(width), np.uint64((1 << 2 * width) - 1)
    held, two, paired = 0, np.uint64(0), False
    for i in range(len(points)):
        below = (np.uint64(1) << np.uint64(points[i] & np.uint32(63))) - np.uint64(1)
        word = points[i] >> np.uint32(6)
        number = before[word] + popcount(seen[word] & below)
        three = two << shift | np.uint64(number)
        two = three & last
        if i >= 2:
            values[held] = three
            held += 1
        if paired and in_pairs[number]:
            values[held] = two
            held += 1
        paired = in_pairs[number]
    return held


@kernel_part
def _spell(keys, letters, width):
    """Replace the numbers of letters by their code points."""
    one, two = np.uint64(width), np.uint64(2 * width)
    last, bits = np.uint64((1 << width) - 1), np.uint64(_POINT_BITS)
    for i in range(len(keys)):
        pair = letters[keys[i] >> two] << bits | letters[keys[i] >> one & last]
        keys[i] = pair << bits | letters[keys[i] & last]


@kernel_part
def _hash(points, values):
    """Write the keys of a text's 4-grams; return how many."""
    held = max(len(points) - 3, 0)
    second, third, fourth = points[1:], points[2:], points[3:]
    bits = np.uint64(_POINT_BITS)
    for i in range(held):
        two = np.uint64(points[i]) << bits | np.uint64(second[i])
        three = _mix(two << bits | np.uint64(third[i]))
        values[i] = _mix(three + np.uint64(fourth[i]) * HASH_STEP)
    return held


@kernel_part
def _mix(key):
    key = (key ^ (key >> np.uint64(30))) * MIX_1
    key = (key ^ (key >> np.uint64(27))) * MIX_2
    return key ^ (key >> np.uint64(31))


@kernel_part
def _sort_by_digits(work, side, held, low, passes, digit, starts):
    """Radix sort of one row of `work`, `side`, by its bits from `low` on, `digit` of them a pass.

    Returns the row that holds the values then; digits that all have in common are passed over.
    """
    last = np.uint64((1 << digit) - 1)
    starts[:passes, : 1 << digit] = 0
    for i in range(held):
        value = work[side, i] >> np.uint64(low)
        for step in range(passes):
            starts[step, value & last] += 1
            value >>= np.uint64(digit)
    for step in range(passes):
        values, spare, ends = work[side], work[1 - side], starts[step]
        shift = np.uint64(low + step * digit)
        if ends[values[0] >> shift & last] == held:
            continue
        at = 0
        for number in range(1 << digit):
            count = ends[number]
            ends[number] = at
            at += count
        for i in range(held):
            place = values[i] >> shift & last
            spare[ends[place]] = values[i]
            ends[place] += 1
        side = 1 - side
    return side


@kernel_part
def _put_in_order(values, held):
    """Insertion sort; False, with the work half done, when it takes too many steps."""
    patience = _PATIENCE * held + _FEW * _FEW
    for i in range(1, held):
        value = values[i]
        at = i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
        patience -= i - at
        if patience < 0:
            return False
    return True


@kernel_part
def _write_distinct(values, held, keys, counts, filled):
    """Append the distinct ones of sorted values and how often each occurs; return the new end."""
    previous, run = ~values[0], 0
    for i in range(held):
        is_new = np.int64(values[i] != previous)  # no branch: it would be guessed wrongly
        previous = values[i]
        run = min(run * (1 - is_new) + 1, MAX_COUNT)
        filled += is_new
        keys[filled - 1] = previous
        counts[filled - 1] = run
    return filled

"""Naive twins: every kernel again, in plain Python, as its docstring says it and no faster.

A kernel and its twin are compared exactly, ties included. Nothing here may call the code under
test, and nothing here is clever.
"""

from __future__ import annotations

import math

# --- dense: top-k, int8 scan, sign scans ---------------------------------------------------------


def best_rows(scores: list[int], rows: list[int], k: int) -> list[tuple[int, int]]:
    """Return the ``k`` best (row, score) of some rows: score descending, then row ascending."""
    ordered = sorted(rows, key=lambda row: (-scores[row], row))
    return [(row, scores[row]) for row in ordered[:k]]


def score_sums(scores: list[int], rows: list[int], shift: int) -> tuple[int, int, int]:
    """Return count, sum and sum of squares of ``score >> shift`` over some rows."""
    shifted = [scores[row] >> shift for row in rows]
    return len(shifted), sum(shifted), sum(value * value for value in shifted)


def int8_scores(codes: list[list[int]], planes: list[list[int]]) -> list[int]:
    """Return ``128 * (row . high) + row . low`` of every row."""
    query = [128 * high + low for high, low in zip(*planes, strict=True)]
    return [sum(c * q for c, q in zip(row, query, strict=True)) for row in codes]


def hamming_scores(words: list[list[int]], query: list[int]) -> list[int]:
    """Return minus the number of differing bits of every row."""
    return [-sum((a ^ b).bit_count() for a, b in zip(row, query, strict=True)) for row in words]


def plane_scores(words: list[list[int]], planes: list[list[int]]) -> list[int]:
    """Return the sum of the query's 4-bit values over the set bits of every row."""
    values = []
    for position in range(64 * len(planes[0])):
        bits = [plane[position // 64] >> position % 64 & 1 for plane in planes]
        values.append(bits[0] + 2 * bits[1] + 4 * bits[2] - 8 * bits[3])
    return [
        sum(value for i, value in enumerate(values) if row[i // 64] >> i % 64 & 1) for row in words
    ]


def two_phase_rows(
    first: list[int], second: list[int], rows: list[int], shortlist: int, k: int
) -> list[tuple[int, int]]:
    """Return the best rows by ``second`` among the best ``shortlist`` rows by ``first``."""
    kept = [row for row, _ in best_rows(first, rows, shortlist)]
    return best_rows(second, kept, k)


# --- grams: index, overlap, document frequency ---------------------------------------------------


def gram_lists(rows):
    """{(gram, level): rows with at least `level` occurrences}, from one {gram: count} per row."""
    lists = {}
    for number, row in enumerate(rows):
        for gram, count in row.items():
            for level in range(1, min(count, 3) + 1):
                lists.setdefault((gram, level), []).append(number)
    return lists


def tail_matches(rows, keys, admitted):
    """(row, which key, count clipped at 3) of every place where an admitted row has a key."""
    return [
        (number, keys.index(gram), min(row[gram], 3))
        for number, row in enumerate(rows)
        if admitted[number]
        for gram in sorted(row)
        if gram in keys
    ]


def overlap_top_k(members, weights, factor, admitted, k):
    """Best keys (best first), (count, total, total of squares), and every admitted row's score."""
    scores = []
    for row in range(len(admitted)):
        if admitted[row]:
            overlap = 0
            for rows, weight in zip(members, weights, strict=True):
                if row in rows:
                    overlap += int(weight)
            scores.append((overlap * int(factor[row]), row))
    keys = [score * 2**31 + 2**31 - 1 - row for score, row in scores if score > 0]
    steps = [score // 2**11 for score, _ in scores]
    stats = len(scores), sum(steps), sum(step * step for step in steps)
    return sorted(keys, reverse=True)[:k], stats, [score for score, _ in scores]


def is_cjk(char):
    """Whether a character stands in a script that writes no spaces and says much in two letters."""
    blocks = [
        ("\u3005", "\u3007"),
        ("\u3040", "\u30ff"),
        ("\u3400", "\u4dbf"),
        ("\u4e00", "\u9fff"),
        ("\uf900", "\ufaff"),
        ("\U00020000", "\U000323af"),
    ]
    return any(first <= char <= last for first, last in blocks)


def gram_keys(text, size):
    """{key: occurrences, at most 3} of a normalised text; size 3 with the pairs of CJK runs."""
    grams = [text[start : start + size] for start in range(len(text) - size + 1)]
    if size == 3:
        pairs = [text[start : start + 2] for start in range(len(text) - 1)]
        grams += [pair for pair in pairs if is_cjk(pair[0]) and is_cjk(pair[1])]
    found = {}
    for gram in grams:
        key = hashed_gram(gram) if size == 4 else packed_gram(gram)
        found[key] = min(found.get(key, 0) + 1, 3)
    return found


def packed_gram(gram):
    """Code points side by side, 21 bits each."""
    key = 0
    for char in gram:
        key = key * 2**21 + ord(char)
    return key


def hashed_gram(gram):
    """Three code points mixed to 64 bits, the fourth added, and mixed again."""
    first = splitmix(packed_gram(gram[:3]))
    return splitmix((first + ord(gram[3]) * 0x9E3779B97F4A7C15) % 2**64)


def splitmix(value):
    """The finaliser of splitmix64."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


# --- fusion, priors, replay ----------------------------------------------------------------------


def rrf_score(ranks, weights, rrf_k, prior):
    """Fused score of one candidate from its rank in each arm (0 = absent)."""
    if prior == 0:
        return -math.inf
    total = 0.0
    for rank, weight in zip(ranks, weights, strict=True):
        if rank > 0:
            total += weight * (1.0 / (rrf_k + rank)) * prior
    return total


def z_fusion_score(z_scores, weights, prior, prior_weight):
    """Fused score of one candidate from its z-score in each arm."""
    if prior == 0:
        return -math.inf
    total = 0.0
    for z, weight in zip(z_scores, weights, strict=True):
        total += weight * z
    return total + prior_weight * (prior - 1.0)


def row_prior(
    positions, ages, distances, window, reach, far_weight, far_count, half_life, floor, tail
):
    """p(row) of every row."""
    priors = []
    for position, age, distance in zip(positions, ages, distances, strict=True):
        earlier_far = sum(1 for other in positions if window <= other < position)
        if position < window:
            prior = 1.0
        elif position < reach and (far_count < 0 or earlier_far < far_count):
            prior = far_weight
        else:
            prior = 0.0
        if half_life != math.inf and not math.isnan(age):
            prior *= floor + (1 - floor) * 2.0 ** max(-max(age, 0.0) / half_life, -500.0)
        if tail != math.inf and not math.isnan(distance):
            prior *= math.exp(max(-max(distance, 0.0) / tail, -500.0 * math.log(2)))
        priors.append(prior)
    return priors


def replayed_ranks(z_scores, ranks, gold, by_rrf, weights, rrf_k, depth):
    """Ranks of one query's relevant rows under one setting, by a stable sort.

    `z_scores` and `ranks` hold one tuple per row: its value in each arm.
    """
    candidates, fused = [], {}
    for row, (row_scores, row_ranks) in enumerate(zip(z_scores, ranks, strict=True)):
        near = [rank if 1 <= rank <= depth else 0 for rank in row_ranks]
        if any(rank and weight > 0 for rank, weight in zip(near, weights, strict=True)):
            candidates.append(row)
            if by_rrf:
                fused[row] = rrf_score(near, weights, rrf_k, 1.0)
            else:
                fused[row] = z_fusion_score(row_scores, weights, 1.0, 0.0)
    candidates.sort(key=lambda row: -fused[row])
    return [candidates.index(row) + 1 if row in fused else 0 for row in gold]


# --- signals of calibrated fusion, structure -----------------------------------------------------


def best_of_blocks(block_ptr, block_scores, admitted_blocks, own):
    """Each row's best admitted block, or the row's own score."""
    found = []
    for row, of_row in enumerate(own):
        blocks = [b for b in range(block_ptr[row], block_ptr[row + 1]) if admitted_blocks[b]]
        found.append(max((block_scores[b] for b in blocks), default=of_row))
    return found


def whole_signals(dense, gram3, gram4):
    """The seven signals of each row that is its own one block."""
    return [[d, d, g3, g4, g3, g4, 0] for d, g3, g4 in zip(dense, gram3, gram4, strict=True)]


def signal_moments(signals, shifts, admitted):
    """Count, sums and sums of products of the shifted signals over the admitted rows."""
    rows = [row for row, seen in enumerate(admitted) if seen]
    steps = [
        [signal[row] >> shift for row in rows]
        for signal, shift in zip(signals, shifts, strict=True)
    ]
    products = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in steps] for a in steps]
    return len(rows), [sum(of_signal) for of_signal in steps], products


def linear_scores(signals, weights, bias, admitted):
    """Bias plus each weighted signal, one after the other; -inf for rows that are not admitted."""
    scores = []
    for row, seen in enumerate(admitted):
        total = bias
        for signal, weight in zip(signals, weights, strict=True):
            total += weight * float(signal[row])
        scores.append(total if seen else -math.inf)
    return scores


def calibrated_evidence(signals, parameters):
    """Dense, gram and fused evidence of every row, by standardising again and again.

    `signals` holds seven lists: dense row and block, 3-gram row, 4-gram row, 3-gram block, 4-gram
    block, and 4096 times the logarithm of the number of blocks.
    """
    dense_row, dense_block, row3, row4, block3, block4, ln_blocks = signals
    penalty, dense_share, share3, share4, gram_share, dense_weight, gram_weight, given = parameters
    price = [penalty * value / 4096 for value in ln_blocks]

    def priced(scores):
        """Minus what blocks cost; rows that all show the same pay nothing."""
        if len(set(scores)) == 1:
            return [0.0] * len(scores)
        return standardised([z - p for z, p in zip(scores, price, strict=True)])

    best = priced(standardised(dense_block))
    whole = standardised(dense_row)
    dense = standardised([b + dense_share * w for b, w in zip(best, whole, strict=True)])

    def both(three, four):
        pairs = zip(standardised(three), standardised(four), strict=True)
        return standardised([share3 * a + share4 * b for a, b in pairs])

    pairs = zip(both(block3, block4), both(row3, row4), strict=True)
    gram = priced(standardised([b + gram_share * t for b, t in pairs]))
    rho = 0.0
    if given:
        rho = added(d * g for d, g in zip(dense, gram, strict=True)) / len(dense)
        rho = min(max(rho, 0.0), 0.9)
    fused = [
        dense_weight * d + gram_weight * (g - rho * d) for d, g in zip(dense, gram, strict=True)
    ]
    return dense, gram, fused


def added(values):
    """Plain float sum, left to right; the built-in one compensates since Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def standardised(values):
    """(value - mean) / deviation; 0 where all values are the same."""
    if len(set(values)) == 1:
        return [0.0] * len(values)
    mean = added(values) / len(values)
    variance = added((value - mean) ** 2 for value in values) / len(values)
    return [(value - mean) / math.sqrt(variance) for value in values]


def top_rows(scores, k):
    """The k best rows: score descending, then row ascending."""
    rows = [row for row, score in enumerate(scores) if score > -math.inf]
    return sorted(rows, key=lambda row: (-scores[row], row))[: max(k, 0)]


def structure_terms(
    fused,
    candidates,
    admitted,
    before,
    after,
    is_question,
    speaker_named,
    context,
    weights,
):
    """(neighbours, question, speaker) of every candidate, from lists."""

    def lent(row):
        return max(fused[row] - weights.strong, 0.0) if row >= 0 and admitted[row] else 0.0

    def step(neighbour, row):
        return neighbour[row] if row >= 0 else -1

    terms = []
    for row in candidates:
        one_before, one_after = before[row], after[row]
        near = lent(one_before) + lent(one_after)
        next_near = lent(step(before, one_before)) + lent(step(after, one_after))
        neighbours = context * (weights.near * near + weights.next_near * next_near)
        question = context * weights.question if is_question[row] else 0.0
        speaker = weights.speaker if speaker_named[row] else 0.0
        terms.append((neighbours, question, speaker))
    return terms


def clue_terms(scores, keys, weights, context):
    """The term of every candidate under every clue, from lists."""
    found = []
    for of_clue, weight in zip(keys, weights, strict=True):
        terms = []
        for key in of_clue:
            group = [score for score, other in zip(scores, of_clue, strict=True) if other == key]
            best = sorted(group, reverse=True)[:3]
            tells = key >= 0 and len(set(of_clue)) > 1
            terms.append(context * (weight * (added(best) / len(best))) if tells else 0.0)
        found.append(terms)
    return found


def replayed_signal_ranks(signals, rows, gold, forms, biases, depth):
    """Ranks of one query's relevant rows under one setting of linear lists, by sorting.

    `signals` holds one list per signal; `forms` the weights of each list, and last of the fusion.
    """
    scored = [
        linear_scores(signals, form, bias, [True] * len(rows))
        for form, bias in zip(forms, biases, strict=True)
    ]
    near = set()
    for form, scores in zip(forms[:-1], scored[:-1], strict=True):
        if any(form):
            order = sorted(range(len(rows)), key=lambda p: (-scores[p], rows[p]))
            near.update(order[:depth])
    candidates = sorted(near, key=lambda p: (-scored[-1][p], p))
    return [candidates.index(p) + 1 if p in near else 0 for p in gold]


# --- quotes --------------------------------------------------------------------------------------


def shared_grams(query, texts):
    """Evidence of grams in each of some texts; all are normalised.

    Each distinct gram of size 3 of the query, pairs of CJK runs among them, counts more the fewer
    of the texts hold it.
    """
    grams = {query[at : at + 3] for at in range(len(query) - 2)}
    pairs = {query[at : at + 2] for at in range(len(query) - 1)}
    grams |= {pair for pair in pairs if is_cjk(pair[0]) and is_cjk(pair[1])}
    evidence = [0] * len(texts)
    for gram in grams:
        held = [place for place, text in enumerate(texts) if gram in text]
        for place in held:
            evidence[place] += round(1024 * math.log((len(texts) + 1) / (len(held) + 0.5)))
    return evidence


def quoted_order(grams, cosines):
    """Blocks by z-score of the cosine plus half that of the grams, the first of equals first."""
    scores = [0.0] * len(grams)
    for values, weight in ((cosines, 1.0), (grams, 0.5 if cosines else 1.0)):
        if not values or len(set(values)) == 1:
            continue
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((x - mean) * (x - mean) for x in values) / len(values))
        scores = [
            s + weight * ((x - mean) / deviation) for s, x in zip(scores, values, strict=True)
        ]
    return sorted(range(len(scores)), key=lambda block: (-scores[block], block))


def filled(text, passages, max_chars):
    """Ranges of the passages taken until one does not fit, joiners of 3 counted; and that one."""
    taken = set()
    for start, end in passages:
        more = taken | set(range(start, end))
        for at in range(min(more), max(more)):  # white space alone leaves no gap
            if at not in more:
                stop = min(after for after in more if after > at)
                if at - 1 in more and text[at:stop].isspace():
                    more |= set(range(at, stop))
        gaps = sum(at + 1 not in more for at in more) - 1
        if len(more) + 3 * gaps > max_chars:
            if not taken:
                return [(start, start + max_chars)], None
            return ranges_of(taken), (start, end)
        taken = more
    return ranges_of(taken), None


def ranges_of(places):
    """Ranges of some places."""
    starts = sorted(at for at in places if at - 1 not in places)
    ends = sorted(at + 1 for at in places if at + 1 not in places)
    return list(zip(starts, ends, strict=True))

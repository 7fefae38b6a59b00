"""The two windows of reconstruct: count and budget, and the settings that they come from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.errors import UsageError
from cpersona_jit.exits.reconstruct.request import read_request
from cpersona_jit.exits.reconstruct.sequence import longest_prefix, quote_sequence
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.exits.reconstruct.window import budget_window, count_window, default_budget

DEFAULT = ReconstructSettings()


def test_the_contract_names_these_defaults() -> None:
    assert DEFAULT.default_count == 1
    assert DEFAULT.max_count == 10
    assert (DEFAULT.top_k, DEFAULT.max_hops, DEFAULT.max_evidence) == (20, 2, 40)
    assert (DEFAULT.default_budget, DEFAULT.max_budget) == (4_000, 20_000)
    assert [DEFAULT.head_chars(position) for position in range(7)] == [800] * 5 + [400] * 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"default_count": 11},
            "default_count is 11; allowed: a whole number from 0 to max_count, which is 10",
        ),
        ({"forced_count": 4, "max_count": 3}, "forced_count is 4; .* max_count, which is 3"),
        ({"default_budget": 20_001}, "default_budget is 20001; .* max_budget, which is 20000"),
        ({"forced_budget": 499}, r"forced_budget is 499; .* from 500 \(one preview\)"),
        ({"default_budget": 499}, r"default_budget is 499; .* from 500 \(one preview\)"),
        (
            {"max_budget": 700, "default_budget": 600},
            r"max_budget is 700; allowed: at least one head quote \(800 characters\)",
        ),
        ({"default_count": True}, "default_count is True"),
        ({"default_count": None}, "default_count is None"),
        ({"top_k": 0}, "top_k is 0; allowed: a whole number from 1 to 10000"),
        ({"max_hops": 6}, "max_hops is 6"),
        ({"max_evidence": 0}, "max_evidence is 0"),
        ({"adjacency_seconds": -1}, "adjacency_seconds is -1"),
        ({"quote_chars": "800"}, "quote_chars is '800'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(wrong: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ReconstructSettings(**wrong)


@pytest.mark.parametrize(
    ("policy", "requested", "expected"),
    [
        ({}, None, (1, "default", False, "")),
        ({}, 3, (3, "requested", False, "")),
        ({}, 0, (0, "requested", False, "")),
        ({}, 11, (10, "requested", True, "max_count")),
        ({"forced_count": 2}, 7, (2, "forced", False, "forced")),
        ({"forced_count": 2}, None, (2, "forced", False, "forced")),
        ({"forced_count": 0}, 5, (0, "forced", False, "forced")),
        ({"default_count": 4}, None, (4, "default", False, "")),
        ({"max_count": 2}, 5, (2, "requested", True, "max_count")),
    ],
)
def test_the_count_policy(policy: dict, requested: int | None, expected: tuple) -> None:
    window = count_window(requested, ReconstructSettings(**policy))
    assert window == (requested, *expected)


@pytest.mark.parametrize(
    ("policy", "requested", "count", "reserved", "expected"),
    [
        ({}, None, 1, [], (4_000, "default", False, "")),
        ({}, None, 5, [], (4_000, "default", False, "")),
        ({}, None, 6, [], (4_400, "default", False, "")),
        ({}, None, 10, [], (6_000, "default", False, "")),
        ({}, None, 1, [1, 2], (5_600, "default", False, "")),
        ({}, None, 10, [10], (6_400, "default", False, "")),
        ({}, None, 10, [3], (6_800, "default", False, "")),
        ({}, 5_000, 10, [10, 11], (5_000, "requested", False, "")),
        ({}, 20_001, 1, [], (20_000, "requested", True, "max_budget")),
        ({}, 799, 1, [], (800, "requested", True, "one_quote")),
        ({}, 0, 1, [], (800, "requested", True, "one_quote")),
        ({"forced_budget": 900}, 5_000, 9, [9], (900, "forced", False, "forced")),
        ({"forced_budget": 500}, None, 1, [], (800, "forced", True, "one_quote")),
        ({"quote_chars": 0}, 0, 1, [], (500, "requested", True, "one_quote")),
        ({"quote_chars": 0}, None, 10, [], (5_000, "default", False, "")),
        ({"max_budget": 5_000}, None, 10, [], (5_000, "default", True, "max_budget")),
    ],
)
def test_the_budget_policy(
    policy: dict, requested: int | None, count: int, reserved: list[int], expected: tuple
) -> None:
    window = budget_window(requested, count, reserved, ReconstructSettings(**policy))
    assert window == (requested, *expected)


@given(st.integers(0, 10), st.lists(st.integers(0, 14), max_size=4))
def test_a_default_budget_never_cuts_a_head(count: int, reserved: list[int]) -> None:
    budget = default_budget(count, reserved, DEFAULT)
    assert budget >= sum(map(DEFAULT.head_chars, [*range(count), *reserved]))
    assert budget >= DEFAULT.default_budget


def asked(policy: ReconstructSettings = DEFAULT, **given):
    nothing = dict.fromkeys(("count", "budget", "top_k", "max_hops", "max_evidence"))
    return read_request(policy, 1_000, **(nothing | given))


def test_what_a_call_leaves_out_is_the_policys() -> None:
    assert asked() == (None, None, 20, 20, 2, 40)
    assert asked(ReconstructSettings(top_k=7, max_hops=0)) == (None, None, 7, 7, 0, 40)
    assert asked(count=3, budget=900, top_k=5, max_hops=1, max_evidence=2) == (3, 900, 5, 5, 1, 2)


def test_candidates_are_bounded_by_the_search() -> None:
    assert asked(top_k=1_001)[2:4] == (1_001, 1_000)
    assert asked(top_k=10**9)[3] == 1_000


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"count": -1}, "count is -1; allowed: a whole number from 0"),
        ({"count": True}, "count is True"),
        ({"count": "3"}, "count is '3'"),
        ({"count": 1.0}, "count is 1.0"),
        ({"budget": -5}, "budget is -5; allowed: a whole number from 0"),
        ({"top_k": 0}, "top_k is 0; allowed: a whole number from 1"),
        ({"max_hops": 6}, "max_hops is 6; allowed: a whole number from 0 to 5"),
        ({"max_hops": -1}, "max_hops is -1"),
        ({"max_evidence": 0}, "max_evidence is 0; allowed: a whole number from 1 to 1000"),
    ],
)
def test_a_mistaken_call_names_field_value_and_what_is_allowed(given_: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        asked(**given_)


# -- the one sequence ------------------------------------------------------------------------------


def test_heads_come_first_then_each_items_next_claim() -> None:
    pieces = [tuple(piece) for piece in quote_sequence([2, 1, 3])]
    assert pieces == [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (2, 2)]
    assert list(quote_sequence([])) == []


sizes = st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), max_size=6)


def prefix(lengths: list[list[int]], budget: int):
    pieces = quote_sequence([len(claims) for claims in lengths])
    return longest_prefix(pieces, lambda piece: lengths[piece.item][piece.claim], int, budget)


@given(sizes, st.integers(0, 400), st.integers(0, 400))
def test_a_prefix_is_the_longest_that_fits(lengths: list[list[int]], low: int, more: int) -> None:
    whole = prefix(lengths, 10**6)
    assert not whole.cut
    assert whole.used == sum(map(sum, lengths))
    short, longer = prefix(lengths, low), prefix(lengths, low + more)
    for part, budget in ((short, low), (longer, low + more)):
        assert part.pieces == whole.pieces[: len(part.pieces)]
        assert part.used == sum(size for _, size in part.pieces) <= budget
        assert part.cut == (len(part.pieces) < len(whole.pieces))
        if part.cut:
            assert part.used + whole.pieces[len(part.pieces)][1] > budget
    assert short.pieces == longer.pieces[: len(short.pieces)]


def test_nothing_behind_the_first_misfit_is_quoted() -> None:
    made = []

    def quote(piece):
        made.append(tuple(piece))
        return 10

    assert longest_prefix(quote_sequence([1, 1, 5]), quote, int, 15).cut
    assert made == [(0, 0), (1, 0)]

"""Which memories a caller has already, and recalls without them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpersona_jit.server.exclusion import MIN_PREFIX_CHARS, Exclusion, recall_without

LONG = "Mia moved to Lisbon in March and works at the aquarium."
長い = "ユキは毎週土曜日に京都で茶道を習っていて、先生は宇治から来ています。"


@pytest.mark.parametrize("stored", [LONG, 長い])
def test_prefixes_count_both_ways(stored: str) -> None:
    assert len(stored) > MIN_PREFIX_CHARS
    assert Exclusion([stored[:MIN_PREFIX_CHARS]]).excludes(stored)  # a preview of the memory
    assert Exclusion([stored + " And more."]).excludes(stored)  # the caller has more than it
    assert Exclusion([stored]).excludes(stored)
    assert not Exclusion([stored[1:]]).excludes(stored)
    assert not Exclusion([stored[:-1] + "#"]).excludes(stored)


@pytest.mark.parametrize("stored", [LONG, 長い])
def test_a_short_text_excludes_only_its_equal(stored: str) -> None:
    short = stored[: MIN_PREFIX_CHARS - 1].strip()
    assert not Exclusion([short]).excludes(stored)
    assert Exclusion([short]).excludes(short)
    assert not Exclusion(["Yes.", "", " "]).excludes("Yes. I think so.")
    assert not Exclusion(["", "  "]).excludes(stored)


def test_texts_are_compared_in_normal_form() -> None:
    assert Exclusion(["  ｍｉａ MOVED\n"]).excludes("Mia moved")
    assert Exclusion(["STRASSE"]).excludes("Straße")
    assert Exclusion(["ｶﾌｪ"]).excludes("カフェ")
    assert Exclusion([LONG.upper()[:40]]).excludes(" " + LONG)
    assert not Exclusion(["Mia  moved"]).excludes("Mia moved")


def test_a_preview_that_ends_inside_a_letter_stands_for_the_whole() -> None:
    stored = "か" * 40 + "e\u0301" * 20
    for at in range(MIN_PREFIX_CHARS, len(stored)):
        assert Exclusion([stored[:at]]).excludes(stored)
    assert Exclusion(["か" * 40 + "\u3099"]).excludes("か" * 40)


@given(st.text(min_size=1, max_size=80), st.integers(MIN_PREFIX_CHARS, 60))
def test_any_preview_of_enough_length_is_recognised(stored: str, at: int) -> None:
    preview = stored[:at]
    if len(Exclusion([preview])._prefixes):
        assert Exclusion([preview]).excludes(stored)
    assert not Exclusion([]).excludes(stored)


def recall_of(contents: list[str], seats: list[str]):
    """A recall over contents in one order, whose calls are written down."""
    asked: list[int] = []

    def recall(limit: int):
        asked.append(limit)
        rows = [SimpleNamespace(content=text, admission="") for text in contents[:limit]]
        rows += [SimpleNamespace(content=text, admission="reservation") for text in seats]
        return SimpleNamespace(rows=rows), f"quoter {limit}"

    return recall, asked


@given(
    st.lists(st.booleans(), max_size=40),
    st.integers(0, 6),
)
def test_excluded_rows_take_no_place(excluded: list[bool], limit: int) -> None:
    contents = [f"{number} {'out' if out else 'in'}" for number, out in enumerate(excluded)]
    exclusion = Exclusion([text for text in contents if text.endswith("out")] + ["seat out"])
    recall, asked = recall_of(contents, ["seat out", "seat in"])
    _, rows, quoter = recall_without(recall, limit, exclusion)
    wanted = [text for text in contents if text.endswith("in")][:limit]
    assert [row.content for row in rows] == [*wanted, "seat in"]
    assert quoter == f"quoter {asked[-1]}"
    assert len(asked) <= 4
    if not any(excluded):
        assert asked == [limit]

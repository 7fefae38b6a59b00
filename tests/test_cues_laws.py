"""What holds for every text: no error, ordered periods, no future, no cue out of nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cue_cases import ASKED_US, EPOCH, day_of, examples, microseconds
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cpersona_jit.cues.chart import MOST_FOUND, find_times
from cpersona_jit.cues.english.language import ENGLISH
from cpersona_jit.cues.form import compile_form
from cpersona_jit.cues.japanese.language import JAPANESE
from cpersona_jit.cues.normalise import normalise
from cpersona_jit.cues.parse import LONGEST_QUESTION, parse_time_cue
from cpersona_jit.cues.resolve import Context
from cpersona_jit.cues.time_cue import CERTAINTIES, US_PER_DAY

# Words of the tables in any order: far more of them meet than in random text.
TABLE_WORDS = sorted(
    {word for form in ENGLISH.forms for text, _ in form.examples for word in text.split()}
)
TABLE_TEXT = "".join(sorted({c for f in JAPANESE.forms for text, _ in f.examples for c in text}))
NOT_TIMES = [
    *(
        "cat",
        "blue",
        "the",
        "a",
        "my",
        "which",
        "recipe",
        "did",
        "do",
        "like",
        "about",
        "and",
        "of",
    ),
    *("猫", "青い", "好きな", "料理", "は", "何", "の", "で", "を", "食べた", "話した", "ですか"),
    *("\x00", "\ud800", "😀", "…", "?", "？", "(", "」", "'", '"', "-", "/"),
]

anything = st.one_of(
    st.text(st.characters(codec=None, categories=None), max_size=60),
    st.lists(st.sampled_from(TABLE_WORDS), max_size=14).map(" ".join),
    st.text(st.sampled_from(TABLE_TEXT), max_size=24),
    st.lists(st.sampled_from([*TABLE_WORDS, *TABLE_TEXT, *NOT_TIMES]), max_size=16).map("".join),
)
moments = st.datetimes(datetime(1902, 1, 1), datetime(2200, 1, 1)).map(
    lambda moment: microseconds(moment.replace(tzinfo=UTC))
)
SMALL = settings(max_examples=250, deadline=None)


@SMALL
@given(anything, st.one_of(st.none(), moments))
@example("What did I say on \ud800 May 3,\x00 2023?", None)
@example("30日前29日前から2月30日", 0)
@example("a" * (LONGEST_QUESTION + 1), None)
def test_a_cue_is_well_formed(text: str, reference_us: int | None) -> None:
    cue = parse_time_cue(text, reference_us)
    if cue is None:
        return
    assert cue.certainty in CERTAINTIES
    assert cue.words.strip() and cue.words in text
    assert cue.form.partition(".")[0] in ("en", "ja")
    if cue.session is not None:
        assert (cue.start_us, cue.end_us) == (None, None)
        assert cue.session.n >= 1 and (cue.session.to is None or cue.session.to >= cue.session.n)
        return
    assert cue.start_us is not None and cue.start_us % US_PER_DAY == 0
    assert reference_us is None or cue.end_us is not None
    if cue.end_us is not None:
        assert cue.start_us < cue.end_us and (cue.end_us + 1) % US_PER_DAY == 0
        if reference_us is not None:
            assert day_of(cue.end_us) <= day_of(reference_us)


@SMALL
@given(anything, moments)
def test_the_same_question_has_the_same_cue(text: str, reference_us: int) -> None:
    assert parse_time_cue(text, reference_us) == parse_time_cue(text, reference_us)


@SMALL
@given(st.lists(st.sampled_from(NOT_TIMES), max_size=20), st.sampled_from(["", " "]))
def test_without_a_digit_or_a_time_word_there_is_no_cue(words: list[str], blank: str) -> None:
    assert parse_time_cue(blank.join(words), ASKED_US) is None


@SMALL
@given(
    st.sampled_from([*examples(ENGLISH), *examples(JAPANESE)]),
    st.sampled_from([" ", "  ", "\t", "\n"]),
)
def test_blanks_change_nothing(case: tuple[str, str, str], blank: str) -> None:
    _, question, _ = case
    before = parse_time_cue(question, ASKED_US)
    after = parse_time_cue(f"{blank}{question.replace(' ', blank)}{blank}", ASKED_US)
    assert (before.start_us, before.end_us, before.session) == (
        after.start_us,
        after.end_us,
        after.session,
    )


@SMALL
@given(st.integers(0, 400_000), st.integers(1, 60))
def test_days_ago_are_counted_from_any_day(hours: int, n: int) -> None:
    asked = EPOCH + timedelta(hours=hours)
    for question in (f"What did I eat {n} days ago?", f"{n}日前に何を食べた?"):
        cue = parse_time_cue(question, microseconds(asked))
        assert day_of(cue.start_us) == day_of(cue.end_us) == (asked - timedelta(days=n)).date()


@pytest.mark.parametrize("reference_us", [-(10**17), 10**18, -(10**25)])
def test_a_reference_outside_the_calendar_is_no_error(reference_us: int) -> None:
    assert parse_time_cue("What did I say last week?", reference_us) is None


WALLS = [
    *(
        "a",
        " ",
        "1",
        "in the ",
        "May ",
        "last ",
        "3月",
        "月曜から",
        "一",
        "last Friday ",
        '"',
        "'a ",
    ),
    *(
        "1/2 ",
        "how many days since ",
        "twenty-",
        "the 1st ",
        "is x planned ",
        "2023-",
        "前の",
        "「",
    ),
    *("March 1-", "from 3 to ", "何日前", "session 1 to ", "セッション1から", "a\u0301", "(", "\\"),
]


@pytest.mark.parametrize("brick", WALLS)
def test_a_wall_of_words_costs_linear_work(brick: str) -> None:
    """Sixteen thousand characters, past the cap: the forms themselves do not run away."""
    text = normalise((brick * 16_000)[:16_000]).text
    for language in (ENGLISH, JAPANESE):
        forms = [compile_form(form, language) for form in language.forms]
        found = find_times(text, forms, Context(EPOCH + timedelta(microseconds=ASKED_US)))
        assert len(found) <= MOST_FOUND

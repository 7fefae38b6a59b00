"""The sieve leaves out only expressions that cannot match, on cases and on made-up texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpersona_jit.cues.normalise import normalise
from cpersona_jit.cues.parse import _parser
from cpersona_jit.cues.sieve import Sieve, members, needed_letters

LANGUAGES = ("english", "japanese")
RULES = [rule for name in LANGUAGES for rule in (*_parser(name).forms, *_parser(name).guards)]
QUESTIONS = [
    question if isinstance(question, str) else question[0]
    for name in LANGUAGES
    for kind in (_parser(name).language.forms, _parser(name).language.guards)
    for rule in kind
    for question in (*rule.examples, *rule.counter_examples)
]
CUT = st.tuples(st.sampled_from(QUESTIONS), st.integers(0, 60), st.integers(0, 60))
TEXTS = st.lists(
    CUT.map(lambda cut: cut[0][cut[1] : cut[1] + cut[2]]) | st.text(max_size=4), max_size=4
).map("".join)


def assert_none_is_missed(text: str) -> None:
    for name in LANGUAGES:
        parser = _parser(name)
        passing = set(members(parser.sieve.passing(text)))
        for number, form in enumerate(parser.forms):
            if all(segment.search(text) for segment in form.segments):
                assert number in passing, form.form.id
        for number, guard in enumerate(parser.guards, len(parser.forms)):
            around = guard.guard.where == "around"
            if not around and guard.holds(text, len(text), len(text)):
                assert number in passing, guard.guard.id


@pytest.mark.parametrize("change", [str, str.upper, str.title])
def test_no_rule_that_matches_a_case_is_left_out(change):
    for question in QUESTIONS:
        assert_none_is_missed(normalise(change(question)).text)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_rule_that_matches_any_text_is_left_out(text):
    assert_none_is_missed(text)


def test_most_rules_are_left_out_of_a_question_without_a_time():
    for text in ("Which recipe did Ken mention?", "映画の切符はいくらでしたか?"):
        passing = [*members(_parser("english").sieve.passing(text))]
        assert len(passing) < len(RULES) / 4


def test_what_an_expression_needs_is_read_off_it():
    assert needed_letters(r"(?:last|next) week") == [{"week"}]
    assert needed_letters(r"\d{1,4} days? ago") == [{"0"}, {" ago"}]
    assert needed_letters(r"x?\w*") == []


@pytest.mark.parametrize("text", ["KİCK", "kıck", "\u212aick", "kick"])
def test_letters_that_disregard_of_case_takes_as_one_are_one(text):
    pattern = re.compile("kick", re.IGNORECASE)
    assert bool(pattern.search(text)) <= bool(Sieve([[pattern]]).passing(text))


def test_an_interpreter_that_hides_the_syntax_leaves_nothing_out(monkeypatch):
    monkeypatch.setattr("cpersona_jit.cues.sieve._parser", None)
    assert needed_letters("last week") == []
    assert [*members(Sieve([[re.compile("last week")]]).passing("x"))] == [0]


@pytest.mark.parametrize("word", ["fİrst", "fırst", "ſixth", "SİX", "twentİeth", "sıxty-sıx"])
def test_letters_that_only_look_like_those_of_a_number_word(word):
    normalise(f"what did we do on the {word} of may?")

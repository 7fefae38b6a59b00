"""Laws every loaded dataset obeys, whatever file it came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.datasets.base import Dataset, DatasetError, DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.checks import Places, numbered, validate
from harness.datasets.clean import MAX_CHARS, split_text, storable
from harness.datasets.sampling import sample_queries


def row(doc_id: str, text: str = "some text", scope: str = "s") -> DatasetRow:
    return DatasetRow(doc_id, text, None, None, None, scope)


def query(query_id: str, scope: str = "s", task: str = "t", text: str = "why?") -> DatasetQuery:
    return DatasetQuery(query_id, text, None, scope, task, None)


PLACES = Places(*(numbered(f"{name}.parquet") for name in ("corpus", "queries", "qrels")))


@pytest.mark.parametrize(
    ("rows", "queries", "qrels", "parts"),
    [
        ([row("a")], [query("q")], [("q", "zz", 1)], ["qrels.parquet, row 0", "'zz'", "not in"]),
        ([row("a")], [query("q")], [("x", "a", 1)], ["qrels.parquet, row 0", "'x'"]),
        (
            [row("a"), row("b", scope="other")],
            [query("q")],
            [("q", "a", 1), ("q", "b", 1)],
            ["qrels.parquet, row 1", "'b'", "scope 'other'", "scope 's'"],
        ),
        ([row("a"), row("a")], [query("q")], [], ["corpus.parquet, row 1", "'a'", "twice"]),
        ([row("a")], [query("q"), query("q")], [], ["queries.parquet, row 1", "'q'", "twice"]),
        ([row("a")], [query("q", scope="none")], [], ["queries.parquet, row 0", "'none'"]),
        ([row("a")], [query("q", text=" \n")], [], ["queries.parquet, row 0", "empty text"]),
        ([row("a")], [query("q", text="\0 ")], [], ["queries.parquet, row 0", "empty text"]),
        ([row("a")], [query("q", text="長" * 16_001)], [], ["row 0", "'q'", "16,001", "16,000"]),
        ([row("a")], [query("q\ud800")], [], ["queries.parquet, row 0", "lone surrogate"]),
        ([row("a")], [query("q")], [("q", "a", -1)], ["qrels.parquet, row 0", "-1"]),
        ([row("")], [query("q")], [], ["corpus.parquet, row 0", "doc_id"]),
        ([], [query("q")], [], ["corpus.parquet", "no rows"]),
        ([row("a")], [], [], ["queries.parquet", "no queries"]),
        ([row("a", "  ")], [query("q")], [], ["queries.parquet, row 0", "no rows"]),
    ],
)
def test_a_contradiction_is_named_with_file_place_and_id(rows, queries, qrels, parts):
    with pytest.raises(DatasetError) as caught:
        build_dataset("d", rows, queries, qrels, places=PLACES)
    for part in parts:
        assert part in str(caught.value)


def test_the_same_document_may_lie_in_two_scopes():
    rows = [row("a"), row("a", scope="other")]
    dataset = build_dataset("d", rows, [query("q")], [("q", "a", 1)])
    assert dataset.scope_ids == ["s", "other"]
    assert [found.doc_id for found in dataset.rows_by_scope()["other"]] == ["a"]


def test_rows_without_text_are_dropped_and_noted_together_with_their_relevance():
    rows = [row("a"), row("empty", "　\n "), row("b")]
    qrels = [("q", "a", 1), ("q", "empty", 1), ("p", "empty", 1)]
    dataset = build_dataset("d", rows, [query("q"), query("p")], qrels)
    assert [found.doc_id for found in dataset.rows] == ["a", "b"]
    assert dataset.qrels == {"q": {"a": 1}}
    notes = " ".join(dataset.notes)
    assert "1 rows without text" in notes and "empty" in notes
    assert "q -> empty" in notes and "p" in notes


def test_a_place_still_counts_rows_as_the_file_does_after_one_was_dropped():
    rows = [row("empty", ""), row("a"), row("a")]
    with pytest.raises(DatasetError, match=r"corpus\.parquet, row 2: doc_id 'a'"):
        build_dataset("d", rows, [query("q")], [], places=PLACES)


def test_an_over_long_row_becomes_parts_that_share_its_id():
    text = "春は曙。" * 9_000
    dataset = build_dataset("d", [row("long", text), row("a")], [query("q")], [("q", "long", 1)])
    parts = [found for found in dataset.rows if found.doc_id == "long"]
    assert [found.part for found in parts] == [0, 1, 2]
    assert "".join(found.text for found in parts) == text
    assert all(found.text.endswith("。") for found in parts)
    assert dataset.qrels == {"q": {"long": 1}}
    assert any("cut into parts" in note for note in dataset.notes)
    validate(dataset)


def test_what_the_store_refuses_is_replaced_and_noted():
    dataset = build_dataset("d", [row("a", "x\x00y 日\ud800本")], [query("q")], [("q", "a", 1)])
    assert dataset.rows[0].text == "x\ufffdy 日\ufffd本"
    assert any("U+FFFD" in note for note in dataset.notes)


def test_a_grade_of_zero_is_a_judgement_but_not_relevance():
    dataset = build_dataset("d", [row("a"), row("b")], [query("q")], [("q", "a", 0), ("q", "b", 2)])
    assert dataset.qrels == {"q": {"b": 2}}


@pytest.mark.parametrize(
    "broken",
    [
        Dataset("d", [row("a", " ")], [query("q")], {}),
        Dataset("d", [row("a", "x" * (MAX_CHARS + 1))], [query("q")], {}),
        Dataset("d", [row("a")], [query("q")], {"q": {"b": 1}}),
    ],
)
def test_validate_refuses_what_a_loader_would_never_build(broken):
    with pytest.raises(DatasetError):
        validate(broken)


@given(st.text(alphabet="ab \n。.日本", max_size=200), st.integers(1, 40))
def test_pieces_fit_and_join_to_the_text(text, limit):
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)
    assert len(pieces) == 1 or all(pieces)


@given(st.text(st.characters(), max_size=50))
def test_storable_text_encodes_and_is_left_alone_when_it_already_did(text):
    clean = storable(text)
    clean.encode("utf-8")
    assert len(clean) == len(text) and "\x00" not in clean
    assert storable(clean) == clean


def sampled(count: int, seed: int = 7) -> Dataset:
    rows = [row(f"d{i}", scope=f"s{i}") for i in range(30)]
    queries = [query(f"q{i}", f"s{i}", task=("many", "many", "few")[i % 3]) for i in range(30)]
    qrels = [(f"q{i}", f"d{i}", 1) for i in range(28)]
    return sample_queries(build_dataset("d", rows, queries, qrels), count, seed)


def test_a_sample_keeps_task_shares_and_only_the_scopes_it_asks_in():
    dataset = sampled(9)
    assert [found.task for found in dataset.queries].count("few") == 3
    assert len(dataset.queries) == 9
    assert set(dataset.scope_ids) == {found.scope_id for found in dataset.queries}
    assert set(dataset.qrels) == {found.query_id for found in dataset.queries}
    validate(dataset)


def test_samples_nest_repeat_and_depend_on_the_seed():
    def ids(count, seed=7):
        return {found.query_id for found in sampled(count, seed).queries}

    assert ids(9) == ids(9)
    assert ids(9) != ids(9, seed=8)
    for smaller in range(1, 28):
        assert ids(smaller) < ids(smaller + 1)
    assert len(ids(1000)) == 28, "queries without relevance are not sampled"


def test_an_empty_sample_is_refused():
    with pytest.raises(DatasetError, match="sample_queries is 0"):
        sampled(0)

"""The committed parts never mix, do not depend on order, and the holdout's openings are kept."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from cpersona_jit.errors import UsageError
from harness.adaptive.ledger import open_holdout
from harness.adaptive.splits import (
    BY_QUERY,
    PARTS,
    SPLITS_FILE,
    Split,
    SplitError,
    committed_split,
    draw_split,
    keep_parts,
    write_splits,
)
from harness.datasets.synthetic import make_synthetic
from harness.splits import DEVELOPMENT, HOLDOUT, VALIDATION


def test_committed_parts_hold_each_scope_once():
    known = json.loads(SPLITS_FILE.read_text(encoding="utf-8"))
    assert {"locomo", "realtalk", "tmd", "longmemeval_s", "knowmebench", "scifact"} <= set(known)
    for dataset, parts in known.items():
        if parts == BY_QUERY:
            assert committed_split(dataset).scopes is None
            continue
        assert tuple(parts) == PARTS
        scopes = [scope for part in PARTS for scope in parts[part]]
        assert len(set(scopes)) == len(scopes)
        assert all(len(parts[part]) >= 2 for part in PARTS)
        split = committed_split(dataset)
        assert all(split.part_of("any", scope) == p for p in PARTS for scope in parts[p])


def test_the_synthetic_parts_are_those_that_drawing_gives():
    made = make_synthetic()
    drawn = draw_split(made)
    assert drawn == committed_split("synthetic")
    shuffled = replace(made, queries=made.queries[::-1], rows=made.rows[::-1])
    assert draw_split(shuffled) == drawn


def test_few_scopes_are_parted_by_query_whatever_else_is_asked():
    made = make_synthetic()
    few = set(made.scope_ids[:3])
    queries = [query for query in made.queries if query.scope_id in few]
    split = draw_split(replace(made, queries=queries))
    assert split.scopes is None
    parts = Counter(split.part_of(f"質問{n}", "s") for n in range(3000))
    assert abs(parts[DEVELOPMENT] - 900) < 90 and abs(parts[HOLDOUT] - 900) < 90
    assert sum(parts.values()) == 3000 and set(parts) == set(PARTS)


def test_kept_parts_hold_no_query_and_no_scope_of_others():
    made = make_synthetic()
    split = draw_split(made)
    kept = {part: keep_parts(made, split, [part]) for part in PARTS}
    for part, data in kept.items():
        assert data.queries and set(data.qrels) <= {query.query_id for query in data.queries}
        assert {row.scope_id for row in data.rows} == {query.scope_id for query in data.queries}
        assert {split.scopes[query.scope_id] for query in data.queries} == {part}
    assert sum(len(data.queries) for data in kept.values()) == len(made.queries)


def test_what_is_drawn_once_stays(tmp_path):
    path = tmp_path / "splits.json"
    first = Split("talk", {"a": DEVELOPMENT, "b": VALIDATION, "会話": HOLDOUT})
    write_splits([first], path)
    before = path.read_bytes()
    write_splits([Split("talk", {"a": HOLDOUT}), Split("other", None)], path)
    known = json.loads(path.read_text(encoding="utf-8"))
    assert known["talk"] == json.loads(before)["talk"]
    assert known["other"] == BY_QUERY


def test_unknown_datasets_and_scopes_are_refused():
    with pytest.raises(SplitError, match=r"'nothing' has no committed parts; known are .*locomo"):
        committed_split("nothing")
    with pytest.raises(SplitError, match="scope 'unseen' is in no part"):
        committed_split("locomo").part_of("q", "unseen")


def test_each_opening_of_the_holdout_is_one_more_line(tmp_path):
    path = tmp_path / "results" / "ledger.jsonl"
    open_holdout("fusion", "abc", ["locomo", "tmd"], " promote the fusion ", path)
    open_holdout("cues", "def", ["tmd"], "時の手がかりを採用する", path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["reason"] for line in lines] == ["promote the fusion", "時の手がかりを採用する"]
    assert lines[0]["datasets"] == ["locomo", "tmd"] and lines[0]["config_hash"] == "abc"
    assert set(lines[0]) >= {"date", "config", "revision"}
    with pytest.raises(UsageError, match="the reason why"):
        open_holdout("cues", "def", ["tmd"], "  ", path)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2

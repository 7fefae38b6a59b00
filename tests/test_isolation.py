"""The isolation predicate: both forms against its table, and against each other."""

from __future__ import annotations

import ast
import re
import sqlite3
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cpersona_jit.store
from cpersona_jit.errors import UsageError
from cpersona_jit.isolation import Axes, code_predicate, home_predicate, sql_predicate

# Few names, so that they collide; look-alikes, so that a normalisation would show.
NAMES = ["", "a", "A", "ａ", "アニマ", "ｱﾆﾏ", "が", "か\u3099", "%", "_", "a' OR '1'='1", "nul\0"]
names = st.sampled_from(NAMES)
optional = st.none() | names
rows_of = st.lists(st.tuples(names, names, names), max_size=25)


@st.composite
def any_axes(draw: st.DrawFn) -> Axes:
    project_id, channel = draw(optional), draw(optional)
    if draw(st.booleans()):
        return Axes.across_agents(project_id, channel)
    return Axes.agent(draw(names), project_id, channel)


def admits(axes: Axes, agent: str, project: str, channel: str) -> bool:
    """The table, read aloud."""
    if axes.agent_id is not None and (axes.agent_id == "" or agent != axes.agent_id):
        return False
    if axes.project_id is not None and project not in ("", axes.project_id):
        return False
    return axes.channel in (None, "") or channel in ("", axes.channel)


def by_sql(axes: Axes, rows: list[tuple[str, str, str]]) -> list[bool]:
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE memories (id INTEGER, agent_id, project_id, channel)")
    conn.executemany(
        "INSERT INTO memories VALUES (?, ?, ?, ?)", [(i, *row) for i, row in enumerate(rows)]
    )
    predicate, params = sql_predicate(axes)
    # Between other conditions, as the store uses it: precedence must not leak.
    sql = f"SELECT id FROM memories WHERE 0 OR {predicate} AND 1"
    found = {row[0] for row in conn.execute(sql, params)}
    conn.close()
    return [i in found for i in range(len(rows))]


def by_codes(axes: Axes, rows: list[tuple[str, str, str]]) -> list[bool]:
    keys = ("agent_id", "project_id", "channel")
    tables: dict[str, dict[str, int]] = {}
    columns = []
    for axis, key in enumerate(keys):
        values = [row[axis] for row in rows]
        table = {name: code for code, name in enumerate(dict.fromkeys(values))}
        tables[key] = table
        columns.append(np.array([table[value] for value in values], dtype=np.int32))
    admitted = code_predicate(axes, *columns, tables)
    assert admitted.dtype == np.bool_
    assert admitted.shape == (len(rows),)
    return admitted.tolist()


@given(any_axes(), rows_of)
@settings(max_examples=300, deadline=None)
def test_both_forms_admit_exactly_the_rows_of_the_table(axes, rows):
    expected = [admits(axes, *row) for row in rows]
    assert by_sql(axes, rows) == expected
    assert by_codes(axes, rows) == expected


def test_every_cell_of_the_table():
    rows = list(product(["me", "other"], ["", "p", "q"], ["", "c", "d"]))

    def seen(axes: Axes) -> set[tuple[str, str, str]]:
        assert by_sql(axes, rows) == by_codes(axes, rows)
        return {row for row, ok in zip(rows, by_sql(axes, rows), strict=True) if ok}

    mine = {row for row in rows if row[0] == "me"}
    assert seen(Axes.across_agents()) == set(rows)
    assert seen(Axes.agent("me")) == mine
    assert seen(Axes.agent("")) == set()
    assert seen(Axes.agent("stranger")) == set()
    assert seen(Axes.agent("me", project_id="")) == {row for row in mine if row[1] == ""}
    assert seen(Axes.agent("me", project_id="p")) == {row for row in mine if row[1] in ("", "p")}
    assert seen(Axes.agent("me", channel="")) == mine
    assert seen(Axes.agent("me", channel="c")) == {row for row in mine if row[2] in ("", "c")}
    assert seen(Axes.across_agents("p", "c")) == {
        row for row in rows if row[1] in ("", "p") and row[2] in ("", "c")
    }


def test_a_table_that_lists_the_empty_agent_still_admits_nothing_for_it():
    codes = np.zeros(3, dtype=np.int32)
    tables = {"agent_id": {"": 0}, "project_id": {"": 0}, "channel": {"": 0}}
    assert not code_predicate(Axes.agent(""), codes, codes, codes, tables).any()


def test_an_agent_cannot_be_left_out():
    with pytest.raises(UsageError, match="agent_id is required"):
        Axes(None)
    with pytest.raises(UsageError, match="agent_id is required"):
        Axes.agent(None)
    with pytest.raises(UsageError, match="contradicts"):
        Axes("me", every_agent=True)
    with pytest.raises(TypeError):
        Axes()


@pytest.mark.parametrize("field", ["agent_id", "project_id", "channel"])
@pytest.mark.parametrize("value", [5, b"a", ["a"], "half \ud83d pair", "\udc00"])
def test_an_axis_that_sqlite_cannot_hold_is_a_usage_error(field, value):
    arguments = {"agent_id": "me", field: value}
    with pytest.raises(UsageError, match=field) as caught:
        Axes.agent(**arguments)
    str(caught.value).encode("utf-8")


def test_the_home_of_a_row_is_exact():
    sql, params = home_predicate("me", "", "c")
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE memories (agent_id, project_id, channel)")
    rows = list(product(["me", "other"], ["", "p"], ["", "c"]))
    conn.executemany("INSERT INTO memories VALUES (?, ?, ?)", rows)
    found = conn.execute(f"SELECT * FROM memories WHERE {sql}", params).fetchall()
    assert found == [("me", "", "c")]


# --- no statement of the store goes without it ----------------------------------------------------

TOUCHES_ROWS = re.compile(
    r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:OR\s+\w+\s+)?(?:memories|blocks|episodes|versions|nodes)\b",
    re.IGNORECASE,
)
# An insertion that selects from somewhere reads as well.
INSERTS = re.compile(r"^\s*INSERT\b(?!.*\bFROM\b)", re.IGNORECASE | re.DOTALL)
PREDICATES = {"sql_predicate", "home_predicate"}
# They see every agent's rows, build the columns, fill in vectors, keep blocks in step with their
# rows or copy the store for its owner (`export --memories`), and are no exit to an agent.
INTERNAL_MAINTENANCE = {
    "_add_blocks",
    "_old_texts",
    "_add_episodes_versions_nodes",
    "_touch",
    "adopt_splitter",
    "block_counts",
    "block_vectors",
    "blocks_without_vector",
    "changed_blocks",
    "changed_rows",
    "drop_short_chains",
    "episode_ids",
    "long_rows",
    "row_vectors",
    "rows_to_split",
    "rows_without_chain",
    "rows_without_vector",
    "set_block_vectors",
    "set_chains",
    "set_ranges",
    "set_vectors",
    "whole_rows",
}


# Parts of statements: what an episode has beside a row, and whether a row is one.
OF_EPISODES = {
    "reads.py": " LEFT JOIN (SELECT memory_id, end_time, end_timestamp, keywords FROM episodes)"
    " ON memory_id = id",
    "changes.py": "EXISTS (SELECT 1 FROM episodes WHERE memory_id = id)",
    "duplicates.py": "EXISTS (SELECT 1 FROM episodes WHERE memory_id = id)",
}


def store_functions() -> list[tuple[str, ast.FunctionDef | None, list[str]]]:
    """Each function of store/ with its SQL texts over memories (None: outside any function)."""
    found = []
    for file in sorted(Path(cpersona_jit.store.__file__).parent.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {id(child) for function in functions for child in ast.walk(function)}
        outside = [node for node in ast.walk(tree) if id(node) not in inside]
        found += [(f"{file.name}: {f.name}", f, sql_texts(ast.walk(f))) for f in functions]
        found.append((f"{file.name}: module level", None, sql_texts(outside)))
    return found


def sql_texts(nodes) -> list[str]:
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if TOUCHES_ROWS.search(text) and not INSERTS.match(text)]


def test_every_statement_on_memories_carries_a_predicate():
    guarded, internal = set(), set()
    for name, function, texts in store_functions():
        if not texts:
            continue
        if function is None and texts == [OF_EPISODES.get(name.partition(":")[0])]:
            continue
        assert function is not None, f"{name} holds SQL over memories: {texts}"
        if function.name in INTERNAL_MAINTENANCE:
            internal.add(function.name)
            continue
        called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        assert called & PREDICATES, f"{name} reads or changes memories without a predicate"
        if "sql_predicate" in called:
            arguments = [argument.arg for argument in function.args.args]
            assert "axes" in arguments, f"{name} does not take Axes"
            optional_arguments = arguments[len(arguments) - len(function.args.defaults) :]
            assert "axes" not in optional_arguments, f"{name} lets Axes be left out"
        guarded.add(function.name)
    assert internal == INTERNAL_MAINTENANCE
    assert {"fetch_rows", "counts", "delete", "update_content", "would_skip"} <= guarded
    assert {"_versions", "delete_version", "nodes_of", "episodes_containing"} <= guarded


def test_the_scan_sees_a_forgotten_predicate():
    source = "def f(conn):\n    conn.execute(f'DELETE FROM memories WHERE id = {1}')\n"
    assert sql_texts(ast.walk(ast.parse(source)))
    assert not sql_texts(ast.walk(ast.parse("x = 'INSERT INTO memories VALUES (1)'")))
    assert sql_texts(ast.walk(ast.parse("x = 'INSERT INTO t SELECT content FROM memories'")))
    assert sql_texts(ast.walk(ast.parse("x = 'SELECT start_char FROM blocks'")))

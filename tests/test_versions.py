"""Earlier texts: kept by every update, readable by their own refs, never found again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_cases import BagOfWords
from store_cases import NOW, clean, is_sound, put

import cpersona_jit
from cpersona_jit import OldText, Record
from cpersona_jit.errors import CorruptStoreError
from cpersona_jit.isolation import Axes
from cpersona_jit.records import parse_ref
from cpersona_jit.store.changes import delete, update_content
from cpersona_jit.store.contents import find_contents
from cpersona_jit.store.database import generation, open_database
from cpersona_jit.store.reads import fetch_rows
from cpersona_jit.store.versions import fetch_versions, versions_of

ME = Axes.agent("me")
FIRST = 10**15 + 1  # id of the first earlier text of a store
OLD = [f"mem:{FIRST + i}" for i in range(3)]
OSAKA, KYOTO, NARA = "She lives in Osaka.", "彼女は京都に住んでいます。", "She lives in Nara now."


@pytest.fixture
def conn(tmp_path):
    conn = open_database(tmp_path / "m.db")
    yield conn
    conn.close()


@pytest.fixture
def memory(tmp_path):
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        yield memory


def update(conn, ref: str, content: str, at: int = NOW + 1, axes: Axes = ME):
    return update_content(conn, axes, ref, content, None, None, at)


# --- what is kept ---------------------------------------------------------------------------------


def test_an_update_keeps_the_text_it_replaces(conn):
    put(conn, clean(OSAKA), clean("tea"))
    assert update(conn, "mem:1", KYOTO, NOW + 5).status == "stored"
    assert update(conn, "mem:1", NARA, NOW + 9).status == "stored"
    newest, oldest = versions_of(conn, ME, [1, 2])[1]
    assert (newest.content, newest.written_at, newest.superseded_at) == (KYOTO, NOW + 5, NOW + 9)
    assert (oldest.content, oldest.written_at, oldest.superseded_at) == (OSAKA, NOW, NOW + 5)
    assert {newest.memory_ref, oldest.memory_ref} == {"mem:1"}
    assert [newest.ref, oldest.ref] == [OLD[1], OLD[0]]
    assert fetch_rows(conn, ME, [1])[1].content == NARA
    assert fetch_versions(conn, ME, [FIRST, FIRST + 1, 1, 99]) == {FIRST: oldest, FIRST + 1: newest}


def test_what_changed_nothing_keeps_nothing(conn):
    put(conn, clean(OSAKA), clean(KYOTO))
    for content in (OSAKA, KYOTO, "", "x" * 16_001):
        assert update(conn, "mem:1", content).status != "stored"
    assert versions_of(conn, ME, [1, 2]) == {}


def test_an_earlier_text_is_no_row(memory):
    memory.store(OSAKA, agent_id="me")
    memory.update("mem:1", KYOTO, agent_id="me")
    found = memory.recall("She lives in Osaka", agent_id="me")
    assert [row.ref for row in found.rows] == ["mem:1"]
    assert found.rows[0].content == KYOTO
    assert memory.columns().ids.tolist() == [1]
    assert memory.status().rows == 1


def test_a_row_may_say_again_what_it_said_before_and_so_may_another(memory):
    memory.store(OSAKA, agent_id="me")
    memory.update("mem:1", KYOTO, agent_id="me")
    assert memory.store(OSAKA, agent_id="me").ref == "mem:2"  # duplicates are of current texts
    assert memory.update("mem:1", NARA, agent_id="me").status == "stored"
    back = memory.update("mem:1", KYOTO, agent_id="me")
    assert back.status == "stored"
    texts = memory.get_contents(["mem:1"], agent_id="me", history=True).history["mem:1"]
    assert [old.content for old in texts] == [NARA, KYOTO, OSAKA]


def test_an_episode_keeps_its_summaries_too(memory):
    span = {"start": "2026-03-01", "end": "2026-03-02"}
    memory.archive_episode(OSAKA, agent_id="me", **span)
    assert memory.update("ep:1", KYOTO, agent_id="me").ref == "ep:1"
    found = memory.get_contents(["ep:1", OLD[0]], agent_id="me", history=True)
    assert [row.content for row in found.rows] == [KYOTO, OSAKA]
    assert found.history["ep:1"][0].ref == OLD[0]
    assert found.superseded == {OLD[0]: "ep:1"}
    assert memory.get_contents([f"ep:{FIRST}"], agent_id="me").rows == ()


# --- reading --------------------------------------------------------------------------------------


def test_the_ref_of_an_earlier_text_returns_it_with_the_fields_of_its_row(memory):
    source = {"type": "user", "id": "u", "name": "Mia"}
    memory.store(OSAKA, agent_id="me", source=source, timestamp="2026-01-01", metadata={"k": 1})
    memory.update("mem:1", KYOTO, agent_id="me")
    memory.update("mem:1", NARA, agent_id="me")
    found = memory.get_contents([OLD[0], "mem:1", OLD[1]], agent_id="me")
    first, current, second = found.rows
    assert [row.content for row in found.rows] == [OSAKA, NARA, KYOTO]
    assert [row.ref for row in found.rows] == [OLD[0], "mem:1", OLD[1]]
    assert found.superseded == {OLD[0]: "mem:1", OLD[1]: "mem:1"}
    assert found.history == {}  # was not asked for
    for old in (first, second):
        assert (old.source, old.timestamp, old.metadata) == (
            current.source,
            current.timestamp,
            {"k": 1},
        )
        assert (old.created_at, old.model_id) == (current.created_at, None)
    assert first.updated_at is None
    assert current.created_at < second.updated_at < current.updated_at


def test_a_foreign_earlier_text_is_missing(memory):
    memory.store(OSAKA, agent_id="you", project_id="p", channel="c")
    memory.update("mem:1", KYOTO, agent_id="you")
    axes = [
        {"agent_id": "me"},
        {"agent_id": ""},
        {"agent_id": "you", "project_id": "q"},
        {"agent_id": "you", "project_id": ""},
        {"agent_id": "you", "channel": "d"},
    ]
    for who in axes:
        found = memory.get_contents(["mem:1", OLD[0]], history=True, **who)
        assert (found.rows, found.missing) == ((), ("mem:1", OLD[0]))
        assert (found.history, found.superseded) == ({}, {})
        assert memory.delete([OLD[0]], **who).missing == (OLD[0],)
        refused = memory.update(OLD[0], NARA, **who)
        assert refused.reason == "not_found"
        assert "which holds" not in refused.detail  # not even whose it is
        assert versions_of(memory._conn, Axes.agent(**who), [1]) == {}
        assert fetch_versions(memory._conn, Axes.agent(**who), [FIRST]) == {}
    assert len(memory.get_contents([OLD[0]], agent_id="you", project_id="p").rows) == 1


def test_many_refs_at_once_are_read_in_their_order(conn):
    put(conn, *(clean(f"row {i} 行") for i in range(600)))
    for i in range(1, 601):
        update(conn, f"mem:{i}", f"new {i} 新")
    refs = [f"mem:{base + i}" for i in range(600, 0, -1) for base in (10**15, 0)]
    found = find_contents(conn, ME, refs, history=True)
    assert list(found.rows) == refs
    assert len(found.history) == len(found.superseded) == 600
    assert found.superseded[f"mem:{10**15 + 600}"] == "mem:600"


# --- changing and deleting ------------------------------------------------------------------------


def test_an_earlier_text_cannot_be_updated_and_says_what_can(conn):
    put(conn, clean(OSAKA))
    update(conn, "mem:1", KYOTO)
    refused = update(conn, OLD[0], NARA)
    assert (refused.status, refused.reason) == ("rejected", "not_found")
    assert "mem:1" in refused.detail


def test_deleting_an_earlier_text_leaves_its_row_and_the_others(conn):
    put(conn, clean(OSAKA))
    update(conn, "mem:1", KYOTO)
    update(conn, "mem:1", NARA)
    before = generation(conn)
    assert delete(conn, ME, [OLD[0], OLD[0], f"ep:{FIRST + 1}"]) == (
        (OLD[0],),
        (f"ep:{FIRST + 1}",),
    )
    assert [old.content for old in versions_of(conn, ME, [1])[1]] == [KYOTO]
    assert fetch_rows(conn, ME, [1])[1].content == NARA
    assert generation(conn) == before + 1


def test_deleting_a_row_deletes_its_earlier_texts(conn):
    put(conn, clean(OSAKA), clean("tea"))
    update(conn, "mem:1", KYOTO)
    update(conn, "mem:2", "茶")
    assert delete(conn, ME, ["mem:1"]) == (("mem:1",), ())
    assert fetch_versions(conn, ME, [FIRST, FIRST + 1]).keys() == {FIRST + 1}
    assert conn.execute("SELECT id FROM versions").fetchall() == [(FIRST + 1,)]


# --- refs -----------------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("store"), st.integers(0, 3)),
        st.tuples(st.just("update"), st.integers(1, 12)),
        st.tuples(st.just("delete"), st.integers(1, 12)),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_no_ref_ever_names_two_texts(tmp_path_factory, steps):
    """Whatever is stored, updated and deleted in whatever order, also the newest row."""
    conn = open_database(tmp_path_factory.mktemp("versions") / "m.db")
    given_out: list[str] = []
    for number, (what, value) in enumerate(steps):
        if what == "store":
            records = [clean(f"{number} {i} 文") for i in range(value)]
            given_out += [outcome.ref for outcome in put(conn, *records)]
        elif what == "update":
            ref, before = f"mem:{value}", versions_of(conn, ME, [value]).get(value, [])
            if update(conn, ref, f"text {number}", NOW + number).status == "stored":
                newest, *others = versions_of(conn, ME, [value])[value]
                assert others == before
                given_out.append(newest.ref)
        else:
            delete(conn, ME, [f"mem:{value}", f"mem:{10**15 + value}"])
        rows = {i for (i,) in conn.execute("SELECT id FROM memories")}
        assert not rows & {i for (i,) in conn.execute("SELECT id FROM versions")}
    assert len(given_out) == len(set(given_out))
    numbers = [parse_ref(ref) for ref in given_out]
    for kind in (lambda number: number > 10**15, lambda number: number < 10**15):
        own = list(filter(kind, numbers))
        assert own == sorted(own)
    for texts in versions_of(conn, ME, range(1, 60)).values():
        times = [old.superseded_at for old in texts]
        assert times == sorted(times, reverse=True)
        assert all(old.written_at <= old.superseded_at for old in texts)
    assert is_sound(conn)
    conn.close()


# --- given with a record --------------------------------------------------------------------------


def test_a_record_may_come_with_what_it_said_before(memory):
    old = [OldText(OSAKA, "2026-01-01", "2026-02-01T00:00:00.000001Z"), OldText(KYOTO, 1, 2)]
    outcomes = memory.store_many([Record("tea", "me"), Record(NARA, "me", history=old)])
    assert [o.ref for o in outcomes] == ["mem:1", "mem:2"]
    texts = memory.get_contents(["mem:2"], agent_id="me", history=True).history["mem:2"]
    assert [(t.content, t.ref) for t in texts] == [(OSAKA, OLD[0]), (KYOTO, OLD[1])]
    assert memory.store("coffee", agent_id="me").ref == "mem:3"


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        ("x", "history_invalid"),
        ([OSAKA], "history_invalid"),
        ([OldText(OSAKA, "", "2026-01-01")], "history_invalid"),
        ([OldText(OSAKA, "2026-01-01", "いつか")], "history_invalid"),
        ([OldText(OSAKA, 2**62, 1)], "history_invalid"),
        ([OldText(OSAKA, True, 1)], "wrong_type"),
        ([OldText(" ", 1, 2)], "empty_content"),
    ],
)
def test_earlier_texts_are_checked(memory, history, reason):
    (outcome,) = memory.store_many([Record(NARA, "me", history=history)])
    assert (outcome.status, outcome.reason) == ("rejected", reason)


def test_a_damaged_earlier_text_is_named(conn):
    put(conn, clean(OSAKA))
    update(conn, "mem:1", KYOTO)
    conn.execute("UPDATE versions SET content = x'ff'")
    with pytest.raises(CorruptStoreError, match=f"{OLD[0]}: its content"):
        versions_of(conn, ME, [1])


def test_a_complaint_does_not_repeat_an_endless_reference(tmp_path) -> None:
    with cpersona_jit.open(tmp_path / "endless.db", "none") as memory:
        outcome = memory.update("x" * 100_000, "鍵は青い扉の裏 behind the door", agent_id="me")
    assert outcome.reason == "not_found"
    assert len(outcome.detail) < 200

"""The contract of the library's one object, in English and Japanese."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_cases import BagOfWords, settings

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.degraded import CUE_OUT_OF_REACH
from cpersona_jit.errors import CPersonaError, StoreError, StoreNotFoundError, UsageError


def opened(path: Path, embedder: object = "none", **options) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with opened(path, BagOfWords()) as memory:
        yield memory


# -- a whole life, with the real model ------------------------------------------------------------


def test_the_default_model_finds_paraphrases_in_english_and_japanese(path: Path) -> None:
    with cpersona_jit.open(path) as memory:
        contents = [
            "My sister adopted a kitten last week.",
            "The train to Osaka was delayed by an hour.",
            "新しい自転車を買って、毎朝川沿いを走っています。",
            "昨夜は友達とラーメンを食べに行った。",
        ]
        outcomes = memory.store_many([Record(content, "me") for content in contents])
        assert [outcome.status for outcome in outcomes] == ["stored"] * 4

        def best(query: str, **options) -> str:
            result = memory.recall(query, agent_id="me", limit=1, **options)
            # The rows have no dates, so that "last night" aims at nothing.
            assert result.degraded in ((), (CUE_OUT_OF_REACH,))
            return result.rows[0].content

        assert best("who got a baby cat as a pet?") == contents[0]
        assert best("サイクリングの習慣") == contents[2]
        assert best("昨日の晩ごはん") == contents[3]
        # Asked in the other language there are no words to share.
        by_meaning = settings(weights={"dense": 1.0})
        assert best("I own a new bicycle", settings=by_meaning) == contents[2]
        assert memory.status().dim == 512


# -- update and delete ----------------------------------------------------------------------------


def test_an_update_replaces_the_text_and_its_vector(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store("tea", agent_id="a", source=Source(name="愛子"), timestamp="2024-05-01")
        outcome = memory.update("mem:1", "コーヒー", agent_id="a")
        assert (outcome.status, outcome.ref) == ("stored", "mem:1")
        assert model.embedded == ["愛子: tea", "愛子: コーヒー"]
        (row,) = memory.recall("コーヒー", agent_id="a").rows
        assert (row.content, row.timestamp, row.source.name) == ("コーヒー", "2024-05-01", "愛子")
        by_words = settings(weights={"gram3": 1.0})
        assert memory.recall("tea", agent_id="a", settings=by_words).rows == ()


@pytest.mark.parametrize(
    ("ref", "content", "expected"),
    [
        ("mem:1", "tea", ("skipped", "unchanged")),
        ("mem:1", "ramen", ("skipped", "duplicate_content")),
        ("mem:1", " ", ("rejected", "empty_content")),
        ("mem:1", "\0", ("rejected", "nul_character")),
        ("mem:1", "\udfff", ("rejected", "lone_surrogate")),
        ("mem:1", "x" * 16_001, ("rejected", "content_too_long")),
        ("mem:1", None, ("rejected", "empty_content")),
        ("mem:1", 7, ("rejected", "wrong_type")),
        ("mem:9", "new", ("rejected", "not_found")),
        ("mem:01", "new", ("rejected", "not_found")),
        ("1", "new", ("rejected", "not_found")),
        (None, "new", ("rejected", "not_found")),
    ],
)
def test_an_update_that_changes_nothing_says_why(
    memory: Memory, ref: object, content: object, expected: tuple[str, str]
) -> None:
    memory.store_many([Record("tea", "a"), Record("ramen", "a")])
    before = memory.status()
    outcome = memory.update(ref, content, agent_id="a")
    assert (outcome.status, outcome.reason) == expected
    assert memory.status() == before


def test_deleted_rows_are_gone_from_every_exit(memory: Memory) -> None:
    memory.store_many([Record("tea", "a"), Record("green tea", "a")])
    result = memory.delete(["mem:2", "mem:9", "tea", "mem:2"], agent_id="a")
    assert (result.deleted, result.missing) == (("mem:2",), ("mem:9", "tea"))
    assert [row.ref for row in memory.recall("green tea", agent_id="a").rows] == ["mem:1"]
    assert memory.get_contents(["mem:2"], agent_id="a").missing == ("mem:2",)
    assert memory.store("green tea", agent_id="a").ref == "mem:3"  # a ref is never used twice


# -- get_contents ---------------------------------------------------------------------------------


def test_contents_come_in_the_order_asked_for(memory: Memory) -> None:
    memory.store_many([Record("tea", "a"), Record("抹茶", "a"), Record("ramen", "b")])
    result = memory.get_contents(["mem:2", "x", "mem:1", "mem:3", "mem:2"], agent_id="a")
    assert [row.content for row in result.rows] == ["抹茶", "tea"]
    assert result.missing == ("x", "mem:3")
    assert memory.get_contents([], agent_id="a") == type(result)((), ())


def test_more_refs_than_allowed_are_an_error(memory: Memory) -> None:
    refs = [f"mem:{i}" for i in range(1, 22)]
    assert len(memory.get_contents(refs[:20], agent_id="a").missing) == 20
    with pytest.raises(UsageError, match="refs has 21 entries; allowed: at most 20"):
        memory.get_contents(refs, agent_id="a")


@pytest.mark.parametrize("refs", ["mem:1", [1], [None], None, 5])
def test_refs_must_be_a_list_of_strings(memory: Memory, refs: object) -> None:
    for call in (memory.get_contents, memory.delete):
        with pytest.raises(UsageError, match="refs must be a list of strings"):
            call(refs, agent_id="a")


# -- the object -----------------------------------------------------------------------------------


def test_status_tells_the_state_of_the_store(path: Path) -> None:
    with opened(path, BagOfWords()) as memory:
        assert memory.status().rows == 0
        memory.store_many([Record("tea", "a"), Record("抹茶", "b")])
        status = memory.status()
        assert (status.path, status.rows, status.rows_without_vector) == (str(path), 2, 0)
        assert (status.embedder, status.dim, status.models) == ("bag", 64, ("bag",))
        assert status.schema_version >= 1
        generation = status.generation
        memory.store("ramen", agent_id="a")
        assert memory.status().generation > generation


def test_closing_closes_the_file_and_the_embedder(path: Path) -> None:
    model = BagOfWords()
    with opened(path, model) as memory:
        memory.store("tea", agent_id="a")
    assert model.closed
    memory.close()  # twice does no harm
    for call in (
        lambda: memory.store("tea", agent_id="a"),
        lambda: memory.recall("tea", agent_id="a"),
        lambda: memory.get_contents(["mem:1"], agent_id="a"),
        memory.status,
    ):
        with pytest.raises(StoreError):
            call()
    with opened(path, model) as memory:
        assert memory.status().rows == 1


def test_a_file_that_is_not_there_is_made_or_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="there is no such file"):
        opened(path, create=False)
    opened(path).close()
    opened(path, create=False).close()
    (tmp_path / "text").write_text("this is no database at all, only some words " * 40)
    with pytest.raises(CPersonaError, match="text"):
        opened(tmp_path / "text")


@pytest.mark.parametrize("embedder", ["defualt", None, 7])
def test_an_unknown_embedder_is_refused(path: Path, embedder: object) -> None:
    with pytest.raises(UsageError, match=f"embedder .?{embedder}"):
        opened(path, embedder)
    assert not path.exists()


def test_threads_may_recall_while_one_stores(path: Path) -> None:
    problems: list[BaseException] = []
    stored = threading.Event()

    def recall() -> None:
        seen = 0
        try:
            while not stored.is_set() or seen == 0:
                result = memory.recall("tea 抹茶", agent_id="a", limit=500, trace=True)
                numbers = sorted(int(row.content.split()[-1]) for row in result.rows)
                # Batches of 5 are seen whole, and what was seen once stays.
                assert numbers == list(range(len(numbers)))
                assert len(numbers) % 5 == 0
                assert len(numbers) >= seen
                assert result.trace.admitted == len(numbers)
                seen = len(numbers)
        except BaseException as error:
            problems.append(error)

    with opened(path, BagOfWords()) as memory:
        threads = [threading.Thread(target=recall) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            memory.store_many([Record(f"tea 抹茶 {i}", "a") for i in range(100)], batch_size=5)
        finally:
            stored.set()
            for thread in threads:
                thread.join()
        assert problems == []
        assert len(memory.recall("tea", agent_id="a", limit=500).rows) == 100

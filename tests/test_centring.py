"""A snapshot of centred vectors: codes, queries, and that no agent is seen from another's rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from memory_cases import BagOfWords, plain, plain_columns, settings

import cpersona_jit
from cpersona_jit import Memory, Record, Source
from cpersona_jit.columns.centre import PRIOR_ROWS
from cpersona_jit.columns.centring import centred_query
from cpersona_jit.columns.export import export_columns
from cpersona_jit.isolation import Axes
from cpersona_jit.kernels.quantize import quantize_rows, sign_words
from cpersona_jit.passages import passages

LONG = "The harbour was quiet that day, and nobody came. " * 14
JAPANESE = "港は静かな一日で、だれも船を見に来なかった。" * 40
TEXTS = [
    "Mia moved to Lisbon in March.",
    LONG,
    "ユキは京都で茶道を習っています。",
    "tea ceremony on Saturday",
    JAPANESE,
    "the aquarium is open",
    "水族館は土曜日も開いている。",
]
DENSE_ONLY = settings(weights={"dense": 1.0})


class Cone(BagOfWords):
    """A model that puts all texts into one narrow cone."""

    def __init__(self, *, centred: bool = True) -> None:
        super().__init__("cone", centred=centred)
        self._shared = 6.0 * np.random.default_rng(1).standard_normal(64)

    def _vector(self, text: str) -> np.ndarray:
        own = super()._vector(text)
        return own / np.linalg.norm(own) * 8.0 + self._shared


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def opened(path: Path, embedder: object) -> Memory:
    return cpersona_jit.open(path, embedder, wait_for_kernels=False)


def records(agent: str, texts: list[str] = TEXTS) -> list[Record]:
    return [Record(text, agent, source=Source(name="Mia")) for text in texts]


def unit(texts: list[str]) -> list[list[float]]:
    vectors = Cone().embed(texts, kind="passage").astype(np.float64)
    scaled = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled.astype(np.float32).tolist()


def seen_from(vector: list[float], centre: list[float]) -> list[float]:
    seen = [a - b for a, b in zip(vector, centre, strict=True)]
    norm = sum(value * value for value in seen) ** 0.5
    return [value / norm for value in seen]


def mean_of(vectors: list[list[float]]) -> list[float]:
    return [sum(values) / (len(vectors) + PRIOR_ROWS) for values in zip(*vectors, strict=True)]


def test_codes_are_those_of_centred_vectors(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a"))
        columns = memory.columns()
    rows = unit([passages("Mia", text).texts[0] for text in TEXTS])
    centre = mean_of(rows[:4])  # of seven rows, the first four
    assert columns.centres["a"].rows.tolist() == [1, 2, 3, 4]
    assert np.allclose(columns.centres["a"].vector, centre, rtol=0, atol=1e-15)
    blocks = unit([block for text in TEXTS for block in passages("Mia", text).texts[1:]])
    assert len(blocks) > 2
    for part, vectors in ((columns, rows), (columns.blocks, blocks)):
        expected = np.array([seen_from(vector, centre) for vector in vectors], np.float32)
        assert np.abs(part.codes - quantize_rows(expected).astype(int)).max() <= 1
        words = part.signs.transpose(0, 2, 1).reshape(-1, 1)[: len(vectors)]
        assert np.array_equal(words, sign_words(part.codes))


def test_no_agent_is_seen_from_the_rows_of_another(path: Path, tmp_path: Path) -> None:
    with opened(path, Cone()) as together, opened(tmp_path / "alone.db", Cone()) as alone:
        alone.store_many(records("a"))
        expected = alone.columns()
        for number, record in enumerate(records("a")):
            together.store_many([record, *records("b", [f"noise {number} {i}" for i in range(5)])])
            together.columns()
        found = together.columns()
        own = found.mask(Axes.agent("a")).as_bools(found.n)
        assert np.array_equal(found.codes[own], expected.codes)
        assert np.array_equal(found.centres["a"].vector, expected.centres["a"].vector)
        mine = own[found.blocks.row]
        assert np.array_equal(found.blocks.codes[mine], expected.blocks.codes)
        for query in ("tea on Saturday", "京都の茶道"):
            answers = [memory.recall(query, agent_id="a").rows for memory in (together, alone)]
            told = [[(row.content, row.score) for row in rows] for rows in answers]
            assert told[0] == told[1]
            vector = np.array(unit([query])[0], np.float32)
            planes = [centred_query(one, vector, Axes.agent("a")) for one in (found, expected)]
            assert np.array_equal(*planes)


def test_a_question_is_seen_from_where_the_rows_are(path: Path) -> None:
    texts = [f"{word} {other}" for word in TEXTS[0].split() for other in ("tea", "knee", "水族館")]
    with opened(path, Cone()) as memory:
        memory.store_many(records("a", texts))
        found = memory.recall("Lisbon tea", agent_id="a", settings=DENSE_ONLY, trace=True)
    rows, query = unit([f"Mia: {text}" for text in texts]), unit(["Lisbon tea"])[0]
    centre = mean_of(rows[:16])
    question = seen_from(query, centre)
    cosines = [np.dot(seen_from(row, centre), question) for row in rows]
    expected = sorted(range(len(texts)), key=lambda row: -cosines[row])
    assert [row.content for row in found.rows] == [texts[row] for row in expected[:10]]
    scores = dict(zip(found.trace.pool_ids.tolist(), found.trace.pool_scores[0], strict=True))
    unit_score = found.trace.arms[0].unit
    for row, cosine in enumerate(cosines):
        assert abs(scores[row + 1] * unit_score - cosine) < 0.02


def test_across_agents_a_question_is_seen_from_the_middle(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a", TEXTS[:2]) + records("b", TEXTS[3:]) + records("c", [" ."]))
        columns = memory.columns()
        query = np.array(unit(["tea"])[0], np.float32)
        parts = [(2, "a"), (4, "b"), (1, "c")]
        middle = sum(size * columns.centres[name].vector for size, name in parts) / 7
        seen = centred_query(columns, query, Axes.across_agents())
        assert np.allclose(seen, seen_from(query.tolist(), middle.tolist()), atol=1e-6)
        assert centred_query(columns, query, Axes.agent("nobody")) is query
        assert centred_query(columns, None, Axes.agent("a")) is None
        found = memory.recall("tea ceremony", across_agents=True)
        assert found.rows[0].content == "tea ceremony on Saturday"


def test_a_centre_moves_when_its_rows_do_and_not_before(path: Path) -> None:
    with opened(path, Cone()) as memory:

        def centre() -> object:
            return memory.columns().centres["a"]

        memory.store_many(records("a"))
        first = centre()
        memory.store("one more", agent_id="b")
        assert centre() is first
        memory.update("mem:6", "the aquarium is closed", agent_id="a")
        assert centre() is first  # the sixth row is none of the first four
        memory.store("the eighth", agent_id="a")
        wider = centre()
        assert wider.rows.tolist() == [1, 2, 3, 4, 5, 6, 7, 9]
        memory.update("mem:2", "short now", agent_id="a")
        moved = centre()
        assert np.array_equal(moved.rows, wider.rows)
        assert not np.array_equal(moved.vector, wider.vector)
        memory.delete(["mem:9", "mem:1"], agent_id="a")
        assert centre().rows.tolist() == [2, 3, 4, 5]
        for step in range(2, 8):
            memory.delete([f"mem:{step}"], agent_id="a")
            with opened(path, Cone()) as fresh:
                assert plain_columns(fresh.columns()) == plain_columns(memory.columns())
        assert list(memory.columns().centres) == ["b"]


def test_an_older_snapshot_stays_as_it_was(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a", [LONG]))
        old = memory.columns()
        before = plain_columns(old)
        memory.store("tea", agent_id="a")
        assert not np.array_equal(memory.columns().blocks.codes, old.blocks.codes)
        assert plain_columns(old) == before


def test_an_agent_without_row_vectors_has_no_centre(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a", ["tea", LONG]))
        # No call leaves blocks with vectors and their row without, but a file may hold them.
        lose = "UPDATE memories SET embedding = NULL, model_id = NULL, revision = {} WHERE id = {}"
        memory._conn.execute(lose.format(1, 2))
        assert memory.columns().centres["a"].rows.tolist() == [1]
        memory._conn.execute(lose.format(9, 1))
        memory._conn.execute("UPDATE meta SET generation = 9")
        columns = memory.columns()
    assert columns.centres == {}
    expected = quantize_rows(np.array(unit(passages("Mia", LONG).texts[1:]), np.float32))
    assert np.abs(columns.blocks.codes - expected.astype(int)).max() <= 1


def test_what_a_model_says_of_centring_takes_effect_at_once(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a"))
        centred = plain_columns(memory.columns())
        with opened(path, Cone(centred=False)) as plainly:
            assert plainly.columns().centres is None
            vectors = np.array(unit([passages("Mia", t).texts[0] for t in TEXTS]), np.float32)
            assert np.abs(plainly.columns().codes - quantize_rows(vectors).astype(int)).max() <= 1
            assert plain(plainly.columns().codes) != plain(memory.columns().codes)
            plainly._provider = Cone()
            assert plain_columns(plainly.columns()) == centred


def test_codes_stay_centred_while_the_model_cannot_be_asked(path: Path) -> None:
    with opened(path, Cone()) as memory:
        memory.store_many(records("a"))
        before = memory.columns()

        class Unreachable(Cone):
            @property
            def info(self) -> object:
                raise OSError("no route")

            @info.setter
            def info(self, value: object) -> None:
                pass

        memory._provider = Unreachable.__new__(Unreachable)
        assert memory.columns() is before


def test_an_export_says_that_codes_are_centred(path: Path, tmp_path: Path) -> None:
    for centred in (True, False):
        with opened(path, Cone(centred=centred)) as memory:
            memory.store_many(records("a"))
            export_columns(memory.columns(), tmp_path / "c.parquet", "parquet", store=path)
        metadata = pq.read_schema(tmp_path / "c.parquet").metadata
        assert metadata.get(b"embedding_centred") == (b"true" if centred else None)

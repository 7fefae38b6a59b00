"""An exit config end to end: what is measured, on what, and what the report says of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import cpersona_jit
from cpersona_jit.exits.quote import JOINER
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from cpersona_jit.records import Row, Source
from harness.cli import app
from harness.config import ConfigError, load_config
from harness.datasets.base import DatasetQuery
from harness.exit.ask import (
    EQUAL_FITTING,
    EQUAL_FLAT,
    PREFIXES,
    PREVIEWS,
    RECONSTRUCT,
    SCHEMA,
    SETTINGS,
    _ranks,
)
from harness.exit.config import ExitConfig
from harness.exit.figures import difference_at, mean_at
from harness.exit.judge import ALL, differences, grid_of, means, retrieval_only
from harness.exit.measures import Gold, Judge, gold_of
from harness.exit.proposal import propose
from harness.exit.replay import candidates, reconstructed
from harness.exit.shown import Piece, Shown, flat, flat_fitting, of_response, prefixes, previews
from harness.exit.texts import normalised, says, tokens
from harness.splits import DEVELOPMENT, VALIDATION

ROOT = Path(__file__).parent.parent
CONFIG = """
kind = "exit"
name = "small"
counts = [1, 5]
budgets = [800, 4000]
variant_budgets = [4000]
headline_count = 5
headline_budget = 4000
[[datasets]]
name = "synthetic"
sample_queries = 30
[model]
provider = "none"
[[variants]]
name = "shipped"
[[variants]]
name = "two_seats"
seats = 2
[bootstrap]
resamples = 100
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


# -- the config -----------------------------------------------------------------------------------


def test_the_committed_config_sweeps_what_the_contract_names() -> None:
    config = load_config(ROOT / "configs" / "exit.toml")
    assert isinstance(config, ExitConfig)
    assert {1, 2, 3, 4, 6, 8, 10} <= set(config.counts)
    assert (config.budgets[0], config.budgets[-1]) == (1000, 20_000)
    assert [one.name for one in config.datasets] == ["longmemeval_s", "locomo", "realtalk"]
    assert [one.answers for one in config.datasets] == [True, True, False]
    shipped, policy = config.variants[0], ReconstructSettings()
    assert config.policy(shipped) == policy
    assert shipped.seats == policy.seats == 0
    assert len({one.model_dump_json(exclude={"name"}) for one in config.variants}) == len(
        config.variants
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[1, 5]", "[5, 1]", ["counts is [5, 1]", "ascending"]),
        ("headline_count = 5", "headline_count = 3", ["headline_count is 3", "1, 5"]),
        ("headline_budget = 4000", "headline_budget = 1", ["headline_budget is 1", "800, 4000"]),
        ("variant_budgets = [4000]", "variant_budgets = [9]", ["variant_budgets has 9", "800"]),
        ("variant_budgets = [4000]", "variant_budgets = [800]", ["lacks headline_budget, 4000"]),
        ('"two_seats"', '"shipped"', ["variants", "'shipped' is used 2 times"]),
        ("seats = 2", "seat = 2", ["variants[2].seat", "'seats'"]),
        ("seats = 2", "quote_chars = 9000", ["budgets end at 4000", "9000"]),
        ('provider = "none"', 'provider = "none"\n[reader]\nendpoint = "x"', ["reader.endpoint"]),
    ],
)
def test_mistakes_in_the_config_are_named(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, CONFIG.replace(old, new)))
    assert all(part in str(caught.value) for part in expected), str(caught.value)


def test_an_exit_config_never_opens_the_holdout(tmp_path: Path) -> None:
    path = write(tmp_path, CONFIG)
    done = CliRunner().invoke(app, ["run", str(path), "--holdout", "because"])
    assert done.exit_code == 2
    assert "--holdout" in done.output


# -- texts and measures ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passage", "answer", "said"),
    [
        ("She paid $12 for each mug.", "$12", True),
        ("She paid $120 for each mug.", "$12", False),
        ("It is UNDER my\n bed!", "under my bed", True),
        ("under the bed, my dear", "under my bed", False),
        ("Ｔｏｋｙｏ tower", "tokyo", True),
        ("四条烏丸の近くに住んでいます。", "烏丸", True),
        ("四条河原町に住んでいます。", "烏丸", False),
        ("anything", "", False),
        ("anything", "!?", False),
    ],
)
def test_an_answer_is_said_in_whole_words(passage: str, answer: str, said: bool) -> None:
    assert says(normalised(passage), normalised(answer)) is said


def test_tokens_are_characters_by_four_but_for_wide_ones() -> None:
    assert tokens("abcdefgh") == 2
    assert tokens("京都にabcd") == 4


DOCUMENTS = {1: "d1", 2: "d2", 3: "d3", 4: "d3"}


def shown(*pieces: tuple[int, str], claims: tuple[int, ...] = ()) -> Shown:
    return Shown(tuple(Piece(*one) for one in pieces), claims or (1,) * len(pieces))


def test_numbers_of_a_response() -> None:
    judge = Judge(Gold(frozenset({"d1", "d3"}), normalised("red car")), DOCUMENTS)
    one = judge.measure(shown((2, "blue"), (3, "a red car"), (4, "京都"), claims=(1, 2)))
    assert (one.evidence_recall, one.evidence_precision) == (0.5, 0.5)
    assert (one.contained, one.items, one.bundled, one.rows) == (True, 2, 1, 2)
    assert (one.characters, one.tokens) == (15, 1 + 2.25 + 2)
    nothing = judge.measure(shown())
    assert (nothing.evidence_recall, nothing.evidence_precision) == (0.0, None)
    assert (nothing.contained, nothing.characters) == (False, 0)


def test_an_answer_across_a_gap_or_two_rows_is_not_contained() -> None:
    judge = Judge(Gold(frozenset({"d1"}), normalised("red car")), DOCUMENTS)
    assert judge.measure(shown((1, f"red{JOINER}car"))).contained is False
    assert judge.measure(shown((1, "red"), (2, "car"))).contained is False
    assert judge.measure(shown((1, f"x{JOINER}red car"))).contained is True
    unasked = Judge(Gold(frozenset({"d1"}), None), DOCUMENTS)
    assert unasked.measure(shown((1, "red car"))).contained is None


@pytest.mark.parametrize(
    ("answer", "asked", "literal"),
    [("Lisbon", True, True), ("Porto", True, False), (None, True, False), ("Lisbon", False, False)],
)
def test_only_a_literal_answer_of_a_relevant_row_is_asked_for(
    answer: str | None, asked: bool, literal: bool
) -> None:
    query = DatasetQuery("q", "Where?", None, "s", "t", answer)
    texts = {"d1": ["Mia moved to Lisbon."], "d2": ["Porto is not Lisbon."]}
    gold = gold_of(query, {"d1": 1}, texts, asked)
    assert (gold.answer is not None) is literal
    assert gold.documents == {"d1"}


# -- baselines ------------------------------------------------------------------------------------


def row(number: int, content: str) -> Row:
    return Row(
        ref=f"mem:{number}",
        id=number,
        agent_id="a",
        project_id="",
        channel="",
        msg_id="",
        content=content,
        source=Source(),
        session_id="",
        timestamp="",
        event_time=None,
        created_at=0,
        updated_at=None,
        metadata={},
        model_id=None,
        revision=1,
    )


ROWS = [row(1, "a" * 10), row(2, "b" * 50), row(3, "c" * 5)]


def ids(found: Shown) -> list[int]:
    return [piece.row_id for piece in found.pieces]


@pytest.mark.parametrize(
    ("budget", "until", "fitting"),
    [(0, [], []), (9, [], [3]), (10, [1], [1]), (15, [1], [1, 3]), (64, [1, 2], [1, 2])],
)
def test_flat_recall_takes_whole_rows(budget: int, until: list[int], fitting: list[int]) -> None:
    assert ids(flat(ROWS, budget)) == until
    assert ids(flat_fitting(ROWS, budget)) == fitting


def test_previews_and_prefixes_are_of_the_rows_that_were_quoted() -> None:
    content = {1: "0123456789", 2: "京都の茶道を習う"}
    quoted = shown((1, "567"), (2, "茶道"), (1, "9"))
    assert previews(quoted, content, 4).pieces == (Piece(1, "0123"), Piece(2, "京都の茶"))
    assert [one.text for one in prefixes(quoted, content).pieces] == ["012", "京都", "0"]
    assert prefixes(quoted, content).chars == quoted.chars


def test_a_response_is_read_item_by_item() -> None:
    first = {
        "content": "x",
        "head_ref": "mem:2",
        "claims": [{}, {}],
        "excerpts": [{"ref": "mem:3", "content": "yy"}],
    }
    second = {"content": "z", "head_ref": "mem:9", "claims": [{}]}
    found = of_response({"items": [first, second]})
    assert found.pieces == (Piece(2, "x"), Piece(3, "yy"), Piece(9, "z"))
    assert (found.claims, found.chars) == ((2, 1), 4)


# -- means and intervals --------------------------------------------------------------------------

POINT, OTHER = ("v", RECONSTRUCT, 1, 100), ("v", EQUAL_FLAT, 1, 100)


def small_grid():
    lines = []
    for query, (own, other, said) in enumerate([(1.0, 0.5, True), (0.5, 0.5, None), (0.0, 1.0, 0)]):
        for point, value in ((POINT, own), (OTHER, other)):
            line = dict(zip(("variant", "method", "count", "budget"), point, strict=True))
            line |= {"query": query, "evidence_recall": value, "contained": said and bool(said)}
            if said == 0:
                line["contained"] = False
            line |= {"items": query + 1, "bundled": query, "characters": 10 * query}
            lines.append(line)
    points = pa.Table.from_pylist(lines, SCHEMA)
    queries = {
        "query": [0, 1, 2],
        "part": [VALIDATION, VALIDATION, DEVELOPMENT],
        "ranks": [[0, -1], [3], [-1]],
    }
    return grid_of(points, pa.table(queries)), pa.table(queries)


def test_means_leave_out_what_is_not_asked() -> None:
    grid, _ = small_grid()
    own = means(grid, ALL)[0]
    assert own["evidence_recall"] == 0.5
    assert own["contained"] == 0.5  # of two, the third is not asked
    assert own["evidence_precision"] is None
    assert own["bundled_share"] == 0.5  # 3 of 6 items
    assert means(grid, VALIDATION)[0]["evidence_recall"] == 0.75


def test_differences_are_paired_and_weigh_questions_equally() -> None:
    grid, _ = small_grid()
    config = load_config(ROOT / "configs" / "exit.toml")
    pair = [(POINT, OTHER)]
    found = differences(grid, ALL, "evidence_recall", pair, config.bootstrap, 1)[0]
    assert (found["first"], found["n"]) == (0.5, 3)
    assert found["second"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["difference"] == pytest.approx((0.5 + 0.0 - 1.0) / 3, abs=1e-6)
    assert found["ci_low"] <= found["difference"] <= found["ci_high"]
    assert differences(grid, ALL, "contained", pair, config.bootstrap, 1)[0]["n"] == 2
    assert differences(grid, ALL, "evidence_precision", pair, config.bootstrap, 1)[0]["n"] == 0


def test_retrieval_only_reads_ranks() -> None:
    _, queries = small_grid()
    found = retrieval_only(queries, ALL, (1, 5))
    assert found["recall@1"] == pytest.approx((0.5 + 0 + 0) / 3)
    assert found["recall@5"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["reciprocal rank"] == pytest.approx((1 + 0.25 + 0) / 3)


def test_ranks_are_those_of_the_first_part_of_a_document() -> None:
    gold = Gold(frozenset({"d3", "d1", "gone"}), None)
    rows = [row(2, "b"), row(4, "d"), row(3, "c"), row(1, "a")]
    assert _ranks(rows, gold, DOCUMENTS) == [1, 3, -1]


def test_the_proposal_takes_the_smallest_that_is_good_enough(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, CONFIG.replace("[1, 5]", "[1, 5, 8]")))
    recall = {1: 0.5, 5: 0.8, 8: 0.803}
    lines = [
        {
            "variant": variant.name,
            "method": method,
            "count": count,
            "budget": budget,
            "evidence_recall": recall[count] - 0.1 * (method != RECONSTRUCT) + gain,
            "contained": None,
        }
        for variant, gain in zip(config.variants, (0.0, 0.02), strict=True)
        for method in (RECONSTRUCT, EQUAL_FLAT, EQUAL_FITTING)
        for count in config.counts
        for budget in config.budgets
    ]
    found = propose({"d": lines}, config)
    assert (found["max_count"], found["max_budget"], found["default_budget"]) == (5, 800, 800)
    assert found["variant"] == "two_seats"
    assert found["hard_to_beat"]["d"]["difference"] == pytest.approx(0.1)


# -- replay against the library -------------------------------------------------------------------

TALK = [
    ("Mika", "I moved the demo to Thursday.", "2026-03-02T09:30:00"),
    ("Mika", "At 14:00, in the big room.", "2026-03-02T09:30:20"),
    ("Ken", "京都のオフィスは四条烏丸にあります。", "2026-03-03T10:00:00"),
    ("Ken", "The demo needs the staging key. " * 60, "2026-03-04T10:00:00"),
]


@pytest.mark.parametrize("count", [0, 1, 3, 10])
@pytest.mark.parametrize("budget", [1, 1000, 4000])
@pytest.mark.parametrize("query", ["When is the demo?", "京都のオフィスはどこ？"])
def test_a_replay_shows_what_the_library_shows(
    tmp_path: Path, count: int, budget: int, query: str
) -> None:
    config = load_config(ROOT / "configs" / "exit.toml")
    policy = config.policy(config.variants[0])
    with cpersona_jit.open(tmp_path / "m.db", embedder="none") as memory:
        for name, text, stamp in TALK:
            told = {"source": Source("user", name, name), "timestamp": stamp, "session_id": "s"}
            assert memory.store(text, agent_id="scope", **told).status == "stored"
        asked = DatasetQuery("q", query, None, "scope", "t", None)
        found = candidates(memory, asked, policy.top_k, "2026-03-05", SETTINGS)
        replayed = of_response(reconstructed(found, count, budget, policy))
        called = {"count": count, "budget": budget, "now": "2026-03-05"}
        own = memory.reconstruct(
            query, agent_id="scope", settings=SETTINGS, policy=policy, **called
        )
    assert replayed == of_response(own)
    assert bool(replayed.pieces) is (count > 0)
    assert replayed.chars <= max(budget, policy.quote_chars)


# -- a run ----------------------------------------------------------------------------------------


class Reader(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that reads its evidence aloud."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = body["messages"][0]["content"].split("\n\n", 1)[1].rpartition("\n\nQuestion")[0]
        answer = json.dumps({"choices": [{"message": {"content": told}}]}).encode()
        self.send_response(200 if self.path == "/v1/chat/completions" else 404)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Reader) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(tmp_path: Path, text: str) -> tuple[dict, str, str]:
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["run", str(write(tmp_path, text)), "--out", str(out)])
    assert done.exit_code == 0, done.output
    record = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return record, (out / "report.md").read_text(encoding="utf-8"), done.output


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, endpoint: str) -> tuple[dict, str, str]:
    reader = f'\n[reader]\nendpoint = "{endpoint}/v1"\nmodel = "m"\nquestions = 3\n'
    return run(tmp_path_factory.mktemp("exit"), CONFIG + reader)


def test_no_response_is_over_its_budget_and_counts_hold(finished: tuple) -> None:
    record, _, _ = finished
    of = record["datasets"]["synthetic"]
    for line in of["means"][ALL]:
        if line["count"]:
            budget = max(line["budget"], 800)  # a budget below one head quote is raised to it
            seats = 2 if line["variant"] == "two_seats" else 0
            if line["method"] == RECONSTRUCT:
                assert line["characters"] <= budget
                assert line["items"] <= line["count"] + seats
            if line["method"] in (EQUAL_FLAT, EQUAL_FITTING, PREFIXES):
                at = (line["variant"], RECONSTRUCT, line["count"], line["budget"])
                assert line["characters"] <= mean_at(of, *at)["characters"]


def test_the_holdout_is_never_asked(finished: tuple) -> None:
    record, _, _ = finished
    numbers = record["datasets"]["synthetic"]["numbers"]
    assert record["parts"] == [DEVELOPMENT, VALIDATION]
    asked = [numbers[part]["questions"] for part in (DEVELOPMENT, VALIDATION)]
    assert numbers[ALL]["questions"] == sum(asked) < 30


def test_a_record_holds_no_text_and_a_report_names_every_ablation(finished: tuple) -> None:
    record, report, output = finished
    assert "skipped" not in output
    for number in range(1, 8):
        assert f"| {number} " in report
    assert "## Proposal" in report and "exit_synthetic.png" in report
    of = record["datasets"]["synthetic"]
    assert {"means", "differences", "retrieval_only", "numbers"} <= set(of)
    assert difference_at(of, "evidence_recall", EQUAL_FLAT, "shipped", 5, 4000, ALL)
    assert difference_at(of, "evidence_recall", EQUAL_FLAT, "two_seats", 5, 4000, VALIDATION)
    assert np.isfinite(of["candidate_milliseconds"]) and of["call_milliseconds"] > 0
    assert mean_at(of, "shipped", PREVIEWS, 5, 4000)["characters"] > 0


def test_a_reader_of_oracle_evidence_can_always_answer_here(finished: tuple) -> None:
    record, report, _ = finished
    told = record["datasets"]["synthetic"]["reader"]
    assert record["datasets"]["synthetic"]["numbers"][ALL]["literal"] > 3
    assert told["questions"] == 3
    assert told["answered"]["oracle"] == 1.0
    assert "100.0 of 3 answered" in report


def test_without_an_endpoint_the_reader_is_skipped_with_a_message(tmp_path: Path) -> None:
    record, report, output = run(tmp_path, CONFIG)
    assert record["datasets"]["synthetic"]["reader"] is None
    assert "skipped: reader with oracle evidence" in output.replace("\n", " ")
    assert report.count("skipped: no endpoint") == 2
    again, _, _ = run(tmp_path, CONFIG)
    for volatile in ("load_average", "revision", "code"):
        record.pop(volatile), again.pop(volatile)
    assert again == record  # finished units are found again, with their times


def test_a_report_can_be_written_again(tmp_path: Path) -> None:
    _, report, _ = run(tmp_path, CONFIG)
    out = tmp_path / "out"
    (out / "report.md").unlink()
    assert CliRunner().invoke(app, ["report", str(out)]).exit_code == 0
    assert (out / "report.md").read_text(encoding="utf-8") == report
    (out / "summary.json").write_text('{"record": "exit"}', encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(out)])
    assert (done.exit_code, len(done.output.strip().splitlines())) == (1, 1)

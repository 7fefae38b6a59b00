"""``cpersona-jit explain``: numbers that a person can add up to the score."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from adaptive_cases import CUE, QUESTIONS, SETTINGS, ask, complete, talked
from memory_cases import settings
from rich.console import Console
from test_cli_commands import MIA, YUKI, Shell

from cpersona_jit import Memory
from cpersona_jit.cli.explain import contributions_table
from cpersona_jit.cli.printing import print_wide

KINDS = SETTINGS | {"score": settings("score"), "rrf": settings("rrf")}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with talked(tmp_path_factory.mktemp("explain")) as memory:
        yield memory


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", monkeypatch, capsys)


def cells(result: object) -> tuple[list[str], list[list[str]]]:
    """Headings and lines of the table."""
    table = contributions_table(result)
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return [str(column.header) for column in table.columns], list(zip(*columns, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_the_contributions_of_a_line_add_up_to_its_score(memory: Memory, kind: str) -> None:
    for query in QUESTIONS:
        for cue in (None, CUE):
            result = ask(memory, query, KINDS[kind], time_cue=cue)
            headings, lines = cells(result)
            assert headings[0] == "row"
            assert headings[-2:] == ["score", "memory"]
            for row, line in zip(result.rows, lines, strict=True):
                assert line[0] == row.ref
                numbers = [float(cell) for cell in line[1:-1]]
                assert numbers[-1] == pytest.approx(row.score, abs=5e-5)
                assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=1e-4 * len(numbers))


def test_every_signal_term_and_prior_has_a_column_when_it_adds_something(memory: Memory) -> None:
    query = "What did Ken say about the aquarium?"
    headings, lines = cells(ask(memory, query, complete(gate=None), limit=14, time_cue=CUE))
    arms = ["dense", "gram3", "gram4", "blocks"]
    terms = ["neighbours", "session", "question", "speaker", "period"]
    assert headings[1:-2] == arms + terms
    assert [line[-1].startswith("[reservation]  ") for line in lines] == [False] * 14 + [True] * 2
    headings, _ = cells(ask(memory, query, KINDS["score"]))
    assert headings[1:-2] == ["dense", "gram3", "gram4"]


def test_a_narrow_terminal_cuts_no_number(
    memory: Memory, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert Console().width == 40
    result = ask(memory, "京都の茶道教室でケーキ K-4471 Ken", complete(gate=None), time_cue=CUE)
    print_wide(contributions_table(result))
    out = capsys.readouterr().out
    for row in result.rows:
        assert f"{row.score:.4f}" in out
    assert "…  " not in out.split("memory")[0]


def test_the_command_explains_in_english_and_japanese(shell: Shell) -> None:
    shell.ok("store", MIA, "--source-name", "Mia", "--timestamp", "2026-03-14")
    shell.ok("store", YUKI)
    out = shell.ok("explain", "Where did Mia move to?")
    assert out.split()[0] == "row"
    assert "mem:1" in out
    assert "2026-03-14  Mia  " in out
    assert "mem:2" in shell.ok("explain", "京都の茶道", "--limit", "1")
    code, out, err = shell.run("explain", "茶道", "--agent-id", "nobody")
    assert (code, out) == (0, "")
    assert "no memory of agent 'nobody'" in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--time-cue", "last week"), "--time-cue is 'last week'; allowed: JSON"),
        (("--time-cue", "[" * 100_000), "--time-cue is nested too deeply; allowed: a JSON object"),
        (("--time-cue", "[1]"), "--time-cue is '[1]'; allowed: a JSON object"),
        (("--time-cue", '{"ago": {"unit": "day", "value": 1}}'), "time_cue.ago.unit: 'day'"),
        (("--now", "noon"), "now is 'noon'"),
        (("--limit", "10001"), "limit is 10001"),
    ],
)
def test_mistakes_are_named(shell: Shell, options: tuple, told: str) -> None:
    shell.ok("store", MIA)
    code, _, err = shell.run("explain", "Mia", *options)
    assert code == 2
    assert told in err


def test_the_time_cue_is_handed_over(shell: Shell) -> None:
    """Either the settings read it, and the period is told, or they say that they do not."""
    shell.ok("store", MIA, "--timestamp", "2026-03-14")
    cue = ("--time-cue", '{"after": "2026-03-01"}', "--now", "2026-04-01")
    _, out, err = shell.run("explain", "Mia", *cue)
    assert "period: 2026-03-01" in out or "time_cue_ignored" in err

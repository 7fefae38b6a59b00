"""The commands as a person runs them: what they print, and their exit status."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cpersona_jit.cli import app as cli
from cpersona_jit.cli import opening
from cpersona_jit.cli.printing import printable
from cpersona_jit.config.defaults import DEFAULT_DB

ROOT = Path(__file__).resolve().parents[1]

MIA = "Mia moved to Lisbon in March and works at the aquarium."
YUKI = "ユキは毎週土曜日に京都で茶道を習っています。"


class Shell:
    """Runs commands in this process on one file, without a model."""

    def __init__(self, db: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
        self.db = db
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        for name in ("AGENT_ID", "RECALL_PREVIEW_CHARS"):
            monkeypatch.delenv(f"CPERSONA_JIT_{name}", raising=False)
        monkeypatch.setenv("CPERSONA_JIT_DB", str(db))
        monkeypatch.setenv("CPERSONA_JIT_EMBEDDER", "none")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return (exit status, stdout, stderr)."""
        self.monkeypatch.setattr(sys, "argv", ["cpersona-jit", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = self.capsys.readouterr()
        return ended.value.code or 0, out, err

    def ok(self, *arguments: str) -> str:
        code, out, err = self.run(*arguments)
        assert code == 0, err
        return out


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", monkeypatch, capsys)


def test_store_and_recall_in_english_and_japanese(shell: Shell) -> None:
    assert shell.ok("store", MIA, "--source-name", "Mia", "--timestamp", "2026-03-14").startswith(
        "stored mem:"
    )
    shell.ok("store", YUKI)
    lines = shell.ok("recall", "Where did Mia move to?").splitlines()
    assert lines[0].startswith("1.  mem:")
    assert lines[0].endswith("2026-03-14  Mia")
    assert lines[1] == MIA
    assert YUKI in shell.ok("recall", "京都の茶道", "--limit", "1")
    assert MIA not in shell.ok("recall", "京都の茶道", "--limit", "1")


def test_without_a_model_recall_says_that_it_is_degraded(shell: Shell) -> None:
    shell.ok("store", MIA)
    _, _, err = shell.run("recall", "Mia")
    assert "degraded: " in err


def test_content_comes_from_stdin_verbatim(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "  first line\n[bold]not markup[/bold] :smile:\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text + "\n"))
    shell.ok("store", "-")
    assert text in shell.ok("recall", "markup")


def test_outcomes_have_words_and_exit_statuses(shell: Shell) -> None:
    shell.ok("store", MIA, "--id", "m1")
    assert "skipped mem:1 duplicate_msg_id" in shell.ok("store", "other", "--id", "m1")
    code, out, err = shell.run("store", "  ")
    assert (code, out) == (1, "")
    assert "rejected (empty_content)" in err
    code, out, err = shell.run("store", "x", "--timestamp", "soon")
    assert code == 0
    assert "warning: timestamp_unparsable" in err


def test_axes_isolate(shell: Shell) -> None:
    shell.ok("store", MIA, "--agent-id", "mia")
    shell.ok("store", YUKI, "--agent-id", "mia", "--project-id", "tea")
    assert "mem:2" not in shell.ok("recall", "茶道", "--agent-id", "mia", "--project-id", "")
    assert "mem:2" in shell.ok("recall", "茶道", "--agent-id", "mia")
    code, out, err = shell.run("recall", "茶道", "--agent-id", "yuki")
    assert (code, out) == (0, "")
    assert "no memory of agent 'yuki'" in err


def test_status_counts_rows(shell: Shell) -> None:
    shell.ok("store", MIA)
    shell.ok("store", YUKI)
    out = shell.ok("status")
    lines = [line.split() for line in out.splitlines()]
    assert ["rows", "2"] in lines
    assert ["rows", "without", "vector", "2"] in lines


def test_reembed_fills_missing_vectors_and_says_how_many(shell: Shell) -> None:
    shell.ok("store", MIA)
    shell.ok("store", YUKI)
    assert "2 rows embedded, 0 remaining" in shell.ok("reembed", "--embedder", "default")
    assert "0 rows embedded, 0 remaining" in shell.ok("reembed", "--embedder", "default")


def test_reblock_says_what_it_did(shell: Shell) -> None:
    shell.ok("store", MIA)
    shell.ok("store", f"{MIA} {YUKI} " * 8)
    assert "blocks without vector" in shell.ok("status")
    told = shell.ok("reblock")
    assert told.startswith("2 rows split, 0 changed; 0 blocks embedded, ")
    assert not told.endswith(" 0 remaining\n")
    told = shell.ok("reblock", "--embedder", "default")
    assert told.startswith("2 rows split, 0 changed; ")
    assert told.endswith(" blocks embedded, 0 remaining\n")
    told = shell.ok("reembed", "--embedder", "default")
    assert told == "2 rows embedded, 0 remaining\n"


def test_export_writes_one_row_per_memory(shell: Shell, tmp_path: Path) -> None:
    shell.ok("store", MIA)
    shell.ok("store", YUKI)
    assert shell.ok("export", "--format", "parquet", str(tmp_path / "out.parquet")).startswith(
        "2 rows written to "
    )
    shell.ok("export", "--format", "arrow", str(tmp_path / "out.arrow"))
    parquet = pq.read_table(tmp_path / "out.parquet")
    with pa.memory_map(str(tmp_path / "out.arrow")) as file:
        arrow = pa.ipc.open_file(file).read_all()
    assert parquet.num_rows == arrow.num_rows == 2
    assert parquet.column_names == arrow.column_names


READS = (["status"], ["recall", "x"], ["reembed"], ["reblock"], ["export", "out.parquet"])


@pytest.mark.parametrize("command", READS)
def test_a_missing_file_is_not_made_by_a_command_that_reads(
    shell: Shell, command: list[str]
) -> None:
    code, _, err = shell.run(*command)
    assert code == 1
    assert str(shell.db) in err
    assert not shell.db.exists()


@pytest.mark.parametrize("command", [*READS, ["store", "x"]])
def test_a_file_that_is_no_memory_is_one_line_and_exit_1(shell: Shell, command: list[str]) -> None:
    shell.db.write_bytes(b"not a database" * 500)
    code, _, err = shell.run(*command)
    assert code == 1
    assert len(err.strip().splitlines()) == 1
    assert shell.db.read_bytes() == b"not a database" * 500


def test_usage_mistakes_exit_2(shell: Shell) -> None:
    shell.ok("store", MIA)
    for arguments in (
        ["recal", "x"],
        ["recall"],
        ["recall", "x", "--limit", "-1"],
        ["recall", "x", "--lmit", "1"],
        ["export", "--format", "csv", "out"],
        ["recall", "x", "--embedder", "minilim"],
        ["serve", "--preview-chars", "many"],
        ["serve", "--agent-id", ""],
    ):
        code, _, err = shell.run(*arguments)
        assert code == 2, arguments
        assert err, arguments
    _, _, err = shell.run("recall", "x", "--embedder", "minilim")
    assert "did you mean 'minilm'?" in err


def test_an_export_into_a_missing_folder_is_one_line(shell: Shell, tmp_path: Path) -> None:
    shell.ok("store", MIA)
    code, out, err = shell.run("export", str(tmp_path / "missing" / "out.parquet"))
    assert (code, out) == (2, "")
    assert "missing" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_an_export_over_the_store_itself_is_refused(shell: Shell, suffix: str) -> None:
    shell.ok("store", MIA)
    before = shell.db.read_bytes()
    code, out, err = shell.run("export", f"{shell.db}{suffix}")
    assert (code, out) == (2, "")
    assert "file of the store itself" in err
    assert shell.db.read_bytes() == before
    assert MIA in shell.ok("recall", "Mia")


def test_an_export_that_cannot_be_written_is_a_failure(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.ok("store", MIA)

    def full(writer: pq.ParquetWriter, table: pa.Table) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    code, out, err = shell.run("export", str(tmp_path / "out.parquet"))
    assert (code, out) == (1, "")
    assert "No space left" in err


def test_what_the_output_cannot_encode_is_replaced(shell: Shell) -> None:
    shell.ok("store", f"{MIA} {YUKI}")
    for command in (["recall", "Mia"], ["explain", "Mia"], ["status"]):
        done = subprocess.run(
            [sys.executable, "-m", "cpersona_jit.cli.app", *command],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
        assert done.stdout.isascii()
        if command[0] == "recall":
            assert MIA.encode() in done.stdout
            assert b"?" * len(YUKI) in done.stdout


def test_the_default_folder_is_made_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = tmp_path / "data" / "cpersona-jit" / "memory.db"
    monkeypatch.setattr(opening, "DEFAULT_DB", default)
    opening.make_default_folder(tmp_path / "elsewhere" / "memory.db")
    assert not (tmp_path / "elsewhere").exists()
    opening.make_default_folder(default)
    assert default.parent.is_dir()
    if sys.platform != "win32":
        assert default.parent.stat().st_mode & 0o077 == 0
    assert DEFAULT_DB.is_absolute()


def test_a_stored_escape_sequence_does_not_drive_the_terminal(shell: Shell) -> None:
    shell.ok("store", "red \x1b[31malert\x07 \u009b31m\ttab")
    assert (
        printable("red \x1b[31malert\x07 \u009b31m\ttab")
        == "red \ufffd[31malert\ufffd \ufffd31m\ttab"
    )
    out = shell.ok("recall", "alert")
    assert not {"\x1b", "\x07", "\u009b"} & set(out)


def test_a_real_process_prints_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cpersona_jit.cli.app", "status", "--db", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("cpersona-jit: ")
    assert "Traceback" not in done.stderr


def test_help_and_imports_stay_light() -> None:
    code = (
        "import sys; import cpersona_jit.cli.app, cpersona_jit.server.app; "
        "print(sorted({'numba', 'llvmlite', 'scipy', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_has_help_and_is_in_the_readme(shell: Shell) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [command.name for command in cli.app.registered_commands]
    assert names
    for name in names:
        assert f"cpersona-jit {name}" in readme, name
        assert len(shell.ok(name, "--help")) > 200
    out = shell.ok("--version")
    assert out[0].isdigit()

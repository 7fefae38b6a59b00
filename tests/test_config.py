"""Settings: every one from every place, which place wins, and how mistakes are told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli_commands import Shell

from cpersona_jit.config import defaults
from cpersona_jit.config.load import Loaded, load_settings
from cpersona_jit.config.model import NAMES, Settings, value_of
from cpersona_jit.config.sources import variable_of
from cpersona_jit.config.values import allowed
from cpersona_jit.errors import UsageError
from cpersona_jit.exits.reconstruct.settings import ReconstructSettings

# For each setting three values that differ from each other and from the default.
VALUES = {
    "db": ("/x/one.db", "/x/記憶.db", "/x/three.db"),
    "embedder": ("none", "minilm", "quality"),
    "agent_id": ("mia", "記憶係", "ken"),
    "recall_preview_chars": (100, 0, 300),
    "recall_excerpt_chars": (100, 200, 300),
    "full_content_chars": (1000, 2000, 3000),
    "reconstruct.default_count": (2, 3, 4),
    "reconstruct.max_count": (20, 30, 40),
    "reconstruct.forced_count": (5, 6, 7),
    "reconstruct.default_budget": (5000, 6000, 7000),
    "reconstruct.max_budget": (10_000, 11_000, 12_000),
    "reconstruct.forced_budget": (5000, 6000, 7000),
    "reconstruct.quote_chars": (0, 600, 700),
    "reconstruct.full_quotes": (0, 2, 3),
    "reconstruct.tail_quote_chars": (100, 200, 300),
    "reconstruct.adjacency_seconds": (0, 10, 20),
    "reconstruct.top_k": (10, 30, 40),
    "reconstruct.max_hops": (0, 1, 3),
    "reconstruct.max_evidence": (10, 20, 30),
    "reconstruct.seats": (1, 2, 3),
}


@pytest.fixture(autouse=True)
def no_file_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "DEFAULT_FILE", tmp_path / "no" / "config.toml")


def toml(tmp_path: Path, **values: object) -> Path:
    """Write a TOML file with settings by their full names; keys of the section after a dot."""
    path = tmp_path / "設定.toml"
    outer = [f"{k} = {json.dumps(v)}" for k, v in values.items() if "." not in k]
    inner = [f"{k.split('.')[1]} = {json.dumps(v)}" for k, v in values.items() if "." in k]
    path.write_text("\n".join([*outer, "[reconstruct]", *inner]), encoding="utf-8")
    return path


def load(file: Path | None = None, pairs: tuple[str, ...] = (), **environment: str) -> Loaded:
    return load_settings(file, pairs=pairs, environment=environment)


def refusal(file: Path | None = None, pairs: tuple[str, ...] = (), **environment: str) -> str:
    with pytest.raises(UsageError) as caught:
        load(file, pairs, **environment)
    told = str(caught.value)
    assert len(told.splitlines()) == 1
    return told


def test_every_setting_is_tried_here() -> None:
    assert tuple(VALUES) == NAMES


def test_without_anything_all_is_default() -> None:
    found = load()
    assert found.file is None
    assert set(found.sources.values()) == {"default"}
    assert found.settings == Settings()
    assert found.settings.reconstruct_policy() == ReconstructSettings()


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_comes_from_each_place_and_the_later_place_wins(
    name: str, tmp_path: Path
) -> None:
    in_file, in_variable, in_option = VALUES[name]
    path, variable = toml(tmp_path, **{name: in_file}), {variable_of(name): str(in_variable)}
    pair = (f"{name}={in_option}",)
    for found, value, source in (
        (load(path), in_file, str(path)),
        (load(None, **variable), in_variable, variable_of(name)),
        (load(path, **variable), in_variable, variable_of(name)),
        (load(None, pair), in_option, "--set"),
        (load(path, pair, **variable), in_option, "--set"),
    ):
        shown = value_of(found.settings, name)
        assert shown == (str(Path(value)) if name == "db" else value)
        assert found.sources[name] == source
        others = {key: where for key, where in found.sources.items() if key != name}
        assert set(others.values()) == {"default"}


def test_every_setting_of_reconstruct_reaches_the_library(tmp_path: Path) -> None:
    values = {name: VALUES[name][0] for name in NAMES if "." in name}
    policy = load(toml(tmp_path, **values, recall_preview_chars=250)).settings.reconstruct_policy()
    assert policy.excerpt_chars == 250
    for name, value in values.items():
        assert getattr(policy, name.removeprefix("reconstruct.")) == value


def test_a_row_that_is_never_cut_has_a_preview_of_the_usual_length() -> None:
    settings = load(CPERSONA_JIT_RECALL_PREVIEW_CHARS="0").settings
    assert settings.reconstruct_policy().excerpt_chars == 500


def test_the_named_options_win_over_variables(tmp_path: Path) -> None:
    options = {"agent_id": ("--agent-id", "由紀"), "db": ("--db", None)}
    environment = {"CPERSONA_JIT_AGENT_ID": "mia", "CPERSONA_JIT_DB": "/x/one.db"}
    found = load_settings(None, options, environment=environment)
    assert (found.settings.agent_id, found.sources["agent_id"]) == ("由紀", "--agent-id")
    assert found.sources["db"] == "CPERSONA_JIT_DB"


def test_an_empty_variable_is_not_set_and_none_leaves_out(tmp_path: Path) -> None:
    path = toml(tmp_path, **{"reconstruct.forced_count": 3})
    variable = "CPERSONA_JIT_RECONSTRUCT_FORCED_COUNT"
    assert load(path, **{variable: ""}).settings.reconstruct.forced_count == 3
    found = load(path, **{variable: "None"})
    assert found.settings.reconstruct.forced_count is None
    assert found.sources["reconstruct.forced_count"] == variable


def test_the_file_is_named_by_option_variable_or_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own.toml", tmp_path / "other.toml"
    own.write_text('agent_id = "own"', encoding="utf-8")
    other.write_text('agent_id = "other"', encoding="utf-8")
    assert load(None, CPERSONA_JIT_CONFIG="").file is None
    monkeypatch.setattr(defaults, "DEFAULT_FILE", own)
    assert load().settings.agent_id == "own"
    assert load(None, CPERSONA_JIT_CONFIG=str(other)).settings.agent_id == "other"
    assert load(own, CPERSONA_JIT_CONFIG=str(other)).settings.agent_id == "own"


def test_paths_in_a_file_are_relative_to_it_and_know_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "家"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "家"))
    path = toml(tmp_path, db="記憶/m.db", embedder="onnx:models/e5")
    found = load(path).settings
    assert Path(found.db) == tmp_path / "記憶" / "m.db"
    assert found.embedder == f"onnx:{tmp_path / 'models' / 'e5'}"
    assert Path(load(toml(tmp_path, db="~/m.db")).settings.db) == tmp_path / "家" / "m.db"
    assert load(None, CPERSONA_JIT_DB="m.db").settings.db == "m.db"


def test_a_byte_order_mark_and_an_empty_file_are_no_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(b"")
    assert load(path).file == path
    path.write_bytes(b'\xef\xbb\xbfagent_id = "mia"\r\n')
    assert load(path).settings.agent_id == "mia"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'agent_id = "\xff"', ["not UTF-8", "byte 12"]),
        (b"a = 1\nb = = 2", ["not valid TOML", "line 2"]),
        (b'agent = "x"', ["unknown key 'agent'", "did you mean 'agent_id'?"]),
        (b"max_count = 3", ["unknown key 'max_count'", "'reconstruct.max_count'"]),
        (b"[reconstruct]\ntopk = 3", ["'reconstruct.topk'", "'reconstruct.top_k'"]),
        (b"[reconstuct]\ntop_k = 3", ["unknown table 'reconstuct'"]),
        (b"reconstruct = 3", ["reconstruct is 3", "a table"]),
        (b"recall_preview_chars = -1", ["recall_preview_chars is -1", "from 0 to 1,000,000"]),
        (b'recall_preview_chars = "9"', ["recall_preview_chars is '9'", "a whole number"]),
        (b"recall_preview_chars = true", ["is True", "a whole number"]),
        (b"recall_preview_chars = 1.5", ["is 1.5", "a whole number"]),
        (b"agent_id = 3", ["agent_id is 3", "text"]),
        (b'agent_id = ""', ["agent_id is ''", "not empty"]),
        (b"[reconstruct]\nforced_count = 101", ["reconstruct.forced_count is 101", "or none"]),
    ],
)
def test_what_a_file_may_not_say_is_named(
    tmp_path: Path, content: bytes, expected: list[str]
) -> None:
    path = tmp_path / "設定.toml"
    path.write_bytes(content)
    told = refusal(path)
    assert all(part in told for part in [*expected, str(path)]), told


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert str(tmp_path / "無い.toml") in refusal(tmp_path / "無い.toml")
    big = tmp_path / "big.toml"
    big.write_bytes(b"#" * (1 << 21))
    assert "1,048,576 bytes" in refusal(big)


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="needs a file its user cannot read"
)
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = toml(tmp_path, agent_id="mia")
    path.chmod(0)
    assert "Permission denied" in refusal(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that nobody can read")
def test_a_file_that_breaks_when_it_is_read_is_named() -> None:
    assert "/proc/self/mem: cannot be read" in refusal(Path("/proc/self/mem"))


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("CPERSONA_JIT_AGENTID", "x", "did you mean 'CPERSONA_JIT_AGENT_ID'?"),
        ("CPERSONA_JIT_RECONSTRUCT_MAXCOUNT", "3", "'CPERSONA_JIT_RECONSTRUCT_MAX_COUNT'"),
        ("CPERSONA_JIT_CPU_TEIR", "plain", "'CPERSONA_JIT_CPU_TIER'"),
        ("CPERSONA_JIT_RECONSTRUCT_TOP_K", "many", "is 'many'"),
        ("CPERSONA_JIT_RECONSTRUCT_TOP_K", "none", "is 'none'"),
        ("CPERSONA_JIT_RECONSTRUCT_TOP_K", "٣x", "allowed: a whole number from 1 to 10,000"),
        ("CPERSONA_JIT_RECALL_PREVIEW_CHARS", "-1", "recall_preview_chars is -1"),
    ],
)
def test_what_a_variable_may_not_say_is_named(variable: str, text: str, expected: str) -> None:
    told = refusal(None, **{variable: text})
    assert variable in told and expected in told


def test_variables_of_others_are_let_be() -> None:
    others = {"CPERSONA_JIT_CPU_TIER": "plain", "CPERSONA_DB_PATH": "x", "PATH": "y"}
    assert load(None, **others).settings == Settings()


@pytest.mark.parametrize("pair", ["top_k=3", "reconstruct.top_k", "=3", "agent=x"])
def test_a_pair_that_names_no_setting_is_refused(pair: str) -> None:
    assert "--set" in refusal(None, (pair,))


CONTRADICTIONS = [
    (("reconstruct.default_count=11",), ["default_count is 11", "max_count, which is 10"]),
    (("reconstruct.max_count=0",), ["default_count is 1 (from default)", "is 0 (from --set)"]),
    (("reconstruct.forced_count=11",), ["forced_count is 11", "max_count, which is 10"]),
    (("reconstruct.default_budget=20001",), ["default_budget is 20001", "which is 20000"]),
    (("reconstruct.forced_budget=20001",), ["forced_budget is 20001", "which is 20000"]),
    (("reconstruct.default_budget=499",), ["default_budget is 499", "one preview", "500"]),
    (("reconstruct.forced_budget=499",), ["forced_budget is 499", "one preview", "500"]),
    (("recall_preview_chars=4001",), ["default_budget is 4000", "4001 characters (from --set)"]),
    (
        ("reconstruct.max_budget=700", "reconstruct.default_budget=600"),
        ["max_budget is 700", "one head quote, which is 800"],
    ),
]


@pytest.mark.parametrize(("pairs", "expected"), CONTRADICTIONS)
def test_values_that_contradict_each_other_are_refused(
    pairs: tuple[str, ...], expected: list[str]
) -> None:
    told = refusal(None, pairs)
    assert all(part in told for part in expected), told


@pytest.mark.parametrize(
    "pairs",
    [
        ("reconstruct.default_count=10", "reconstruct.forced_count=10"),
        ("reconstruct.default_budget=500", "reconstruct.forced_budget=20000"),
        ("reconstruct.max_count=0", "reconstruct.default_count=0"),
        ("recall_preview_chars=4000",),
        ("recall_preview_chars=1000000", "reconstruct.default_budget=16000"),
    ],
)
def test_what_is_just_allowed_makes_a_policy(pairs: tuple[str, ...]) -> None:
    assert load(None, pairs).settings.reconstruct_policy()


@pytest.mark.parametrize("name", [name for name in NAMES if "." in name])
def test_the_library_takes_all_that_is_allowed(name: str) -> None:
    """The limits told here are those of the library; at its ends a value is still its own."""
    low, high = (
        int(number.replace(",", ""))
        for number in re.findall(r"[0-9][0-9,]*", allowed(name).removesuffix(", or none"))
    )
    wide = {"max_count": high, "default_count": 0, "max_budget": 1_000_000}
    for value in (low, high):
        if name.endswith("_budget") and value == low:
            continue  # a budget is one preview at least
        own = {**wide, name.removeprefix("reconstruct."): value}
        own["max_count"] = min(own["max_count"], 100)
        pairs = tuple(f"reconstruct.{key}={one}" for key, one in own.items())
        policy = load(None, pairs).settings.reconstruct_policy()
        assert getattr(policy, name.removeprefix("reconstruct.")) == value
    for value in (low - 1, high + 1):
        if value >= 0:
            assert f"{name} is {value}" in refusal(None, (f"{name}={value}",))


# -- the commands ---------------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Shell:
    return Shell(tmp_path / "記憶.db", monkeypatch, capsys)


def test_config_shows_values_and_sources(shell: Shell, tmp_path: Path) -> None:
    path = toml(tmp_path, agent_id="由紀", **{"reconstruct.top_k": 30})
    out = shell.ok("config", "--config", str(path), "--preview-chars", "200")
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert lines["file:"] == [str(path)]
    assert lines["agent_id"] == ["由紀", str(path)]
    assert lines["reconstruct.top_k"] == ["30", str(path)]
    assert lines["recall_preview_chars"] == ["200", "--preview-chars"]
    assert lines["db"] == [str(shell.db), "CPERSONA_JIT_DB"]
    assert lines["reconstruct.forced_count"] == ["none", "default"]
    assert set(NAMES) <= set(lines)


def test_config_as_json(shell: Shell, tmp_path: Path) -> None:
    path = toml(tmp_path, agent_id="由紀")
    shown = json.loads(shell.ok("config", "--json", "--config", str(path)))
    assert shown["file"] == str(path)
    assert tuple(shown["settings"]) == NAMES
    own = shown["settings"]["agent_id"]
    assert own == {"value": "由紀", "source": str(path), "variable": "CPERSONA_JIT_AGENT_ID"}
    assert json.loads(shell.ok("config", "--json"))["file"] is None


def test_other_commands_take_their_values_from_the_file(shell: Shell, tmp_path: Path) -> None:
    path = toml(tmp_path, agent_id="由紀", recall_preview_chars=5)
    shell.ok("store", "京都の茶道を習う。", "--config", str(path))
    told = shell.ok("recall", "茶道", "--config", str(path))
    assert "京都の茶道 … (9 characters)" in told
    assert "茶道" in shell.ok("recall", "茶道", "--agent-id", "由紀")
    code, _, err = shell.run("recall", "茶道")
    assert (code, "no memory of agent 'default'" in err) == (0, True)
    for command in (["status"], ["explain", "茶道"], ["reblock"], ["export", "o.parquet"]):
        code, _, err = shell.run(*command, "--config", str(tmp_path / "無い.toml"))
        assert (code, len(err.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        *(tuple(f"--set={pair}" for pair in pairs) for pairs, _ in CONTRADICTIONS),
        ("--agent-id", ""),
        ("--preview-chars", "-1"),
        ("--config", "/無い/config.toml"),
        ("--set", "reconstruct.topk=3"),
    ],
)
def test_what_serve_refuses_config_refuses_too(shell: Shell, arguments: tuple[str, ...]) -> None:
    told = [shell.run(command, *arguments) for command in ("config", "serve")]
    assert told[0] == told[1]
    code, out, err = told[0]
    assert (code, out, len(err.splitlines())) == (2, "", 1)


def test_a_server_with_a_wrong_setting_ends_before_the_handshake(tmp_path: Path) -> None:
    path = toml(tmp_path, **{"reconstruct.default_count": 30})
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "cpersona_jit.cli.app", "serve", "--config", str(path)],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"cpersona-jit: reconstruct.default_count is 30 (from {path}); "
        "allowed: at most reconstruct.max_count, which is 10\n"
    )


def test_the_model_of_settings_is_loaded_by_commands_that_run_only() -> None:
    code = "import cpersona_jit.cli.app, sys; print({'pydantic', 'mcp'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

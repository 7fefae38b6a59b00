"""Runs beside each other and runs that are interrupted: no run breaks another, none babbles."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from freeze_cases import conversations, run_config
from harness_process import CONFIG, command, environment, said_lines, write_parcels

from harness.freeze import freeze
from harness.freeze_alone import only_freezer
from harness.pool import load_pool


def test_a_slower_run_waits_and_takes_the_pool_of_the_faster_one(tmp_path):
    folders = {"cache_dir": tmp_path / "cache", "pools_dir": tmp_path / "pools"}
    config, dataset = run_config("none"), conversations(rows=12, queries=2)
    told: list[str] = []
    second = threading.Thread(
        target=lambda: told.append(
            freeze(config, dataset, jobs=1, progress=lambda s, *_: told.append(s), **folders)
        )
    )

    def start_second(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("freeze", 1):
            second.start()
            while not told:
                time.sleep(0.01)

    pool_dir = freeze(config, dataset, jobs=1, progress=start_second, **folders)
    second.join()
    waiting = "wait for another run to freeze"
    assert told == [waiting, waiting, pool_dir]
    assert load_pool(pool_dir).query_ids == [query.query_id for query in dataset.queries]


def test_a_lock_left_behind_by_a_run_that_is_gone_holds_nobody(tmp_path):
    (tmp_path / "pool.lock").write_bytes(b"")
    told: list[str] = []
    with only_freezer(tmp_path / "pool", lambda stage, *_: told.append(stage)):
        assert told == []


@pytest.mark.skipif(os.name != "posix", reason="a process group of a terminal is POSIX")
@pytest.mark.parametrize("pause", [0.1, 0.5])  # seconds; the whole run takes some two
def test_ctrl_c_is_one_line_and_130(tmp_path, pause):
    data = write_parcels(tmp_path)
    (tmp_path / "run.toml").write_text(CONFIG, encoding="utf-8")
    with subprocess.Popen(
        command("run", tmp_path / "run.toml", "--data", data, "--out", tmp_path / "out"),
        env=environment(tmp_path, cores=2),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A background job of a shell ignores SIGINT and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while process.poll() is None and not list(Path(tmp_path).glob("out/pools/*/parts")):
            time.sleep(0.02)
        time.sleep(pause)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err and "KeyboardInterrupt" not in err, err
    said = said_lines(err)[-1]
    assert said == "error: interrupted; what is finished is kept: run again to go on", err
    assert out == ""

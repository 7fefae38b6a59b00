"""The folder of compiled kernels: what its name covers, what is removed, what stays."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_one_way_imports import PACKAGE, ROOT, imported, modules

from cpersona_jit.kernels import cache_folder, compiled
from cpersona_jit.kernels.cache_folder import (
    KEPT,
    KEPT_SECONDS,
    MARKER,
    OLDEST_SECONDS,
    module_folder,
    open_folder,
    remove_old_folders,
    sources,
)

KERNELS = ROOT / PACKAGE / "kernels"


def kept_folder(base: Path, number: int, unused_seconds: float) -> Path:
    """A folder as another version leaves it."""
    folder = base / f"kernels-0.0.{number}-{number:016x}"
    compiled_here = folder / "evidence-0123456789abcdef" / "kernels_00"
    compiled_here.mkdir(parents=True)
    one = "evidence._sum-1.py311"
    for name in (f"{one}.nbi", f"{one}.1.nbc", f"{one}.2.nbc.tmp.0123456789abcdef"):
        (compiled_here / name).touch()
    (folder / MARKER).touch()
    at = time.time() - unused_seconds
    os.utime(folder / MARKER, (at, at))
    return folder


@pytest.mark.parametrize("file", modules(f"{PACKAGE}/kernels"), ids=lambda file: file.stem)
def test_a_folder_stands_for_everything_that_a_module_takes_from_elsewhere(file: Path) -> None:
    known = {source.relative_to(ROOT).with_suffix("").as_posix() for source in sources(file)}
    for name in imported(file):
        if name.startswith(PACKAGE):
            module = name.rpartition(".")[0].replace(".", "/")
            assert module in known, f"{name} is not covered"


def test_another_helper_is_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = module_folder(tmp_path, KERNELS / "evidence.py")
    alone = module_folder(tmp_path, KERNELS / "row_mask.py")
    text = cache_folder._text

    def changed(file: Path) -> str:
        return text(file) + ("# changed" if file.name == "topk_order.py" else "")

    monkeypatch.setattr(cache_folder, "_text", changed)
    assert module_folder(tmp_path, KERNELS / "evidence.py") not in (before, alone)
    assert module_folder(tmp_path, KERNELS / "row_mask.py") == alone


@pytest.mark.parametrize("change", ["version", "_compiler", "_processor"])
def test_another_version_or_processor_is_another_folder(change, tmp_path, monkeypatch) -> None:
    before = open_folder(tmp_path)
    assert open_folder(tmp_path) == before
    if change == "version":
        monkeypatch.setattr(cache_folder, "version", lambda package: "9.9")
    else:
        monkeypatch.setattr(cache_folder, change, lambda: ["another"])
    assert open_folder(tmp_path) != before
    assert (before / MARKER).exists()


def test_what_was_not_used_for_long_is_removed_and_the_newest_stay(tmp_path: Path) -> None:
    current = open_folder(tmp_path)
    day = KEPT_SECONDS
    folders = [kept_folder(tmp_path, number, day * (number + 2)) for number in range(KEPT + 2)]
    oldest = kept_folder(tmp_path, 90, OLDEST_SECONDS + day)
    remove_old_folders(tmp_path, current)
    assert [folder.exists() for folder in folders] == [True] * KEPT + [False] * 2
    assert not oldest.exists()
    assert current.exists()


def test_what_is_used_now_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    current = open_folder(tmp_path)
    busy = [kept_folder(tmp_path, number, 60) for number in range(2 * KEPT)]
    unmarked = kept_folder(tmp_path, 90, OLDEST_SECONDS + 60)
    (unmarked / MARKER).unlink()
    named = tmp_path / "kernels-of-somebody"
    kept_folder(tmp_path, 91, OLDEST_SECONDS + 60).rename(named)
    mixed = kept_folder(tmp_path, 92, OLDEST_SECONDS + 60)
    (mixed / "thesis.txt").write_text("mine")
    linked = tmp_path / f"kernels-0.0.93-{93:016x}"
    linked.symlink_to(unmarked, target_is_directory=True)
    remove_old_folders(tmp_path, current)
    assert all(folder.exists() for folder in [*busy, unmarked, named, linked])
    assert list((unmarked / "evidence-0123456789abcdef" / "kernels_00").iterdir())
    assert (mixed / "thesis.txt").read_text() == "mine"


def test_earlier_states_of_a_module_are_removed_after_a_day(tmp_path: Path) -> None:
    old, fresh = tmp_path / f"topk-{1:016x}", tmp_path / f"topk-{2:016x}"
    for folder in (old, fresh):
        (folder / "kernels_00").mkdir(parents=True)
        (folder / "kernels_00" / "topk.pack_key-1.py311.1.nbc").touch()
    at = time.time() - KEPT_SECONDS - 60
    os.utime(old, (at, at))
    mine = module_folder(tmp_path, KERNELS / "topk.py")
    assert sorted(tmp_path.iterdir()) == sorted([fresh, mine])


def test_a_folder_that_cannot_be_made_is_said_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    compiled.kernel_folder.cache_clear()
    compiled.folder_of.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            add = compiled.kernel(lambda a, b: a + b)
            assert add(1, 2) == 3
            assert compiled.kernel(lambda a, b: a - b)(1, 2) == -1
    finally:
        compiled.kernel_folder.cache_clear()
        compiled.folder_of.cache_clear()
    (said,) = [record.getMessage() for record in caplog.records]
    assert "NUMBA_CACHE_DIR names another folder" in said
    assert str(tmp_path / "file" / "cache") in said


def test_kernels_go_to_their_folder_and_others_to_numbas_own(tmp_path: Path) -> None:
    program = (
        "from numba.core import config\n"
        "from cpersona_jit.kernels.structure_clues import clue_terms\n"
        "import numpy as np\n"
        "clue_terms(np.zeros(2), np.array([[0, 1]]), np.ones(1), 0.5)\n"
        "print(config.CACHE_DIR)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{tmp_path}\n"
        kept = tmp_path.glob("kernels-*/structure_clues-*/*/structure_clues._fill_terms-*.nbc")
        assert len(list(kept)) == 1
        assert [marker.parent for marker in tmp_path.glob(f"*/{MARKER}")] == [*tmp_path.iterdir()]

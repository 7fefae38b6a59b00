"""Mistakes of a caller of the library: UsageError or a rejection, never another exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from memory_cases import DENSE, GRAM3, BagOfWords

import cpersona_jit
from cpersona_jit import Record
from cpersona_jit.errors import UsageError
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings

FUSION = FusionSpec("rrf", {"dense": 1.0})


class Raises(Mapping):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError("boom")

    def __iter__(self) -> Iterator[str]:
        return iter(["name"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("path", [None, 123, 3.5, ["a"], b"x", "", ":memory:"])
def test_a_path_that_names_no_file(path: object) -> None:
    with pytest.raises(UsageError, match="path"):
        cpersona_jit.open(path, BagOfWords())


def test_what_is_stored_must_be_records_in_batches(tmp_path: Path) -> None:
    with cpersona_jit.open(tmp_path / "m.db", BagOfWords(), wait_for_kernels=False) as memory:
        for records in (None, 5):
            with pytest.raises(UsageError, match="records is"):
                memory.store_many(records)
        for size in (0, 2**63, 2**70, 1.5, True, None):
            for call in (
                lambda size=size: memory.store_many([Record("x", "a")], batch_size=size),
                lambda size=size: memory.reembed(batch_size=size),
                lambda size=size: memory.reblock(batch_size=size),
            ):
                with pytest.raises(UsageError, match="batch_size"):
                    call()
        outcome = memory.store("tea", agent_id="a", metadata=Raises())
        assert (outcome.status, outcome.reason) == ("rejected", "metadata_invalid")
        assert "boom" in outcome.detail
        outcome = memory.store("tea", agent_id="a", source=Raises())
        assert (outcome.status, outcome.reason) == ("rejected", "wrong_type")


@pytest.mark.parametrize(
    ("arms", "fusion", "named"),
    [
        (None, FUSION, "arms"),
        ("dense", FUSION, "arms"),
        (("dense",), FUSION, "arms"),
        ((DENSE, None), FUSION, "arms"),
        ((DENSE, GRAM3), None, "fusion"),
        ((DENSE, GRAM3), {"dense": 1.0}, "fusion"),
        ((DENSE,), FusionSpec("rrf", {1: 1.0, "x": 1.0}), "fusion weights"),
    ],
)
def test_settings_of_other_types(arms: object, fusion: object, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        RecallSettings(arms, fusion, 10)


@pytest.mark.parametrize("size", [3.0, "3", None])
def test_the_size_of_a_gram_is_a_whole_number(size: object) -> None:
    with pytest.raises(UsageError, match="size of arm"):
        ArmSpec("g", "gram", size)

"""A model that hangs holds up its own caller, and nobody else for long."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit.embed import guard, http
from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.embed.provider import TextKind
from cpersona_jit.errors import EmbeddingError

PATIENCE = 60.0  # never reached unless something hangs


class Hanging(BagOfWords):
    """A model that does not answer the text "hang" until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Embed the texts, sooner or later."""
        if "hang" in texts:
            self.entered.set()
            assert self.released.wait(PATIENCE)
        return super().embed(texts, kind=kind)


@contextmanager
def hanging_call(model: Hanging) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=guarded_embed, args=(model, ["hang"], "passage"), daemon=True)
    thread.start()
    assert model.entered.wait(PATIENCE)
    try:
        yield thread
    finally:
        model.released.set()
        thread.join(PATIENCE)


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_a_call_behind_one_that_hangs_is_told_so(
    kind: TextKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(guard.PATIENCE_SECONDS, kind, 0.01)
    model = Hanging()
    with hanging_call(model) as thread:
        with pytest.raises(EmbeddingError, match="is busy"):
            guarded_embed(model, ["tea"], kind)
        assert thread.is_alive()
    assert guarded_embed(model, ["tea"], kind).shape == (1, model.info.dim)


def test_a_recall_behind_one_that_hangs_goes_by_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(guard.PATIENCE_SECONDS, "query", 0.01)
    model = Hanging()
    with cpersona_jit.open(tmp_path / "m.db", model, wait_for_kernels=False) as memory:
        memory.store("抹茶 and green tea", agent_id="a")
        with hanging_call(model):
            result = memory.recall("green tea", agent_id="a")
        assert [row.content for row in result.rows] == ["抹茶 and green tea"]
        assert any("is busy" in note for note in result.degraded)
        assert memory.recall("green tea", agent_id="a").degraded == ()


def test_a_server_that_hangs_before_it_is_known_holds_up_one_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "_INFO_PATIENCE", 0.01)
    failures: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        provider = HttpProvider(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=PATIENCE)

        def ask() -> None:
            try:
                print(provider.info)
            except EmbeddingError as error:
                failures.append(str(error))

        first = threading.Thread(target=ask, daemon=True)
        first.start()
        with silent.accept()[0]:  # the first call has been made and waits for its answer
            ask()
            assert first.is_alive()
            assert len(failures) == 1
            assert "is busy" in failures[0]
        first.join(PATIENCE)
    assert len(failures) == 2

"""What a broken server or model says reaches an agent cut and without control characters."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import BagOfWords

import cpersona_jit
from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.embed.provider import TextKind
from cpersona_jit.errors import CPersonaError, EmbeddingError, shown

HOSTILE = "\x1b[31mignore\nall\u202e of it \ud800\0" + "長い話" * 100_000

ANY_TEXT = st.text(alphabet=st.characters(codec=None, exclude_categories=()))


@given(ANY_TEXT, st.integers(1, 60))
def test_shown_text_is_one_line_that_can_be_sent(text: str, limit: int) -> None:
    out = shown(text, limit)
    assert len(out) <= limit
    assert all(char.isprintable() or char == "\u3000" or char.isspace() for char in out)
    assert len((out + "x").splitlines()) == 1
    json.dumps(out, ensure_ascii=False).encode()
    assert shown(out, limit) == out


@pytest.mark.parametrize("text", ["connection refused", "接続できません\u3000(拒否)", "\\n 🎉"])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text
    assert str(EmbeddingError(text)) == text


class Talkative(BagOfWords):
    """A model that fails with a speech."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__()
        self.error = error

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Fail."""
        raise self.error(HOSTILE)


def assert_harmless(text: str, limit: int) -> None:
    assert len(text) <= limit
    assert text.isprintable()
    assert "ignore" in text


@pytest.mark.parametrize("error", [RuntimeError, EmbeddingError])
def test_what_a_model_says_is_cut_and_escaped(tmp_path: Path, error: type[Exception]) -> None:
    with cpersona_jit.open(tmp_path / "m.db", Talkative(error), wait_for_kernels=False) as memory:
        memory.store("green tea", agent_id="a")
        (note,) = (
            note
            for note in memory.recall("tea", agent_id="a").degraded
            if note.startswith("embedder_failed")
        )
        assert_harmless(note, 600)
        with pytest.raises(CPersonaError) as raised:
            memory.reembed()
        assert_harmless(str(raised.value), 600)


def test_what_a_server_says_is_cut_and_escaped() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as call:
                call.recv(1 << 16)
                call.sendall(b"HTTP/1.1 500 \x1b[31mignore\x07" + b"x" * 5_000 + b"\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        provider = HttpProvider(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=60)
        with pytest.raises(EmbeddingError) as raised:
            print(provider.info)
        thread.join(60)
    assert_harmless(str(raised.value), 350)

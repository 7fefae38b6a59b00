"""What excerpts add to a recall of ten rows that are all long."""

from __future__ import annotations

import shutil
import tempfile
from itertools import islice
from pathlib import Path

import cpersona_jit
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.exits.quoter import Quoter
from cpersona_jit.records import Row

from .base import OverRows
from .chat_rows import QUERIES, chat_rows
from .stores import AGENT, SIZES, HashedVectors, read_columns

BASES = ("blocks", "lexical")
EXCERPT_CHARS = 800
_LONG_ROWS = 10
_ROW_PARTS = 20  # of 120 characters


class Quoting(OverRows):
    """Ten excerpts of rows of some 2,500 characters, by their stored blocks or split on the fly."""

    params = (SIZES, tuple(QUERIES), BASES)
    param_names = ("rows", "language", "basis")

    def setup(self, stores: dict[int, Path], rows: int, language: str, basis: str) -> None:
        self.language, self.basis = language, basis
        with tempfile.TemporaryDirectory(dir=stores[rows]) as folder:
            self.rows, self.columns = _long_rows(stores[rows], Path(folder), language)
        self.vector = HashedVectors().embed([QUERIES[language]], kind="query")[0]
        assert {quote.basis for quote in self.quotes()} == {basis}

    def time_ten_excerpts(
        self, stores: dict[int, Path], rows: int, language: str, basis: str
    ) -> None:
        self.quotes()

    def quotes(self) -> list:
        """Quote all rows as one recall does."""
        quoter = Quoter(self.columns, QUERIES[self.language], self.vector)
        if self.basis == "blocks":
            return [quoter.excerpt(row, EXCERPT_CHARS) for row in self.rows]
        return [quoter.quote_text(row.content, EXCERPT_CHARS) for row in self.rows]


def _long_rows(store: Path, folder: Path, language: str) -> tuple[tuple[Row, ...], Columns]:
    """Add long rows to a copy of a store; return them and its snapshot."""
    shutil.copyfile(store / "memory.db", folder / "memory.db")
    with cpersona_jit.open(folder / "memory.db", HashedVectors(), create=False) as memory:
        memory._keeper.columns = read_columns(store)
        memory._keeper.limits = memory._keeper.limits._replace(file_rows=1 << 62)
        refs = [memory.store(text, agent_id=AGENT).ref for text in _long_texts(language)]
        return memory.get_contents(refs, agent_id=AGENT).rows, memory.columns()


def _long_texts(language: str) -> list[str]:
    japanese = language == "japanese"
    stop = "。" if japanese else ". "
    parts = (text for text in chat_rows(10_000) if text.isascii() != japanese)
    return [stop.join(islice(parts, _ROW_PARTS)) for _ in range(_LONG_ROWS)]

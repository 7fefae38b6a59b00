"""BERT's WordPiece tokenizer in plain Python, so that a BERT model needs no tokenizer package."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

from cpersona_jit.errors import EmbeddingError, shown

_LONGEST_WORD = 100  # BERT maps longer words to [UNK] whole
# The ranges of ideographs that BERT splits into words of one character. The gap before 2B920
# is in the reference tokenizer, whose ids models were trained with.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Text to token ids; calling it costs time proportional to the text.

    Parameters
    ----------
    vocabulary : Path
        UTF-8 file with one token per line; the line number is the id.
    max_tokens : int
        Longest result, with the two tokens around it.
    lowercase : bool
        Lower-case and strip accents, as uncased models expect.

    Raises
    ------
    EmbeddingError
        If the file cannot be read or lacks [UNK], [CLS] or [SEP].
    """

    def __init__(self, vocabulary: Path, max_tokens: int, lowercase: bool = True) -> None:
        self._ids = _read_vocabulary(vocabulary)
        self._unknown, self._start, self._end = (self._ids[t] for t in ("[UNK]", "[CLS]", "[SEP]"))
        self._max_tokens = max_tokens
        self._lowercase = lowercase
        self._longest_token = max(map(len, self._ids))
        self._clean = _CharacterTable(_clean)
        self._fold = _CharacterTable(_fold if lowercase else _isolate_punctuation)
        self._pieces = lru_cache(maxsize=65536)(self._split_word)

    def __call__(self, text: str) -> list[int]:
        """Return [CLS], at most ``max_tokens - 2`` ids of the text, [SEP]."""
        room = self._max_tokens - 2
        ids: list[int] = []
        for word in self._words(text):
            ids.extend(self._pieces(word))
            if len(ids) >= room:
                break
        return [self._start, *ids[:room], self._end]

    def _words(self, text: str) -> list[str]:
        text = text.translate(self._clean)
        if self._lowercase:
            text = unicodedata.normalize("NFD", text)  # so that accents are characters to drop
        return text.translate(self._fold).split()

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Cut a word into the longest known pieces from the left, or give [UNK] for all of it."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        pieces = []
        start, prefix = 0, ""
        while start < len(word):
            stop = min(len(word), start + self._longest_token)
            while stop > start and prefix + word[start:stop] not in self._ids:
                stop -= 1
            if stop == start:
                return (self._unknown,)
            pieces.append(self._ids[prefix + word[start:stop]])
            start, prefix = stop, "##"
        return tuple(pieces)


class _CharacterTable(dict):
    """A table for str.translate that works out each character once."""

    def __init__(self, rule) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        self[code] = self._rule(chr(code))
        return self[code]


def _clean(char: str) -> str:
    """Drop control characters, unify white space, set ideographs apart."""
    if char in "\t\n\r":
        return " "
    if char in "\0\ufffd" or unicodedata.category(char)[0] == "C":
        return ""
    if char.isspace():
        return " "
    code = ord(char)
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {char} "
    return char


def _fold(char: str) -> str:
    """Drop a combining mark, else lower-case; character by character, as BERT does."""
    if unicodedata.category(char) == "Mn":
        return ""
    return _isolate_punctuation(char.lower())


def _isolate_punctuation(char: str) -> str:
    """Set punctuation apart; ASCII symbols such as $ and + count as punctuation."""
    if len(char) != 1:
        return char
    ascii_symbol = "!" <= char <= "~" and not char.isalnum()
    return f" {char} " if ascii_symbol or unicodedata.category(char)[0] == "P" else char


def _read_vocabulary(path: Path) -> dict[str, int]:
    try:
        with path.open(encoding="utf-8") as file:
            ids = {line.rstrip("\n"): number for number, line in enumerate(file)}
    except (OSError, UnicodeDecodeError) as error:
        raise EmbeddingError(f"cannot read vocabulary {path}: {shown(error)}") from error
    missing = [token for token in ("[UNK]", "[CLS]", "[SEP]") if token not in ids]
    if missing:
        raise EmbeddingError(f"vocabulary {path} lacks {', '.join(missing)}: not a WordPiece file")
    return ids

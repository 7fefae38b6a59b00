"""A guard: words around a time that make it no cue, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# How much text before a time a guard can see: enough for a few words, and bounded.
WINDOW = 40


@dataclass(frozen=True, slots=True)
class Guard:
    """Words that make a time no cue.

    Parameters
    ----------
    id : str
        Name.
    where : {"before", "after", "around", "anywhere"}
        Where the words stand: right before the time, right after it, around and in it, or anywhere
        in the question.
    pattern : str
        The words. With ``around`` the marks ``⟨`` and ``⟩`` stand where the time begins and ends.
    units : tuple of str
        Only times of these units, or of forms with these ids; empty: all.
    ahead : bool
        Only against times that may as well lie ahead ("on Friday"; "last Friday" does not).
    unless : str
        Words anywhere in the question that lift the guard.
    examples : tuple of str
        Questions that hold no cue because of this guard.
    counter_examples : tuple of str
        Similar questions that do hold one.
    """

    id: str
    where: Literal["before", "after", "around", "anywhere"]
    pattern: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]
    units: tuple[str, ...] = ()
    ahead: bool = False
    unless: str = ""


@dataclass(frozen=True, slots=True)
class CompiledGuard:
    """A guard's regular expressions."""

    guard: Guard
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None

    def holds(self, text: str, start: int, end: int) -> bool:
        """Whether the guard speaks against the time in ``text[start:end]``."""
        where = self.guard.where
        if where == "before":
            found = self.pattern.search(text[max(0, start - WINDOW) : start])
        elif where == "after":
            found = self.pattern.match(text, end)
        elif where == "around":
            left, right = text[max(0, start - WINDOW) : start], text[end : end + WINDOW]
            found = self.pattern.search(f"{left}⟨{text[start:end]}⟩{right}")
        else:
            found = self.pattern.search(text)
        return found is not None and not (self.unless and self.unless.search(text))


def compile_guard(guard: Guard) -> CompiledGuard:
    """Compile a guard."""
    ending = r"(?:%s)\Z" if guard.where == "before" else r"(?:%s)"
    unless = re.compile(guard.unless, re.IGNORECASE) if guard.unless else None
    return CompiledGuard(guard, re.compile(ending % guard.pattern, re.IGNORECASE), unless)

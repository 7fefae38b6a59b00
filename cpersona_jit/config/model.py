"""The model of all settings. It knows values and limits, not where a value came from."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cpersona_jit.config.defaults import (
    DEFAULT_AGENT_ID,
    DEFAULT_DB,
    DEFAULT_EMBEDDER,
    DEFAULT_EXCERPT_CHARS,
    DEFAULT_FULL_CONTENT_CHARS,
    DEFAULT_PREVIEW_CHARS,
)
from cpersona_jit.exits.reconstruct.settings import (
    DEFAULT_POLICY,
    MAX_BUDGET,
    MAX_COUNT,
    MAX_EVIDENCE,
    MAX_HOPS,
    MAX_SEATS,
    MAX_TOP_K,
    ReconstructSettings,
)

_SHIPPED = DEFAULT_POLICY
_MAX_QUOTE = 16_000  # the longest row

Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
AgentName = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\x00]*$")]
Chars = Annotated[int, Field(ge=0, le=MAX_BUDGET)]
SomeChars = Annotated[int, Field(ge=1, le=MAX_BUDGET)]
ItemCount = Annotated[int, Field(ge=0, le=MAX_COUNT)]


class _Section(BaseModel):
    """Strict and closed: a key that nobody reads is a mistake somebody should hear about."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ReconstructConfig(_Section):
    """The section ``[reconstruct]``: what an operator may set of that exit.

    Parameters
    ----------
    default_count, max_count, forced_count : int
        Items of a call that names no count, the most of any call, and the count of every call.
    default_budget, max_budget, forced_budget : int
        The same of the characters of quoted text.
    quote_chars : int
        Longest quote of a head; 0 means one preview.
    full_quotes : int
        Items, from the first, whose heads may be that long.
    tail_quote_chars : int
        Longest quote of the heads behind them.
    adjacency_seconds : int
        Rows this close together may be one memory.
    top_k, max_hops, max_evidence : int
        Candidates, steps of relations, and claims that are kept, at most.
    seats : int
        Rows beyond the candidates that one kind of evidence alone found, as items of their own.
    """

    default_count: ItemCount = _SHIPPED.default_count
    max_count: ItemCount = _SHIPPED.max_count
    forced_count: ItemCount | None = _SHIPPED.forced_count
    default_budget: SomeChars = _SHIPPED.default_budget
    max_budget: SomeChars = _SHIPPED.max_budget
    forced_budget: SomeChars | None = _SHIPPED.forced_budget
    quote_chars: Annotated[int, Field(ge=0, le=_MAX_QUOTE)] = _SHIPPED.quote_chars
    full_quotes: Annotated[int, Field(ge=0, le=MAX_COUNT)] = _SHIPPED.full_quotes
    tail_quote_chars: Annotated[int, Field(ge=1, le=_MAX_QUOTE)] = _SHIPPED.tail_quote_chars
    adjacency_seconds: Annotated[int, Field(ge=0, le=86_400)] = _SHIPPED.adjacency_seconds
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = _SHIPPED.top_k
    max_hops: Annotated[int, Field(ge=0, le=MAX_HOPS)] = _SHIPPED.max_hops
    max_evidence: Annotated[int, Field(ge=1, le=MAX_EVIDENCE)] = _SHIPPED.max_evidence
    seats: Annotated[int, Field(ge=0, le=MAX_SEATS)] = _SHIPPED.seats


class Settings(_Section):
    """Everything an operator may set.

    Parameters
    ----------
    db : str
        The SQLite file that holds the memory.
    embedder : str
        Provider spec, see :func:`cpersona_jit.embed.registry.load_provider`.
    agent_id : str
        The owner of calls that name none.
    recall_preview_chars : int
        Longest ``content`` of a recalled row; 0 never cuts.
    recall_excerpt_chars : int
        Longest ``excerpt`` of a row that was cut.
    full_content_chars : int
        Most characters of one response with ``full_content``.
    reconstruct : ReconstructConfig
    """

    db: Text = str(DEFAULT_DB)
    embedder: Text = DEFAULT_EMBEDDER
    agent_id: AgentName = DEFAULT_AGENT_ID
    recall_preview_chars: Chars = DEFAULT_PREVIEW_CHARS
    recall_excerpt_chars: SomeChars = DEFAULT_EXCERPT_CHARS
    full_content_chars: SomeChars = DEFAULT_FULL_CONTENT_CHARS
    reconstruct: ReconstructConfig = ReconstructConfig()

    @property
    def one_preview(self) -> int:
        """Length of the preview that budgets and quotes are measured by."""
        return min(self.recall_preview_chars or DEFAULT_PREVIEW_CHARS, _MAX_QUOTE)

    def reconstruct_policy(self) -> ReconstructSettings:
        """Return the settings of reconstruct as the library takes them."""
        return ReconstructSettings(**self.reconstruct.model_dump(), excerpt_chars=self.one_preview)

    @model_validator(mode="after")
    def _values_fit_together(self) -> Settings:
        found = contradiction(self)
        if found is not None:
            raise ValueError(f"{found[0]} is {value_of(self, found[0])}; allowed: {found[1]}")
        return self


def contradiction(settings: Settings) -> tuple[str, str] | None:
    """Return the first setting that another one forbids, and what would be allowed."""
    of = settings.reconstruct
    for kind in ("count", "budget"):
        most = getattr(of, f"max_{kind}")
        for role in ("default", "forced"):
            value = getattr(of, f"{role}_{kind}")
            if value is not None and value > most:
                limit = f"at most reconstruct.max_{kind}, which is {most}"
                return f"reconstruct.{role}_{kind}", limit
    for role in ("default", "forced", "max"):
        value = getattr(of, f"{role}_budget")
        if value is not None and value < settings.one_preview:
            limit = f"at least one preview, which is {settings.one_preview} characters"
            return f"reconstruct.{role}_budget", limit
    head = (of.quote_chars if of.full_quotes else of.tail_quote_chars) or settings.one_preview
    if of.max_budget < head:
        return "reconstruct.max_budget", f"at least one head quote, which is {head} characters"
    return None


def value_of(settings: Settings, name: str) -> object:
    """Return the value of a setting by its full name, such as ``reconstruct.top_k``."""
    section, _, key = name.rpartition(".")
    return getattr(getattr(settings, section) if section else settings, key)


def _names() -> tuple[str, ...]:
    nested = ReconstructConfig.model_fields
    own = [name for name in Settings.model_fields if name != "reconstruct"]
    return (*own, *(f"reconstruct.{name}" for name in nested))


NAMES = _names()
"""Full names of all settings, in the order they are shown."""

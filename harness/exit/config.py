"""The TOML file of an exit run: which questions, and every count, budget and quote to try."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cpersona_jit.exits.reconstruct.settings import ReconstructSettings
from harness.config_parts import (
    BootstrapConfig,
    DatasetConfig,
    ModelConfig,
    Name,
    Section,
    require_distinct,
)

Count = Annotated[int, Field(ge=1, le=100)]
Budget = Annotated[int, Field(ge=1, le=1_000_000)]
Chars = Annotated[int, Field(ge=0, le=16_000)]
_SHIPPED = {one.name: one.default for one in fields(ReconstructSettings)}


class ExitDatasetConfig(DatasetConfig):
    """One ``[[datasets]]`` entry.

    Parameters
    ----------
    name, sample_queries
        As in other configs.
    answers : bool
        Whether its answers are looked for in quoted text; false where they are free texts.
    """

    answers: bool = True


class VariantConfig(Section):
    """One ``[[variants]]`` entry: a way to reconstruct; what it leaves out is as shipped.

    Parameters
    ----------
    name : str
        For people.
    top_k, quote_chars, full_quotes, tail_quote_chars, adjacency_seconds, seats : int
        See :class:`cpersona_jit.exits.reconstruct.settings.ReconstructSettings`.
    """

    name: Name
    top_k: Annotated[int, Field(ge=1, le=1000)] = _SHIPPED["top_k"]
    quote_chars: Chars = _SHIPPED["quote_chars"]
    full_quotes: Annotated[int, Field(ge=0, le=100)] = _SHIPPED["full_quotes"]
    tail_quote_chars: Annotated[int, Field(ge=1, le=16_000)] = _SHIPPED["tail_quote_chars"]
    adjacency_seconds: Annotated[int, Field(ge=0, le=86_400)] = _SHIPPED["adjacency_seconds"]
    seats: Annotated[int, Field(ge=0, le=100)] = _SHIPPED["seats"]


class ReaderConfig(Section):
    """The ``[reader]`` section: a model that answers from what it is given.

    Parameters
    ----------
    endpoint : str
        Base URL of an OpenAI-compatible server, such as ``http://localhost:8000/v1``; empty skips
        the two ablations that need one.
    model : str
        As the server calls it.
    key_variable : str
        Environment variable that holds the key, when the server wants one.
    questions : int
        Asked of each dataset, of those whose answer can be checked.
    budget : int
        Characters of raw evidence.
    timeout : float
        Seconds for one answer.
    """

    endpoint: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    model: str = ""
    key_variable: str = "OPENAI_API_KEY"
    questions: Annotated[int, Field(ge=1)] = 100
    budget: Budget = 4000
    timeout: Annotated[float, Field(gt=0.0, le=3600.0)] = 120.0


class ExitConfig(Section):
    """A whole config file with ``kind = "exit"``.

    Parameters
    ----------
    counts, budgets : list of int
        Every pair is asked with the shipped variant.
    variant_budgets : list of int
        Those of them that are asked with the other variants; all unless given.
    flat_rows : int
        Rows of the recall that flat recall takes its rows from.
    preview_chars : int
        Length of the previews to compare with.
    headline_count, headline_budget : int
        The pair that the claims are made at.
    tolerance : float
        Shares this close to the best count as equal; the smaller count or budget is proposed.
    variants : list
        The first is the shipped one.
    """

    kind: Literal["exit"]
    name: Name
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 20261130
    datasets: Annotated[list[ExitDatasetConfig], Field(min_length=1)]
    model: ModelConfig = ModelConfig()
    counts: Annotated[list[Count], Field(min_length=1)]
    budgets: Annotated[list[Budget], Field(min_length=1)]
    variant_budgets: list[Budget] = Field(default=[])
    headline_count: Count = 5
    headline_budget: Budget = 4000
    flat_rows: Annotated[int, Field(ge=1, le=10_000)] = 200
    preview_chars: Annotated[int, Field(ge=1, le=16_000)] = 500
    tolerance: Annotated[float, Field(ge=0.0, le=0.1)] = 0.005
    variants: Annotated[list[VariantConfig], Field(min_length=1)] = Field(
        default=[VariantConfig(name="shipped")]
    )
    reader: ReaderConfig = ReaderConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()

    @model_validator(mode="after")
    def _agrees(self) -> ExitConfig:
        require_distinct("datasets", [one.name for one in self.datasets])
        require_distinct("variants", [one.name for one in self.variants])
        for key, chosen in (("counts", self.counts), ("budgets", self.budgets)):
            if chosen != sorted(set(chosen)):
                raise ValueError(f"{key} is {chosen}; allowed: ascending numbers")
        for key, value, known in (
            ("headline_count", self.headline_count, self.counts),
            ("headline_budget", self.headline_budget, self.budgets),
        ):
            if value not in known:
                raise ValueError(f"{key} is {value}; allowed: {', '.join(map(str, known))}")
        for budget in self.variant_budgets:
            if budget not in self.budgets:
                known = ", ".join(map(str, self.budgets))
                raise ValueError(f"variant_budgets has {budget}; allowed: {known}")
        if self.headline_budget not in self.budgets_of(self.variants[-1]):
            raise ValueError(f"variant_budgets lacks headline_budget, {self.headline_budget}")
        least = max(one.quote_chars or self.preview_chars for one in self.variants)
        if self.budgets[-1] < least:
            raise ValueError(f"budgets end at {self.budgets[-1]}; allowed: {least} or more")
        return self

    @property
    def flat_budgets(self) -> list[int]:
        """Return the budgets of flat recall: also small ones, since few quotes are short."""
        least = self.budgets[0]
        return sorted({max(least // 4, 1), max(least // 2, 1), *self.budgets})

    def budgets_of(self, variant: VariantConfig) -> list[int]:
        """Return the budgets that are asked with a variant."""
        others = variant.name != self.variants[0].name and self.variant_budgets
        return self.variant_budgets if others else self.budgets

    def policy(self, variant: VariantConfig) -> ReconstructSettings:
        """Return the policy under which every count and budget of the sweep is answered."""
        return ReconstructSettings(
            **variant.model_dump(exclude={"name"}),
            max_count=max(self.counts),
            max_budget=self.budgets[-1],
            default_budget=min(_SHIPPED["default_budget"], self.budgets[-1]),
            excerpt_chars=self.preview_chars,
        )

"""The TOML file of a scale run: how many rows, and how often each thing is measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.config_parts import DatasetName, Name, Section, require_distinct

Rows = Annotated[int, Field(ge=100, le=4_000_000)]
Sizes = Annotated[list[Rows], Field(min_length=1)]
Count = Annotated[int, Field(ge=1, le=1000)]
Shortlist = Annotated[int, Field(ge=1, le=1 << 20)]
Cosine = Annotated[float, Field(gt=0.0, lt=1.0, allow_inf_nan=False)]


class StoresConfig(Section):
    """One ``[[stores]]`` entry: made-up stores of one kind of text.

    Parameters
    ----------
    text : {"chat", "long"}
        About 1.1 blocks a row, or about 4.
    rows : list of int
        One store for each, ascending.
    """

    text: Literal["chat", "long"]
    rows: Sizes

    @model_validator(mode="after")
    def _ascending(self) -> StoresConfig:
        if self.rows != sorted(set(self.rows)):
            raise ValueError(f"rows is {self.rows}; allowed: ascending numbers")
        return self


class LatencyConfig(Section):
    """The ``[latency]`` section.

    Parameters
    ----------
    rounds : int
        How often each question is asked of each store.
    """

    rounds: Count = 30


class PlantedConfig(Section):
    """The ``[planted]`` section: rows of the chat stores that are relevant by construction.

    Parameters
    ----------
    questions : int
        How many questions have such rows.
    cosines : list of float
        Each question has one row of each cosine between the two vectors.
    shared_words : int
        Words that such a row has of its question.
    """

    questions: Annotated[int, Field(ge=1, le=10_000)] = 100
    cosines: Annotated[list[Cosine], Field(min_length=1)] = Field(default=[0.2, 0.3, 0.4])
    shared_words: Annotated[int, Field(ge=0, le=8)] = 2

    @property
    def rows(self) -> int:
        """Return how many rows are planted."""
        return self.questions * len(self.cosines)


class SweepConfig(Section):
    """The ``[sweep]`` section: what the search in two phases may read.

    Parameters
    ----------
    shortlist, sample : list of int
        See ``cpersona_jit.recall.adaptive_settings.Scan``; every pair is measured.
    sizes : int
        On that many of the largest chat stores.
    rounds : int
        How often each planted question is asked with each pair.
    tolerance : float
        A pair that loses at most this much recall@10 against the exact scan is good enough.
    """

    shortlist: Annotated[list[Shortlist], Field(min_length=1)] = Field(default=[800])
    sample: Annotated[list[Shortlist], Field(min_length=1)] = Field(default=[4096])
    sizes: Annotated[int, Field(ge=1, le=8)] = 2
    rounds: Count = 5
    tolerance: Annotated[float, Field(ge=0.0, le=0.1, allow_inf_nan=False)] = 0.005


class ThresholdConfig(Section):
    """The ``[threshold]`` section: from how many rows on two phases are sooner than one.

    Parameters
    ----------
    rows : list of int
        Chat stores of these sizes, made for this alone.
    rounds : int
        As for latency.
    """

    rows: Sizes = Field(default=[4096, 8192, 16_384, 32_768])
    rounds: Count = 30


class RealConfig(Section):
    """The ``[real]`` section: a benchmark's scopes put into one, for vectors of a model.

    Parameters
    ----------
    dataset : str
        Its development and validation scopes are taken, never the holdout.
    sample_queries : int, optional
        As in other configs.
    most_rows : int
        Scopes are added until there are this many distinct rows.
    """

    dataset: DatasetName
    sample_queries: Annotated[int, Field(ge=1)] | None = None
    most_rows: Rows = 40_000


class ScaleConfig(Section):
    """A whole config file of kind ``scale``."""

    kind: Literal["scale"]
    name: Name
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 20261130
    stores: Annotated[list[StoresConfig], Field(min_length=1)]
    latency: LatencyConfig = LatencyConfig()
    planted: PlantedConfig = PlantedConfig()
    sweep: SweepConfig = SweepConfig()
    threshold: ThresholdConfig = ThresholdConfig()
    real: RealConfig | None = None

    @model_validator(mode="after")
    def _planted_rows_fit(self) -> ScaleConfig:
        require_distinct("stores", [stores.text for stores in self.stores])
        for stores in self.stores:
            if stores.text == "chat" and self.planted.rows > stores.rows[0] // 2:
                raise ValueError(
                    f"planted.questions times planted.cosines is {self.planted.rows}; allowed: at "
                    f"most half of the smallest chat store, {stores.rows[0] // 2}"
                )
        return self

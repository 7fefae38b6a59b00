"""What every kind of config has: datasets, model, choice, bootstrap, and how strict it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cpersona_jit.recall.settings import MAX_DEPTH

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
DatasetName = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]*/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
]
Depth = Annotated[int, Field(ge=1, le=MAX_DEPTH)]
Measure = Literal["nDCG@10", "R@10", "R@100", "RR@10", "AP@100"]

MAX_SETTINGS = 20_000


class Section(BaseModel):
    """Strict and closed: a key that nobody reads is a mistake somebody should hear about."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DatasetConfig(Section):
    """One ``[[datasets]]`` entry.

    Parameters
    ----------
    name : str
        Name known to the dataset registry, such as ``"locomo"`` or ``"synthetic"``.
    sample_queries : int, optional
        Keep this many judged queries, drawn with the run's seed so that tasks keep their shares,
        and only the rows of the scopes they ask in. Left out: everything.
    """

    name: DatasetName
    sample_queries: Annotated[int, Field(ge=1)] | None = None


class ModelConfig(Section):
    """The ``[model]`` section: which embedding provider turns text into vectors."""

    provider: Annotated[str, Field(min_length=1)] = "default"


class ChoiceConfig(Section):
    """What decides between settings.

    Parameters
    ----------
    measure : {"nDCG@10", "R@10", "R@100", "RR@10", "AP@100"}
        The measure that decides.
    objective : {"mean", "worst_margin"}
        ``mean`` takes the setting with the best mean over datasets. ``worst_margin`` takes the one
        whose smallest lead over a dataset's best single arm (the raw embedding among them) is
        largest: a default should win everywhere rather than much somewhere.
    tolerance : float
        Settings this close to the best objective count as equal; among them `tie_measure` decides,
        then the smaller depth.
    tie_measure : measure
        As `measure`.
    """

    measure: Measure = "nDCG@10"
    objective: Literal["mean", "worst_margin"] = "mean"
    tolerance: Annotated[float, Field(ge=0.0, le=0.05, allow_inf_nan=False)] = 0.0
    tie_measure: Measure = "R@100"


class SelectConfig(ChoiceConfig):
    """The ``[select]`` section: what decides, and the share of queries it may see.

    Parameters
    ----------
    validation_share : float
        Share of the queries, by whole scopes, on which settings are chosen.
    """

    validation_share: Annotated[float, Field(ge=0.1, le=0.9, allow_inf_nan=False)] = 0.5


class BootstrapConfig(Section):
    """The ``[bootstrap]`` section: resamples and confidence of every interval."""

    resamples: Annotated[int, Field(ge=100, le=100_000)] = 2000
    confidence: Annotated[float, Field(ge=0.5, le=0.999, allow_inf_nan=False)] = 0.95


def require_distinct(key: str, names: list[str]) -> None:
    """Raise ValueError when a name is used twice."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{key}: the name {name!r} is used {names.count(name)} times")

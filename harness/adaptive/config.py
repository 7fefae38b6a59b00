"""The TOML file of an adaptive run: which signals to freeze, which settings to replay over them."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Annotated, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model, field_validator, model_validator

from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Bounds,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.row_prior import RowPrior
from cpersona_jit.recall.settings import MAX_DEPTH, ArmSpec
from harness.adaptive.cue_arms import NO_CUE, CueArm
from harness.config_parts import (
    MAX_SETTINGS,
    BootstrapConfig,
    ChoiceConfig,
    DatasetConfig,
    Depth,
    ModelConfig,
    Name,
    Section,
    require_distinct,
)

Number = Annotated[float, Field(allow_inf_nan=False)]


class SignalModelConfig(ModelConfig):
    """One ``[[models]]`` entry; every dataset is run with every model.

    Parameters
    ----------
    provider : str
        As in other configs.
    rows_only : bool
        Embed no blocks: the best block of a row is then, for the embedding, the row itself.
    centred : bool, optional
        Whether its vectors are centred; left out: as the model says of itself.
    """

    rows_only: bool = False
    centred: bool | None = None

    @property
    def label(self) -> str:
        """Name for people; two entries that are measured apart have two."""
        if self.centred is None:
            return self.provider
        return f"{self.provider}, {'centred' if self.centred else 'not centred'}"


class GramConfig(Section):
    """How one gram size is scored; decided when signals are frozen, so one choice a run."""

    term_frequency: Literal["binary", "2bit"] = "2bit"
    length_exponent: Annotated[float, Field(ge=0.0, le=1.0)] = 0.15
    idf_power: Annotated[float, Field(ge=0.0, le=4.0)] = 1.25


class SignalsConfig(Section):
    """The ``[signals]`` section."""

    gram3: GramConfig = GramConfig()
    gram4: GramConfig = GramConfig()


class FreezeSignalsConfig(Section):
    """The ``[freeze]`` section: rows that each list hands to the pool."""

    depth: Depth = 500


def _section_of(settings: type, name: str, **more: tuple) -> type[BaseModel]:
    """Make the section of one settings class: its own fields, with its own defaults."""
    finite = {float: Number, float | None: Number | None}
    kinds = get_type_hints(settings)
    own = {
        field.name: (finite.get(kinds[field.name], kinds[field.name]), field.default)
        for field in fields(settings)
    }
    return create_model(name, __base__=Section, **own, **more)


def _grid_of(section: type[BaseModel], name: str) -> type[BaseModel]:
    """Make the section of a grid: for each key of a section a list of values, or nothing."""
    lists = {
        key: (Annotated[list[field.rebuild_annotation()], Field(min_length=1)] | None, None)
        for key, field in section.model_fields.items()
    }
    return create_model(name, __base__=Section, **lists)


CalibrationConfig = _section_of(Calibration, "CalibrationConfig")
StructureConfig = _section_of(Structure, "StructureConfig", on=(bool, False))
PriorConfig = _section_of(RowPrior, "PriorConfig")
CuesConfig = _section_of(CueWeights, "CuesConfig", arm=(CueArm, NO_CUE))
CalibrationGrid = _grid_of(CalibrationConfig, "CalibrationGrid")
StructureGrid = _grid_of(StructureConfig, "StructureGrid")
CuesGrid = _grid_of(CuesConfig, "CuesGrid")
PriorGrid = _grid_of(PriorConfig, "PriorGrid")
Gate = Annotated[float, Field(ge=-100.0, le=100.0)]
Seats = Annotated[int, Field(ge=0, le=100)]
Candidates = Annotated[int, Field(ge=1, le=2 * MAX_DEPTH)]


class PointConfig(Section):
    """The ``[base]`` section: one setting, from which the points of the sweep differ."""

    depth: Depth = 100
    gate: Gate | None = None
    seats: Seats = 0
    candidates: Candidates = 1000
    calibration: CalibrationConfig = CalibrationConfig()
    structure: StructureConfig = StructureConfig()
    cues: CuesConfig = CuesConfig()
    prior: PriorConfig = PriorConfig()


class GridConfig(Section):
    """One ``[[sweep]]`` entry: every combination of its lists; what it leaves out is the base's."""

    depth: Annotated[list[Depth], Field(min_length=1)] | None = None
    gate: Annotated[list[Gate], Field(min_length=1)] | None = None
    seats: Annotated[list[Seats], Field(min_length=1)] | None = None
    candidates: Annotated[list[Candidates], Field(min_length=1)] | None = None
    calibration: CalibrationGrid = CalibrationGrid()
    structure: StructureGrid = StructureGrid()
    cues: CuesGrid = CuesGrid()
    prior: PriorGrid = PriorGrid()

    def axes(self) -> dict[str, list]:
        """Return the lists by the path of what they vary, such as ``calibration.dense_weight``."""
        found: dict[str, list] = {}
        for key, value in self:
            if isinstance(value, BaseModel):
                found |= {f"{key}.{name}": held for name, held in value if held is not None}
            elif value is not None:
                found[key] = value
        return found


class WrongCueConfig(Section):
    """The ``[wrong_cue]`` section: what a setting must keep when its cue is wrong.

    Parameters
    ----------
    datasets : list of str
        Names of datasets of the run on which it is asked; none asks for nothing.
    keeps : float
        Share of the measure without a cue that is left, over the validation questions whose cue
        opens a period, when they are asked with a wrong one; settings that keep less are not
        chosen.
    """

    datasets: list[str] = Field(default=[])
    keeps: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.95


class ResortConfig(Section):
    """The ``[resort]`` section: second sorts to compare the fused order with, on the base setting.

    Parameters
    ----------
    half_lives_days : list of float
        Each makes one sort by cosine x age, beside cosine alone and the older line's confidence.
    floor : float
        What an infinitely old row keeps of its cosine in these sorts.
    """

    half_lives_days: list[Annotated[float, Field(gt=0.0, le=36_500.0)]] = Field(default=[])
    floor: Annotated[float, Field(ge=0.0, le=1.0)] = 0.3

    @field_validator("half_lives_days")
    @classmethod
    def _different(cls, days: list[float]) -> list[float]:
        require_distinct("half_lives_days", [f"{one:g}" for one in days])
        return days


class AdaptiveConfig(Section):
    """A whole config file with ``kind = "adaptive"``.

    Parameters
    ----------
    limit : int
        The window of a caller.
    gates : list of float
        Gates to study on the proposal, with the questions of other scopes as well.
    resort : ResortConfig, optional
        Second sorts to study.
    """

    kind: Literal["adaptive"]
    name: Name
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 20261130
    datasets: Annotated[list[DatasetConfig], Field(min_length=1)]
    models: Annotated[list[SignalModelConfig], Field(min_length=1)] = Field(
        default=[SignalModelConfig()]
    )
    signals: SignalsConfig = SignalsConfig()
    freeze: FreezeSignalsConfig = FreezeSignalsConfig()
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    gates: list[Gate] = Field(default=[])
    resort: ResortConfig | None = None
    base: PointConfig = PointConfig()
    sweep: list[GridConfig] = Field(default=[])
    wrong_cue: WrongCueConfig = WrongCueConfig()
    select: ChoiceConfig = ChoiceConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()

    @model_validator(mode="after")
    def _depths_agree(self) -> AdaptiveConfig:
        require_distinct("datasets", [dataset.name for dataset in self.datasets])
        own = {dataset.name for dataset in self.datasets}
        for name in self.wrong_cue.datasets:
            if name not in own:
                allowed = ", ".join(sorted(own))
                raise ValueError(f"wrong_cue.datasets has {name!r}; allowed: {allowed}")
        require_distinct("models", [model.label for model in self.models])
        depths = [self.base.depth, *(depth for grid in self.sweep for depth in grid.depth or [])]
        if max(depths) > self.freeze.depth:
            raise ValueError(
                f"depth is {max(depths)}; allowed: at most freeze.depth = {self.freeze.depth}"
            )
        points = sum(math.prod(map(len, grid.axes().values())) for grid in self.sweep)
        if points > MAX_SETTINGS:
            raise ValueError(f"sweep has {points} combinations; allowed: at most {MAX_SETTINGS}")
        return self

    def grams(self) -> tuple[ArmSpec, ArmSpec]:
        """Return how the two gram sizes are scored."""
        return tuple(
            ArmSpec(f"gram{size}", "gram", size=size, **section.model_dump())
            for size, section in ((3, self.signals.gram3), (4, self.signals.gram4))
        )

    def freezing(self) -> AdaptiveSettings:
        """Return the settings under which signals are frozen: deep, with nothing that removes."""
        bounds = Bounds(candidates=2 * MAX_DEPTH, milliseconds=None)
        return AdaptiveSettings(*self.grams(), depth=self.freeze.depth, bounds=bounds)

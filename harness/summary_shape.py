"""What a report reads of a summary.json: fields, types and bounds; further fields are let be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from harness.adaptive.returned import ROWS
from harness.selection import PROPOSAL

# Bounds no run comes near: what is beyond them cannot be written or drawn.
Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=-1.001, le=1.001, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Fields = dict[str, bool | Number]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Fused(_Shape):
    fusion: Literal["rrf", "score"]
    rrf_k: Number | None
    depth: Count

    @model_validator(mode="after")
    def _constant(self) -> _Fused:
        if self.fusion == "rrf" and self.rrf_k is None:
            raise ValueError("rrf_k is missing")
        return self


class _Baseline(_Fused):
    signals: list[str]


class _Weighted(_Fused):
    weights: dict[str, Number]

    @field_validator("weights")
    @classmethod
    def _some(cls, weights: dict[str, float]) -> dict[str, float]:
        if max(weights.values(), default=0.0) <= 0.0:
            raise ValueError("no weight is above 0")
        return weights


class _Adaptive(_Shape):
    cue: str
    depth: Count
    calibration: Fields
    structure: Fields | None
    cues: Fields | None
    gate: Number | None
    seats: Count


def _kind(value: Any) -> str:
    kind = value.get("kind", "weighted") if isinstance(value, dict) else "weighted"
    return kind if isinstance(kind, str) else str(type(kind))


Setting = Annotated[
    Annotated[_Weighted, Tag("weighted")]
    | Annotated[_Baseline, Tag("baseline")]
    | Annotated[_Adaptive, Tag("adaptive")],
    Discriminator(_kind),
]


class _Gram(_Shape):
    term_frequency: str
    length_exponent: Number
    idf_power: Number


class _DenseArm(_Shape):
    name: str
    kind: Literal["dense"]


class _GramArm(_Gram):
    name: str
    kind: Literal["gram"]
    size: Count


class _Sweep(_Shape):
    depth: Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(min_length=1)]


class _Select(_Shape):
    measure: str


class _Bootstrap(_Shape):
    confidence: Share
    resamples: Count


class _Freeze(_Shape):
    depth: Count


class _Config(_Shape):
    name: str
    description: str
    select: _Select
    bootstrap: _Bootstrap
    freeze: _Freeze


class _ArmsConfig(_Config):
    arms: Annotated[
        list[Annotated[_DenseArm | _GramArm, Discriminator("kind")]], Field(min_length=1)
    ]
    sweep: _Sweep


class _Signals(_Shape):
    gram3: _Gram
    gram4: _Gram


class _AdaptiveConfig(_Config):
    signals: _Signals


class _Measured(_Shape):
    dataset: str
    task: str
    part: str
    measure: str
    value: Number
    ci_low: Number
    ci_high: Number
    n: Count

    @model_validator(mode="after")
    def _share(self) -> _Measured:
        """Every measure is a share, but for a count of rows."""
        if self.measure != ROWS and max(map(abs, (self.value, self.ci_low, self.ci_high))) > 1.001:
            raise ValueError("value, ci_low and ci_high must lie between -1.001 and 1.001")
        return self


class _Record(_Measured):
    model: str
    setting: str


class _Difference(_Measured):
    role: str
    against: str


class _NotToldApart(_Shape):
    count: Count
    shipped: bool | None = None


class _Proposal(_Shape):
    setting: str
    measure: str
    among: Count
    beats_both: bool
    not_told_apart: _NotToldApart


class _Hashes(_Shape):
    config: str
    code: str
    data: dict[str, str | None]
    pool: dict[str, str | None]


class _Machine(_Shape):
    packages: dict[str, str | None] = {}


class _Ordered(_Shape):
    dataset: str
    part: str
    regime: str
    order: str
    measure: str
    value: Share
    ci_low: Share
    ci_high: Share


class _Monotone(_Shape):
    confidence: str
    sorted: Count
    changed: Count


class _Moved(_Shape):
    dataset: str
    regime: str
    order: str
    share: Share


class _ResortStudy(_Shape):
    setting: str
    limit: Count
    gate: Number | None
    seats: Count
    orders: Annotated[list[str], Field(min_length=1)]
    monotone: list[_Monotone]
    moved: list[_Moved]
    values: list[_Ordered]
    differences: list[_Ordered]


class _Summary(_Shape):
    regime: str
    judged_on: str = ""
    hashes: _Hashes
    settings: Annotated[dict[str, Setting], Field(min_length=1)]
    roles: Annotated[dict[str, dict[str, str]], Field(min_length=1)]
    proposal: _Proposal
    differences: list[_Difference]
    records: list[_Record]
    degraded: list[str] | None = None
    machine: _Machine = _Machine()
    cue_study: dict[str, Any] | None = None
    resort_study: _ResortStudy | None = None

    @field_validator("roles")
    @classmethod
    def _proposed(cls, roles: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        for dataset, settings in roles.items():
            if PROPOSAL not in settings:
                raise ValueError(f"dataset {dataset!r} has no role {PROPOSAL!r}")
        return roles


class _ArmsSummary(_Summary):
    config: _ArmsConfig
    settings: Annotated[dict[str, _Weighted], Field(min_length=1)]


class _AdaptiveSummary(_Summary):
    config: _AdaptiveConfig


_SETTING = TypeAdapter(Setting)


def summary_mistake(summary: dict[str, Any]) -> str | None:
    """Say what of a summary is not as a run writes it.

    Parameters
    ----------
    summary : dict
        As it was read from JSON.

    Returns
    -------
    str or None
        The path of the first wrong field and what is wrong with it; None when all is well.
    """
    config = summary.get("config")
    adaptive = isinstance(config, dict) and config.get("kind") == "adaptive"
    try:
        (_AdaptiveSummary if adaptive else _ArmsSummary).model_validate(summary)
    except ValidationError as error:
        return _first(error)
    try:
        (_SETTING if adaptive else TypeAdapter(_Weighted)).validate_python(summary["proposal"])
    except ValidationError as error:
        return f"proposal.{_first(error)}"
    return None


def _first(error: ValidationError) -> str:
    mistakes = error.errors(include_url=False, include_input=False)
    path = ".".join(str(step) for step in mistakes[0]["loc"])
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return f"{path}: {mistakes[0]['msg'].replace(chr(10), ' ')}{more}"

"""The TOML file of a run: what to freeze, which settings to replay, how to choose among them."""

from __future__ import annotations

import difflib
import tomllib
import typing
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from cpersona_jit.errors import UsageError
from cpersona_jit.recall.settings import ArmSpec
from harness.adaptive.config import AdaptiveConfig
from harness.config_parts import (
    MAX_SETTINGS,
    BootstrapConfig,
    DatasetConfig,
    Depth,
    ModelConfig,
    Name,
    Section,
    SelectConfig,
    require_distinct,
)
from harness.exit.config import ExitConfig
from harness.scale.config import ScaleConfig

ArmName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Weight = Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)]


class ConfigError(UsageError):
    """The config file cannot be read, or says something that is not allowed."""


class ArmConfig(Section):
    """One ``[[arms]]`` entry; its keys are those of ``cpersona_jit.recall.settings.ArmSpec``."""

    name: ArmName
    kind: Literal["dense", "gram"]
    size: Literal[3, 4] = 3
    term_frequency: Literal["binary", "2bit"] = "binary"
    length_exponent: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.1
    idf_power: Annotated[float, Field(ge=0.0, le=4.0, allow_inf_nan=False)] = 1.25

    @model_validator(mode="after")
    def _gram_keys_only_on_gram_arms(self) -> ArmConfig:
        given = sorted(self.model_fields_set - {"name", "kind"})
        if self.kind == "dense" and given:
            raise ValueError(f"a dense arm does not read {', '.join(given)}")
        return self

    def spec(self) -> ArmSpec:
        """Return the arm as the recall pipeline knows it."""
        return ArmSpec(**self.model_dump())


class FreezeConfig(Section):
    """The ``[freeze]`` section: how many candidates of each arm the pool keeps per query."""

    depth: Depth = 1000


class SweepConfig(Section):
    """The ``[sweep]`` section: every combination of these is one setting.

    Parameters
    ----------
    fusion : list of {"rrf", "score"}
    depth : list of int
        Each at most ``freeze.depth``.
    rrf_k : list of float
        Read by ``rrf`` only.
    weights : list of {arm: weight}
        Arms left out have weight 0.
    weight_grid : {arm: list of weights}
        Every combination, added to ``weights``; those that differ by a common factor are one.
    """

    fusion: Annotated[list[Literal["rrf", "score"]], Field(min_length=1)] = Field(default=["score"])
    depth: Annotated[list[Depth], Field(min_length=1)] = Field(default=[1000])
    rrf_k: Annotated[
        list[Annotated[float, Field(gt=0.0, le=10_000.0, allow_inf_nan=False)]],
        Field(min_length=1),
    ] = Field(default=[60.0])
    weights: list[dict[ArmName, Weight]] = Field(default=[])
    weight_grid: dict[ArmName, Annotated[list[Weight], Field(min_length=1)]] = Field(default={})


class RunConfig(Section):
    """A whole config file."""

    name: Name
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 20261130
    datasets: Annotated[list[DatasetConfig], Field(min_length=1)]
    model: ModelConfig = ModelConfig()
    arms: Annotated[list[ArmConfig], Field(min_length=1, max_length=16)]
    freeze: FreezeConfig = FreezeConfig()
    sweep: SweepConfig
    select: SelectConfig = SelectConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()

    @model_validator(mode="after")
    def _names_and_depths_agree(self) -> RunConfig:
        require_distinct("datasets", [dataset.name for dataset in self.datasets])
        arms = [arm.name for arm in self.arms]
        require_distinct("arms", arms)
        _check_sweep(self.sweep, arms, self.freeze.depth)
        return self

    def arm_specs(self) -> tuple[ArmSpec, ...]:
        """Return the arms as the recall pipeline knows them, in file order."""
        return tuple(arm.spec() for arm in self.arms)


_KINDS: tuple[tuple[str, type[Section]], ...] = (
    ("adaptive", AdaptiveConfig),
    ("scale", ScaleConfig),
    ("exit", ExitConfig),
)


def load_config(path: Path) -> RunConfig | AdaptiveConfig | ScaleConfig | ExitConfig:
    """Read and check a config file.

    Parameters
    ----------
    path : Path
        Where the TOML file is.

    Returns
    -------
    RunConfig, AdaptiveConfig, ScaleConfig or ExitConfig
        The others for a file that says ``kind = "adaptive"``, ``"scale"`` or ``"exit"``.

    Raises
    ------
    ConfigError
        The file is missing, is not TOML (the message names the line), or holds a key, type or
        value that is not allowed (the message names every such key path).
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot be read ({reason}); allowed: a TOML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: lists or tables are nested too deeply") from error
    kind = document.get("kind")
    model = next((model for name, model in _KINDS if name == kind), RunConfig)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise ConfigError(_explain(path, error, model)) from error


def _explain(path: Path, error: ValidationError, model: type[Section]) -> str:
    lines = [f"{_key_path(item['loc'])}: {_reason(item, model)}" for item in error.errors()]
    if len(lines) == 1:
        return f"{path}: {lines[0]}"
    return f"{path}: {len(lines)} mistakes\n" + "\n".join(f"  {line}" for line in lines)


def _reason(item: dict, root: type[Section]) -> str:
    kind, loc, value = item["type"], item["loc"], item["input"]
    if kind == "extra_forbidden":
        known = _keys_at(root, loc[:-1])
        near = difflib.get_close_matches(str(loc[-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(known)}"
        return f"unknown key; {hint}"
    if kind == "missing":
        return "this key is required"
    message = item["msg"].removeprefix("Value error, ")
    if kind == "value_error":
        return message
    return f"{message[0].lower()}{message[1:]} (found {value!r})"


def _key_path(loc: tuple[int | str, ...]) -> str:
    """Join a location, counting list entries from 1 as a person reading the file would."""
    text = ""
    for part in loc:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "(whole file)"


def _keys_at(root: type[Section], loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys allowed in the section at ``loc`` of a config."""
    model: typing.Any = root
    for part in loc:
        if isinstance(part, str):
            model = _section_inside(model.model_fields[part].annotation)
    return sorted(model.model_fields)


def _section_inside(annotation: typing.Any) -> typing.Any:
    """Return the section model of ``Section`` or ``list[Section]``."""
    inside = typing.get_args(annotation)
    return _section_inside(inside[0]) if inside else annotation


def _check_sweep(sweep: SweepConfig, arms: list[str], freeze_depth: int) -> None:
    if not sweep.weights and not sweep.weight_grid:
        raise ValueError("sweep.weights or sweep.weight_grid is required")
    for position, weights in enumerate(sweep.weights, 1):
        for name in weights:
            _require_arm(f"sweep.weights[{position}]", name, arms)
        if not any(weights.values()):
            raise ValueError(f"sweep.weights[{position}]: no arm has a weight above 0")
    for name in sweep.weight_grid:
        _require_arm("sweep.weight_grid", name, arms)
    for depth in sweep.depth:
        if depth > freeze_depth:
            raise ValueError(
                f"sweep.depth is {depth}; allowed: at most freeze.depth = {freeze_depth}"
            )
    _check_sweep_size(sweep)


def _check_sweep_size(sweep: SweepConfig) -> None:
    grid = 1 if sweep.weight_grid else 0
    for values in sweep.weight_grid.values():
        grid *= len(values)
    points = (len(sweep.weights) + grid) * len(sweep.depth) * len(sweep.fusion) * len(sweep.rrf_k)
    if points > MAX_SETTINGS:
        raise ValueError(f"sweep has {points} combinations; allowed: at most {MAX_SETTINGS}")


def _require_arm(key: str, name: str, arms: list[str]) -> None:
    if name not in arms:
        raise ValueError(f"{key}: no arm is named {name!r}; allowed: {', '.join(arms)}")

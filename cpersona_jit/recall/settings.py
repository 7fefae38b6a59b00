"""What a recall may be told: its arms, how they are fused, and how deep each arm reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal

from cpersona_jit.errors import UsageError

ArmKind = Literal["dense", "gram"]
FusionKind = Literal["rrf", "score"]
TermFrequency = Literal["binary", "2bit"]

MAX_DEPTH = 10_000
# Large enough for any use; sums of votes and z-scores stay far from infinity.
MAX_WEIGHT = 1_000_000
MAX_RRF_K = 1_000_000


@dataclass(frozen=True)
class ArmSpec:
    """One arm: a way to score every admitted row against the query.

    Parameters
    ----------
    name : str
        Name of the arm in weights, traces and pools.
    kind : {"dense", "gram"}
        ``dense`` scans int8 codes of the embedding; ``gram`` sums the idf of shared character
        n-grams. The remaining parameters are read by gram arms only.
    size : {3, 4}
        Length of the n-grams in code points. Size 3 also indexes the 2-grams inside CJK runs.
    term_frequency : {"binary", "2bit"}
        Whether a gram counts once per row, or up to three times with diminishing weight.
    length_exponent : float
        Row scores are multiplied by ``length ** -length_exponent``; 0 ignores length.
    idf_power : float
        Exponent on a gram's inverse document frequency.
    """

    name: str
    kind: ArmKind
    size: int = 3
    term_frequency: TermFrequency = "binary"
    length_exponent: float = 0.1
    idf_power: float = 1.25

    def __post_init__(self) -> None:
        named = isinstance(self.name, str) and bool(self.name)
        _require(named, "arm name", self.name, "a non-empty string")
        _require(self.kind in ("dense", "gram"), "arm kind", self.kind, "'dense' or 'gram'")
        whole = isinstance(self.size, int) and self.size in (3, 4)
        _require(whole, f"size of arm {self.name!r}", self.size, "3 or 4")
        _require(
            self.term_frequency in ("binary", "2bit"),
            f"term_frequency of arm {self.name!r}",
            self.term_frequency,
            "'binary' or '2bit'",
        )
        _require(
            _is_number(self.length_exponent, 1.0),
            f"length_exponent of arm {self.name!r}",
            self.length_exponent,
            "a number from 0 to 1",
        )
        _require(
            _is_number(self.idf_power, 4.0),
            f"idf_power of arm {self.name!r}",
            self.idf_power,
            "a number from 0 to 4",
        )


@dataclass(frozen=True)
class FusionSpec:
    """How the arms' evidence becomes one score.

    Parameters
    ----------
    kind : {"rrf", "score"}
        ``rrf`` is reciprocal rank fusion [1]_, the frozen baseline. ``score`` is the weighted sum
        of each arm's z-score over the admitted rows.
    weights : mapping of arm name to float
        Arms without a weight, or with weight 0, take no part.
    rrf_k : float
        The constant of reciprocal rank fusion; 60 in the paper.

    References
    ----------
    .. [1] Cormack, Clarke, Buettcher: "Reciprocal rank fusion outperforms Condorcet and individual
       rank learning methods", SIGIR 2009.
    """

    kind: FusionKind
    weights: Mapping[str, float]
    rrf_k: float = 60.0

    def __post_init__(self) -> None:
        _require(self.kind in ("rrf", "score"), "fusion kind", self.kind, "'rrf' or 'score'")
        _require(
            _is_number(self.rrf_k, MAX_RRF_K),
            "rrf_k",
            self.rrf_k,
            f"a number from 0 to {MAX_RRF_K}",
        )
        _require(
            isinstance(self.weights, Mapping)
            and all(_is_number(weight, MAX_WEIGHT) for weight in self.weights.values())
            and any(weight > 0 for weight in self.weights.values()),
            "fusion weights",
            self.weights,
            f"a number from 0 to {MAX_WEIGHT} per arm, at least one of them above 0",
        )
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    def __reduce__(self) -> tuple:
        """Let settings be copied and sent to worker processes; a read-only view cannot be."""
        return FusionSpec, (self.kind, dict(self.weights), self.rrf_k)


@dataclass(frozen=True)
class RecallSettings:
    """The settings of one recall; every default comes from :mod:`cpersona_jit.defaults`.

    Parameters
    ----------
    arms : tuple of ArmSpec
        Arms that may run. Those that the fusion gives no weight do not run.
    fusion : FusionSpec
        How the arms are fused.
    depth : int
        How many candidates each arm hands to fusion, 1 to 10,000. It is never derived from the
        number of rows asked for.
    """

    arms: tuple[ArmSpec, ...]
    fusion: FusionSpec
    depth: int

    def __post_init__(self) -> None:
        _require(
            isinstance(self.arms, tuple | list)
            and all(isinstance(arm, ArmSpec) for arm in self.arms),
            "arms",
            self.arms,
            "a tuple of ArmSpec",
        )
        _require(isinstance(self.fusion, FusionSpec), "fusion", self.fusion, "a FusionSpec")
        names = [arm.name for arm in self.arms]
        _require(len(set(names)) == len(names), "arm names", names, "names that differ")
        unknown = sorted(map(str, set(self.fusion.weights) - set(names)))
        _require(not unknown, "fusion weights", unknown, f"weights for the arms {names}")
        _require(
            isinstance(self.depth, int)
            and not isinstance(self.depth, bool)
            and 1 <= self.depth <= MAX_DEPTH,
            "depth",
            self.depth,
            f"a whole number from 1 to {MAX_DEPTH}",
        )

    @property
    def active_arms(self) -> tuple[ArmSpec, ...]:
        """The arms with a weight above 0, in their order."""
        return tuple(arm for arm in self.arms if self.fusion.weights.get(arm.name, 0.0) > 0)


def settings_as_dict(settings: RecallSettings) -> dict:
    """Return the settings as plain JSON-ready values, for traces and hashes."""
    return {
        "arms": [{f.name: getattr(arm, f.name) for f in fields(arm)} for arm in settings.arms],
        "fusion": {
            "kind": settings.fusion.kind,
            "weights": dict(settings.fusion.weights),
            "rrf_k": settings.fusion.rrf_k,
        },
        "depth": settings.depth,
    }


def _is_number(value: object, largest: float) -> bool:
    """Whether `value` is a number from 0 to `largest`; NaN, infinity and booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= largest


def _require(held: bool, name: str, value: object, allowed: str) -> None:
    if not held:
        raise UsageError(f"{name} is {value!r}; allowed: {allowed}")

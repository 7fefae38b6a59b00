"""What an adaptive recall may be told: calibration, structure, cues, gate, seats and bounds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from cpersona_jit.errors import UsageError
from cpersona_jit.kernels.structure_weights import StructureWeights
from cpersona_jit.recall.clues import CLUES
from cpersona_jit.recall.requirements import require_number, require_type, require_whole
from cpersona_jit.recall.row_prior import RowPrior
from cpersona_jit.recall.settings import MAX_DEPTH, ArmSpec


@dataclass(frozen=True)
class Calibration:
    """Weights of the calibrated fusion; see ``kernels.numpy_path.calibration.calibrate``.

    Parameters
    ----------
    block_penalty : float
        What one e-fold more blocks costs, in deviations: the best of m blocks grows like ln m even
        when no block answers.
    dense_row_share, gram_row_share : float
        Share of the whole row beside its best block.
    gram3_share, gram4_share : float
        Shares of the two gram sizes.
    dense_weight, gram_weight : float
        Of the two kinds of evidence in the fused score.
    conditional : bool
        Take the gram evidence given the dense one: ``L - rho D`` with rho their correlation in the
        scope, clipped to 0..0.9.
    """

    block_penalty: float = 0.7
    dense_row_share: float = 0.5
    gram3_share: float = 1.0
    gram4_share: float = 1.0
    gram_row_share: float = 0.7
    dense_weight: float = 1.0
    gram_weight: float = 1.0
    conditional: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "conditional":
                require_number(f"calibration.{name}", value, 0.0, 100.0)
        require_type("calibration.conditional", self.conditional, bool)
        if not self.dense_weight and not self.gram_weight:
            raise UsageError("calibration.dense_weight and gram_weight are both 0")

    def parameters(self) -> np.ndarray:
        """Return the parameters as the kernels take them, float64 (8,)."""
        return np.array([float(getattr(self, field.name)) for field in fields(self)])


@dataclass(frozen=True)
class Structure:
    """Weights of the structure terms; see ``kernels.structure.structure_terms``.

    Parameters
    ----------
    near, next_near : float
        Of the strength that rows one and two places away in the session lend.
    strong : float
        Fused score from which a row has strength to lend.
    session, time, source, project : float
        Of the mean of the three best candidates of the same session, of the same UTC day, by the
        same speaker, of the same project.
    question : float
        Added to a row that ends as a question.
    speaker : float
        Added to a row whose speaker the query names.
    least_alternation : float
        Share of adjacent rows with different speakers up to which rows are no conversation; all
        terms but the speaker's are then off.
    half_length : float
        Median row length, in characters and at least 1, at which half of the context deficit is
        left.
    """

    near: float = 0.6
    next_near: float = 0.22
    strong: float = 2.0
    session: float = 0.3
    time: float = 0.0
    source: float = 0.0
    project: float = 0.0
    question: float = -1.0
    speaker: float = 1.0
    least_alternation: float = 0.2
    half_length: float = 150.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            low = 1.0 if name == "half_length" else -100.0
            require_number(f"structure.{name}", value, low, 10_000.0)

    def weights(self) -> StructureWeights:
        """Return the weights as the kernels take them."""
        return StructureWeights(*(getattr(self, name) for name in StructureWeights._fields))

    def clues(self) -> dict[str, float]:
        """Return the weights of the clues that have one, in the order of ``clues.CLUES``."""
        return {clue: getattr(self, clue) for clue in CLUES if getattr(self, clue)}


@dataclass(frozen=True)
class CueWeights:
    """How much a time cue weighs; a cue is a prior and never a filter.

    Parameters
    ----------
    said : float
        Of a period in which something was said.
    event : float
        Of a period in which something happened, which may be told later.
    bare : float
        Of a question that names a time and asks for nothing in particular.
    likely, vague : float
        What is left of the weight when the cue is not sure.
    outside : float
        Prior just outside the period; it decays with the distance.
    seats : int
        Rows beyond `limit` that a cue may win, marked in the response.
    parse : bool
        Derive a cue from the question's own words when none is declared.
    """

    said: float = 4.0
    event: float = 2.0
    bare: float = 32.0
    likely: float = 0.75
    vague: float = 0.5
    outside: float = 0.6
    seats: int = 2
    parse: bool = True

    def __post_init__(self) -> None:
        for name in ("said", "event", "bare"):
            require_number(f"cues.{name}", getattr(self, name), 0.0, 1000.0)
        for name in ("likely", "vague", "outside"):  # shares; more would turn a cue round
            require_number(f"cues.{name}", getattr(self, name), 0.0, 1.0)
        require_whole("cues.seats", self.seats, 0, 100)
        require_type("cues.parse", self.parse, bool)


@dataclass(frozen=True)
class Bounds:
    """Hard caps of the process, each named in the response when it acts.

    Parameters
    ----------
    revisions : int
        Times the pool may be weighed again after it was retrieved.
    candidates : int
        Candidates that are weighed.
    milliseconds : float or None
        Time after which no further revision starts; the only source of difference between two
        equal calls, and off (None) in measurements.
    """

    revisions: int = 1
    candidates: int = 1000
    milliseconds: float | None = 50.0

    def __post_init__(self) -> None:
        require_whole("bounds.revisions", self.revisions, 0, 10)
        require_whole("bounds.candidates", self.candidates, 1, 2 * MAX_DEPTH)
        if self.milliseconds is not None:
            require_number("bounds.milliseconds", self.milliseconds, 0.0, 60_000.0)


@dataclass(frozen=True)
class Scan:
    """How the vectors of a large scope are looked at; see ``recall.two_phase``.

    Parameters
    ----------
    exact_rows : int
        Admitted rows up to which every int8 code is read. Above it sign bits choose rows first.
    shortlist : int
        Rows that the sign bits choose for each list.
    sample : int
        Rows, evenly spread over the scope, from which a large scope's moments are taken: a
        deviation over 4,096 rows is off by 1.1 % (``1 / sqrt(2 * 4096)``).
    """

    exact_rows: int = 16_384
    shortlist: int = 800
    sample: int = 4_096

    def __post_init__(self) -> None:
        require_whole("scan.exact_rows", self.exact_rows, 0, 1 << 31)
        require_whole("scan.shortlist", self.shortlist, 1, 1 << 20)
        require_whole("scan.sample", self.sample, 1, 1 << 20)


@dataclass(frozen=True)
class AdaptiveSettings:
    """The settings of one adaptive recall.

    Parameters
    ----------
    gram3, gram4 : ArmSpec
        How the two gram sizes are scored.
    depth : int
        Candidates that each kind of evidence hands to the pool.
    calibration : Calibration
        How evidence is fused.
    structure : Structure or None
        The first revision of the loop; None leaves it out.
    cues : CueWeights or None
        None takes no notice of time cues at all.
    prior : RowPrior or None
        What scan position and age are worth; None for nothing.
    gate : float or None
        Evidence, in deviations of a row picked at random, below which a row is not returned; see
        ``recall.gate`` for the scopes that are too small for it.
    seats : int
        Rows beyond the window that are kept: the best row of each kind of evidence, then rows that
        one kind alone reached.
    bounds : Bounds
        Hard caps.
    scan : Scan
        How the vectors of a large scope are looked at.
    """

    gram3: ArmSpec
    gram4: ArmSpec
    depth: int
    calibration: Calibration = Calibration()
    structure: Structure | None = None
    cues: CueWeights | None = None
    prior: RowPrior | None = None
    gate: float | None = None
    seats: int = 0
    bounds: Bounds = Bounds()
    scan: Scan = Scan()

    def __post_init__(self) -> None:
        for arm, size in ((self.gram3, 3), (self.gram4, 4)):
            if not isinstance(arm, ArmSpec) or arm.kind != "gram" or arm.size != size:
                raise UsageError(f"gram{size} is {arm!r}; allowed: a gram arm of size {size}")
        require_whole("depth", self.depth, 1, MAX_DEPTH)
        require_type("calibration", self.calibration, Calibration)
        require_type("structure", self.structure, Structure, type(None))
        require_type("cues", self.cues, CueWeights, type(None))
        require_type("prior", self.prior, RowPrior, type(None))
        require_type("bounds", self.bounds, Bounds)
        require_type("scan", self.scan, Scan)
        if self.gate is not None:
            require_number("gate", self.gate, -100.0, 100.0)
        require_whole("seats", self.seats, 0, 100)

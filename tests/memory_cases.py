"""What the tests of recall share: an embedder without a model, stores, and comparable results."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from cpersona_jit.columns.compact import without_gone
from cpersona_jit.columns.postings import NUMPY_GRAMS
from cpersona_jit.columns.snapshot import Columns
from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.errors import EmbeddingError
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings
from cpersona_jit.recall.trace import RecallTrace

DENSE = ArmSpec("dense", "dense")
GRAM3 = ArmSpec("gram3", "gram", size=3, term_frequency="2bit")
GRAM4 = ArmSpec("gram4", "gram", size=4)
ARMS = (DENSE, GRAM3, GRAM4)


def settings(
    kind: str = "score", depth: int = 20, *, weights: dict[str, float] | None = None
) -> RecallSettings:
    """Settings over all three arms; they share the total weight unless `weights` says otherwise."""
    chosen = {"dense": 1.0, "gram3": 0.5, "gram4": 0.5} if weights is None else weights
    return RecallSettings(ARMS, FusionSpec(kind, chosen), depth)


class BagOfWords:
    """An embedder for tests: words hashed to signed buckets; equal words give equal vectors.

    Parameters
    ----------
    name : str
        Two names are two models.
    dim : int
        Length of a vector.
    fails_after : int or None
        Calls of ``embed`` that succeed before every other one fails.
    centred : bool
        Whether its vectors are centred.
    """

    def __init__(
        self,
        name: str = "bag",
        dim: int = 64,
        fails_after: int | None = None,
        *,
        centred: bool = False,
    ) -> None:
        fingerprint = model_fingerprint(provider="test", model=name, dim=dim)
        self.info = ModelInfo(name, dim, fingerprint, None, centred)
        self.fails_after = fails_after
        self.embedded: list[str] = []
        self.closed = False

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return one vector per text."""
        if self.fails_after is not None:
            if not self.fails_after:
                raise EmbeddingError("the model died")
            self.fails_after -= 1
        self.embedded += texts
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.zeros(self.info.dim)
        for word in [self.info.label, *text.lower().split()]:
            seed = zlib.crc32(f"{self.info.label}/{word}".encode("utf-8", "surrogatepass"))
            vector += np.random.default_rng(seed).standard_normal(self.info.dim)
        return vector

    def close(self) -> None:
        """Remember the call."""
        self.closed = True


def plain(value: object) -> object:
    """Arrays, dataclasses and containers as values that ``==`` compares to the last bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def plain_trace(trace: RecallTrace) -> object:
    """A trace without wall times, the one part that may differ between equal calls."""
    return plain(replace(trace, milliseconds={}))


def plain_columns(columns: Columns) -> object:
    """What a snapshot shows: its live rows, however their names and sessions are numbered."""
    live = without_gone(columns, NUMPY_GRAMS)
    told = _told(plain(live))
    for name, codes in live.codes_by_name.items():
        names = list(live.tables[name])
        told[name] = [names[code] for code in codes]
    numbers: dict[int, int] = {-1: -1}
    told["session_key"] = [numbers.setdefault(k, len(numbers)) for k in live.session_key.tolist()]
    return {name: item for name, item in told.items() if name not in ("tables", "codes_by_name")}


def _told(value: object) -> object:
    """A value without the names that begin with an underscore, at any depth of dicts."""
    if not isinstance(value, dict):
        return value
    return {
        name: _told(item)
        for name, item in value.items()
        if not (isinstance(name, str) and name.startswith("_"))
    }

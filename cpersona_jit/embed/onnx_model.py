"""An encoder in an ONNX file, run by onnxruntime, pooled into one vector per text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from cpersona_jit.embed.provider import ModelInfo, TextKind, model_fingerprint
from cpersona_jit.embed.weights import package_folder, verify_file
from cpersona_jit.errors import EmbeddingError, shown

_CHARS_PER_TOKEN = 4  # of English WordPiece; only the stated window depends on it


@dataclass(frozen=True)
class OnnxModel:
    """What to run and how to turn its output into a vector.

    Attributes
    ----------
    label : str
        Name for people.
    path : Path
        The ``.onnx`` file.
    identity : dict of str to str
        What shapes a vector beside the fields here: file digests and tokenizer settings.
    tokenizer : callable
        Makes the function from text to token ids, already cut to `max_tokens`.
    max_tokens : int
        Tokens of a text that the model sees.
    pooling : {"mean", "cls"}
        How token vectors become one: their mean, or the first.
    query_prefix, passage_prefix : str
        Put before a text of that kind.
    dim : int or None
        Length of a vector; None when the model must be asked.
    sha256 : str or None
        Pinned digest of the ``.onnx`` file, checked when the model is loaded.
    """

    label: str
    path: Path
    identity: dict[str, str]
    tokenizer: Callable[[], Callable[[str], list[int]]] = field(repr=False)
    max_tokens: int
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    dim: int | None = None
    sha256: str | None = None


class OnnxProvider:
    """Runs an :class:`OnnxModel` on one CPU thread.

    Raises
    ------
    EmbeddingError
        At construction if onnxruntime is missing; later if the model cannot be loaded or run.
    """

    def __init__(self, model: OnnxModel) -> None:
        package_folder("onnxruntime", "cpersona-jit[minilm]")
        self._model = model
        self._session = None

    @cached_property
    def info(self) -> ModelInfo:
        """The model's identity; loads the model when its dimension is not known beforehand."""
        model = self._model
        dim = model.dim or self.embed(["dimension"], kind="passage").shape[1]
        fingerprint = model_fingerprint(
            provider="onnx",
            files=model.identity,
            dim=dim,
            pooling=model.pooling,
            max_tokens=model.max_tokens,
            prefixes=[model.query_prefix, model.passage_prefix],
        )
        return ModelInfo(model.label, dim, fingerprint, model.max_tokens * _CHARS_PER_TOKEN)

    def embed(self, texts: Sequence[str], *, kind: TextKind) -> np.ndarray:
        """Return float32 rows of shape (len(texts), dim), not normalised."""
        if self._session is None:
            self._load()
        prefix = self._model.query_prefix if kind == "query" else self._model.passage_prefix
        # One text per run: batches are no faster on one thread, and in a model that quantises
        # its activations a vector would depend on the other texts and their padding.
        rows = [self._encode(prefix + text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.info.dim), np.float32)

    def close(self) -> None:
        """Drop the session; the next ``embed`` loads it again."""
        self._session = None

    def _load(self) -> None:
        model = self._model
        if model.sha256 is not None:
            verify_file(model.path, model.sha256)
        tokenize = model.tokenizer()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(
                str(model.path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's own errors share no base class
            raise EmbeddingError(f"cannot load ONNX model {model.path}: {shown(error)}") from error
        self._inputs = _checked_inputs(session, model.path)
        self._output, self._pooled = _choose_output(session, model.path)
        self._tokenize, self._session = tokenize, session

    def _encode(self, text: str) -> np.ndarray:
        ids = np.array([self._tokenize(text)], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feeds = {name: feeds[name] for name in self._inputs}
        try:
            hidden = self._session.run([self._output], feeds)[0][0]
        except Exception as error:  # onnxruntime's own errors share no base class
            raise EmbeddingError(
                f"cannot run ONNX model {self._model.path}: {shown(error)}"
            ) from error
        if self._pooled:
            return hidden.astype(np.float32)
        if self._model.pooling == "cls":
            return hidden[0].astype(np.float32)
        return hidden.mean(axis=0, dtype=np.float64).astype(np.float32)


def _checked_inputs(session, path: Path) -> list[str]:
    names = [tensor.name for tensor in session.get_inputs()]
    known = ("input_ids", "attention_mask", "token_type_ids")
    strange = [name for name in names if name not in known]
    if strange or "input_ids" not in names:
        raise EmbeddingError(
            f"ONNX model {path} has inputs {', '.join(names)}; a text encoder takes input_ids "
            "and optionally attention_mask and token_type_ids"
        )
    return names


def _choose_output(session, path: Path) -> tuple[str, bool]:
    """Return the output to read and whether it is one vector per text already."""
    outputs = session.get_outputs()
    for rank, pooled in ((3, False), (2, True)):
        for tensor in outputs:
            if len(tensor.shape) == rank:
                return tensor.name, pooled
    raise EmbeddingError(f"ONNX model {path} has no output with one vector per token or text")

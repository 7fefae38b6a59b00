"""Hashes change when what they stand for changes, and at no other time."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.datasets.synthetic import make_synthetic
from harness.hashes import code_hash, config_hash, dataset_hash, file_hash, git_revision

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_the_order_of_keys_does_not_matter(config):
    backwards = dict(reversed(config.items()))
    assert config_hash(config) == config_hash(backwards)


def test_values_types_and_list_order_matter():
    variants = [{"a": 1}, {"a": "1"}, {"a": 1.5}, {"a": [1, 2]}, {"a": [2, 1]}, {"a": None}, {}]
    assert len({config_hash(variant) for variant in variants}) == len(variants)


@dataclasses.dataclass
class Settings:
    depth: int
    names: set[str]
    where: Path


def test_dataclasses_sets_and_paths_hash_like_their_json():
    plain = {"depth": 3, "names": ["a", "b"], "where": "x/y"}
    assert config_hash(Settings(3, {"b", "a"}, Path("x/y"))) == config_hash(plain)


def test_what_has_no_canonical_form_is_refused():
    with pytest.raises(TypeError, match="object"):
        config_hash({"a": object()})
    with pytest.raises(ValueError):
        config_hash({"a": float("nan")})


def test_a_dataset_hash_sees_rows_queries_and_relevance_but_not_names_or_notes():
    dataset = make_synthetic(1)
    base = dataset_hash(dataset)
    replace = dataclasses.replace
    assert dataset_hash(replace(dataset, name="other", notes=["x"])) == base
    first = dataset.rows[0]
    changed = [
        replace(dataset, rows=[first._replace(text=first.text + "!"), *dataset.rows[1:]]),
        replace(dataset, rows=[first._replace(speaker=None), *dataset.rows[1:]]),
        replace(dataset, rows=dataset.rows[::-1]),
        replace(dataset, queries=dataset.queries[1:]),
        replace(dataset, qrels=dataset.qrels | {"x": {"y": 1}}),
    ]
    assert len({base, *map(dataset_hash, changed)}) == 6
    backwards = dict(reversed(dataset.qrels.items()))
    assert dataset_hash(replace(dataset, qrels=backwards)) == base


def test_file_hash_is_sha256(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert file_hash(path).startswith("ba7816bf8f01cfea414140de5dae2223")


def test_code_hash_follows_sources_and_ignores_the_rest(tmp_path):
    for package in ("cpersona_jit", "harness"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "a.py").write_text("x = 1\n")
    base = code_hash(tmp_path)
    (tmp_path / "harness" / "notes.txt").write_text("x")
    (tmp_path / "other.py").write_text("x")
    assert code_hash(tmp_path) == base
    (tmp_path / "harness" / "a.py").rename(tmp_path / "harness" / "b.py")
    renamed = code_hash(tmp_path)
    (tmp_path / "harness" / "b.py").write_text("x = 2\n")
    assert len({base, renamed, code_hash(tmp_path)}) == 3


def test_git_revision_marks_changes_and_is_none_outside_of_git(tmp_path):
    assert git_revision(tmp_path) is None

    def git(*arguments):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True
        )

    git("init")
    assert git_revision(tmp_path) is None, "no commit yet"
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "x")
    clean = git_revision(tmp_path)
    assert clean is not None and len(clean) == 40
    (tmp_path / "a").write_text("2")
    assert git_revision(tmp_path) == clean + "+dirty"

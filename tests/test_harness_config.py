"""A config either loads, or its error says where the mistake is and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpersona_jit.recall.settings import ArmSpec
from harness.config import ConfigError, load_config

GOOD = """
name = "small"
[[datasets]]
name = "synthetic"
[[arms]]
name = "dense"
kind = "dense"
[[arms]]
name = "gram3"
kind = "gram"
size = 3
length_exponent = 0.2
[freeze]
depth = 50
[sweep]
fusion = ["rrf", "score"]
depth = [10, 50]
weights = [{dense = 1, gram3 = 0.5}]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    return path


def message(tmp_path: Path, text: str) -> str:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_good_file_loads_and_its_arms_are_the_pipelines_arms(tmp_path):
    config = load_config(write(tmp_path, GOOD))
    assert config.arm_specs() == (
        ArmSpec("dense", "dense"),
        ArmSpec("gram3", "gram", size=3, length_exponent=0.2),
    )
    assert config.model.provider == "default"
    assert config.select.measure == "nDCG@10"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[freeze]\ndepth", "[freeze]\ndept", ["freeze.dept", "unknown key", "'depth'"]),
        ("fusion = [", "fusions = [", ["sweep.fusions", "did you mean 'fusion'?"]),
        ("[freeze]", "[frieze]", ["frieze", "did you mean 'freeze'?"]),
        ("length_exponent", "length_expnent", ["arms[2].length_expnent", "'length_exponent'"]),
        ("depth = [10, 50]", 'depth = [10, "50"]', ["sweep.depth[2]", "'50'"]),
        ("depth = [10, 50]", "depth = [10, 51]", ["sweep.depth", "51", "freeze.depth = 50"]),
        ("depth = [10, 50]", "depth = [true]", ["sweep.depth[1]", "True"]),
        ("depth = [10, 50]", "depth = []", ["sweep.depth"]),
        ("gram3 = 0.5", "gram5 = 0.5", ["sweep.weights[1]", "'gram5'", "dense, gram3"]),
        ("gram3 = 0.5", "gram3 = -0.5", ["sweep.weights[1].gram3", "-0.5"]),
        ("gram3 = 0.5", "gram3 = nan", ["sweep.weights[1].gram3", "nan"]),
        ("{dense = 1, gram3 = 0.5}", "{dense = 0}", ["sweep.weights[1]", "above 0"]),
        ("weights = [{dense = 1, gram3 = 0.5}]", "", ["sweep.weights", "required"]),
        ("size = 3", "size = 5", ["arms[2].size", "5"]),
        ('kind = "gram"', 'kind = "bm25"', ["arms[2].kind", "'bm25'"]),
        ('kind = "dense"\n', 'kind = "dense"\nsize = 3\n', ["arms[1]", "does not read size"]),
        ('name = "gram3"', 'name = "dense"', ["arms", "'dense' is used 2 times"]),
        ('name = "small"', "", ["name", "required"]),
        ('name = "small"', 'name = "../up"', ["name", "../up"]),
    ],
)
def test_each_mistake_is_named(tmp_path, old, new, expected):
    assert old in GOOD
    text = message(tmp_path, GOOD.replace(old, new, 1))
    for part in expected:
        assert part in text


def test_all_mistakes_are_listed_at_once(tmp_path):
    text = message(tmp_path, GOOD.replace("size = 3", "size = 7").replace("[freeze]", "[freez]"))
    assert "2 mistakes" in text
    assert "arms[2].size" in text
    assert "freez" in text


def test_a_syntax_error_names_its_line(tmp_path):
    assert "line 2" in message(tmp_path, 'name = "x"\nseed = = 3\n')


def test_unreadable_files_are_config_errors(tmp_path):
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            load_config(path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "caf\xe9"')
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config(latin)


def test_a_sweep_too_large_to_mean_anything_is_refused(tmp_path):
    grid = "[sweep.weight_grid]\ndense = [{0}]\ngram3 = [{0}]\n".format(
        ", ".join(str(n) for n in range(1, 101))
    )
    assert "at most 20000" in message(tmp_path, GOOD + grid)

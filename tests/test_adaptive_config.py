"""What an adaptive config may say, and which settings it makes."""

from __future__ import annotations

import pytest

from cpersona_jit.defaults import ROW_ARMS, ROW_FUSION_SETTINGS
from cpersona_jit.recall.adaptive_settings import AdaptiveSettings, Calibration, Structure
from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.grid import Baseline, build_adaptive_settings, row_fusion_baseline
from harness.adaptive.plots import varied_alone
from harness.config import ConfigError, RunConfig, load_config
from harness.describe import describe_setting

HEAD = 'kind = "adaptive"\nname = "a"\n[[datasets]]\nname = "synthetic"\n'


def load(tmp_path, text: str) -> AdaptiveConfig | RunConfig:
    path = tmp_path / "a.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return load_config(path)


def test_points_differ_from_the_base_by_what_the_grid_lists(tmp_path):
    config = load(
        tmp_path,
        "[base]\ndepth = 50\n[base.calibration]\nblock_penalty = 0.5\n[base.structure]\non = true\n"
        "[[sweep]]\nstructure.on = [false, true]\ncalibration.dense_weight = [1, 0.5]\n"
        "[[sweep]]\ndepth = [20]\ngate = [0.5]\ncues.arm = ['parsed', 'shifted']\n",
    )
    settings = {setting.name: setting for setting in build_adaptive_settings(config)}
    base = settings["base"].settings
    assert base == AdaptiveSettings(
        *ROW_ARMS[1:], 50, Calibration(block_penalty=0.5), Structure(), bounds=base.bounds
    )
    assert base.bounds.milliseconds is None
    off = settings["dense_weight=0.5 structure.on=off"].settings
    assert off.structure is None and off.calibration == Calibration(0.5, dense_weight=0.5)
    assert "dense_weight=1 structure.on=on" not in settings, "that is the base again"
    parsed = settings["depth=20 gate=0.5 cues.arm=parsed"]
    assert parsed.cue == "parsed" and parsed.settings.cues is not None and parsed.eligible
    assert not settings["depth=20 gate=0.5 cues.arm=shifted"].eligible
    assert sum(isinstance(setting, Baseline) for setting in settings.values()) == 6


def test_the_row_fusion_is_a_sum_over_whole_rows(tmp_path):
    fusion = row_fusion_baseline(load(tmp_path, ""), ROW_FUSION_SETTINGS)
    assert fusion.weights == tuple(ROW_FUSION_SETTINGS.fusion.weights.values())
    assert not fusion.single_arm
    other = load(tmp_path, "[signals.gram3]\nlength_exponent = 0.4\n")
    assert row_fusion_baseline(other, ROW_FUSION_SETTINGS) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[base.calibration]\nblock_penality = 1\n", "did you mean 'block_penalty'"),
        (
            "[[sweep]]\nstructure.nearr = [1.0]\n",
            r"sweep\[1\].structure.nearr.*mean 'near'",
        ),
        ("[[sweep]]\ncalibration.dense_weight = []\n", "at least 1 item"),
        ("[[sweep]]\ncues.arm = ['wrong']\n", "'parsed'"),
        ("[[sweep]]\ndepth = [501]\n", "at most freeze.depth = 500"),
        ("[select]\nvalidation_share = 0.5\n", "unknown key"),
        ("[model]\nprovider = 'none'\n", "did you mean 'models'"),
        ("[resort]\nhalf_lives = [30]\n", "did you mean 'half_lives_days'"),
        ("[resort]\nhalf_lives_days = [0]\n", r"resort.half_lives_days\[1\].*greater than 0"),
        ("[resort]\nhalf_lives_days = [30, 30.0]\n", "half_lives_days.*'30' is used 2 times"),
        ("[resort]\nfloor = 1.5\n", "resort.floor.*less than or equal to 1"),
        ("[[models]]\nprovider = 'default'\n[[models]]\nprovider = 'default'\n", "used 2 times"),
        ("[[models]]\nprovider = 'default'\ncentred = 'yes'\n", "centred.*'yes'|boolean"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_a_number_varied_alone_is_found_with_the_base_in_its_place(tmp_path):
    config = load(
        tmp_path,
        "[base.structure]\non = true\n[[sweep]]\nstructure.near = [0.3, 0.9]\n"
        "[[sweep]]\ndepth = [20]\nstructure.near = [0.4]\n[[sweep]]\nstructure.on = [false]\n",
    )
    forms = {setting.name: setting.as_dict() for setting in build_adaptive_settings(config)}
    assert varied_alone(forms) == {
        "structure.near": {0.3: "structure.near=0.3", 0.6: "base", 0.9: "structure.near=0.9"}
    }
    for form in forms.values():
        assert f"depth {form['depth']}" in describe_setting(form)


def test_one_model_is_measured_centred_and_not(tmp_path):
    models = "".join(
        f"[[models]]\nprovider = 'minilm'\n{centred}" for centred in ("", "centred = true\n")
    )
    labels = [model.label for model in load(tmp_path, models).models]
    assert labels == ["minilm", "minilm, centred"]

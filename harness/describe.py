"""Settings of any kind in words, for reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def describe_setting(setting: Mapping[str, Any]) -> str:
    """Say what a setting is, from its JSON-ready form.

    Parameters
    ----------
    setting : mapping
        As ``as_dict`` of a baseline, a fusion of arms or an adaptive setting gives it.
    """
    if setting.get("kind") == "adaptive":
        return _adaptive(setting)
    kind = "score fusion" if setting["fusion"] == "score" else f"RRF, k = {setting['rrf_k']:g}"
    if setting.get("kind") == "baseline":
        return f"{kind} of {', '.join(setting['signals'])}; depth {setting['depth']}"
    weights = ", ".join(f"{arm} {weight:g}" for arm, weight in setting["weights"].items())
    return f"{kind}; depth {setting['depth']}; weights {weights}"


def _adaptive(setting: Mapping[str, Any]) -> str:
    parts = [f"depth {setting['depth']}", f"calibration {_fields(setting['calibration'])}"]
    structure = setting["structure"]
    parts.append(f"structure {_fields(structure)}" if structure else "no structure")
    cues = setting["cues"]
    parts.append(f"{setting['cue']} time cue, {_fields(cues)}" if cues else "no time cue")
    prior = setting["prior"]
    parts.append(f"prior {_fields(prior)}" if prior else "no prior")
    parts.append("no gate" if setting["gate"] is None else f"gate {setting['gate']:g}")
    parts.append(f"{setting['seats']} reserved seats")
    return "; ".join(parts)


def _fields(section: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in section.items())


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else f"{value:g}"

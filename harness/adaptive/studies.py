"""The studies that an adaptive run makes beside its sweep."""

from __future__ import annotations

from collections.abc import Sequence

from harness.adaptive.config import AdaptiveConfig
from harness.adaptive.cue_arms import PARSED
from harness.adaptive.cue_study import cue_study
from harness.adaptive.gate_study import gate_study
from harness.adaptive.grid import BASE, AnySetting
from harness.adaptive.pool import SignalPool
from harness.adaptive.resort_study import resort_study
from harness.evaluate import Evaluated
from harness.selection import Choice, choose_adaptive


def studies(
    evaluated: Sequence[Evaluated],
    settings: Sequence[AnySetting],
    choice: Choice,
    config: AdaptiveConfig,
    elsewhere: Sequence[SignalPool | None],
) -> dict:
    """Make the studies that a config asks for.

    Parameters
    ----------
    evaluated, settings, choice, config
        As in :func:`harness.selection.choose_adaptive`.
    elsewhere : sequence of SignalPool or None
        For each dataset its questions asked of other scopes; empty when no gates are studied.

    Returns
    -------
    dict
        The studies by their name in the summary; that of cues is None without a setting that is
        asked with a parsed cue.
    """
    asked = choose_adaptive(evaluated, settings, choice, config, cue=PARSED)
    made: dict = {"cue_study": asked and cue_study(evaluated, asked, config)}
    if elsewhere:
        gated = choose_adaptive(evaluated, settings, choice, config)
        made["gate_study"] = gate_study(evaluated, elsewhere, gated, config)
    if config.resort is not None:
        base = next(setting for setting in settings if setting.name == BASE)
        made["resort_study"] = resort_study(evaluated, base, config)
    return made

"""Every default of recall, with the record that chose it.

A default changes here, by hand, together with the name of a record under ``results/`` that shows
why. ``tests/test_defaults.py`` fails when a default names no record, or when its record measured
something else.
"""

from __future__ import annotations

from cpersona_jit.recall.adaptive_settings import (
    AdaptiveSettings,
    Bounds,
    Calibration,
    CueWeights,
    Structure,
)
from cpersona_jit.recall.settings import ArmSpec, FusionSpec, RecallSettings

# Fusion of whole rows, without blocks and process. Arms, fusion weights and depth:
# configs/defaults.toml, chosen by the smallest lead over each dataset's best single arm on the
# validation part; recall@100 broke the ties between depths.
ROW_FUSION_RECORD = "defaults"

ROW_ARMS = (
    ArmSpec("dense", "dense"),
    ArmSpec("gram3", "gram", size=3, term_frequency="2bit", length_exponent=0.15, idf_power=1.25),
    ArmSpec("gram4", "gram", size=4, term_frequency="2bit", length_exponent=0.15, idf_power=1.25),
)
ROW_FUSION = FusionSpec("score", {"dense": 1.0, "gram3": 1.0, "gram4": 0.25})
ROW_FUSION_SETTINGS = RecallSettings(ROW_ARMS, ROW_FUSION, 100)

DEFAULT_SETTINGS = AdaptiveSettings(
    gram3=ROW_ARMS[1],
    gram4=ROW_ARMS[2],
    depth=200,
    calibration=Calibration(
        block_penalty=0.9, dense_row_share=0.75, gram3_share=0.5, gram_row_share=1.0
    ),
    structure=Structure(near=0.45, strong=2.5, question=-3.0, speaker=2.5, half_length=200.0),
    cues=CueWeights(),
    seats=2,
    bounds=Bounds(),
)

# The record behind each part of the default. Seats and bounds are given by the contract of recall:
# their records measure the default with them (speed without the time cap), and choose neither.
RECORDS = {
    "gram3": "defaults",
    "gram4": "defaults",
    "depth": "depth",
    "calibration": "fusion",
    "structure": "fusion",
    "seats": "fusion",
    "cues": "cues",
    "gate": "gate",
    "prior": "priors",
    "bounds": "recall_speed",
    "scan": "scale",
}
# The record that measured the default as a whole, and marks it as chosen.
RECALL_RECORD = "fusion"

# The frozen baseline that every claim is compared with: reciprocal rank fusion of one dense and
# one lexical arm with k = 60 and equal weights.
BASELINE_FUSION = FusionSpec("rrf", {"dense": 1.0, "gram3": 1.0}, rrf_k=60.0)

DEFAULT_LIMIT = 10

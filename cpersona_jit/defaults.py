"""Every default of recall, with the record that chose it.

A default changes here, by hand, together with the name of a record under ``results/`` that shows
why. ``tests/test_defaults.py`` fails when a default names no record.
"""

from __future__ import annotations

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

DEFAULT_SETTINGS = ROW_FUSION_SETTINGS

# The frozen baseline that every claim is compared with: reciprocal rank fusion of one dense and
# one lexical arm with k = 60 and equal weights.
BASELINE_FUSION = FusionSpec("rrf", {"dense": 1.0, "gram3": 1.0}, rrf_k=60.0)

DEFAULT_LIMIT = 10

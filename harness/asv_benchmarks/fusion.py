"""Fusion of a candidate pool, and the replay of settings over frozen pools."""

from __future__ import annotations

import numpy as np

from cpersona_jit.kernels.fusion import rrf_scores, score_fusion
from cpersona_jit.kernels.replay import replay_gold_ranks
from harness.random_pool import frozen_pool, settings_mix

from .stores import SIZES

ARMS, CANDIDATES, SETTINGS = 4, 200, 16


class Fusion:
    """One pool of candidates, fused once."""

    params = (SIZES, ("rrf", "score"))
    param_names = ("candidates", "fusion")

    def setup(self, candidates: int, fusion: str) -> None:
        pool = frozen_pool(1, candidates, ARMS)
        self.scores, self.ranks = pool.scores, pool.ranks
        self.weights, self.prior = np.ones(ARMS), np.ones(candidates)
        self.fuse(fusion)  # loads the compiled kernel

    def fuse(self, fusion: str) -> None:
        if fusion == "rrf":
            rrf_scores(self.ranks, self.weights, 60.0, self.prior)
        else:
            score_fusion(self.scores, self.weights, self.prior, 1.0)

    def time_fuse(self, candidates: int, fusion: str) -> None:
        self.fuse(fusion)

    def peakmem_fuse(self, candidates: int, fusion: str) -> None:
        self.fuse(fusion)


class Replay:
    """Sixteen settings over pools of 200 candidates and 4 arms per query."""

    params = (SIZES,)
    param_names = ("pool_rows",)

    def setup(self, pool_rows: int) -> None:
        self.pool = frozen_pool(pool_rows // CANDIDATES, CANDIDATES, ARMS)
        self.settings = settings_mix("all", SETTINGS, ARMS, CANDIDATES // 2)
        self.replay()  # loads the compiled kernel

    def replay(self) -> None:
        replay_gold_ranks(*self.pool, *self.settings)

    def time_replay(self, pool_rows: int) -> None:
        self.replay()

    def peakmem_replay(self, pool_rows: int) -> None:
        self.replay()

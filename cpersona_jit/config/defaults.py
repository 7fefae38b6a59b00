"""Defaults and names that cost nothing to import: every command needs them, also its help."""

from __future__ import annotations

from platformdirs import user_config_path, user_data_path

APP = "cpersona-jit"
PREFIX = "CPERSONA_JIT_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"

DEFAULT_DB = user_data_path(APP) / "memory.db"
DEFAULT_FILE = user_config_path(APP) / "config.toml"
DEFAULT_AGENT_ID = "default"
DEFAULT_EMBEDDER = "default"
DEFAULT_PREVIEW_CHARS = 500
DEFAULT_EXCERPT_CHARS = 800
DEFAULT_FULL_CONTENT_CHARS = 200_000

# Variables with our prefix that are no settings: they steer kernels, tests and the harness.
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}" for name in ("CPU_TIER", "DATA_CACHE", "TEST_DATA", "ASV_MILLION")
)

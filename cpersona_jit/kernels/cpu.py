"""Which instruction set the int8 scan may use: decided once, before any kernel is defined.

An instruction that the processor lacks does not raise: LLVM aborts the process. So the choice is
made from the features that Numba will compile for, and never above what the machine has.
"""

from __future__ import annotations

import os

from cpersona_jit.errors import CPersonaError

TIER_VARIABLE = "CPERSONA_JIT_CPU_TIER"

# Best first: each name with the sets of LLVM features of which one must be complete.
TIERS: dict[str, tuple[frozenset[str], ...]] = {
    "avx512_vnni": (frozenset({"avx512f", "avx512bw", "avx512vl", "avx512vnni"}),),
    "avx_vnni": (
        frozenset({"avx2", "avxvnni"}),
        frozenset({"avx2", "avx512f", "avx512vl", "avx512vnni"}),
    ),
    "avx2": (frozenset({"avx2"}),),
    "plain": (frozenset(),),
}


class CpuTierError(CPersonaError):
    """CPERSONA_JIT_CPU_TIER asks for something this machine cannot give."""


def available_tiers(features: frozenset[str]) -> tuple[str, ...]:
    """Return the tiers that a set of LLVM features allows, best first."""
    return tuple(
        name for name, choices in TIERS.items() if any(need <= features for need in choices)
    )


def compiled_features() -> frozenset[str]:
    """Return the features that this machine has *and* Numba compiles for.

    Numba's own settings count: ``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES``, ``NUMBA_ENABLE_AVX`` and
    its list of processors that only claim AVX.
    """
    import llvmlite.binding
    from numba.core import codegen, config

    try:
        host = llvmlite.binding.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot tell on this platform
        return frozenset()
    present = frozenset(name for name, there in host.items() if there)
    flags = config.CPU_FEATURES
    if flags is None:
        flags = codegen.get_host_cpu_features()
    return present & frozenset(flag[1:] for flag in flags.split(",") if flag.startswith("+"))


def cpu_tier() -> str:
    """Return the tier of the int8 scan: ``avx512_vnni``, ``avx_vnni``, ``avx2`` or ``plain``.

    ``CPERSONA_JIT_CPU_TIER`` may lower it. All tiers give the same integers.

    Returns
    -------
    str

    Raises
    ------
    CpuTierError
        If the variable names no tier, or one that this machine lacks.
    """
    available = available_tiers(compiled_features())
    wanted = os.environ.get(TIER_VARIABLE, "")
    if not wanted:
        return available[0]
    if wanted not in available:
        problem = "is not available on this machine" if wanted in TIERS else "is not a tier"
        raise CpuTierError(
            f"{TIER_VARIABLE}={wanted!r} {problem}; it may be one of {', '.join(available)}"
        )
    return wanted

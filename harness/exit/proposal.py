"""What the record proposes, from the validation questions alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.exit.ask import EQUAL_FITTING, EQUAL_FLAT, RECONSTRUCT
from harness.exit.config import ExitConfig

RULE = (
    "Means over datasets of the evidence recall of the validation questions. `max_count`: the "
    "smallest count that is within the tolerance of the best at the largest budget, with the "
    "shipped quotes. `max_budget`: the smallest budget within the tolerance of the largest at "
    "that count. `default_budget`: the same at the headline count. Quotes and top_k: the variant "
    "that is best at the headline count and budget in the mean of evidence recall and answer "
    "containment, the shipped one unless another is better by more than the tolerance. "
    "`default_count` is not proposed: it is 1 by contract"
)

Lines = Sequence[dict[str, Any]]


def propose(validation: dict[str, Lines], config: ExitConfig) -> dict[str, Any]:
    """Propose defaults.

    Parameters
    ----------
    validation : dict of str to list of dict
        For each dataset the means of its validation questions, see
        :func:`harness.exit.judge.means`.
    config : ExitConfig
        Its counts, budgets and variants.
    """
    shipped = config.variants[0].name
    most = config.budgets[-1]

    def recall(count: int, budget: int) -> float:
        return _mean(validation, shipped, count, budget, ("evidence_recall",))

    max_count = _smallest(config.counts, lambda c: recall(c, most), config.tolerance)
    max_budget = _smallest(config.budgets, lambda b: recall(max_count, b), config.tolerance)
    default_budget = _smallest(
        config.budgets, lambda b: recall(config.headline_count, b), config.tolerance
    )
    at = (config.headline_count, config.headline_budget)
    both = ("evidence_recall", "contained")
    scores = {one.name: _mean(validation, one.name, *at, both) for one in config.variants}
    best = max(scores, key=lambda name: (scores[name], name == shipped))
    better = scores[best] - scores[shipped] > config.tolerance
    return {
        "rule": RULE,
        "max_count": max_count,
        "max_budget": max_budget,
        "default_budget": default_budget,
        "variant": best if better else shipped,
        "variant_scores": scores,
        "hard_to_beat": {
            name: closest_to_flat(lines, config) for name, lines in validation.items()
        },
    }


def closest_to_flat(lines: Lines, config: ExitConfig) -> dict[str, Any]:
    """Return the variant, count and budget at which a dataset gains most over flat recall, or
    loses least, at equal payload; the better of the two ways to fill flat recall is the baseline.
    """
    of = {_key(line): line for line in lines}
    found = []
    for variant in config.variants:
        for count in config.counts:
            for budget in config.budgets_of(variant):
                key = (variant.name, count, budget)
                own = of[RECONSTRUCT, *key]["evidence_recall"]
                flat = max(of[one, *key]["evidence_recall"] for one in (EQUAL_FLAT, EQUAL_FITTING))
                found.append((own - flat, -count, -budget, variant))
    gain, count, budget, variant = max(found, key=lambda one: one[:3])
    return {
        "variant": variant.name,
        "top_k": variant.top_k,
        "count": -count,
        "budget": -budget,
        "difference": gain,
    }


def _mean(
    validation: dict[str, Lines], variant: str, count: int, budget: int, names: Sequence[str]
) -> float:
    """Mean over datasets and measures; what a dataset does not say is left out."""
    key = (RECONSTRUCT, variant, count, budget)
    values = []
    for lines in validation.values():
        line = next(one for one in lines if _key(one) == key)
        values += [line[name] for name in names if line[name] is not None]
    return sum(values) / max(len(values), 1)


def _key(line: dict[str, Any]) -> tuple[str, str, int, int]:
    return line["method"], line["variant"], line["count"], line["budget"]


def _smallest(numbers: Sequence[int], value: Any, tolerance: float) -> int:
    best = max(map(value, numbers))
    return next(number for number in numbers if value(number) >= best - tolerance)

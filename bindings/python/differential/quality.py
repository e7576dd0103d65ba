"""Comparison of losses: bitgrain must not be worse than both rivals.

A single table proves little: bins, ties and samples differ between libraries, so any of them may lose on one table. A
finding is a recipe where bitgrain is worse than the worse rival by a clear margin on most of several independent
tables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

import bitgrain
from differential.case import Case, Rows, Table
from differential.rivals import Trained, train_lightgbm, train_ours, train_xgboost
from differential.task import Array

__all__ = ["Losses", "compare", "is_worse", "measure"]

#: Margin, relative to the loss of the best constant prediction, or to the rival's loss if that is larger.
_MARGIN = {"train": 0.03, "held_out": 0.04}
#: Margin if gradients are quantized to 8 or 4 bits.
_ROUNDED = {"train": 0.08, "held_out": 0.08}

#: Number of further tables drawn if bitgrain was worse on the first, and number of tables that must confirm it.
REPEATS, CONFIRMED = 7, 7


@dataclasses.dataclass(frozen=True)
class Losses:
    """Losses on training and held-out rows, relative to the best constant prediction on the training rows."""

    ours: dict[str, float]
    lightgbm: dict[str, float] | None
    xgboost: dict[str, float] | None

    @property
    def rivals(self) -> list[dict[str, float]]:
        """Losses of the rivals that trained."""
        return [each for each in (self.lightgbm, self.xgboost) if each is not None]

    def worse(self, part: str) -> float:
        """Return how much worse bitgrain is than the worse rival; negative if it is better."""
        worst = max((each[part] for each in self.rivals), default=np.nan)
        if not np.isfinite(worst):
            return 0.0
        # Overfitted models are worse than a constant by large factors, which vary as much between tables.
        return (self.ours[part] - worst) / max(1.0, worst) if np.isfinite(self.ours[part]) else np.inf


def measure(case: Case, table: Table, ours: bitgrain.boosting.Model, rivals: Sequence[Trained | None]) -> Losses:
    """Return the losses of bitgrain, LightGBM and XGBoost."""
    task = case.task

    def relative(rows: Rows, predictions: Array) -> float:
        constant = task.constant(table.train.y, table.train.weight, len(rows.y))
        unit = task.loss(rows.y, constant, rows.weight)
        loss = task.loss(rows.y, predictions, rows.weight)
        # Constant targets have no spread to scale by.
        return loss / unit if unit > 1e-12 * max(1e-300, float(np.abs(rows.y).max())) else 0.0

    def both(model: bitgrain.boosting.Model | Trained) -> dict[str, float]:
        parts = {"train": table.train, "held_out": table.held_out}
        return {part: relative(rows, model.predict(rows.X)) for part, rows in parts.items()}

    lightgbm, xgboost = (None if each is None else both(each) for each in rivals)
    return Losses(both(ours), lightgbm, xgboost)


def is_worse(case: Case, losses: Losses, part: str) -> bool:
    """Return whether bitgrain is worse than both rivals by a clear margin."""
    rounded = case.settings["gradient_precision"] in ("pair8", "pair4")
    return losses.worse(part) > (_ROUNDED if rounded else _MARGIN)[part]


def compare(case: Case, first: Losses) -> list[tuple[str, str]]:
    """Return a finding for each part in which most tables of the recipe confirm the result of the first."""
    suspects = [part for part in ("train", "held_out") if is_worse(case, first, part)]
    found: list[tuple[str, str]] = []
    if not suspects:
        return found
    all_losses = [first]
    for repeat in range(1, REPEATS + 1):
        all_losses.append(_trained(case.again(repeat), case.draw(repeat)))
        suspects = [part for part in suspects if _can_still_confirm(case, all_losses, part)]
        if not suspects:
            return found
    for part in suspects:
        excess = [losses.worse(part) for losses in all_losses]
        own = np.median([losses.ours[part] for losses in all_losses])
        found.append((f"quality_{part}", f"relative loss {own:.4g}; above the worse rival by {_listed(excess)}"))
    return found


def _can_still_confirm(case: Case, losses: list[Losses], part: str) -> bool:
    missed = sum(not is_worse(case, each, part) for each in losses)
    return missed <= REPEATS + 1 - CONFIRMED


def _trained(case: Case, table: Table) -> Losses:
    return measure(case, table, train_ours(case, table), (train_lightgbm(case, table), train_xgboost(case, table)))


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)

"""Callbacks after each boosting round."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from bitgrain.boosting.callables import in_context
from bitgrain.progress import Progress

__all__ = ["Callback", "OnRound", "Round", "on_round"]


@dataclasses.dataclass(frozen=True, slots=True)
class Round:
    """State of the training after a round.

    Attributes
    ----------
    index : int
        0-based index of the completed round.
    total : int
        Maximum number of rounds.
    metrics : dict
        Metrics after this round, by dataset (``"train"``, ``"valid"``, or its given name) and metric name.

    Examples
    --------
    >>> Round(0, 10, {"valid": {"rmse": 0.5}}).metrics["valid"]["rmse"]
    0.5

    """

    index: int
    total: int
    metrics: dict[str, dict[str, float]]


Callback = Callable[[Round], Any]
OnRound = Callable[[int, int, list[tuple[str, str, float]]], bool]


def on_round(callbacks: Sequence[Callback], progress: Progress | None) -> OnRound | None:
    """Return the function that the native extension calls after each round; ``None`` if it would do nothing."""
    if not callbacks and progress is None:
        return None
    own = [in_context(callback) for callback in callbacks]

    def told(index: int, total: int, values: list[tuple[str, str, float]]) -> bool:
        metrics: dict[str, dict[str, float]] = {}
        for data, name, value in values:
            metrics.setdefault(data, {})[name] = value
        if progress is not None:
            progress.update(index + 1, note="  ".join(f"{data} {name} {value:.5g}" for data, name, value in values))
        round = Round(index, total, metrics)
        # Every callback is called, even if an earlier one requests a stop.
        return any([bool(callback(round)) for callback in own])

    return told

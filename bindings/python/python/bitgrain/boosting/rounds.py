"""Callbacks after each boosting round."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

from bitgrain import _native
from bitgrain.boosting.callables import in_context
from bitgrain.progress import Progress

__all__ = ["Callback", "Checkpoints", "OnRound", "Round", "on_round"]


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
OnRound = Callable[[int, int, list[tuple[str, str, float]]], Any]


def on_round(
    callbacks: Sequence[Callback],
    progress: Progress | None,
    checkpoint: Checkpoints | None = None,
    log_every: int = 0,
) -> OnRound | None:
    """Return the function that the native extension calls after each round; ``None`` if it would do nothing."""
    if not callbacks and progress is None and checkpoint is None and not log_every:
        return None
    return _Told([in_context(callback) for callback in callbacks], progress, checkpoint, log_every)


@dataclasses.dataclass(frozen=True, slots=True)
class Checkpoints:
    """File that is replaced by a checkpoint every few rounds."""

    path: str | os.PathLike[str]
    every: int


class _Told:
    """Calls callbacks after each round, shows metrics and writes checkpoints."""

    def __init__(
        self,
        callbacks: list[Callable[[Round], Any]],
        progress: Progress | None,
        checkpoint: Checkpoints | None,
        log_every: int,
    ) -> None:
        self._callbacks = callbacks
        self._progress = progress
        self._checkpoint = checkpoint
        self._log_every = log_every
        self._stop = False

    def __call__(self, index: int, total: int, values: list[tuple[str, str, float]]) -> Any:
        metrics: dict[str, dict[str, float]] = {}
        for data, name, value in values:
            metrics.setdefault(data, {})[name] = value
        if self._progress is not None or self._log_every:
            note = "  ".join(f"{data} {name} {value:.5g}" for data, name, value in values)
            if self._progress is not None:
                self._progress.update(index + 1, note=note)
            if self._log_every and ((index + 1) % self._log_every == 0 or index + 1 == total):
                print(f"[{index + 1}]  {note}", flush=True)
        round = Round(index, total, metrics)
        # Every callback is called, even if an earlier one requests a stop.
        self._stop = any([bool(callback(round)) for callback in self._callbacks])
        due = self._checkpoint is not None and (self._stop or (index + 1) % self._checkpoint.every == 0)
        return "checkpoint" if due else self._stop

    def model(self, native: _native.Booster) -> bool:
        """Write the requested checkpoint."""
        if self._checkpoint is not None:
            native.save(self._checkpoint.path, "bitgrain")
        return self._stop

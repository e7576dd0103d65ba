"""What an estimator learns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from bitgrain.boosting.callables import Loss
from bitgrain.boosting.target import Target

__all__ = ["Task"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Targets as numbers, and what is to be made of them."""

    target: Target
    encode: Callable[[ArrayLike], Target]
    """Encodes further targets in the same way."""
    objective: str | Loss
    scores: int = 1
    """Scores of a row."""
    class_weight: str | Sequence[float] | None = None

"""Learning task of an estimator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from bitgrain.boosting.callables import Loss
from bitgrain.boosting.target import Target

__all__ = ["Task"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Encoded target and its objective."""

    target: Target
    encode: Callable[[ArrayLike], Target]
    """Encodes further targets in the same way."""
    objective: str | Loss
    scores: int = 1
    """Number of scores per row."""
    class_weight: str | Sequence[float] | None = None

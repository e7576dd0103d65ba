"""What an estimator learns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from bitgrain.boosting.callables import Loss

__all__ = ["BINARY", "MULTICLASS", "Task"]

#: What objectives of classes are called: of two, and of any number.
BINARY = ("binary", "logistic", "binary:logistic", "binary_logloss", "logloss")
MULTICLASS = ("multiclass", "softmax", "multi:softprob", "multi:softmax", "log_loss")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Targets as numbers, and what is to be made of them."""

    targets: NDArray[Any]
    encode: Callable[[ArrayLike], NDArray[Any]]
    """Makes numbers of further targets, as it was done with these."""
    objective: str | Loss
    scores: int = 1
    """Scores of a row."""
    classes: list[str] | None = None
    """The text of each class."""
    class_weight: str | Sequence[float] | None = None

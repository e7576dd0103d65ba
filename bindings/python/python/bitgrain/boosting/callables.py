"""User-defined objectives and metrics."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bitgrain.errors import DTypeError, InputError

__all__ = ["Loss", "Measure", "Metric", "Objective", "in_context", "measures"]

T = TypeVar("T")

Objective = str | Callable[..., Any]
Metric = str | Callable[..., Any]


def in_context(call: Callable[..., T]) -> Callable[..., T]:
    """Bind a callable to the current context, such as ``np.errstate``, whichever thread calls it."""
    context = contextvars.copy_context()
    # A copy, because only one thread at a time can enter a context.
    return lambda *arguments: context.copy().run(call, *arguments)


def _name(call: Callable[..., Any]) -> str:
    return str(getattr(call, "__name__", type(call).__name__))


def _takes_weights(call: Callable[..., Any]) -> bool:
    """Return whether a callable has a required third argument, or a third argument named like a weight."""
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(places) > 2 and (places[2].default is places[2].empty or "weight" in places[2].name)


class Loss:
    """User-defined objective ``call(y_true, raw_score[, weight]) -> (grad, hess)`` for the native extension.

    It is called on a thread other than the training thread, in the context that was current when training began.
    """

    def __init__(self, call: Callable[..., Any], outputs: int, link: str) -> None:
        self.name = _name(call)
        self.outputs = outputs
        self.link = link
        # A callable that takes weights applies them itself.
        self.weighs = _takes_weights(call)
        self._call = in_context(call)

    def __call__(
        self, targets: NDArray[np.float32], weights: NDArray[np.float32] | None, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute gradients and hessians of all rows; arrays are flat, with all rows of one score before the next."""
        scores = scores if self.outputs == 1 else scores.reshape(self.outputs, -1).T
        given = self._call(targets, scores, weights) if self.weighs else self._call(targets, scores)
        try:
            grad, hess = given
        except (TypeError, ValueError):
            raise InputError(f"objective {self.name} must return two arrays, gradients and hessians") from None
        return self._flat(grad, scores.shape, "gradients"), self._flat(hess, scores.shape, "hessians")

    def _flat(self, values: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float32]:
        try:
            array = np.asarray(values)
            if array.dtype.kind == "c":
                raise TypeError(f"dtype {array.dtype}")
            array = np.asarray(array, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"objective {self.name} returned non-numeric {what}: {error}") from None
        if array.shape != shape:
            raise InputError(f"objective {self.name} returned {what} of shape {array.shape}; expected {shape}")
        return np.ascontiguousarray(array.T).reshape(-1)


class Measure:
    """User-defined metric ``call(y_true, y_pred[, weight])`` for the native extension.

    The callable returns a value, or a tuple of name, value and whether higher is better. For a plain value lower is
    better, unless the name of the callable ends in ``_score``, scikit-learn's convention for higher is better.
    """

    def __init__(self, call: Callable[..., Any], outputs: int) -> None:
        self._name = _name(call)
        self._outputs = outputs
        self._weighs = _takes_weights(call)
        self._call = in_context(call)

    @property
    def name(self) -> str:
        """Name of the callable."""
        return self._name

    def __call__(
        self, targets: NDArray[np.float64], weights: NDArray[np.float32] | None, predictions: NDArray[np.float64]
    ) -> tuple[str, float, bool]:
        """Evaluate the metric on all rows; arrays are flat, with all rows of one score before the next."""
        if self._outputs > 1:
            predictions = predictions.reshape(self._outputs, -1).T
        given = self._call(targets, predictions, weights) if self._weighs else self._call(targets, predictions)
        name, value, higher = (
            given
            if isinstance(given, tuple) and len(given) == 3
            else (self._name, given, self._name.endswith("_score"))
        )
        try:
            return str(name), float(value), bool(higher)
        except (TypeError, ValueError):
            message = f"metric {self._name} must return a number, or a tuple (name, number, higher_is_better)"
            raise DTypeError(f"{message}; it returned {given!r}") from None


def measures(metric: Metric | Sequence[Metric] | None, outputs: int) -> list[str | Measure] | None:
    """Return metrics in the form the native extension expects."""
    if metric is None:
        return None
    if not isinstance(metric, Iterable) and not callable(metric):
        raise DTypeError(f"metric {metric!r} must be a name, a callable, or a list of them")
    several = [metric] if isinstance(metric, str) or callable(metric) else list(metric)
    unknown = next((each for each in several if not isinstance(each, str) and not callable(each)), None)
    if unknown is not None:
        raise DTypeError(f"metric {unknown!r} must be a name or a callable")
    return [each if isinstance(each, str) else Measure(each, outputs) for each in several]

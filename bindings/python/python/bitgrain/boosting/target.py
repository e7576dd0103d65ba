"""Conversion of targets and weights for the native extension."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

__all__ = [
    "Target",
    "check_classes",
    "class_weights",
    "encoded",
    "encoded_like",
    "exact_numbers",
    "numbers",
    "scores",
    "weights",
]


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """Encoded target."""

    values: NDArray[np.float32] | NDArray[np.float64]
    """One number per row, or its class index. Float64 if any value is not exact in float32."""
    classes: NDArray[Any] | None
    """Class labels in ascending order; ``None`` for a numeric target."""


def _column(values: Any, n_rows: int, what: str) -> NDArray[Any]:
    array = np.asarray(detached(values, what))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{what} should be a 1d array, got an array of shape {array.shape} instead")
    if len(array) != n_rows:
        counts = f"[{n_rows}, {len(array)}]"
        raise InputError(f"Found input variables with inconsistent numbers of samples: {counts} in X and {what}")
    return array


def _real(values: ArrayLike, n_rows: int, what: str) -> NDArray[Any]:
    array = _column(values, n_rows, what)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} is of dtype {array.dtype}, but it must be real")
    if array.dtype.kind not in "biuf":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"{what} is of dtype {array.dtype}, but it must be numeric: {error}") from None
    return array


def numbers(values: ArrayLike, n_rows: int, what: str) -> NDArray[np.float32]:
    """Return a column of numbers as float32."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(_real(values, n_rows, what), dtype=np.float32)


def exact_numbers(values: ArrayLike, n_rows: int, what: str) -> NDArray[np.float32] | NDArray[np.float64]:
    """Return a column of numbers as float32 if every value is exact in float32, otherwise as float64.

    Examples
    --------
    >>> exact_numbers([0.5, np.nan], 2, "y").dtype, exact_numbers([0.5, 1e9 + 1], 2, "y").dtype
    (dtype('float32'), dtype('float64'))

    """
    array = _real(values, n_rows, what)
    with np.errstate(over="ignore"):
        single: NDArray[np.float32] = np.ascontiguousarray(array, dtype=np.float32)
    if array.dtype in (np.float16, np.float32) or array.dtype.itemsize == 1:
        return single
    double: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64)
    return single if np.array_equal(single, double, equal_nan=True) else double


def encoded(y: ArrayLike | Target, n_rows: int, classes: NDArray[Any] | None = None) -> Target:
    """Return targets as numbers. Strings and booleans become indices into `classes`, or into the sorted labels."""
    if isinstance(y, Target):
        _column(y.values, n_rows, "y")
        return y
    if y is None:
        raise InputError("y should be a 1d array, got None")
    check_classes(y)
    array = _column(y, n_rows, "y")
    if array.dtype.kind in "mMV":
        raise DTypeError(f"y is of dtype {array.dtype}, but it must be numbers, strings or booleans")
    if classes is None and array.dtype.kind in "biufc":
        if array.dtype.kind != "b":
            return Target(exact_numbers(array, n_rows, "y"), None)
    elif array.dtype.kind == "O" and classes is None and _all_numbers(array):
        return Target(exact_numbers(array, n_rows, "y"), None)
    try:
        known = np.unique(array) if classes is None else classes
        places = np.searchsorted(known, array).clip(0, max(len(known) - 1, 0))
        other = known[places] != array if len(known) else np.ones(len(array), dtype=bool)
    except TypeError as error:
        raise DTypeError(f"the classes in y cannot be compared: {error}") from None
    if np.any(other):
        unknown = array[int(np.argmax(other))]
        raise InputError(f"class {str(unknown)!r} in y is not among the {len(known)} classes of the training data")
    return Target(places.astype(np.float32), known)


def encoded_like(y: ArrayLike | Target, n_rows: int, other: Target) -> Target:
    """Return targets encoded like those of another dataset: as numbers or as class indices."""
    if other.classes is not None or y is None or isinstance(y, Target):
        return encoded(y, n_rows, other.classes)
    try:
        return Target(exact_numbers(y, n_rows, "y"), None)
    except DTypeError as error:
        raise DTypeError(f"{error}; the training data has a numeric target") from None


def _all_numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(value, Real | Decimal | np.number) and not isinstance(value, bool) for value in array)


def check_classes(y: Any) -> None:
    """Reject strings mixed with missing values, which NumPy would convert to strings."""
    if isinstance(y, list | tuple):
        values: Any = y
    else:
        array = np.asarray(detached(y))
        if array.dtype.kind != "O":
            return
        values = array.ravel()
    if any(isinstance(value, str) for value in values):
        missing = next((at for at, value in enumerate(values) if _is_missing(value)), None)
        if missing is not None:
            raise InputError(f"missing value in y, row {missing} (0-based); drop such rows")


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def class_weights(
    given: str | Mapping[Any, float] | Sequence[float] | None, classes: Sequence[Any]
) -> str | list[float] | None:
    """Return the weight of each class in a form that the native extension accepts: by class, or in class order."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        known = set(classes)
        unknown = [each for each in given if each not in known]
        if unknown and not any(each in known for each in given):
            raise InputError(f"class_weight names class {unknown[0]!r}, which is not in y")
        return [_weight(given.get(each, 1.0)) for each in classes]
    if not isinstance(given, Iterable):
        raise DTypeError(f"class_weight = {given!r}: it must be 'balanced', a dict, or a list of one weight per class")
    found = [_weight(each) for each in given]
    if len(found) != len(classes):
        raise InputError(f"class_weight has {len(found)} weights, but y has {len(classes)} classes")
    return found


def _weight(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DTypeError(f"class_weight contains {value!r}, which is not a number") from None


def weights(weight: ArrayLike | None, n_rows: int) -> NDArray[np.float32] | None:
    """Return row weights as float32."""
    if weight is None:
        return None
    array = numbers(weight, n_rows, "sample_weight")
    if len(array) and not array.any():
        raise InputError("Sample weights must contain at least one non-zero number: every weight is zero")
    return array


def scores(given: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Return initial scores as float64, all rows of a score before the next."""
    if given is None:
        return None
    try:
        array = np.asarray(detached(given), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"init_score must be numeric: {error}") from None
    if array.ndim not in (1, 2) or (array.shape[0] != n_rows and array.size != n_rows):
        raise InputError(f"init_score has the shape {array.shape}; pass one row for each of {n_rows} rows")
    # One column per score, in LightGBM's flat order.
    return np.ascontiguousarray(array.T).reshape(-1)

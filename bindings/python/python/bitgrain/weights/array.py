"""Arrays on their way in: whatever NumPy understands, and torch's tensors, as float32 in C order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.errors import DTypeError, InputError

Floats = npt.NDArray[np.float32]

# Of the package ml_dtypes, whose types NumPy knows only by name.
_SHORT = ("bfloat16", "float8", "float6", "float4", "int4", "uint4", "int2", "uint2")


def as_array(values: Any, what: str = "the array") -> npt.NDArray[Any]:
    """Whatever NumPy understands, or a torch tensor, as an array of numbers in its own dtype."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        try:
            values = values.numpy()
        except TypeError:  # bfloat16, which NumPy does not have
            values = values.float().numpy()
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} is not an array: {error}") from error
    if array.dtype.kind not in "fiub" and not array.dtype.name.startswith(_SHORT):
        raise DTypeError(
            f"{what} has dtype {array.dtype}, which holds no real numbers; convert it first, for example "
            f"with .astype(np.float32)"
        )
    return array


def as_floats(values: Any, what: str = "the array") -> Floats:
    """The same as float32 in C order: the array itself if it is that, else a copy."""
    array = as_array(values, what)
    try:
        with np.errstate(over="raise"):
            # Not ascontiguousarray: that would give a scalar a dimension.
            return np.asarray(array, dtype=np.float32, order="C")
    except FloatingPointError as error:
        raise InputError(f"{what} has a value that is beyond float32: scale it first") from error


def as_count(value: Any, what: str) -> int:
    """A whole number that is not negative."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise DTypeError(f"{what} must be a whole number, not {value!r}") from error
    if count < 0:
        raise InputError(f"{what} cannot be {count}")
    return count


def as_number(value: Any, what: str) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{what} must be a number, not {value!r}") from error


def as_mask(mask: Any) -> npt.NDArray[np.bool_] | None:
    """A mask of places as booleans in C order."""
    if mask is None:
        return None
    return np.asarray(as_array(mask, "the mask"), dtype=np.bool_, order="C")

"""Arrays on their way in: whatever NumPy understands, and torch's tensors, as float32 in C order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

Floats = npt.NDArray[np.float32]

# Of the package ml_dtypes, whose types NumPy knows only by name.
_SHORT = ("bfloat16", "float8", "float6", "float4", "int4", "uint4", "int2", "uint2")


def as_array(values: Any, what: str = "the array") -> npt.NDArray[Any]:
    """Whatever NumPy understands, or a torch tensor, as an array of numbers in its own dtype."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{what} has masked values; say what they are with .filled(…)")
    try:
        array = np.asarray(detached(values, what))
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
            return np.require(array, np.float32, ["C", "ALIGNED"])
    except FloatingPointError as error:
        raise InputError(f"{what} has a value that is beyond float32: scale it first") from error


def as_count(value: Any, what: str) -> int:
    """A whole number that is not negative."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise DTypeError(f"{what} must be a whole number, not {value!r}") from error
    if not 0 <= count < 1 << 64:
        raise InputError(f"{what} cannot be {count}")
    return count


def as_number(value: Any, what: str) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{what} must be a number, not {value!r}") from error


def as_mask(mask: Any, samples: Floats) -> npt.NDArray[np.bool_] | None:
    """A mask of the places of some samples as booleans in C order."""
    if mask is None:
        return None
    array = as_array(mask, "the mask")
    if array.shape != samples.shape[:2] or samples.ndim < 2:
        raise InputError(
            f"the mask has shape {array.shape}, X has {samples.shape}: a flag is needed for each place of each sample"
        )
    if array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
        raise DTypeError(f"the mask holds {array.dtype}, it must be booleans")
    return np.require(array, np.bool_, ["C", "ALIGNED"])

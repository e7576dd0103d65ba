"""Conversion of NumPy arrays, torch tensors and numbers for the native extension."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

Floats = npt.NDArray[np.float32]

# Dtypes of the ml_dtypes package, which NumPy knows only by name.
_SHORT = ("bfloat16", "float8", "float6", "float4", "int4", "uint4", "int2", "uint2")


def as_array(values: Any, what: str = "the array") -> npt.NDArray[Any]:
    """Convert an array-like or a torch tensor to a NumPy array, keeping its dtype."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{what} has masked values; replace them with .filled(…)")
    try:
        array = np.asarray(detached(values, what))
    except ValueError as error:
        raise InputError(f"{what} is not an array: {error}") from error
    if array.dtype.kind not in "fiub" and not array.dtype.name.startswith(_SHORT):
        raise DTypeError(
            f"{what} has unsupported dtype {array.dtype}: not real numbers; convert it, for example "
            f"with .astype(np.float32)"
        )
    return array


def as_floats(values: Any, what: str = "the array") -> Floats:
    """Convert an array-like to float32 in C order, without a copy if it already is."""
    array = as_array(values, what)
    try:
        with np.errstate(over="raise"):
            # ascontiguousarray would add a dimension to a scalar.
            return np.require(array, np.float32, ["C", "ALIGNED"])
    except FloatingPointError as error:
        raise InputError(f"{what} has a value beyond float32; scale it first") from error


def as_count(value: Any, what: str) -> int:
    """Return a non-negative integer."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise DTypeError(f"{what} must be an integer, not {value!r}") from error
    if not 0 <= count < 1 << 64:
        raise InputError(f"{what} cannot be {count}; it must be in 0..2**64")
    return count


def as_number(value: Any, what: str) -> float:
    """Return a number as a float."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{what} must be a number, not {value!r}") from error


def as_mask(mask: Any, samples: Floats) -> npt.NDArray[np.bool_] | None:
    """Return a mask over the positions of some samples as booleans in C order."""
    if mask is None:
        return None
    array = as_array(mask, "the mask")
    if array.shape != samples.shape[:2] or samples.ndim < 2:
        raise InputError(
            f"the mask has shape {array.shape}, but X has {samples.shape}; pass one flag per position of each sample"
        )
    if array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
        raise DTypeError(f"the mask has dtype {array.dtype}; it must be booleans")
    return np.require(array, np.bool_, ["C", "ALIGNED"])

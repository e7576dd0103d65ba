"""Conversion of arrays, ids and integers for the native module."""

from __future__ import annotations

import math
import operator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

#: Id of a tensor: a string, or an integer below 2**128. ``"7"`` and ``7`` are different ids.
TensorId: TypeAlias = str | int
_LARGEST = float(np.finfo(np.float32).max)
#: Type of the arrays that reads return.
Array: TypeAlias = npt.NDArray[np.float32]


def float32(values: npt.ArrayLike | None, *, exact: bool = False) -> Array:
    """Convert values to a contiguous float32 array in C order; return the array itself if it already is one.

    Parameters
    ----------
    values
        Anything that NumPy converts to an array, or a PyTorch tensor.
    exact
        Reject values that float32 cannot represent exactly.

    Raises
    ------
    DTypeError
        If the values are not real numbers, or ``exact`` is set and float32 cannot represent all of them.
    InputError
        If values are masked, or rows have different lengths.

    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError("the array has masked values; replace them with .filled(…)")
    try:
        array = np.asarray(detached(values))
    except ValueError as error:
        raise InputError(f"cannot convert to an array: {error}") from error
    if array.dtype.kind not in "fiub" and not np.can_cast(array.dtype, np.float32):
        raise DTypeError(f"unsupported dtype {array.dtype}: not real numbers; convert it with .astype(np.float32)")
    try:
        # Exactness is checked below.
        with np.errstate(over="ignore" if exact else "raise"):
            converted = np.require(array, np.float32, ["C", "ALIGNED"])
    except FloatingPointError as error:
        raise InputError("the array has a value beyond float32; scale it first") from error
    if exact and not np.can_cast(array.dtype, np.float32):
        with np.errstate(all="ignore"):
            same = np.array_equal(converted.astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
        if not same:
            raise DTypeError(
                f"float32 cannot represent all values of this {array.dtype} array, so this would not be lossless; "
                "round them first with .astype(np.float32)"
            )
    return converted


def destination(out: object, shape: tuple[int, ...]) -> Array:
    """Return ``out`` if a tensor of ``shape`` can be read into it."""
    if not isinstance(out, np.ndarray):
        raise DTypeError(f"out is {type(out).__name__}; it must be a float32 NumPy array")
    if out.dtype != np.float32:
        raise DTypeError(f"out has dtype {out.dtype}; it must be float32")
    if out.shape != shape:
        raise InputError(f"out has shape {out.shape}, but the tensor has shape {shape}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise InputError("out must be writeable and contiguous in C order; create it with np.empty")
    return out


def number(what: str, value: object) -> float:
    """Return a real number that is finite in float32."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DTypeError(f"{what} is {value!r}; it must be a number") from None
    if math.isfinite(found) and abs(found) > _LARGEST:
        raise InputError(f"{what} is {found}, which is beyond float32")
    return found


def whole(what: str, value: object, limit: int = 1 << 64) -> int:
    """Return an integer in ``range(limit)``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(f"{what} is {value!r}; it must be an int") from None
    if not 0 <= number < limit:
        raise InputError(f"{what} is {number}; it must be from 0 to {limit - 1}")
    return number


def checked_id(id: object) -> TensorId:
    """Return an id in a list of ids, whose elements the native module cannot name in an error."""
    if isinstance(id, str):
        return id
    if isinstance(id, bool) or not hasattr(id, "__index__"):
        raise DTypeError(f"an id must be a str or an int, not {type(id).__name__}")
    return whole("id", id, 1 << 128)

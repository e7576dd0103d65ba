"""Arrays, ids and whole numbers on their way to the native half."""

from __future__ import annotations

import math
import operator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

#: What tensors are called: a text, or a whole number below 2**128. ``"7"`` is not ``7``.
TensorId: TypeAlias = str | int
_LARGEST = float(np.finfo(np.float32).max)
#: What comes back.
Array: TypeAlias = npt.NDArray[np.float32]


def float32(values: npt.ArrayLike | None, *, exact: bool = False) -> Array:
    """Values as a float32 array that lies in memory in C order; the array itself if it does already.

    Parameters
    ----------
    values
        Anything that NumPy makes an array of, and tensors of torch.
    exact
        Refuse values that float32 does not have.

    Raises
    ------
    DTypeError
        If these are no real numbers, or do not all fit and have to be ``exact``.
    InputError
        If some are masked, or rows are of different lengths.

    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError("the array has masked values; say what they are with .filled(…)")
    try:
        array = np.asarray(detached(values))
    except ValueError as error:
        raise InputError(f"this is no array: {error}") from error
    if array.dtype.kind not in "fiub" and not np.can_cast(array.dtype, np.float32):
        raise DTypeError(f"an array of {array.dtype} has no real numbers; convert it with .astype(np.float32)")
    try:
        # What has to be exact is compared below.
        with np.errstate(over="ignore" if exact else "raise"):
            converted = np.require(array, np.float32, ["C", "ALIGNED"])
    except FloatingPointError as error:
        raise InputError("the array has a value that is beyond float32: scale it first") from error
    if exact and not np.can_cast(array.dtype, np.float32):
        with np.errstate(all="ignore"):
            same = np.array_equal(converted.astype(array.dtype), array, equal_nan=array.dtype.kind == "f")
        if not same:
            raise DTypeError(
                f"float32 does not have all of these values of {array.dtype}, so this would not be lossless; "
                "round them first with .astype(np.float32)"
            )
    return converted


def destination(out: object, shape: tuple[int, ...]) -> Array:
    """``out`` if a tensor of ``shape`` can be read into it."""
    if not isinstance(out, np.ndarray):
        raise DTypeError(f"out is {type(out).__name__}, it must be a NumPy array of float32")
    if out.dtype != np.float32:
        raise DTypeError(f"out is an array of {out.dtype}, it must be one of float32")
    if out.shape != shape:
        raise InputError(f"out has the shape {out.shape}, the tensor {shape}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise InputError("out must be writeable and lie in memory in C order, such as what np.empty makes")
    return out


def number(what: str, value: object) -> float:
    """A real number that float32 has."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DTypeError(f"{what} is {value!r}, it must be a number") from None
    if math.isfinite(found) and abs(found) > _LARGEST:
        raise InputError(f"{what} is {found}, which is beyond float32")
    return found


def whole(what: str, value: object, limit: int = 1 << 64) -> int:
    """A whole number from 0 to below ``limit``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(f"{what} is {value!r}, it must be an int") from None
    if not 0 <= number < limit:
        raise InputError(f"{what} is {number}, it must be from 0 to {limit - 1}")
    return number

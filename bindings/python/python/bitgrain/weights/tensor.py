"""An array as codes and scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.errors import InputError
from bitgrain.weights.array import Floats, as_floats
from bitgrain.weights.dtype import DTypeInfo, format_name
from bitgrain.weights.fidelity import Fidelity

__all__ = ["QuantizedTensor", "quantize"]

# Codes of whole bytes, as NumPy sees them. NumPy has no bfloat16 and no FP8: there it sees their bits.
_NATURAL = {
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<f2",
    "bfloat16": "<u2",
    "fp8_e4m3": "u1",
    "fp8_e5m2": "u1",
    "int64": "<i8",
    "int32": "<i4",
    "int16": "<i2",
    "int8": "i1",
    "uint64": "<u8",
    "uint32": "<u4",
    "uint16": "<u2",
    "uint8": "u1",
}


class QuantizedTensor:
    """An array as codes and scales, every code at its true width. It never changes.

    Made by :func:`quantize`, by :meth:`FileTensor.quantized` and by :meth:`WeightStore.active`. It can be pickled, and
    ``np.asarray`` gives what :meth:`dequantize` gives.

    Examples
    --------
    >>> import bitgrain, numpy as np
    >>> tensor = bitgrain.quantize(np.array([1.27, -0.5, 0.0, 0.25], np.float32), "int8")
    >>> tensor
    QuantizedTensor(int8, shape=(4,), 8 bytes)
    >>> tensor.codes
    array([127, -50,   0,  25], dtype=int8)
    >>> tensor.scales
    array([0.01], dtype=float32)
    """

    __slots__ = ("_error", "_native")

    def __init__(self, native: _native.WeightTensor, error: Fidelity | None = None) -> None:
        self._native = native
        self._error = error

    @property
    def dtype(self) -> str:
        """The format, such as ``int4/32``: what :func:`quantize` takes."""
        return self._native.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the weights."""
        return tuple(self._native.shape)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of codes, scales and zero points."""
        return self._native.nbytes

    @property
    def bits_per_weight(self) -> float:
        """Bits that a weight takes, scales and zero points included."""
        return 8 * self.nbytes / self.size if self.size else 0.0

    @property
    def codes(self) -> npt.NDArray[Any]:
        """The codes, as a new array.

        Of a dtype with whole bytes: an array of the weights' shape, of the dtype itself where NumPy has it, else of
        its bits (``uint16`` for bfloat16, ``uint8`` for FP8). Of a dtype below 8 bits: bytes with the codes of a row
        packed without gaps, the first in the least significant bits, each row starting on a byte. Of a block format:
        the bytes of the blocks, as a GGUF file has them. In both cases the last axis counts the bytes of a row.
        """
        return self._shaped(self._native.codes(), of_codes=True)

    @property
    def scales(self) -> Floats:
        """The scales, as a new array: one entry per row or group in the last axis, or one for all.

        Empty for the floats, which have none, and for blocks, which hold their own.
        """
        scales = self._native.scales()
        rows = self._rows()
        if scales.size == 0 or rows == 0 or scales.size % rows or (scales.size == 1 and rows > 1):
            return scales
        return scales.reshape((*self.shape[:-1], scales.size // rows))

    @property
    def zeros(self) -> npt.NDArray[Any]:
        """The zero points of the unsigned dtypes, one beside each scale, packed as codes are; else empty."""
        return self._shaped(self._native.zeros(), of_codes=False)

    @property
    def error(self) -> Fidelity | None:
        """What quantizing cost; None if the original was never seen, as with tensors of a file."""
        return self._error

    def dequantize(self) -> Floats:
        """Give the weights that the codes stand for.

        Returns
        -------
        numpy.ndarray
            A new float32 array of the weights' shape.

        Raises
        ------
        FormatError
            If the codes came from elsewhere and a scale is not finite.
        """
        return self._native.dequantize().reshape(self.shape)

    def compare(self, original: npt.ArrayLike) -> Fidelity:
        """Measure what was lost of an array.

        Parameters
        ----------
        original : array_like
            Numbers of the same shape.

        Returns
        -------
        Fidelity

        Raises
        ------
        InputError
            If the shapes differ.
        """
        floats = as_floats(original, "original")
        if floats.shape != self.shape:
            raise InputError(f"original has shape {floats.shape}, the tensor has {self.shape}")
        return Fidelity(**self._native.fidelity(floats))

    def _rows(self) -> int:
        return int(np.prod(self.shape[:-1], dtype=np.int64))

    def _shaped(self, raw: npt.NDArray[np.uint8], *, of_codes: bool) -> npt.NDArray[Any]:
        natural = _NATURAL.get(self._native.code)
        typed: npt.NDArray[Any] = raw if natural is None else raw.view(natural)
        if natural is not None and of_codes:
            return typed.reshape(self.shape)
        rows = self._rows()
        if typed.size == 0 or rows == 0 or typed.size % rows or (typed.size == 1 and rows > 1):
            return typed
        return typed.reshape((*self.shape[:-1], typed.size // rows))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("codes cannot be seen as numbers without a copy")
        return self.dequantize().astype(dtype if dtype is not None else np.float32, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuantizedTensor):
            return NotImplemented
        mine, its = self._native, other._native
        return (
            (mine.dtype, mine.shape) == (its.dtype, its.shape)
            and np.array_equal(mine.codes(), its.codes())
            and np.array_equal(mine.scales(), its.scales())
            and np.array_equal(mine.zeros(), its.zeros())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        parts = (native.format, native.shape, native.codes(), native.scales(), native.zeros())
        return (_restored, (*parts, self._error))

    def __repr__(self) -> str:
        return f"QuantizedTensor({self.dtype}, shape={self.shape}, {self.nbytes} bytes)"


def _restored(
    format: str,
    shape: list[int],
    codes: npt.NDArray[np.uint8],
    scales: Floats,
    zeros: npt.NDArray[np.uint8],
    error: Fidelity | None,
) -> QuantizedTensor:
    return QuantizedTensor(_native.WeightTensor.from_parts(format, shape, codes, scales, zeros), error)


def quantize(
    array: npt.ArrayLike,
    dtype: str | DTypeInfo | npt.DTypeLike,
    *,
    group: int | None = None,
    scale: str | None = None,
    calibrate: str | None = None,
    importance: npt.ArrayLike | None = None,
    non_finite: str = "reject",
) -> QuantizedTensor:
    """Quantize an array.

    Rows lie along the last axis: that is where groups and blocks are. Numbers are taken as float32; what is float32
    in C order already is not copied.

    Parameters
    ----------
    array : array_like
        Real numbers of any shape, or a torch tensor.
    dtype : str, DTypeInfo or NumPy dtype
        One of :func:`dtypes`, such as ``"int8"``, ``"q4_k"`` or ``np.float16``; a scaling can follow it, as in
        ``"int4/32"`` or ``"int8/tensor"``.
    group : int, optional
        Weights that share a scale: a multiple of 8. The last group of a row may be shorter.
    scale : {"none", "tensor", "channel", "group"}, optional
        Which weights share a scale. Unless told, all of a row down to 8 bits, and 64 of it below.
    calibrate : {"absmax", "mse", "hqq", "percentile", "percentile=P"}, optional
        How scales are found: from the largest magnitude (unless told), by least squared error, by half-quadratic
        refinement, or from the magnitude that P percent of the weights do not exceed.
    importance : array_like, optional
        A number per column that says how much its errors matter, where scales are searched for.
    non_finite : {"reject", "zero", "clamp"}, optional
        What to do with NaN and infinities, which only the floats can hold.

    Returns
    -------
    QuantizedTensor

    Raises
    ------
    InputError
        For a dtype that does not exist, settings that it does not have, NaN and infinities with their index, rows that
        are not whole blocks, and weights that would become infinite.
    DTypeError
        For an array of something else than real numbers.

    Examples
    --------
    >>> import bitgrain, numpy as np
    >>> weights = np.sin(np.arange(1024, dtype=np.float32)).reshape(4, 256)
    >>> tensor = bitgrain.quantize(weights, "int4", group=32, calibrate="mse")
    >>> tensor.nbytes, tensor.bits_per_weight
    (640, 5.0)
    >>> tensor.error.relative_rmse < 0.07
    True
    >>> bitgrain.quantize(weights, "q4_k").codes.shape  # bytes, as llama.cpp has them
    (4, 144)
    """
    floats = as_floats(array)
    name = format_name(dtype, group, scale, calibrate)
    weights = None if importance is None else as_floats(importance, "importance").ravel()
    native, lost = _native.WeightTensor.quantize(floats, name, weights, non_finite)
    return QuantizedTensor(native, Fidelity(**lost))

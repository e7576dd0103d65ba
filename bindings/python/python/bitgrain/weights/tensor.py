"""Quantized tensors."""

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

# NumPy dtypes of codes of whole bytes. NumPy lacks bfloat16 and FP8, so their codes are exposed as unsigned integers.
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
    """An immutable quantized array: codes at their exact bit width, and scales.

    Created by :func:`quantize`, :meth:`FileTensor.quantized` and :meth:`WeightStore.active`. It can be pickled, and
    ``np.asarray`` returns the result of :meth:`dequantize`.

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
        """Format, such as ``int4/32``, in the notation of :func:`quantize`."""
        return self._native.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return tuple(self._native.shape)

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Size of codes, scales and zero points in bytes."""
        return self._native.nbytes

    @property
    def bits_per_weight(self) -> float:
        """Average number of bits per weight, including scales and zero points."""
        return 8 * self.nbytes / self.size if self.size else 0.0

    @property
    def codes(self) -> npt.NDArray[Any]:
        """Codes, as a new array.

        For dtypes of whole bytes, an array in the shape of the weights, of the dtype itself if NumPy supports it,
        otherwise of its bits (``uint16`` for bfloat16, ``uint8`` for FP8). For dtypes below 8 bits, bytes with the
        codes of a row packed without gaps, starting at the least significant bits; each row starts on a byte. For block
        formats, the bytes of the blocks as in a GGUF file. In the last two cases the last axis counts the bytes of a
        row.
        """
        return self._shaped(self._native.codes(), of_codes=True)

    @property
    def scales(self) -> Floats:
        """Scales, as a new array: one entry per row or group along the last axis, or a single one.

        Empty for float formats, which are not scaled, and for block formats, which contain their scales.
        """
        scales = self._native.scales()
        rows = self._rows()
        if scales.size == 0 or rows == 0 or scales.size % rows or (scales.size == 1 and rows > 1):
            return scales
        return scales.reshape((*self.shape[:-1], scales.size // rows))

    @property
    def zeros(self) -> npt.NDArray[Any]:
        """Zero points of the unsigned dtypes, one per scale, packed like codes; otherwise empty."""
        return self._shaped(self._native.zeros(), of_codes=False)

    @property
    def error(self) -> Fidelity | None:
        """Quantization error; None if the original is unknown, as for a tensor read from a file."""
        return self._error

    def dequantize(self) -> Floats:
        """Decode the weights.

        Returns
        -------
        numpy.ndarray
            New float32 array in the shape of the weights.

        Raises
        ------
        FormatError
            If the codes come from a file and a scale is not finite.
        """
        return self._native.dequantize().reshape(self.shape)

    def compare(self, original: npt.ArrayLike) -> Fidelity:
        """Measure the difference to an array.

        Parameters
        ----------
        original : array_like
            Array of the same shape.

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
            raise InputError(f"original has shape {floats.shape}, but the tensor has {self.shape}")
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
            raise ValueError("cannot convert a quantized tensor to an array without a copy")
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

    Groups and blocks are formed along the last axis. Values are converted to float32; a float32 array in C order is not
    copied.

    Parameters
    ----------
    array : array_like
        Real numbers of any shape, or a torch tensor.
    dtype : str, DTypeInfo or NumPy dtype
        One of :func:`dtypes`, such as ``"int8"``, ``"q4_k"`` or ``np.float16``, optionally with a scaling, as in
        ``"int4/32"`` or ``"int8/tensor"``.
    group : int, optional
        Number of weights that share a scale: a multiple of 8. The last group of a row may be shorter.
    scale : {"none", "tensor", "channel", "group"}, optional
        Weights that share a scale. Default: a row for dtypes of 8 bits or more, 64 weights of a row below 8 bits.
    calibrate : {"absmax", "mse", "hqq", "percentile", "percentile=P"}, optional
        Choice of the scales: from the largest magnitude (the default), by least squared error, by half-quadratic
        quantization, or from the magnitude that P percent of the weights do not exceed.
    importance : array_like, optional
        Importance of the errors in each column, for formats whose scales are searched.
    non_finite : {"reject", "zero", "clamp"}, optional
        Handling of NaN and infinities, which only float formats can represent.

    Returns
    -------
    QuantizedTensor

    Raises
    ------
    InputError
        If the dtype is unknown or does not support a setting, a value is not finite (the message has its index), rows
        are not a multiple of the block length, or a weight would become infinite.
    DTypeError
        If the array does not hold real numbers.

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

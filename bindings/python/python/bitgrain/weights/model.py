"""Model files: GGUF, safetensors, npy and npz as mappings from names to lazily read tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.weights.array import Floats
from bitgrain.weights.tensor import QuantizedTensor

__all__ = ["FileTensor", "ModelFile", "open_model"]

# NumPy dtypes with the same values.
_OWN = {
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<f2",
    "i64": "<i8",
    "i32": "<i4",
    "i16": "<i2",
    "i8": "i1",
    "u64": "<u8",
    "u32": "<u4",
    "u16": "<u2",
    "u8": "u1",
    "bool": "?",
}


class FileTensor:
    """A tensor of a model file, whose values are read on demand.

    Attributes
    ----------
    name : str
        Name of the tensor.
    shape : tuple of int
        Shape, outermost axis first.
    dtype : str
        Stored format: ``float16``, ``q4_k``, ``int4/32``, ``i64``.
    nbytes : int
        Size in the file in bytes, including scales.
    bits_per_weight : float
        Average number of bits per value in the file.
    """

    __slots__ = ("_native", "_weights", "bits_per_weight", "dtype", "name", "nbytes", "shape")

    def __init__(self, native: _native.WeightModel, name: str) -> None:
        self._native = native
        self.name = name
        shape, self.dtype, self.nbytes, self.bits_per_weight, self._weights = native.about(name)
        self.shape = tuple(shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    def numpy(self) -> npt.NDArray[Any]:
        """Read the values in their stored dtype if NumPy supports it, otherwise dequantized to float32.

        Returns
        -------
        numpy.ndarray
            New array: floats, integers and booleans that NumPy supports keep their dtype; other formats become float32.

        Raises
        ------
        DTypeError
            If the format can be listed but not decoded.
        FileError
            If the file can no longer be read.
        """
        own = _OWN.get(self.dtype)
        if own is None:
            return self.dequantize()
        codes, _, _ = self._native.parts(self.name)
        return codes.view(own).reshape(self.shape)

    def dequantize(self) -> Floats:
        """Read the values as float32.

        Returns
        -------
        numpy.ndarray
            A new float32 array.

        Raises
        ------
        DTypeError
            If the format can be listed but not decoded.
        FormatError
            If a scale is not finite.
        """
        return self._native.values(self.name).reshape(self.shape)

    def quantized(self) -> QuantizedTensor:
        """Read the stored codes into memory.

        Returns
        -------
        QuantizedTensor
            Quantized tensor. Its ``error`` is not available, because the original is unknown.

        Raises
        ------
        DTypeError
            If the tensor holds integers, or the format can be listed but not decoded.
        """
        return QuantizedTensor(self._native.quantized(self.name))

    def stats(self) -> dict[str, Any]:
        """Compute statistics over all values.

        Returns
        -------
        dict
            ``count``, ``min``, ``max``, ``mean``, ``std``, ``zeros``, ``non_finite`` and a ``histogram`` with bins of
            equal width.
        """
        return self._native.stats(self.name)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("cannot convert a tensor of a file to an array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"FileTensor({self.name!r}, {self.dtype}, shape={self.shape}, {self.nbytes} bytes)"


class ModelFile(Mapping[str, FileTensor]):
    """An open model file: a mapping from names to tensors, in file order.

    Created by :func:`open_model`. Opening takes milliseconds regardless of size, because the file is memory-mapped; it
    must not be changed while the model is in use.
    """

    def __init__(self, native: _native.WeightModel) -> None:
        self._native = native
        self._names = dict.fromkeys(native.names())

    @property
    def path(self) -> str:
        """Path of the opened file: the index of a sharded model, or the file found in a directory."""
        return os.fspath(self._native.path)

    @property
    def files(self) -> list[str]:
        """Files that contain the tensors."""
        return [os.fspath(path) for path in self._native.files]

    @property
    def container(self) -> str:
        """Container format: ``GGUF``, ``safetensors``, ``npy`` or ``npz``."""
        return self._native.container

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the file: keys and values of a GGUF file, strings of a safetensors file."""
        return self._native.metadata()

    @property
    def architecture(self) -> str | None:
        """Architecture according to the ``config.json`` next to the weights."""
        return self._native.architecture

    @property
    def nbytes(self) -> int:
        """Total size of the tensors in bytes."""
        return self._native.nbytes

    @property
    def size(self) -> int:
        """Total number of values in the tensors."""
        return self._native.size

    def __getitem__(self, name: str) -> FileTensor:
        return FileTensor(self._native, name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple[Any, ...]:
        return (open_model, (self.path,))

    def __repr__(self) -> str:
        return f"ModelFile({self.path!r}, {self.container}, {len(self)} tensors, {self.nbytes} bytes)"


def open_model(path: str | os.PathLike[str]) -> ModelFile:
    """Open a model: GGUF, safetensors, npy or npz, the index of a sharded model, or a Hugging Face directory.

    Parameters
    ----------
    path : path-like
        File or directory. The format is detected from the first bytes.

    Returns
    -------
    ModelFile
        Mapping from names to tensors. An unknown name raises :class:`NotFoundError`, which is a KeyError.

    Raises
    ------
    FileError
        If the file cannot be opened; a FileNotFoundError if it does not exist.
    FormatError
        If the file is not a model, or is truncated.

    Examples
    --------
    >>> import bitgrain, numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.safetensors")
    >>> weights = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)
    >>> _ = bitgrain.weights.save_tensors(path, {"w": bitgrain.quantize(weights, "q8_0"), "b": np.zeros(2, np.float16)})
    >>> model = bitgrain.open_model(path)
    >>> list(model)
    ['b', 'w']
    >>> model["w"]
    FileTensor('w', q8_0, shape=(2, 32), 68 bytes)
    >>> model["b"].numpy()
    array([0., 0.], dtype=float16)
    """
    return ModelFile(_native.WeightModel.open(os.fspath(path)))

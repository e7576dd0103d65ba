"""Model files: GGUF, safetensors, npy and npz as mappings of names to tensors that are read when they are asked for."""

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

# What NumPy has under the same meaning.
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
    """A tensor of a model file. Its values are read when they are asked for.

    Attributes
    ----------
    name : str
        Its name.
    shape : tuple of int
        Its shape, outermost first.
    dtype : str
        How it is stored: ``float16``, ``q4_k``, ``int4/32``, ``i64``.
    nbytes : int
        Bytes in the file, scales included.
    bits_per_weight : float
        Bits that a number takes in the file.
    """

    __slots__ = ("_native", "_weights", "bits_per_weight", "dtype", "name", "nbytes", "shape")

    def __init__(self, native: _native.WeightModel, name: str) -> None:
        self._native = native
        self.name = name
        shape, self.dtype, self.nbytes, self.bits_per_weight, self._weights = native.about(name)
        self.shape = tuple(shape)

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return int(np.prod(self.shape, dtype=np.int64))

    def numpy(self) -> npt.NDArray[Any]:
        """Give the values in the dtype they have, if NumPy has it; everything else dequantized to float32.

        Returns
        -------
        numpy.ndarray
            A new array: float64, float32, float16, whole numbers and booleans as they are, float32 for others.

        Raises
        ------
        DTypeError
            For formats that can be listed but not computed with.
        FileError
            If the file cannot be read any more.
        """
        own = _OWN.get(self.dtype)
        if own is None:
            return self.dequantize()
        codes, _, _ = self._native.parts(self.name)
        return codes.view(own).reshape(self.shape)

    def dequantize(self) -> Floats:
        """Give the values as float32.

        Returns
        -------
        numpy.ndarray
            A new float32 array.

        Raises
        ------
        DTypeError
            For formats that can be listed but not computed with.
        FormatError
            If a scale is not finite.
        """
        return self._native.values(self.name).reshape(self.shape)

    def quantized(self) -> QuantizedTensor:
        """Give the codes as they are stored, in memory.

        Returns
        -------
        QuantizedTensor
            Its ``error`` is None: the original is not known.

        Raises
        ------
        DTypeError
            For integers, and formats that can be listed but not computed with.
        """
        return QuantizedTensor(self._native.quantized(self.name))

    def stats(self) -> dict[str, Any]:
        """Look at every value.

        Returns
        -------
        dict
            ``count``, ``min``, ``max``, ``mean``, ``std``, ``zeros``, ``non_finite`` and a ``histogram`` of equal parts
            of the range.
        """
        return self._native.stats(self.name)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a tensor of a file cannot be seen without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"FileTensor({self.name!r}, {self.dtype}, shape={self.shape}, {self.nbytes} bytes)"


class ModelFile(Mapping[str, FileTensor]):
    """A model file that was opened: a mapping of names to tensors, in the order of the file.

    Made by :func:`open_model`. Opening takes milliseconds whatever the size; the file is mapped, and must not be
    changed while the model is in use.
    """

    def __init__(self, native: _native.WeightModel) -> None:
        self._native = native
        self._names = dict.fromkeys(native.names())

    @property
    def path(self) -> str:
        """The file that was opened: of a sharded model the index, of a folder the file in it."""
        return os.fspath(self._native.path)

    @property
    def files(self) -> list[str]:
        """The files that hold the tensors."""
        return [os.fspath(path) for path in self._native.files]

    @property
    def container(self) -> str:
        """``GGUF``, ``safetensors``, ``npy`` or ``npz``."""
        return self._native.container

    @property
    def metadata(self) -> dict[str, Any]:
        """What the file says about itself: keys of a GGUF file, texts of a safetensors file."""
        return self._native.metadata()

    @property
    def architecture(self) -> str | None:
        """What ``config.json`` beside the weights calls the architecture."""
        return self._native.architecture

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors."""
        return self._native.nbytes

    @property
    def size(self) -> int:
        """How many numbers all tensors hold."""
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
    """Open a model: GGUF, safetensors, npy or npz, the index of a sharded model, or a Hugging Face folder.

    Parameters
    ----------
    path : path-like
        A file or a folder. What it is is seen from its first bytes.

    Returns
    -------
    ModelFile
        A mapping of names to tensors. A name that is not there raises :class:`NotFoundError`, which is a KeyError.

    Raises
    ------
    FileError
        If it cannot be opened; a FileNotFoundError if it is not there.
    FormatError
        If it is no model, or cut short.

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

"""Quantization of models to files."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.detach import bfloat16_codes
from bitgrain.errors import DTypeError, InputError
from bitgrain.progress import Progress
from bitgrain.weights.array import as_array, as_count, as_number
from bitgrain.weights.dtype import DTypeInfo, format_name
from bitgrain.weights.fidelity import Fidelity
from bitgrain.weights.model import FileTensor, ModelFile, open_model
from bitgrain.weights.tensor import QuantizedTensor

__all__ = ["Conversion", "ConvertedTensor", "Plan", "quantize_file", "save_tensors"]


@dataclass(frozen=True)
class ConvertedTensor:
    """Result of the conversion of one tensor.

    Attributes
    ----------
    name : str
        Name of the tensor.
    shape : tuple of int
        Shape of the tensor.
    source, target : str
        Format before and after.
    bytes_before, bytes_after : int
        Size in bytes before and after.
    error : Fidelity or None
        Quantization error; None if the tensor was not quantized.
    remark : str or None
        Reason for a format other than the requested one.
    """

    name: str
    shape: tuple[int, ...]
    source: str
    target: str
    bytes_before: int
    bytes_after: int
    error: Fidelity | None
    remark: str | None


@dataclass(frozen=True)
class Plan:
    """Choice of a format per tensor.

    Attributes
    ----------
    formats : dict of str to str
        Format of each tensor.
    bytes : int
        Total size of the tensors in bytes.
    relative_rmse : float
        Relative RMS error of the planned tensors.
    curve : list of (int, float)
        Sizes in bytes and the smallest error at each, from the smallest size.
    """

    formats: dict[str, str]
    bytes: int
    relative_rmse: float
    curve: list[tuple[int, float]]


@dataclass(frozen=True)
class Conversion:
    """Result of a conversion.

    Attributes
    ----------
    tensors : list of ConvertedTensor
        All tensors, in the order of the input.
    overall : Fidelity
        Error over all quantized weights, each weighted equally.
    tensor_rmse : float
        Relative RMS error over the quantized tensors, each relative to its own weights.
    bytes_before, bytes_after : int
        Total size of the tensors in bytes.
    file_bytes : int
        Size of the written files in bytes.
    plan : Plan or None
        Plan of the conversion, if ``budget``, ``max_rmse`` or ``plan`` was given.
    """

    tensors: list[ConvertedTensor]
    overall: Fidelity
    tensor_rmse: float
    bytes_before: int
    bytes_after: int
    file_bytes: int
    plan: Plan | None

    def __repr__(self) -> str:
        return (
            f"Conversion({len(self.tensors)} tensors, {self.bytes_before} -> {self.bytes_after} bytes, "
            f"relative RMSE {self.tensor_rmse:.4g})"
        )


def quantize_file(
    source: str | os.PathLike[str] | ModelFile | Mapping[str, Any],
    target: str | os.PathLike[str],
    to: str | DTypeInfo | None = None,
    *,
    keep: Mapping[str, str | DTypeInfo] | Iterable[str] | None = None,
    group: int | None = None,
    scale: str | None = None,
    calibrate: str | None = None,
    budget: int | str | None = None,
    max_rmse: float | None = None,
    candidates: Iterable[str | DTypeInfo] = (),
    plan: str | os.PathLike[str] | None = None,
    importance: str | os.PathLike[str] | None = None,
    non_finite: str = "reject",
    shard_size: int | str | None = None,
    scheme: str | None = None,
    lora: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Conversion:
    """Quantize a model to a new file.

    Weight matrices are quantized; integers are kept, and so are vectors unless ``keep`` names them. The file is written
    atomically; Ctrl-C leaves no partial file. A tensor whose rows are not a multiple of the block length is stored in
    the nearest format that fits, with a remark in the result.

    Parameters
    ----------
    source : path-like, ModelFile or mapping of str to array_like
        Model in any format that :func:`open_model` reads, or a state dict.
    target : path-like
        File to write: ``.gguf``, ``.safetensors``, or ``.safetensors.index.json`` for a sharded model.
    to : str or DTypeInfo, optional
        Format of every weight matrix. Required unless ``budget``, ``max_rmse`` or ``plan`` is given.
    keep : mapping of str to format, or iterable of str, optional
        Name patterns with ``*`` and ``?``, and the format of the tensors they match. Tensors matched by a pattern
        without a format, or with ``"keep"``, are copied unchanged. The first matching pattern applies.
    group, scale, calibrate : optional
        As for :func:`quantize`; used by the dtypes that support them.
    budget : int or str, optional
        Maximum total size of the tensors in bytes, or as a string such as ``"60MB"``. Chooses the formats with the
        least error.
    max_rmse : float, optional
        Maximum relative RMS error. Chooses the formats with the fewest bytes.
    candidates : iterable of formats, optional
        Formats to choose from with ``budget`` or ``max_rmse``.
    plan : path-like, optional
        File for the chosen formats: written if ``budget`` or ``max_rmse`` is given, otherwise read and applied.
    importance : path-like, optional
        Importance of each column's error: an importance matrix of llama.cpp, or a file with one vector per tensor.
    non_finite : {"reject", "zero", "clamp"}, optional
        Handling of NaN and infinite weights.
    shard_size : int or str, optional
        Maximum size of a shard in bytes, or as a string such as ``"5GB"``.
    scheme : {"W4A16", "W8A8", "FP8_DYNAMIC", "NVFP4A16", "MXFP4A16"}, optional
        Encoding of the linear layers as compressed-tensors, instead of ``to``. ``source`` is then a Hugging Face
        directory and ``target`` another one, which vLLM, SGLang and Transformers load.
    lora : path-like, optional
        Directory of a LoRA adapter (PEFT) that is merged into the weights first.
    progress : bool, optional
        Whether to show a progress bar; by default only in terminals and notebooks.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If a format or setting is unknown or not supported by the file format, a value is not finite, the budget or
        error cannot be reached, or the output is the input.
    NotFoundError
        If a pattern in ``keep`` or a name in ``plan`` matches no tensor.
    FileError, FormatError
        As for :func:`open_model`, and if the file cannot be written.

    Examples
    --------
    >>> import bitgrain, numpy as np, os, tempfile
    >>> state = {"w": np.sin(np.arange(4096, dtype=np.float32)).reshape(16, 256), "b": np.ones(16, np.float32)}
    >>> path = os.path.join(tempfile.mkdtemp(), "small.gguf")
    >>> done = bitgrain.quantize_file(state, path, "q4_k")
    >>> [(tensor.name, tensor.target) for tensor in done.tensors]
    [('w', 'q4_k'), ('b', 'float32')]
    >>> done.bytes_before, done.bytes_after
    (16448, 2368)
    """
    if scheme is not None:
        if (to, budget, max_rmse, plan, scale) != (None,) * 5 or list(candidates) or isinstance(keep, Mapping):
            raise InputError("scheme= chooses the formats; omit to=, budget=, max_rmse=, plan=, scale= and candidates=")
    elif to is None and budget is None and max_rmse is None and plan is None:
        raise InputError("no format given; pass to=, scheme=, budget=, max_rmse= or plan=")
    if to is not None and (budget is not None or max_rmse is not None or plan is not None):
        raise InputError("to= cannot be combined with budget=, max_rmse= or plan=; pass only one of them")
    if budget is not None and max_rmse is not None:
        raise InputError("budget= and max_rmse= cannot be combined; pass only one of them")
    candidates = list(candidates)
    if candidates and budget is None and max_rmse is None:
        raise InputError("candidates= has no effect without budget= or max_rmse=; omit it, or pass one of them")
    if shard_size is not None and scheme is None and not os.fspath(target).endswith(".safetensors.index.json"):
        raise InputError("shard_size= has no effect unless the target ends in .safetensors.index.json; omit it")
    refined = to is not None or scheme is not None or candidates or isinstance(keep, Mapping)
    if (group, scale, calibrate) != (None, None, None) and not refined:
        raise InputError("group=, scale= and calibrate= need to=, candidates= or formats in keep=; pass one of them")

    def named(one: str | DTypeInfo) -> str:
        return "keep" if one == "keep" else format_name(one, group, scale, calibrate, strict=False)

    if isinstance(keep, str):
        keep = [keep]
    if keep is not None and not isinstance(keep, Iterable):
        raise DTypeError(f"keep = {keep!r}: it must be a list of name patterns, or a dict from patterns to formats")
    rules = keep.items() if isinstance(keep, Mapping) else [(pattern, "keep") for pattern in keep or ()]
    orders = {
        "to": "keep" if to is None else format_name(to, group, scale, calibrate),
        "rules": [(pattern, named(one)) for pattern, one in rules],
        "budget": None if budget is None else _bytes("budget", budget),
        "max_rmse": None if max_rmse is None else as_number(max_rmse, "max_rmse"),
        "candidates": [named(one) for one in candidates],
        "plan": None if plan is None else os.fspath(plan),
        "importance": None if importance is None else os.fspath(importance),
        "non_finite": non_finite,
        "shard_bytes": None if shard_size is None else _bytes("shard_size", shard_size),
        "scheme": scheme,
        "group": None if group is None else as_count(group, "group"),
        "calibrate": calibrate,
    }
    path = os.fspath(target)
    if isinstance(source, ModelFile):
        native = source._native
    elif isinstance(source, Mapping):
        native = _in_memory(source, {}, path)
    else:
        native = open_model(source)._native
    if lora is not None:
        native = native.merged(os.fspath(lora))
    with Progress(total=100, label="quantizing", show=progress) as bar:
        done = native.convert(path, orders, percent(bar))
    return _conversion(done)


def save_tensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> Conversion:
    """Write tensors to a GGUF or safetensors file atomically.

    Parameters
    ----------
    path : path-like
        Path that ends in ``.gguf`` or ``.safetensors``.
    tensors : mapping of str to array_like, QuantizedTensor or FileTensor
        Arrays keep their dtype and quantized tensors their codes. GGUF files support floats, signed integers and
        blocks; other dtypes are converted to float32 with a warning.
    metadata : mapping, optional
        Strings for a safetensors file; numbers, strings, booleans and lists of them for a GGUF file.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the path has another extension, or the file format does not support an integer dtype.
    DTypeError
        If an array or a metadata value has a type that the file format does not support.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import bitgrain, numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.safetensors")
    >>> done = bitgrain.weights.save_tensors(path, {"ids": np.arange(3)}, metadata={"format": "pt"})
    >>> bitgrain.open_model(path)["ids"].numpy()
    array([0, 1, 2])
    """
    name = os.fspath(path)
    native = _in_memory(tensors, metadata or {}, name)
    orders: dict[str, Any] = {
        "to": "keep",
        "rules": [],
        "budget": None,
        "max_rmse": None,
        "candidates": [],
        "plan": None,
        "importance": None,
        "non_finite": "reject",
        "shard_bytes": None,
        "scheme": None,
        "group": None,
        "calibrate": None,
    }
    done = _conversion(native.convert(name, orders))
    for tensor in done.tensors:
        if tensor.remark is not None:
            warnings.warn(f"`{tensor.name}` becomes {tensor.target}: {tensor.remark}", UserWarning, stacklevel=2)
    return done


def percent(bar: Progress) -> Callable[[int, int, str], None]:
    """Return a callback that shows the progress of a native call on a bar of 100 steps."""

    def tell(done: int, total: int, name: str) -> None:
        bar.update(100 * done // max(total, 1), note=name)

    return tell


def _conversion(done: dict[str, Any]) -> Conversion:
    def row(row: dict[str, Any]) -> ConvertedTensor:
        error = None if row["error"] is None else Fidelity(**row["error"])
        return ConvertedTensor(**{**row, "shape": tuple(row["shape"]), "error": error})

    rows = [row(one) for one in done["tensors"]]
    plan = None if done["plan"] is None else Plan(**done["plan"])
    return Conversion(**{**done, "tensors": rows, "overall": Fidelity(**done["overall"]), "plan": plan})


_EMPTY_BYTES = np.empty(0, np.uint8)
_EMPTY_FLOATS = np.empty(0, np.float32)

# NumPy's names of the integer and float dtypes that are written unchanged.
_WHOLE = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
_FLOATS = {"float16", "bfloat16", "float32", "float64"}


def _in_memory(tensors: Mapping[str, Any], metadata: Mapping[str, Any], path: str) -> _native.WeightModel:
    gguf = path.lower().endswith(".gguf")
    if not isinstance(tensors, Mapping):
        raise DTypeError(f"tensors must be a dict from names to arrays, not {type(tensors).__name__}")
    wrong = next((name for name in tensors if not isinstance(name, str)), None)
    if wrong is not None:
        raise DTypeError(f"invalid tensor name {wrong!r}; names must be strings")
    given = [(name, *_parts(name, tensor)) for name, tensor in tensors.items()]
    return _native.WeightModel.of(given, dict(metadata), gguf)


def _parts(
    name: str, tensor: Any
) -> tuple[list[int], str, bool, npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """Return shape, format, whether it is an integer dtype, codes, scales and zero points."""
    if isinstance(tensor, FileTensor) and tensor._weights:
        tensor = tensor.quantized()
    if isinstance(tensor, QuantizedTensor):
        native = tensor._native
        return native.shape, native.format, False, native.codes(), native.scales(), native.zeros()
    codes = bfloat16_codes(tensor)
    array = as_array(tensor, f"`{name}`") if codes is None else codes
    kind = array.dtype.name if codes is None else "bfloat16"
    if kind not in _WHOLE | _FLOATS:
        raise DTypeError(f"`{name}` has dtype {kind}, which model files do not support; convert or quantize it first")
    flat = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C").reshape(-1)
    return list(array.shape), kind, kind in _WHOLE, flat.view(np.uint8), _EMPTY_FLOATS, _EMPTY_BYTES


_UNITS: dict[str, int] = {"": 1, "b": 1}
for _power, _prefix in enumerate("kmgt", start=1):
    _UNITS[f"{_prefix}b"] = int(1000**_power)
    _UNITS[f"{_prefix}ib"] = int(1024**_power)


def _bytes(what: str, size: int | str) -> int:
    """Parse a size in bytes: a number, or a string with a unit such as ``60MB`` or ``1.5GiB``."""
    if isinstance(size, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", size)
        if found is None or found[2].lower() not in _UNITS:
            raise InputError(f'{what} cannot be "{size}"; use bytes, or a string such as "60MB" or "1.5GiB"')
        return as_count(round(float(found[1]) * _UNITS[found[2].lower()]), what)
    if isinstance(size, bool):
        raise DTypeError(f"{what} must be an integer or a string, not {size!r}")
    return as_count(size, what)

"""Models into smaller files."""

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
    """What happened to one tensor.

    Attributes
    ----------
    name : str
        Its name.
    shape : tuple of int
        Its shape.
    source, target : str
        How it was stored, and how it is now.
    bytes_before, bytes_after : int
        What it took, and takes.
    error : Fidelity or None
        What was lost; None if it was kept as it is.
    remark : str or None
        Why it is not what was asked for, if it is not.
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
    """A format per tensor.

    Attributes
    ----------
    formats : dict of str to str
        What becomes of each tensor.
    bytes : int
        Bytes of all tensors so planned.
    relative_rmse : float
        Relative RMS error of the planned ones.
    curve : list of (int, float)
        Sizes and the errors they allow, from the smallest.
    """

    formats: dict[str, str]
    bytes: int
    relative_rmse: float
    curve: list[tuple[int, float]]


@dataclass(frozen=True)
class Conversion:
    """What a conversion did.

    Attributes
    ----------
    tensors : list of ConvertedTensor
        Every tensor, in the order of the input.
    overall : Fidelity
        All quantized weights together, each counting once.
    tensor_rmse : float
        Relative RMS error of the quantized tensors, each relative to its own weights.
    bytes_before, bytes_after : int
        Bytes of the tensors.
    file_bytes : int
        Bytes of what was written.
    plan : Plan or None
        What was planned, with a budget, a largest error or a plan.
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
    progress: bool | None = None,
) -> Conversion:
    """Quantize a model into a new file.

    Weight matrices are quantized; integers are kept, and so are vectors unless ``keep`` names them. The file appears
    when it is complete, or not at all; Ctrl-C leaves nothing behind. Rows that are not whole blocks of a format get
    the nearest one that fits, and the report says so.

    Parameters
    ----------
    source : path-like, ModelFile or mapping of str to array_like
        The model, in anything that :func:`open_model` reads; or a state dict.
    target : path-like
        The file to write: ``.gguf``, ``.safetensors``, or ``.safetensors.index.json`` for a model in shards.
    to : str or DTypeInfo, optional
        The format of every weight matrix. Needed unless ``budget``, ``max_rmse`` or ``plan`` is given.
    keep : mapping of str to format, or iterable of str, optional
        Names with ``*`` and ``?``, and the format of the tensors they match; alone, or with ``"keep"``, they stay as
        they are. The first that matches decides.
    group, scale, calibrate : optional
        As for :func:`quantize`, for the dtypes that have them.
    budget : int or str, optional
        Chooses a format per tensor so that all tensors take at most this, with the least error: bytes, or ``"60MB"``.
    max_rmse : float, optional
        Chooses a format per tensor so that the relative RMS error is at most this, in the fewest bytes.
    candidates : iterable of formats, optional
        Formats to choose from.
    plan : path-like, optional
        Saves the choice to this file; without ``budget`` and ``max_rmse``, follows the one it holds.
    importance : path-like, optional
        How much the error of each column matters: an importance matrix of llama.cpp, or a file with a vector per
        tensor.
    non_finite : {"reject", "zero", "clamp"}, optional
        What to do with NaN and infinite weights.
    shard_size : int or str, optional
        Bytes of a shard at most.
    progress : bool, optional
        Whether to show a bar; unless told, in terminals and notebooks.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        For formats and settings that do not exist or that the file cannot hold, values that are not finite, a budget or
        an error out of reach, an output that is the input.
    NotFoundError
        For a name in ``keep`` or ``plan`` that matches no tensor.
    FileError, FormatError
        As :func:`open_model`, and for files that cannot be written.

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
    if to is None and budget is None and max_rmse is None and plan is None:
        raise InputError("say what to write: to=, budget=, max_rmse= or plan=")
    if to is not None and (budget is not None or max_rmse is not None or plan is not None):
        raise InputError("to= names one format for all; it does not go with budget=, max_rmse= or plan=")
    if budget is not None and max_rmse is not None:
        raise InputError("budget= and max_rmse= are two goals: choose one")
    candidates = list(candidates)
    if candidates and budget is None and max_rmse is None:
        raise InputError("candidates= has no effect without budget= or max_rmse=; leave it out or give a goal")
    if shard_size is not None and not os.fspath(target).endswith(".safetensors.index.json"):
        raise InputError("shard_size= has no effect unless the target ends in .safetensors.index.json; leave it out")
    refined = to is not None or candidates or isinstance(keep, Mapping)
    if (group, scale, calibrate) != (None, None, None) and not refined:
        raise InputError("group=, scale= and calibrate= refine to=, candidates= or formats in keep=: give one of those")

    def named(one: str | DTypeInfo) -> str:
        return "keep" if one == "keep" else format_name(one, group, scale, calibrate, strict=False)

    if isinstance(keep, str):
        keep = [keep]
    if keep is not None and not isinstance(keep, Iterable):
        raise DTypeError(f"keep = {keep!r}: it must be names of tensors, or a dict of names and formats")
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
    }
    path = os.fspath(target)
    if isinstance(source, ModelFile):
        native = source._native
    elif isinstance(source, Mapping):
        native = _in_memory(source, {}, path)
    else:
        native = open_model(source)._native
    with Progress(total=100, label="quantizing", show=progress) as bar:
        done = native.convert(path, orders, percent(bar))
    return _conversion(done)


def save_tensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> Conversion:
    """Write tensors to a GGUF or safetensors file. It appears when it is complete, or not at all.

    Parameters
    ----------
    path : path-like
        A name that ends in ``.gguf`` or ``.safetensors``.
    tensors : mapping of str to array_like, QuantizedTensor or FileTensor
        Arrays are kept in their dtype, quantized tensors with their codes. A GGUF file holds floats, signed integers
        and blocks; what it cannot hold becomes float32, with a warning.
    metadata : mapping, optional
        Texts for a safetensors file; numbers, texts, booleans and lists of them for a GGUF file.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        For another ending, and integers that the file has no type for.
    DTypeError
        For arrays and metadata of a type that the file cannot hold.
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
    }
    done = _conversion(native.convert(name, orders))
    for tensor in done.tensors:
        if tensor.remark is not None:
            warnings.warn(f"`{tensor.name}` becomes {tensor.target}: {tensor.remark}", UserWarning, stacklevel=2)
    return done


def percent(bar: Progress) -> Callable[[int, int, str], None]:
    """What a native call tells of its progress, for a bar of a hundred steps."""

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

# What NumPy calls its whole numbers, and floats that are written as they are.
_WHOLE = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
_FLOATS = {"float16", "bfloat16", "float32", "float64"}


def _in_memory(tensors: Mapping[str, Any], metadata: Mapping[str, Any], path: str) -> _native.WeightModel:
    gguf = path.lower().endswith(".gguf")
    if not isinstance(tensors, Mapping):
        raise DTypeError(f"tensors must be a dict of names and arrays, not {type(tensors).__name__}")
    wrong = next((name for name in tensors if not isinstance(name, str)), None)
    if wrong is not None:
        raise DTypeError(f"a tensor is called {wrong!r}: names must be texts")
    given = [(name, *_parts(name, tensor)) for name, tensor in tensors.items()]
    return _native.WeightModel.of(given, dict(metadata), gguf)


def _parts(
    name: str, tensor: Any
) -> tuple[list[int], str, bool, npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """Shape, storage, whether it is whole numbers, codes, scales, zero points."""
    if isinstance(tensor, FileTensor) and tensor._weights:
        tensor = tensor.quantized()
    if isinstance(tensor, QuantizedTensor):
        native = tensor._native
        return native.shape, native.format, False, native.codes(), native.scales(), native.zeros()
    codes = bfloat16_codes(tensor)
    array = as_array(tensor, f"`{name}`") if codes is None else codes
    kind = array.dtype.name if codes is None else "bfloat16"
    if kind not in _WHOLE | _FLOATS:
        raise DTypeError(f"`{name}` has dtype {kind}, which files of models do not have; convert or quantize it first")
    flat = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C").reshape(-1)
    return list(array.shape), kind, kind in _WHOLE, flat.view(np.uint8), _EMPTY_FLOATS, _EMPTY_BYTES


_UNITS: dict[str, int] = {"": 1, "b": 1}
for _power, _prefix in enumerate("kmgt", start=1):
    _UNITS[f"{_prefix}b"] = int(1000**_power)
    _UNITS[f"{_prefix}ib"] = int(1024**_power)


def _bytes(what: str, size: int | str) -> int:
    """A number of bytes, as it is or with a unit: ``60MB``, ``1.5GiB``."""
    if isinstance(size, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", size)
        if found is None or found[2].lower() not in _UNITS:
            raise InputError(f'{what} cannot be "{size}"; give bytes, or a size such as "60MB" or "1.5GiB"')
        return as_count(round(float(found[1]) * _UNITS[found[2].lower()]), what)
    if isinstance(size, bool):
        raise DTypeError(f"{what} must be a number of bytes, not {size!r}")
    return as_count(size, what)

"""Quantization of state dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from bitgrain.weights.array import as_array
from bitgrain.weights.dtype import format_name
from bitgrain.weights.pattern import check_patterns, matches
from bitgrain.weights.tensor import QuantizedTensor, quantize

__all__ = ["quantize_state_dict"]


def quantize_state_dict(
    state: Mapping[str, Any],
    dtype: Any,
    *,
    keep: Mapping[str, Any] | None = None,
    group: int | None = None,
    scale: str | None = None,
    calibrate: str | None = None,
    non_finite: str = "reject",
) -> dict[str, QuantizedTensor | npt.NDArray[Any]]:
    """Quantize the weight matrices of a state dict; vectors and integers become NumPy arrays unchanged.

    Parameters
    ----------
    state : mapping of str to array_like
        ``module.state_dict()``, or any mapping from names to arrays.
    dtype : str, DTypeInfo or NumPy dtype
        Format of every matrix, as for :func:`quantize`.
    keep : mapping of str to format, optional
        Patterns with ``*`` and ``?``, and the format of the tensors they match, or ``"keep"``. The first matching
        pattern applies, to vectors as well.
    group, scale, calibrate, non_finite
        As for :func:`quantize`.

    Returns
    -------
    dict
        A :class:`QuantizedTensor` for each quantized tensor, and an array for each other tensor; bfloat16, which NumPy
        lacks, becomes float32. The result can be passed to :func:`save_tensors`.

    Raises
    ------
    InputError, DTypeError
        As for :func:`quantize`, with the name of the tensor.
    NotFoundError
        If a pattern in ``keep`` matches no tensor.

    Examples
    --------
    >>> import bitgrain, numpy as np
    >>> state = {"0.weight": np.ones((8, 64), np.float32), "0.bias": np.zeros(8, np.float32)}
    >>> small = bitgrain.weights.quantize_state_dict(state, "int8", keep={"*.bias": "keep"})
    >>> small["0.weight"]
    QuantizedTensor(int8, shape=(8, 64), 544 bytes)
    >>> small["0.bias"].dtype
    dtype('float32')
    """
    usual = format_name(dtype, group, scale, calibrate)
    rules = [
        (pattern, None if what == "keep" else format_name(what, group, scale, calibrate, strict=False))
        for pattern, what in (keep or {}).items()
    ]
    check_patterns((pattern for pattern, _ in rules), state, "tensor")
    out: dict[str, QuantizedTensor | npt.NDArray[Any]] = {}
    for name, given in state.items():
        array = as_array(given, f"`{name}`")
        ruled = [what for pattern, what in rules if matches(name, pattern)]
        wanted = ruled[0] if ruled else (usual if array.ndim > 1 else None)
        if wanted is None or array.dtype.kind in "iub":
            out[name] = array
            continue
        try:
            out[name] = quantize(array, wanted, non_finite=non_finite)
        except (ValueError, TypeError) as error:
            raise type(error)(f"`{name}`: {error}") from error
    return out

"""Weight formats."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitgrain import _native
from bitgrain.errors import InputError
from bitgrain.weights.array import as_count

# Names of NumPy and ml_dtypes that differ from ours.
_ELSEWHERE = {
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e4m3": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "float4_e2m1fn": "fp4",
}


@dataclass(frozen=True)
class DTypeInfo:
    """A weight format.

    Attributes
    ----------
    name : str
        Name that :func:`bitgrain.quantize` accepts.
    kind : str
        ``"float"`` (plain values), ``"scaled"`` (code times scale), ``"affine"`` (with a zero point) or ``"block"``
        (blocks of llama.cpp or of this project, which contain their scales).
    bits : float
        Bits per weight, without separate scales; for blocks, including their scales.
    block : int
        Block length, which the length of the last axis must be a multiple of.
    """

    name: str
    kind: str
    bits: float
    block: int

    def __str__(self) -> str:
        return self.name


def dtypes() -> list[DTypeInfo]:
    """List all weight formats.

    Returns
    -------
    list of DTypeInfo
        21 dtypes, the blocks of llama.cpp and ``q4f32``.

    Examples
    --------
    >>> from bitgrain.weights import dtypes
    >>> {kind: len([d for d in dtypes() if d.kind == kind]) for kind in ("float", "scaled", "affine", "block")}
    {'float': 4, 'scaled': 11, 'affine': 6, 'block': 17}
    >>> next(d for d in dtypes() if d.name == "q4_k")
    DTypeInfo(name='q4_k', kind='block', bits=4.5, block=256)
    """
    return [DTypeInfo(*row) for row in _native.weight_formats()]


def format_name(
    dtype: Any,
    group: int | None = None,
    scale: str | None = None,
    calibrate: str | None = None,
    *,
    strict: bool = True,
) -> str:
    """Return the full name of a format, such as ``int4/32@mse``."""
    if isinstance(dtype, DTypeInfo):
        name = dtype.name
    elif isinstance(dtype, str):
        name = dtype
    else:
        try:
            # np.dtype(None) is float64.
            name = np.dtype(dtype).name if dtype is not None else "None"
        except TypeError as error:
            raise InputError(f"unknown weight format {dtype!r}; see bitgrain.weights.dtypes()") from error
    if group is not None:
        group = as_count(group, "group")
    mixture = re.fullmatch(r"(q[2-8]_k)_(?:xs|s|m|l)", name.lower())
    if mixture is not None:
        one = mixture[1]
        raise InputError(f"{name} is a mixture of llama.cpp formats; use {one}, or quantize_file(budget=…)")
    return _native.weight_format(_ELSEWHERE.get(name, name), group, scale, calibrate, strict)

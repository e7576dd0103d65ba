"""What a weight can be stored as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitgrain import _native
from bitgrain.errors import InputError
from bitgrain.weights.array import as_count

# What NumPy and ml_dtypes call them, where that is another name.
_ELSEWHERE = {
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e4m3": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "float4_e2m1fn": "fp4",
}


@dataclass(frozen=True)
class DTypeInfo:
    """A format that weights can have.

    Attributes
    ----------
    name : str
        What :func:`bitgrain.quantize` takes.
    kind : str
        ``"float"`` (the weight itself), ``"scaled"`` (code times scale), ``"affine"`` (with a zero point) or
        ``"block"`` (blocks of llama.cpp, or of this project, that hold their own scales).
    bits : float
        Bits of a weight, without scales beside the codes; blocks with everything.
    block : int
        The last axis must be a multiple of this.
    """

    name: str
    kind: str
    bits: float
    block: int

    def __str__(self) -> str:
        return self.name


def dtypes() -> list[DTypeInfo]:
    """List every format that weights can have.

    Returns
    -------
    list of DTypeInfo
        21 dtypes, llama.cpp's blocks and ``q4f32``.

    Examples
    --------
    >>> from bitgrain.weights import dtypes
    >>> {kind: len([d for d in dtypes() if d.kind == kind]) for kind in ("float", "scaled", "affine", "block")}
    {'float': 4, 'scaled': 11, 'affine': 6, 'block': 15}
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
    """The full name of a format, such as ``int4/32@mse``."""
    if isinstance(dtype, DTypeInfo):
        name = dtype.name
    elif isinstance(dtype, str):
        name = dtype
    else:
        try:
            # NumPy takes None for float64.
            name = np.dtype(dtype).name if dtype is not None else "None"
        except TypeError as error:
            raise InputError(f"{dtype!r} is not a weight format; bitgrain.weights.dtypes() lists them") from error
    if group is not None:
        group = as_count(group, "group")
    mixture = re.fullmatch(r"(q[2-8]_k)_(?:xs|s|m|l)", name.lower())
    if mixture is not None:
        one = mixture[1]
        raise InputError(f"{name} is a mixture of formats of llama.cpp: take {one} for all, or quantize_file(budget=…)")
    return _native.weight_format(_ELSEWHERE.get(name, name), group, scale, calibrate, strict)

"""Reconstruction of tensors without data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from bitgrain.errors import InputError
from bitgrain.store.array import TensorId, float32, whole

__all__ = ["Delta", "Factor"]


@dataclass(frozen=True, eq=False)
class Delta:
    """The sum of a base and a delta, which is stored with 8 bits.

    Parameters
    ----------
    base
        Id of a tensor with the same number of values.
    wanted
        Result of the reconstruction; the store computes the delta to the base as currently stored.
    delta
        Values to add to the base, instead of ``wanted``.

    Raises
    ------
    InputError
        Unless exactly one of ``wanted`` and ``delta`` is given.

    """

    base: TensorId
    wanted: npt.ArrayLike | None = None
    delta: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if (self.wanted is None) == (self.delta is None):
            raise InputError("a Delta takes either wanted (the result) or delta (the difference to the base)")


@dataclass(frozen=True, eq=False)
class Factor:
    """A source with its rows permuted, projected by a matrix, and scaled.

    Parameters
    ----------
    source
        Id of the source tensor. Its first axis gives the rows.
    scale
        Multiplier of every value.
    permutation
        Row ``i`` of the permuted source is its row ``permutation[i]``.
    projection
        Matrix that multiplies the permuted source from the left; it has as many columns as the source has rows.

    """

    source: TensorId
    scale: float = 1.0
    permutation: Sequence[int] | npt.NDArray[Any] | None = None
    projection: npt.ArrayLike | None = None


def recipe(of: Delta | Factor) -> tuple[Any, ...]:
    """Convert to the native representation."""
    if isinstance(of, Delta):
        values = of.wanted if of.wanted is not None else of.delta
        return of.base, float32(values), of.wanted is not None
    if not isinstance(of, Factor):
        raise InputError(f"{of!r} is neither a Delta nor a Factor")
    rows = None
    if of.permutation is not None:
        rows = [whole("an entry of the permutation", row, 1 << 32) for row in of.permutation]
    projection = None if of.projection is None else float32(of.projection)
    if projection is not None and projection.ndim != 2:
        raise InputError(f"a projection must be a matrix, but it has {projection.ndim} axes")
    return of.source, float(of.scale), rows, projection

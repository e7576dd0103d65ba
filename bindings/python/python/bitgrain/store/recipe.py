"""How tensors without data come back."""

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
    """The sum of a base and a delta that is kept in 8 bits.

    Parameters
    ----------
    base
        A tensor with as many values.
    wanted
        The array that should come back; the delta to the base, as that is stored now, is kept.
    delta
        Instead of ``wanted``: what to add to the base.

    Raises
    ------
    InputError
        Unless one of ``wanted`` and ``delta`` is given.

    """

    base: TensorId
    wanted: npt.ArrayLike | None = None
    delta: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if (self.wanted is None) == (self.delta is None):
            raise InputError("a Delta takes either wanted, the array that should come back, or delta, what is added")


@dataclass(frozen=True, eq=False)
class Factor:
    """A source with its rows in another order, multiplied by a matrix, scaled.

    Parameters
    ----------
    source
        The tensor. Its first axis are its rows.
    scale
        Multiplies every value.
    permutation
        Row ``i`` of the permuted source is its row ``permutation[i]``.
    projection
        A matrix that multiplies the permuted source from the left: as many columns as the source has rows.

    """

    source: TensorId
    scale: float = 1.0
    permutation: Sequence[int] | npt.NDArray[Any] | None = None
    projection: npt.ArrayLike | None = None


def recipe(of: Delta | Factor) -> tuple[Any, ...]:
    """As the native half takes it."""
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
        raise InputError(f"a projection is a matrix, not an array of {projection.ndim} axes")
    return of.source, float(of.scale), rows, projection

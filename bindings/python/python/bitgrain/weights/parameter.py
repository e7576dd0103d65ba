"""Parameters of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Parameter", "table"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a network.

    Attributes
    ----------
    name : str
        Index of the layer and the role of the parameter: ``2.weight``.
    shape : tuple of int
        Rows and columns, or the length of a vector.
    dtype : str
        Current format.
    nbytes : int
        Size of the weights in this format, in bytes.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


def table(parameters: Sequence[Parameter], nbytes: int) -> str:
    """Format a table with one line per parameter and the total size in bytes."""
    rows = [(one.name, " x ".join(map(str, one.shape)), one.dtype, str(one.nbytes)) for one in parameters]
    rows = [("parameter", "shape", "dtype", "bytes"), *rows, ("total", "", "", str(nbytes))]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    line = "{:<%d}  {:<%d}   {:<%d}  {:>%d}" % tuple(widths)  # noqa: UP031
    return "\n".join(line.format(*row) for row in rows)

"""Data to measure on, and what it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bitgrain.boosting.dataset import Dataset
from bitgrain.errors import InputError

__all__ = ["Valid", "default_names", "named"]

#: Validation data of a training: one, several, or several by name.
Valid = Dataset | Sequence[Dataset] | Mapping[str, Dataset]


def default_names(count: int) -> list[str]:
    """Give what validation data is called that has no name: the only one ``valid``, of several each has its number."""
    return ["valid"] if count == 1 else [f"valid_{at}" for at in range(count)]


def named(valid: Valid | None) -> list[tuple[str, Dataset]]:
    """Give validation data with its names.

    Examples
    --------
    >>> data = Dataset([[1.0], [2.0]], [1.0, 2.0])
    >>> [name for name, _ in named([data.like([[1.0]], [1.0]), data.like([[2.0]], [2.0])])]
    ['valid_0', 'valid_1']

    """
    if valid is None:
        return []
    if isinstance(valid, Mapping):
        return checked(list(valid.items()))
    several = [valid] if isinstance(valid, Dataset) else list(valid)
    return checked(list(zip(default_names(len(several)), several, strict=True)))


def checked(valid: list[tuple[str, Dataset]], train: str | None = "train") -> list[tuple[str, Dataset]]:
    """Give the same, unless names are no texts, or two data would have one of them."""
    names: list[object] = [name for name, _ in valid]
    for at, (name, data) in enumerate(valid):
        if not isinstance(name, str):
            raise InputError(f"validation data is called {name!r}: names must be texts")
        if name == train or name in names[:at]:
            raise InputError(f"two data are called {name!r}: give each a name of its own")
        if not isinstance(data, Dataset):
            raise InputError(f"validation data must be a Dataset, not {type(data).__name__}: make it by Dataset.like")
    return valid

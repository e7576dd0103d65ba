"""Validation datasets and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bitgrain.boosting.dataset import Dataset
from bitgrain.errors import InputError

__all__ = ["Valid", "default_names", "named"]

#: Validation data of a training run: a dataset, a list, or a dict of datasets by name.
Valid = Dataset | Sequence[Dataset] | Mapping[str, Dataset]


def default_names(count: int) -> list[str]:
    """Return the default names: ``valid`` for a single dataset, otherwise ``valid_0``, ``valid_1`` and so on."""
    return ["valid"] if count == 1 else [f"valid_{at}" for at in range(count)]


def named(valid: Valid | None) -> list[tuple[str, Dataset]]:
    """Return validation datasets with their names.

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
    """Return `valid`, or raise an error if a name is not a string or occurs twice."""
    names: list[object] = [name for name, _ in valid]
    for at, (name, data) in enumerate(valid):
        if not isinstance(name, str):
            raise InputError(f"invalid name of validation data: {name!r}; names must be strings")
        if name == train or name in names[:at]:
            raise InputError(f"two datasets are called {name!r}; names must be unique")
        if not isinstance(data, Dataset):
            raise InputError(f"validation data must be a Dataset, not {type(data).__name__}; use Dataset.like")
    return valid

"""Equality of features and targets, to recognize the training data among validation sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bitgrain.boosting.frame import is_frame, is_sparse

__all__ = ["same_rows"]


def same_rows(one: tuple[Any, ArrayLike], other: tuple[Any, ArrayLike]) -> bool:
    """Return whether two pairs of features and targets have the same values in the same order.

    Missing values compare equal. Containers of different libraries are not compared.

    Examples
    --------
    >>> X, y = np.array([[1.0], [np.nan]]), [1, 2]
    >>> same_rows((X, y), (X.copy(), np.array(y))), same_rows((X, y), (X[::-1], y))
    (True, False)

    """
    # Targets are compared first: they are cheap and almost always differ if the features do.
    return _same_targets(one[1], other[1]) and _same_features(one[0], other[0])


def _same_targets(one: ArrayLike, other: ArrayLike) -> bool:
    return one is other or _same_values(np.asarray(one), np.asarray(other))


def _same_features(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if is_frame(one) or is_frame(other):
        return type(one) is type(other) and _same_frames(one, other)
    if is_sparse(one) or is_sparse(other):
        return is_sparse(one) and is_sparse(other) and _same_sparse(one, other)
    return _same_values(np.asarray(one), np.asarray(other))


def _same_values(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind == other.dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    return bool(np.all(one == other))


def _same_frames(one: Any, other: Any) -> bool:
    if getattr(one, "shape", None) != getattr(other, "shape", None) or not hasattr(one, "equals"):
        return False
    if hasattr(one, "reset_index"):
        # Rows are compared by position, because training ignores the index of a data frame.
        one, other = one.reset_index(drop=True), other.reset_index(drop=True)
    return bool(one.equals(other))


def _same_sparse(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.nnz != other.nnz:
        return False
    one, other = one.tocsr(), other.tocsr()
    return all(_same_values(getattr(one, part), getattr(other, part)) for part in ("indptr", "indices", "data"))

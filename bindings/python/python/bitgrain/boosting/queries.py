"""Queries of ranking tasks: conversion for the native extension, folds and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain import _native
from bitgrain.boosting.integer import integer
from bitgrain.boosting.target import numbers
from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

__all__ = ["Queries", "positions", "queries", "query_folds", "query_metric"]

#: Sizes as uint64, integer ids as int64, or other ids as strings.
Queries = NDArray[np.uint64] | NDArray[np.int64] | list[str | None]


def queries(group: ArrayLike | None, qid: ArrayLike | None) -> Queries | None:
    """Return the sizes or ids of queries in a form that the native extension checks."""
    if group is None and qid is None:
        return None
    if group is not None and qid is not None:
        raise InputError("conflicting arguments: group and qid; give the sizes of the queries or the query of each row")
    return _ids(qid) if group is None else _sizes(group)


def _sizes(group: Any) -> NDArray[np.uint64]:
    array = _column(group, "group")
    if array.dtype.kind not in "iu":
        raise DTypeError(f"group is of dtype {array.dtype}, but sizes of queries must be integers; pass ids as qid")
    if array.dtype.kind == "i" and len(array) and array.min() < 0:
        raise InputError(f"group contains the size {array.min()}; sizes of queries must be at least 1")
    return np.require(array, np.uint64, ("C", "A"))


def _ids(qid: Any) -> NDArray[np.int64] | list[str | None]:
    array = _column(qid, "qid")
    if array.dtype.kind in "iub" and not (array.dtype == np.uint64 and len(array) and array.max() > 2**63 - 1):
        return np.require(array, np.int64, ("C", "A"))
    return [None if each is None or each != each else str(each) for each in array.tolist()]


def positions(position: ArrayLike | None) -> NDArray[np.uint32] | None:
    """Return the position at which each row was displayed."""
    if position is None:
        return None
    array = _column(position, "position")
    if array.dtype.kind not in "iu":
        raise DTypeError(f"position is of dtype {array.dtype}, but positions must be integers")
    if len(array) and not 0 <= array.min() <= array.max() < 2**32:
        raise InputError(f"position contains {array.min()} or {array.max()}; positions must be in 0..2**32")
    return np.require(array, np.uint32, ("C", "A"))


def _column(values: Any, what: str) -> NDArray[Any]:
    array = np.asarray(detached(values, what))
    if array.ndim != 1:
        raise InputError(f"{what} should be a 1d array, got an array of shape {array.shape} instead")
    return array


def query_folds(
    *, group: ArrayLike | None = None, qid: ArrayLike | None = None, folds: int = 5, seed: int = 0
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Divide the rows into training and test rows for cross-validation, without dividing a query.

    The result is accepted as `cv` by scikit-learn's functions.

    Parameters
    ----------
    group : array-like of int, optional
        Number of rows of each query.
    qid : array-like, optional
        Query of each row, instead of `group`.
    folds : int
        Number of folds.
    seed : int
        Seed of the assignment.

    Returns
    -------
    list of (ndarray, ndarray)
        Row indices of the training rows and of the test rows of each fold.

    Raises
    ------
    InputError
        If the queries are invalid, or if there are fewer queries than folds.

    Examples
    --------
    >>> for train, test in query_folds(group=[2, 1, 3], folds=3):
    ...     print(train, test)
    [0 1 3 4 5] [2]
    [0 1 2] [3 4 5]
    [2 3 4 5] [0 1]

    """
    given = queries(group, qid)
    if given is None:
        raise InputError("missing queries; pass group or qid")
    rows = int(given.sum()) if isinstance(given, np.ndarray) and given.dtype == np.uint64 else len(given)
    fold_of = _native.query_folds(given, rows, integer("folds", folds, 0), integer("seed", seed, 0))
    return [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(folds)]


def query_metric(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Evaluate a ranking metric: the mean over queries.

    A query without relevant rows counts as 1, as in LightGBM, and as 0 for precision. Rows with equal scores keep their
    order. The weight of a query is the mean weight of its rows.

    Parameters
    ----------
    metric : str
        ``"ndcg"``, ``"map"``, ``"mrr"``, ``"precision"`` or ``"recall"``, with the number of first rows of each query
        after ``@``: ``"ndcg@10"``.
    y_true : array-like
        Relevance labels: integers of at least 0, where rows with a label above 0 are relevant.
    y_score : array-like
        Scores, highest first.
    group : array-like of int, optional
        Number of rows of each query.
    qid : array-like, optional
        Query of each row, instead of `group`.
    sample_weight : array-like, optional
        Weight of each row.

    Returns
    -------
    float
        Value of the metric, from 0 to 1; higher is better.

    Raises
    ------
    InputError
        If the metric is unknown or undefined for the rows.

    Examples
    --------
    >>> query_metric("mrr", [0, 1, 1, 0], [0.9, 0.8, 0.2, 0.1], group=[2, 2])
    0.75

    """
    given = queries(group, qid)
    if given is None:
        raise InputError("missing queries; pass group or qid")
    labels = np.asarray(detached(y_true, "y_true"), dtype=np.float64)
    scores = np.asarray(detached(y_score, "y_score"), dtype=np.float64)
    weights = None if sample_weight is None else numbers(sample_weight, len(labels), "sample_weight")
    return _native.query_metric(metric, np.ascontiguousarray(labels), np.ascontiguousarray(scores), given, weights)

"""Conversion of arrays, sparse matrices and tables for the native extension."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native
from bitgrain.boosting.pandas import is_sparse_pandas, read_pandas, read_sparse_pandas
from bitgrain.detach import detached
from bitgrain.errors import DTypeError, Error, InputError

__all__ = ["Rows", "is_frame", "is_sparse", "matrix", "nameless", "read", "read_like"]

Categories = list[list[str] | None]

#: Maximum number of features, because each takes memory for its name and its bins.
_MOST = 2**24

_TEXT = "pass a data frame with astype('category') instead"
#: Advice for non-numeric dtypes, by their kind.
_CHANGES = {
    "S": _TEXT,
    "U": _TEXT,
    "T": _TEXT,
    "V": "pass a data frame, or numpy.lib.recfunctions.structured_to_unstructured(X)",
    "M": "convert it to numbers, such as X.astype('int64')",
    "m": "convert it to numbers, such as X / numpy.timedelta64(1, 's')",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Features in a form that the native extension accepts."""

    features: Any
    """An array, the parts of a CSR matrix, or :class:`bitgrain._native.Columns`."""
    shape: tuple[int, int]
    names: list[str] | None
    """Column names; ``None`` for unnamed columns."""
    categories: Categories | None
    """Per column, ``None`` if numeric or the category of each code; ``None`` if all columns are numeric."""


def is_sparse(X: Any) -> bool:
    """Return whether X is a SciPy sparse matrix."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_frame(X: Any) -> bool:
    """Return whether X is a table with typed columns."""
    arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    # A single column also exports Arrow.
    return _is_pandas(X) or (arrow and (hasattr(X, "columns") or hasattr(X, "schema")))


def read(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    categorical: Sequence[int] | Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Rows:
    """Read training features; `names` replace those of the columns."""
    if is_sparse(X):
        rows = _sparse(X)
    elif _is_pandas(X) and is_sparse_pandas(X):
        csr, names, categories = read_sparse_pandas(X)
        rows = dataclasses.replace(_sparse(csr), names=names, categories=categories)
    elif _is_pandas(X):
        values, names, categories = read_pandas(X)
        rows = Rows(values, values.shape, names, categories)
    elif is_frame(X):
        columns = _arrow(X, n_jobs=n_jobs)
        rows = Rows(columns, columns.shape, columns.names, columns.categories)
    else:
        values = matrix(X)
        rows = Rows(values, values.shape, None, None)
    check_size(rows.shape)
    if names is not None:
        rows = dataclasses.replace(rows, names=_checked_names(names, rows.shape[1]))
    return rows if categorical is None else _with_categorical(rows, categorical)


def read_like(
    X: Any,
    *,
    names: list[str],
    categories: Categories,
    in_order: list[list[str]] | None = None,
    wide: bool = False,
    n_jobs: int | None = None,
) -> Rows:
    """Read features that match a model or dataset: columns by name, strings by its category codes.

    LightGBM stores the categories of pandas columns `in_order`, without the names of the columns.
    """
    if is_sparse(X):
        rows = _sparse(X)
    elif _is_pandas(X):
        own = list(X.columns)
        places = _native.match_columns(names, [str(name) for name in own], all(isinstance(name, str) for name in own))
        frame = X if places == list(range(len(own))) else X.iloc[:, places]
        if is_sparse_pandas(frame) and not wide:
            csr, _, _ = read_sparse_pandas(frame, categories=categories, in_order=in_order)
            rows = dataclasses.replace(_sparse(csr), names=names, categories=categories)
        else:
            values, _, _ = read_pandas(frame, categories=categories, in_order=in_order, wide=wide)
            rows = Rows(values, values.shape, names, categories)
    elif is_frame(X):
        columns = _arrow(X, names=names, categories=categories, wide=wide, n_jobs=n_jobs)
        rows = Rows(columns, columns.shape, names, categories)
    else:
        values = matrix(X)
        rows = Rows(values, values.shape, None, categories)
    check_size(rows.shape)
    if rows.shape[1] != len(names):
        raise InputError(f"X has {rows.shape[1]} features, but {len(names)} features are expected")
    return rows


def check_size(shape: tuple[int, int]) -> None:
    """Reject data without rows or columns, with scikit-learn's messages."""
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InputError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[1] > _MOST:
        raise InputError(f"X has {shape[1]} features, at most {_MOST} are supported; drop constant columns")


def matrix(X: Any) -> NDArray[Any]:
    """Return X as a float32 or float64 array in C or Fortran order, without a copy if possible."""
    if X is None:
        raise InputError("X must not be None; pass an array, a sparse matrix or a data frame")
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise DTypeError(f"{type(X).__name__} is not materialized; call collect() first")
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    array = X if type(X) is np.ndarray else np.asarray(detached(X, "X"))
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: X is of dtype {array.dtype}; pass X.real and X.imag as columns")
    if kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            message = (
                "X is of dtype object, but it must be numeric; pass strings in a data frame with astype('category')"
            )
            raise DTypeError(f"{message}: {error}") from None
    elif kind not in "biuf":
        change = _CHANGES.get(kind, "pass numbers instead")
        raise DTypeError(f"X is of dtype {array.dtype}, but it must be numeric; {change}")
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using X.reshape(-1, 1) if it"
            " has a single feature or X.reshape(1, -1) if it is a single row."
        )
    flags = array.flags
    if (
        array.dtype.char in "fd"
        and array.dtype.isnative
        and flags.aligned
        and (flags.c_contiguous or flags.f_contiguous)
    ):
        return array
    small = (kind in "biu" and array.dtype.itemsize <= 2) or kind == "b" or array.dtype in (np.float16, np.float32)
    order: Literal["F", "C"] = "F" if flags.f_contiguous else "C"
    return np.require(array, dtype=np.float32 if small else np.float64, requirements=["A", order])


def _sparse(X: Any) -> Rows:
    """Convert a sparse matrix to CSR parts. Absent entries are zeros."""
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of dtype {X.dtype}")
    if X.dtype.kind not in "biuf":
        raise DTypeError(f"X is of dtype {X.dtype}, but it must be numeric")
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data.")
    csr = X.tocsr()
    try:
        # Inconsistent index arrays would cause reads out of bounds in the native extension.
        csr.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is an invalid sparse matrix: {error}") from error
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is X else csr
        csr.sum_duplicates()
    columns = csr.indices.view(np.uint32) if csr.indices.dtype == np.int32 else csr.indices.astype(np.uint32)
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(csr.data, dtype=np.float32)
    parts = (csr.indptr.astype(np.uintp), np.ascontiguousarray(columns), values, int(csr.shape[1]))
    return Rows(parts, (int(csr.shape[0]), int(csr.shape[1])), None, None)


def _arrow(X: Any, **how: Any) -> _native.Columns:
    """Read a table through the Arrow C interface."""
    try:
        return _native.Columns.read(_exported(X), **how)
    except Error:
        raise
    except ValueError as error:
        # Extension types that are specific to one library.
        raise DTypeError(f"the table has a column of a type outside the Arrow format: {error}; cast it first") from None


def _exported(X: Any) -> Any:
    """Replace Polars' null columns, which other Arrow libraries cannot read, by float columns."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(X, polars.DataFrame) or polars.Null not in X.dtypes:
        return X
    return X.cast({polars.Null: polars.Float64})


def nameless(names: Sequence[str]) -> bool:
    """Return whether names only number the columns: ``f0``, ``f1`` and so on, or LightGBM's ``Column_0``."""
    return all(name in (f"f{at}", f"Column_{at}") for at, name in enumerate(names))


def _checked_names(names: Sequence[str], n_features: int) -> list[str]:
    own = list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in own):
        raise DTypeError(f"feature_names must be a list of strings, not {names!r}")
    if len(own) != n_features:
        raise InputError(f"{len(own)} feature_names for {n_features} features")
    return own


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more if names else "none"


def _with_categorical(rows: Rows, categorical: Sequence[int] | Sequence[str]) -> Rows:
    """Mark further columns as categorical; their numbers become category codes."""
    n_features = rows.shape[1]
    categories: Categories = list(rows.categories) if rows.categories is not None else [None] * n_features
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise DTypeError(f"categorical = {categorical!r}: it must be a list of column indices or names")
    for column in categorical:
        if isinstance(column, str):
            if rows.names is None or column not in rows.names:
                known = "the columns have no names" if rows.names is None else f"the columns are {_listed(rows.names)}"
                raise InputError(f"unknown categorical column {column!r}: {known}")
            at = rows.names.index(column)
        else:
            try:
                at = operator.index(column)
            except TypeError:
                raise DTypeError(f"invalid categorical column {column!r}; use column indices or names") from None
            if not -n_features <= at < n_features:
                raise InputError(f"categorical column {at} is out of range: X has {n_features} columns")
        if categories[at] is None:
            categories[at] = []
    return dataclasses.replace(rows, categories=categories)

"""Tables of any library, as the native half takes them."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native
from bitgrain.boosting.pandas import read_pandas
from bitgrain.detach import detached
from bitgrain.errors import DTypeError, Error, InputError

__all__ = ["Rows", "is_frame", "is_sparse", "matrix", "nameless", "read", "read_like"]

Categories = list[list[str] | None]

#: Features at most: each has a name and bins of its own.
_MOST = 2**24

_TEXT = "give a data frame with astype('category') instead"
#: What to do about types that are no numbers, by their kind.
_CHANGES = {
    "S": _TEXT,
    "U": _TEXT,
    "T": _TEXT,
    "V": "give a data frame, or numpy.lib.recfunctions.structured_to_unstructured(X)",
    "M": "give what counts of it as numbers, such as X.astype('int64')",
    "m": "give it as numbers, such as X / numpy.timedelta64(1, 's')",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Features that the native half takes, and what they are."""

    features: Any
    """An array, sparse rows as their parts, or :class:`bitgrain._native.Columns`."""
    shape: tuple[int, int]
    names: list[str] | None
    """Names of the columns; ``None`` if they have none of their own."""
    categories: Categories | None
    """For each column ``None`` for numbers, the texts of its codes for categories; ``None``: all are numbers."""


def is_sparse(X: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_frame(X: Any) -> bool:
    """Whether it is a table with columns of their own."""
    arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    # A single column speaks Arrow, too.
    return _is_pandas(X) or (arrow and (hasattr(X, "columns") or hasattr(X, "schema")))


def read(X: Any, *, categorical: Sequence[int] | Sequence[str] | None = None, n_jobs: int | None = None) -> Rows:
    """Read features to learn from."""
    if is_sparse(X):
        rows = _sparse(X)
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
    """Read features as a model or other data has them: columns by name, texts by their codes there.

    LightGBM keeps the texts of pandas' columns `in_order`, without saying which columns they are.
    """
    if is_sparse(X):
        rows = _sparse(X)
    elif _is_pandas(X):
        own = list(X.columns)
        places = _native.match_columns(names, [str(name) for name in own], all(isinstance(name, str) for name in own))
        frame = X if places == list(range(len(own))) else X.iloc[:, places]
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
    """Refuse what has no rows or no columns, in scikit-learn's words."""
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InputError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[1] > _MOST:
        raise InputError(f"X has {shape[1]} features, {_MOST} are the most: leave out those that are always zero")


def matrix(X: Any) -> NDArray[Any]:
    """Give an array of float32 or float64, in C or Fortran order: the very same if it is one."""
    if X is None:
        raise InputError("X is None: give an array, a sparse matrix or a data frame")
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise DTypeError(f"{type(X).__name__} has no rows yet: call collect() first")
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    array = X if type(X) is np.ndarray else np.asarray(detached(X, "X"))
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: X is of dtype {array.dtype}; give X.real and X.imag as columns")
    if kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            message = "X is of dtype object, it must be numbers; give text as a data frame with astype('category')"
            raise DTypeError(f"{message}: {error}") from None
    elif kind not in "biuf":
        change = _CHANGES.get(kind, "give numbers instead")
        raise DTypeError(f"X is of dtype {array.dtype}, it must be numbers: {change}")
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
    """Give sparse rows. What is absent is zero."""
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of dtype {X.dtype}")
    if X.dtype.kind not in "biuf":
        raise DTypeError(f"X is of dtype {X.dtype}, it must be numbers")
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data.")
    csr = X.tocsr()
    try:
        # What does not fit together would be read beyond its end.
        csr.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"X is a sparse matrix whose parts do not fit together: {error}") from error
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is X else csr
        csr.sum_duplicates()
    columns = csr.indices.view(np.uint32) if csr.indices.dtype == np.int32 else csr.indices.astype(np.uint32)
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(csr.data, dtype=np.float32)
    parts = (csr.indptr.astype(np.uintp), np.ascontiguousarray(columns), values, int(csr.shape[1]))
    return Rows(parts, (int(csr.shape[0]), int(csr.shape[1])), None, None)


def _arrow(X: Any, **how: Any) -> _native.Columns:
    """Read a table through Arrow's capsules."""
    try:
        return _native.Columns.read(_exported(X), **how)
    except Error:
        raise
    except ValueError as error:
        # Types that only their own library has.
        raise DTypeError(f"the table has a column of a type that Arrow does not have, cast it first: {error}") from None


def _exported(X: Any) -> Any:
    """Give a table that others can read: what Polars exports for columns of nothing, Arrow's libraries refuse."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(X, polars.DataFrame) or polars.Null not in X.dtypes:
        return X
    return X.cast({polars.Null: polars.Float64})


def nameless(names: Sequence[str]) -> bool:
    """Whether names are but places: ``f0``, ``f1`` and so on; LightGBM's are ``Column_0``."""
    return all(name in (f"f{at}", f"Column_{at}") for at, name in enumerate(names))


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more if names else "none"


def _with_categorical(rows: Rows, categorical: Sequence[int] | Sequence[str]) -> Rows:
    """Take the numbers of further columns as codes of categories."""
    n_features = rows.shape[1]
    categories: Categories = list(rows.categories) if rows.categories is not None else [None] * n_features
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise DTypeError(f"categorical = {categorical!r}: it must be a list of columns")
    for column in categorical:
        if isinstance(column, str):
            if rows.names is None or column not in rows.names:
                known = "columns have no names" if rows.names is None else f"columns are {_listed(rows.names)}"
                raise InputError(f"there is no column {column!r} to be categorical: {known}")
            at = rows.names.index(column)
        else:
            try:
                at = operator.index(column)
            except TypeError:
                raise DTypeError(f"column {column!r} cannot be categorical: give places or names of columns") from None
            if not -n_features <= at < n_features:
                raise InputError(f"there is no column {at} to be categorical: there are {n_features}")
        if categories[at] is None:
            categories[at] = []
    return dataclasses.replace(rows, categories=categories)

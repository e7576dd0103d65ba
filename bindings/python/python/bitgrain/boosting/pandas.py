"""Conversion of pandas data frames to arrays of numbers and category codes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain.errors import DTypeError, InputError

__all__ = ["is_sparse_pandas", "label", "read_pandas", "read_sparse_pandas"]

_SMALL = frozenset(np.dtype(name) for name in ("float16", "float32", "int8", "int16", "uint8", "uint16", "bool"))


def read_pandas(
    frame: Any,
    *,
    categories: list[list[str] | None] | None = None,
    in_order: list[list[str]] | None = None,
    wide: bool = False,
) -> tuple[NDArray[Any], list[str] | None, list[list[str] | None]]:
    """Return the values in Fortran order, the column names if all are strings, and the categories of each column.

    With `categories`, codes refer to its strings, and other strings become missing values. With `in_order`, the n-th
    categorical column has the categories of the n-th list, provided that the numbers of columns and lists agree.
    """
    if in_order is not None:
        categories = _by_order(frame, in_order) or categories
    names = _names(frame)
    dtypes = list(frame.dtypes)
    n_rows, n_columns = frame.shape
    alike = set(dtypes)
    if len(alike) == 1 and alike <= {np.dtype(np.float32), np.dtype(np.float64)} and _all_numbers(categories):
        values = frame.to_numpy()
        if values.flags.c_contiguous or values.flags.f_contiguous:
            return values, names, categories or [None] * n_columns
    small = not wide or all(isinstance(dtype, np.dtype) and dtype in _SMALL for dtype in dtypes)
    values = np.empty((n_rows, n_columns), dtype=np.float32 if small else np.float64, order="F")
    strings: list[list[str] | None] = []
    for at, dtype in enumerate(dtypes):
        column, known = _read_column(frame, at, dtype, categories)
        with np.errstate(over="ignore"):
            values[:, at] = column
        strings.append(known)
    return values, names, strings


def is_sparse_pandas(frame: Any) -> bool:
    """Return whether at least half of the columns are sparse and have zero as their fill value."""
    import pandas

    sparse = [dtype for dtype in frame.dtypes if isinstance(dtype, pandas.SparseDtype)]
    zeros = sum(_is_zero(dtype) for dtype in sparse)
    return 0 < zeros == len(sparse) and 2 * zeros >= frame.shape[1] and find_spec("scipy") is not None


def read_sparse_pandas(
    frame: Any, *, categories: list[list[str] | None] | None = None, in_order: list[list[str]] | None = None
) -> tuple[Any, list[str] | None, list[list[str] | None]]:
    """Return what :func:`read_pandas` does, but the values as a CSR matrix. No column is copied as a whole matrix."""
    import pandas
    from scipy import sparse

    if in_order is not None:
        categories = _by_order(frame, in_order) or categories
    strings: list[list[str] | None] = []
    rows, stored, ends = [], [], [0]
    for at, dtype in enumerate(frame.dtypes):
        known = categories[at] if categories is not None else None
        if isinstance(dtype, pandas.SparseDtype) and not known:
            array = frame.iloc[:, at].array
            indices, values = array.sp_index.to_int_index().indices, array.sp_values
        else:
            column, known = _read_column(frame, at, dtype, categories)
            values = np.broadcast_to(np.asarray(column, dtype=np.float32), frame.shape[0])
            indices = np.flatnonzero(values)
            values = values[indices]
        with np.errstate(over="ignore"):
            stored.append(np.asarray(values, dtype=np.float32))
        rows.append(np.asarray(indices, dtype=np.int32))
        ends.append(ends[-1] + len(indices))
        strings.append(known)
    parts = (np.concatenate(stored), np.concatenate(rows), np.array(ends, dtype=np.int64))
    return sparse.csc_matrix(parts, shape=frame.shape).tocsr(), _names(frame), strings


def _is_zero(dtype: Any) -> bool:
    return dtype.subtype.kind in "biuf" and bool(dtype.fill_value == 0)


def _names(frame: Any) -> list[str] | None:
    return [str(name) for name in frame.columns] if all(isinstance(n, str) for n in frame.columns) else None


def _read_column(
    frame: Any, at: int, dtype: Any, categories: list[list[str] | None] | None
) -> tuple[Any, list[str] | None]:
    """Return the numbers or category codes of a column, and its categories."""
    column = _Column(frame.iloc[:, at], dtype)
    known = categories[at] if categories is not None else column.categories()
    if categories is not None and column.is_text and not known and not column.has_numbers:
        raise DTypeError(f"column {column.name!r} holds strings, but the model was trained on numbers")
    if categories is not None and known and column.is_number and not any(map(_is_written_number, known)):
        raise DTypeError(
            f"column {column.name!r} holds numbers, but the model was trained on strings, such as {known[0]!r}"
        )
    return (column.numbers() if not known else column.codes(known)), known


def _by_order(frame: Any, in_order: list[list[str]]) -> list[list[str] | None] | None:
    """Assign the lists to the categorical columns in order; ``None`` if their numbers differ."""
    import pandas

    flags = [isinstance(dtype, pandas.CategoricalDtype) for dtype in frame.dtypes]
    if sum(flags) != len(in_order):
        return None
    lists = iter(in_order)
    return [next(lists) if is_category else None for is_category in flags]


def _all_numbers(categories: list[list[str] | None] | None) -> bool:
    return categories is None or not any(categories)


class _Column:
    def __init__(self, series: Any, dtype: Any) -> None:
        import pandas

        self._pandas = pandas
        self._series = series
        self._dtype = dtype
        self.name = series.name
        self._is_category = isinstance(dtype, pandas.CategoricalDtype)
        self.is_text = self._is_category or isinstance(dtype, pandas.StringDtype)
        types = pandas.api.types
        #: Whether the categories are numbers, which a model with a numeric feature accepts as values.
        self.has_numbers = self._is_category and bool(types.is_numeric_dtype(dtype.categories.dtype))
        numeric = types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype)
        self.is_number = bool(numeric) and not self.is_text
        if dtype == np.dtype(object) or not (self.is_text or self.is_number):
            kind = types.infer_dtype(series, skipna=True)
            self.is_text = self.is_text or kind in ("string", "categorical", "bytes")
            self.is_text = self.is_text or (kind == "mixed" and any(isinstance(each, str) for each in series))

    def categories(self) -> list[str] | None:
        """Return the category strings of a column that has not been seen before."""
        if not self._is_category:
            return None
        if len(self._dtype.categories) == 0:
            # A column of only missing values counts as numeric.
            return None
        labels = [label(category) for category in self._dtype.categories]
        if len(set(labels)) != len(labels):
            raise InputError(f"column {self.name!r} has categories with equal string forms; rename them")
        return labels

    def codes(self, labels: list[str]) -> NDArray[Any]:
        """Return the index of each value's string in `labels`; NaN if it is not among them."""
        if self._is_category:
            codes, values = self._series.cat.codes.to_numpy(), self._dtype.categories
        else:
            codes, values = self._pandas.factorize(self._series)
        place = {text: at for at, text in enumerate(labels)}
        found = [place.get(label(value), place.get(str(value), np.nan)) for value in values]
        # The last entry is for code -1, the missing value.
        places: NDArray[np.float32] = np.array([*found, np.nan], dtype=np.float32)[codes]
        return places

    def numbers(self) -> Any:
        if self._is_category and len(self._dtype.categories) == 0:
            return np.nan
        if self.has_numbers:
            return self._series.astype(self._dtype.categories.dtype.name if not self._series.hasnans else "float64")
        if self.is_number:
            if isinstance(self._dtype, np.dtype):
                if self._dtype.kind == "c":
                    raise InputError(f"Complex data not supported: column {self.name!r} is of dtype {self._dtype}")
                return self._series.to_numpy()
            return self._series.to_numpy(dtype=np.float64, na_value=np.nan)
        if self._dtype == np.dtype(object) and not self.is_text:
            try:
                return self._pandas.to_numeric(self._series).to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError) as error:
                # The error of NumPy is the one that scikit-learn passes on.
                raise DTypeError(f"column {self.name!r} of dtype object: {error}; {self._change()}") from None
        raise DTypeError(f"column {self.name!r} is of dtype {self._dtype}: {self._change()}")

    def _change(self) -> str:
        """Return advice for a column that is neither numeric nor categorical."""
        if self.is_text or "dictionary" in str(self._dtype):
            return f'use astype({{"{self.name}": "category"}}) instead'
        types = self._pandas.api.types
        if types.is_datetime64_any_dtype(self._dtype):
            return f"convert it to numbers, such as X[{self.name!r}].dt.month or .astype('int64'), or drop it"
        if types.is_timedelta64_dtype(self._dtype):
            return f"use X[{self.name!r}].dt.total_seconds() instead"
        return "convert it to numbers or a category, or drop it"


def _is_written_number(text: str) -> bool:
    if text in ("true", "false"):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def label(category: Any) -> str:
    """Return the string of a category; integers have no decimal point, even if stored as floats."""
    if isinstance(category, bool | np.bool_):
        return "true" if category else "false"
    if isinstance(category, float | np.floating) and float(category).is_integer():
        return str(int(category))
    return str(category)

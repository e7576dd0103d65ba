"""Binned features with their targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain import _native
from bitgrain.boosting.aliases import accepts_aliases
from bitgrain.boosting.frame import read, read_like
from bitgrain.boosting.integer import integer
from bitgrain.boosting.model import Model, unwrapped
from bitgrain.boosting.target import Target, class_weights, encoded, encoded_like, weights
from bitgrain.errors import DTypeError, NotFoundError

__all__ = ["Dataset"]


@accepts_aliases
class Dataset:
    """Binned features with their targets: quantized once, trained on many times.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        NumPy arrays of float32 and float64 in C or Fortran order are read where they lie. SciPy's sparse matrices,
        pandas and Polars data frames, PyArrow tables and whatever exports an Arrow stream are taken, too. NaN and nulls
        are missing. Columns of a category type are categories, and so is text of Arrow tables.
    y : array-like
        What is to be learned. Texts and booleans are classes; numbers of classes are 0, 1 and so on.
    weight : array-like, optional
        How much each row counts.
    categorical : sequence of int or str, optional
        Further columns whose numbers are codes of categories, by place or by name.
    max_bin : int
        Maximum number of bins per feature, including the bin of missing values. Categorical features may have 256
        in any case.
    sample_rows : int
        Rows that quantiles are taken from, if there are more.
    class_weight : "balanced", dict or sequence of float, optional
        How much each class counts: all alike, by class, or in the order of the classes.
    init_model : Model or fitted estimator, optional
        A model to go on from: scores begin with its predictions, and trees are added to it.
    seed : int
        Chooses the rows of the sample.
    n_jobs : int, optional
        Threads; all by default.

    Raises
    ------
    InputError
        If shapes or values cannot be used.
    DTypeError
        If a column is of a type that cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from bitgrain import train
    >>> X = np.arange(200, dtype=np.float32).reshape(100, 2)
    >>> data = Dataset(X, X[:, 0] > 50)
    >>> data
    <Dataset: 100 rows, 2 features, 200 bins, 4 bytes per row>
    >>> data.classes
    array([False,  True])
    >>> train(data, n_estimators=3).n_rounds, train(data, n_estimators=5).n_rounds
    (3, 5)

    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike | Target,
        *,
        weight: ArrayLike | None = None,
        categorical: Sequence[int] | Sequence[str] | None = None,
        max_bin: int = 256,
        sample_rows: int = 200_000,
        class_weight: str | Mapping[Any, float] | Sequence[float] | None = None,
        init_model: Any = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        base = None if init_model is None else unwrapped(init_model, "init_model")
        if base is None:
            rows = read(X, categorical=categorical, n_jobs=n_jobs)
            names, categories = rows.names, rows.categories
        else:
            names, categories = base._native.names, base._native.categories
            rows = read_like(X, names=names, categories=categories, n_jobs=n_jobs)
        target = encoded(y, rows.shape[0])
        self._target = target
        self._base = base
        self._native = _native.BinnedData(
            rows.features,
            target.values,
            weights(weight, rows.shape[0]),
            names=names,
            categories=categories,
            classes=None if target.classes is None else [str(each) for each in target.classes],
            class_weights=class_weights(class_weight, _classes(target)),
            settings={"max_bin": max_bin, "sample_rows": sample_rows, "seed": seed},
            base=None if base is None else base._native,
            n_jobs=n_jobs,
        )

    def like(
        self, X: Any, y: ArrayLike | Target, *, weight: ArrayLike | None = None, n_jobs: int | None = None
    ) -> Dataset:
        """Give other rows, binned as these are: for validation.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Columns of data frames go by their names.
        y : array-like
            What is to be learned; classes are those of this data.
        weight : array-like, optional
            How much each row counts.
        n_jobs : int, optional
            Threads; all by default.

        Returns
        -------
        Dataset
            Rows that a training on this data can be measured on.

        Examples
        --------
        >>> import numpy as np
        >>> data = Dataset(np.arange(10.0).reshape(5, 2), ["a", "b", "a", "b", "a"])
        >>> data.like([[1.0, 2.0]], ["b"]).n_rows
        1

        """
        other = object.__new__(Dataset)
        rows = read_like(X, names=self._native.names, categories=self._native.categories, n_jobs=n_jobs)
        other._target = encoded_like(y, rows.shape[0], self._target)
        other._base = self._base
        other._native = _native.BinnedData(
            rows.features, other._target.values, weights(weight, rows.shape[0]), like=self._native, n_jobs=n_jobs
        )
        return other

    @property
    def target(self) -> Target:
        """What is to be learned, in numbers."""
        return self._target

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes if the target is texts or booleans; the number of each is its place."""
        return self._target.classes

    @property
    def init_model(self) -> Model | None:
        """The model that trainings go on from."""
        return self._base

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._native.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._native.shape[1]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self._native.names

    @property
    def bytes_per_row(self) -> int:
        """Bytes that the bins of a row take."""
        return self._native.bytes_per_row

    def cuts(self, feature: int | str) -> NDArray[np.float64]:
        """Give the largest value of each bin of a feature but the last.

        Parameters
        ----------
        feature : int or str
            Its place or its name.

        Examples
        --------
        >>> Dataset([[1.0], [2.0], [4.0]], [0.0, 1.0, 2.0]).cuts(0)
        array([1.5, 3. ])

        """
        if isinstance(feature, str):
            names = self._native.names
            if feature not in names:
                raise NotFoundError(f"there is no feature {feature!r}; there are: {', '.join(names[:20])}")
            feature = names.index(feature)
        return self._native.cuts(integer("feature", feature, 0))

    def __reduce__(self) -> NoReturn:
        raise DTypeError("a Dataset cannot be pickled or copied: share it among threads, or make one in each process")

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        rows, features = self._native.shape
        bins, size = self._native.n_bins, self._native.bytes_per_row
        return f"<Dataset: {rows} rows, {features} features, {bins} bins, {size} bytes per row>"


def _classes(target: Target) -> list[Any]:
    """Give what weights of classes can be for: numbers of classes are 0, 1 and so on."""
    if target.classes is not None:
        found: list[Any] = target.classes.tolist()
        return found
    largest = target.values.max(initial=0)
    return list(range(int(largest) + 1)) if 0 <= largest < 2**16 else []

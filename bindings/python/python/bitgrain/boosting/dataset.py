"""Binned training data."""

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
    """Binned features and their targets: quantized once, reusable for many training runs.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        NumPy arrays of float32 and float64 in C or Fortran order are read without a copy. SciPy sparse matrices, pandas
        and Polars data frames, PyArrow tables and other objects that export an Arrow stream are accepted as well. NaN
        and nulls are missing values. Columns with a categorical dtype and string columns of Arrow tables are
        categorical.
    y : array-like
        Target. Strings and booleans are class labels; numeric class labels are 0, 1, and so on.
    weight : array-like, optional
        Weight of each row.
    categorical : sequence of int or str, optional
        Additional columns whose numbers are category codes, by index or name.
    max_bin : int
        Maximum number of bins per feature, including the bin of missing values. Categorical features always have up to
        256 bins.
    sample_rows : int
        Maximum number of rows from which quantiles are estimated.
    class_weight : "balanced", dict or sequence of float, optional
        Weight of each class, by label or in the order of the classes. ``"balanced"`` gives every class the same total
        weight.
    init_model : Model or fitted estimator, optional
        Model to continue training from: its predictions are the initial scores, and trees are added to it.
    seed : int
        Seed of the row sample for quantiles.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Raises
    ------
    InputError
        If a shape or value is unusable.
    DTypeError
        If a column has an unsupported dtype.

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
        self._keep_target(target, y)
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
        """Return other rows with the same binning, for validation.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features; columns of data frames are matched by name.
        y : array-like
            Target, with the class labels of this dataset.
        weight : array-like, optional
            Weight of each row.
        n_jobs : int, optional
            Number of threads; all cores by default.

        Returns
        -------
        Dataset
            Validation data for training on this dataset.

        Examples
        --------
        >>> import numpy as np
        >>> data = Dataset(np.arange(10.0).reshape(5, 2), ["a", "b", "a", "b", "a"])
        >>> data.like([[1.0, 2.0]], ["b"]).n_rows
        1

        """
        other = object.__new__(Dataset)
        rows = read_like(X, names=self._native.names, categories=self._native.categories, n_jobs=n_jobs)
        target = encoded_like(y, rows.shape[0], Target(np.empty(0, dtype=np.float32), self._classes))
        other._keep_target(target, y)
        other._base = self._base
        other._native = _native.BinnedData(
            rows.features, target.values, weights(weight, rows.shape[0]), like=self._native, n_jobs=n_jobs
        )
        return other

    def _keep_target(self, target: Target, y: Any) -> None:
        """Remember the target: the array itself if it is the caller's or float64, as the bins have a float32 copy."""
        self._classes = target.classes
        self._values = target.values if target.values is y or target.values.dtype != np.float32 else None

    @property
    def target(self) -> Target:
        """Encoded target."""
        return Target(self._native.targets if self._values is None else self._values, self._classes)

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels in order of their class indices; ``None`` unless the target is strings or booleans."""
        return self._classes

    @property
    def init_model(self) -> Model | None:
        """Model that training continues from."""
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
        """Size of the bins of a row in bytes."""
        return self._native.bytes_per_row

    def cuts(self, feature: int | str) -> NDArray[np.float64]:
        """Return the upper bounds of a feature's bins, except for the last bin.

        Parameters
        ----------
        feature : int or str
            Column index or name.

        Examples
        --------
        >>> Dataset([[1.0], [2.0], [4.0]], [0.0, 1.0, 2.0]).cuts(0)
        array([1.5, 3. ])

        """
        if isinstance(feature, str):
            names = self._native.names
            if feature not in names:
                raise NotFoundError(f"unknown feature {feature!r}; use one of {', '.join(names[:20])}")
            feature = names.index(feature)
        return self._native.cuts(integer("feature", feature, 0))

    def __reduce__(self) -> NoReturn:
        raise DTypeError("a Dataset cannot be pickled or copied; share it among threads, or create one in each process")

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        rows, features = self._native.shape
        bins, size = self._native.n_bins, self._native.bytes_per_row
        return f"<Dataset: {rows} rows, {features} features, {bins} bins, {size} bytes per row>"


def _classes(target: Target) -> list[Any]:
    """Return the labels that class weights may refer to: the classes, or 0, 1, and so on for a numeric target."""
    if target.classes is not None:
        found: list[Any] = target.classes.tolist()
        return found
    largest = target.values.max(initial=0)
    return list(range(int(largest) + 1)) if 0 <= largest < 2**16 else []

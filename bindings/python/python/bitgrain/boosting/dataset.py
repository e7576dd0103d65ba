"""Binned training data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain import _native
from bitgrain.boosting.aliases import accepts_aliases
from bitgrain.boosting.frame import read, read_like
from bitgrain.boosting.integer import integer
from bitgrain.boosting.model import Model, unwrapped
from bitgrain.boosting.queries import Queries, positions, queries
from bitgrain.boosting.target import Target, class_weights, encoded, encoded_like, scores, weights
from bitgrain.errors import DTypeError, InputError, NotFoundError

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
    group : array-like of int, optional
        Number of rows of each query, for ranking. The rows of a query must be adjacent.
    qid : array-like, optional
        Query of each row, instead of `group`: integers or strings.
    position : array-like of int, optional
        Position at which each row was displayed; ``lambdarank`` corrects the bias of clicks toward the first positions.
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
    init_score : array-like, optional
        Raw score of each row from which training starts (base margin), such as the logarithm of an exposure; with
        several classes, one column per class. It is not part of the model: add it to the result of ``predict_raw``.
    init_model : Model or fitted estimator, optional
        Model to continue training from: its predictions are the initial scores, and trees are added to it.
    feature_names : sequence of str, optional
        Names of the features; by default those of a data frame.
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
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        position: ArrayLike | None = None,
        categorical: Sequence[int] | Sequence[str] | None = None,
        max_bin: int = 256,
        sample_rows: int = 200_000,
        class_weight: str | Mapping[Any, float] | Sequence[float] | None = None,
        init_score: ArrayLike | None = None,
        init_model: Any = None,
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        base = None if init_model is None else unwrapped(init_model, "init_model")
        if base is None:
            rows = read(X, names=feature_names, categorical=categorical, n_jobs=n_jobs)
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
            queries=_queries(group, qid, position),
            positions=positions(position),
            names=names,
            categories=categories,
            classes=None if target.classes is None else [str(each) for each in target.classes],
            class_weights=class_weights(class_weight, _classes(target)),
            init_scores=scores(init_score, rows.shape[0]),
            settings={"max_bin": max_bin, "sample_rows": sample_rows, "seed": seed},
            base=None if base is None else base._native,
            n_jobs=n_jobs,
        )

    def like(
        self,
        X: Any,
        y: ArrayLike | Target,
        *,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        n_jobs: int | None = None,
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
        group : array-like of int, optional
            Number of rows of each query, for ranking.
        qid : array-like, optional
            Query of each row, instead of `group`.
        init_score : array-like, optional
            Raw score of each row from which training starts; required if the training data has one.
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
            rows.features,
            target.values,
            weights(weight, rows.shape[0]),
            queries=queries(group, qid),
            init_scores=scores(init_score, rows.shape[0]),
            like=self._native,
            n_jobs=n_jobs,
        )
        return other

    def subset(self, rows: ArrayLike) -> Dataset:
        """Return a subset of the rows with the same binning, for folds. The rows of a query must stay adjacent.

        Parameters
        ----------
        rows : array-like of int
            Row indices.

        Examples
        --------
        >>> Dataset([[1.0], [2.0], [4.0]], [0.0, 1.0, 2.0]).subset([0, 2]).target.values.tolist()
        [0.0, 2.0]

        """
        chosen = np.asarray(rows)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise DTypeError(f"rows must be a list of row indices, not {chosen.dtype} of shape {chosen.shape}")
        if chosen.size and chosen.min() < 0:
            raise InputError(f"row {chosen.min()} is out of range: row indices start at 0")
        other = object.__new__(Dataset)
        other._classes, other._base = self._classes, self._base
        other._values = None if self._values is None else self._values[chosen]
        other._native = self._native.rows(np.ascontiguousarray(chosen, dtype=np.uintp))
        return other

    @classmethod
    def from_files(
        cls,
        files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        path: str | os.PathLike[str],
        *,
        target: str,
        memory: int | None = None,
        **options: Any,
    ) -> Dataset:
        r"""Bin CSV or Parquet files of any size into a file, and use it as a dataset.

        The files are read in blocks of rows, so memory use does not depend on their size. A model trained on the
        dataset is bit-identical to the one that ``bitgrain train`` trains on the same files in memory.

        Parameters
        ----------
        files : path or iterable of paths
            Files with the same columns. File names may contain ``*`` and ``?``.
        path : path
            Binned table to write; :meth:`from_bins` opens it again.
        target : str
            Column to predict.
        memory : int, optional
            Maximum memory of the process in bytes; the bins then stay in the file. By default, they are read into
            memory.
        **options
            Names of columns: `weight`, `group`, `position`; lists of names: `categorical`, `ignore`. `objective`, which
            determines whether targets are classes or numbers and must be passed to :func:`train` as well;
            `class_weight` (``"balanced"``), `max_bin`, `sample_rows` and `seed`.
            `append` adds the rows to an existing binned table. `on_progress` is called with the pass (``"targets"``,
            ``"cuts"``, ``"codes"``), the rows read in it and the number of rows or ``None``. `n_jobs` is the number
            of threads.

        Returns
        -------
        Dataset
            Dataset of all rows.

        Raises
        ------
        FileError
            If a file cannot be read or written.
        FormatError
            If a file is not a valid table.
        InputError
            If columns do not match their roles, or the files have different columns.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("a", "b"):
        ...     _ = (folder / f"{name}.csv").write_text("x,y\n" + "1,2\n3,4\n" * 50)
        >>> Dataset.from_files(folder / "*.csv", folder / "table.bins", target="y")
        <Dataset: 200 rows, 1 features, 2 bins, 4 bytes per row>

        """
        paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        _bin([found for each in paths for found in _expanded(each)], path, target, options)
        return cls.from_bins(path, memory=memory, n_jobs=options.get("n_jobs"))

    @classmethod
    def from_batches(
        cls,
        batches: Callable[[], Iterable[Any]] | Iterable[Any],
        path: str | os.PathLike[str],
        *,
        target: str,
        memory: int | None = None,
        **options: Any,
    ) -> Dataset:
        """Bin batches of rows into a file, and use it as a dataset.

        Parameters
        ----------
        batches : callable or reusable iterable
            Function that returns a new iterator of batches, such as a generator function, or an iterable that can be
            read several times, such as a list. Batches are Arrow tables or record batches, Polars or pandas data
            frames. Every pass must give the same rows; the batches are read four times.
        path, target, memory, **options
            See :meth:`from_files`.

        Returns
        -------
        Dataset
            Dataset of all rows.

        Raises
        ------
        InputError
            If the passes differ, or columns do not match their roles.
        DTypeError
            If a batch is not a table, or a column has an unsupported dtype.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import polars as pl
        >>> def batches():
        ...     for start in (0, 100):
        ...         yield pl.DataFrame({"x": range(start, start + 100), "y": [0.5, 1.5] * 50})
        >>> Dataset.from_batches(batches, pathlib.Path(tempfile.mkdtemp()) / "table.bins", target="y")
        <Dataset: 200 rows, 1 features, 200 bins, 4 bytes per row>

        """
        if not callable(batches) and iter(batches) is batches:
            raise InputError("batches can be read only once; pass a function that returns a new iterator")
        _bin(batches if callable(batches) else batches.__iter__, path, target, options)
        return cls.from_bins(path, memory=memory, n_jobs=options.get("n_jobs"))

    @classmethod
    def from_bins(
        cls, path: str | os.PathLike[str], *, memory: int | None = None, n_jobs: int | None = None
    ) -> Dataset:
        """Open a binned table that :meth:`from_files`, :meth:`from_batches` or ``bitgrain bin`` wrote.

        Parameters
        ----------
        path : path
            Binned table.
        memory : int, optional
            Maximum memory of the process in bytes; the bins then stay in the file, which must not change while the
            dataset is in use. By default, they are read into memory.
        n_jobs : int, optional
            Number of threads; all cores by default.

        Returns
        -------
        Dataset
            Dataset of all rows.

        Raises
        ------
        FileError
            If the file cannot be read.
        FormatError
            If it is not a binned table; :class:`DamagedError` if its checksums do not match.

        """
        data = object.__new__(cls)
        limit = None if memory is None else integer("memory", memory, 1)
        native, classes, _ = _native.BinnedData.open(path, mapped=limit is not None, memory=limit, n_jobs=n_jobs)
        data._native = native
        data._classes = np.array(classes) if classes else None
        data._values = None
        data._base = None
        return data

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
    def group(self) -> NDArray[np.uint64] | None:
        """Number of rows of each query; ``None`` without queries."""
        return self._native.group

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


def _bin(rows: Any, path: str | os.PathLike[str], target: str, options: dict[str, Any]) -> None:
    """Write a binned table."""
    names = {"weight", "group", "position", "categorical", "ignore", "objective", "append", "on_progress", "n_jobs"}
    cuts = {"max_bin", "sample_rows", "seed"}
    if unknown := options.keys() - names - cuts - {"class_weight"}:
        raise TypeError(f"unexpected keyword {min(unknown)!r}")
    weights = options.get("class_weight")
    if weights not in (None, "balanced"):
        raise InputError(f"class_weight = {weights!r}: it must be 'balanced' or None for a binned table")
    _native.bin_rows(
        rows,
        path,
        target=target,
        balanced=weights == "balanced",
        settings={name: options[name] for name in cuts & options.keys()},
        **{name: options[name] for name in names & options.keys()},
    )


def _expanded(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that match a path whose file name may contain wildcards, in ascending order."""
    pattern = Path(path)
    if pattern.exists() or not {"*", "?"} & set(pattern.name):
        return [pattern]
    folder = pattern.parent
    found = sorted(each for each in folder.iterdir() if fnmatchcase(each.name, pattern.name)) if folder.is_dir() else []
    if not found:
        raise NotFoundError(f"no file matches {str(path)!r}; check the folder and the pattern")
    return found


def _queries(group: ArrayLike | None, qid: ArrayLike | None, position: ArrayLike | None) -> Queries | None:
    """Return the queries; reject positions without queries."""
    if position is not None and group is None and qid is None:
        raise InputError("position needs queries; pass group or qid as well")
    return queries(group, qid)


def _classes(target: Target) -> list[Any]:
    """Return the labels that class weights may refer to: the classes, or 0, 1, and so on for a numeric target."""
    if target.classes is not None:
        found: list[Any] = target.classes.tolist()
        return found
    largest = target.values.max(initial=0)
    return list(range(int(largest) + 1)) if 0 <= largest < 2**16 else []

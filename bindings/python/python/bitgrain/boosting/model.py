"""Trained models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain import _native
from bitgrain.boosting.callables import Loss, Objective
from bitgrain.boosting.explain import (
    PartialDependence,
    PermutationImportance,
    partial_dependence,
    permutation_importance,
    read_rows,
    write_report,
)
from bitgrain.boosting.frame import is_sparse, read_like
from bitgrain.boosting.integer import integer
from bitgrain.boosting.pandas import label
from bitgrain.boosting.queries import queries
from bitgrain.errors import InputError

__all__ = ["Model", "load_model", "unwrapped"]

#: Number of sparse rows converted to dense at a time, for models with float64 thresholds.
_BLOCK = 4096


def _is_ready(X: Any, n_features: int) -> bool:
    """Return whether X needs no conversion; checked first, because converting a row takes longer than predicting it."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == n_features
        and X.shape[0] > 0
        and X.dtype.char in "fd"
        and X.dtype.isnative
        and X.flags.c_contiguous
        and X.flags.aligned
    )


class Model:
    """A trained model.

    Models come from :func:`train`, :func:`load_model`, :func:`from_lightgbm` and :func:`from_xgboost`.

    Examples
    --------
    >>> import numpy as np, bitgrain
    >>> X = np.arange(100.0).reshape(100, 1)
    >>> model = bitgrain.train(bitgrain.Dataset(X, X[:, 0] ** 2), n_estimators=50)
    >>> model
    <Model: squared: 1 feature, 1 score, 50 rounds, 50 trees with 201 leaves>
    >>> model.predict([[50.0]]).round(-2)
    array([2500.])
    >>> bitgrain.boosting.Model.from_bytes(model.to_bytes()).predict(X).tolist() == model.predict(X).tolist()
    True

    """

    def __init__(
        self,
        native: _native.Booster,
        history: dict[str, dict[str, list[float]]] | None = None,
        best_iteration: int | None = None,
    ) -> None:
        self._native = native
        # Read once: a call with a single row takes about as long as converting these.
        self._names = native.names
        self._categories = native.categories
        self._wide = native.wide
        self._in_order = _lists_of_pandas(native)
        self.history = history or {}
        """Metrics after each round, by dataset and metric name; empty for loaded models."""
        self.best_iteration = best_iteration
        """Number of rounds after which the first metric on the first validation set was best."""

    def predict(
        self, X: Any, *, start: int = 0, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Predict target values, or class probabilities for a classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features. Columns of data frames are matched by name and strings by category; categories unseen in training
            are missing values. In plain arrays, the values of categorical features are category codes.
        start : int
            First round to use, 0-based. Without the first round, raw scores lack the initial score of the model: those
            of consecutive ranges of rounds add up.
        rounds : int, optional
            Number of rounds to use; all rounds by default.
        n_jobs : int, optional
            Number of threads; all cores by default.

        Returns
        -------
        ndarray
            One value per row; with more than two classes, one column per class.

        Raises
        ------
        InputError
            If the columns or their number do not match the model.
        DTypeError
            If a column has an unsupported dtype.

        """
        return self._predict(X, "prediction", rounds, n_jobs, start)

    def predict_raw(
        self, X: Any, *, start: int = 0, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return raw scores, before the link function. Parameters are those of :meth:`predict`."""
        return self._predict(X, "raw", rounds, n_jobs, start)

    def predict_leaf(
        self, X: Any, *, start: int = 0, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.uint32]:
        """Return the leaf index of each row in each tree. Parameters are those of :meth:`predict`."""
        leaves: NDArray[np.uint32] = self._predict(X, "leaf", rounds, n_jobs, start)
        return leaves

    def staged_predict(
        self, X: Any, *, every: int = 1, kind: str = "prediction", n_jobs: int | None = None
    ) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 1, 2, ... rounds, as scikit-learn's estimators do.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features, as in :meth:`predict`.
        every : int
            Number of rounds between two predictions.
        kind : {"prediction", "raw", "probability", "class"}
            Result of :meth:`predict`, :meth:`predict_raw`, :meth:`predict_proba` or the index of the class.
        n_jobs : int, optional
            Number of threads; all cores by default.

        """
        features = self._read(X, n_jobs)
        for rounds in range(integer("every", every, 1), self.n_rounds + 1, every):
            yield self._native.predict(features, kind, rounds=rounds, n_jobs=n_jobs)

    def predict_proba(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Predict the probability of each class, one column per class. Parameters are those of :meth:`predict`.

        Raises
        ------
        InputError
            If the model is not a classifier.

        """
        return self._classified(X, "probability", rounds, n_jobs)

    def predict_class(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[Any]:
        """Predict the most probable class of each row, as a string. Parameters are those of :meth:`predict`.

        Raises
        ------
        InputError
            If the model is not a classifier.

        """
        places = self._classified(X, "class", rounds, n_jobs)
        classes = self._native.classes
        found: NDArray[Any] = np.array(classes)[places] if classes else places.astype(np.intp)
        return found

    def predict_contributions(
        self,
        X: Any,
        *,
        background: Any = None,
        interactions: bool = False,
        start: int = 0,
        rounds: int | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """Divide the raw score of each row among the features: exact SHAP values.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features, as in :meth:`predict`.
        background : array, sparse matrix or data frame, optional
            Rows that stand for unknown values (interventional values); about 100 are common. By default, unknown
            values follow the training rows of each node (path-dependent values, as in LightGBM and XGBoost).
        interactions : bool
            Whether to return the interaction of each pair of features instead.
        start : int
            First round to use, 0-based, as in :meth:`predict`.
        rounds : int, optional
            Number of rounds to use; all rounds by default.
        n_jobs : int, optional
            Number of threads; all cores by default. The values do not depend on it.

        Returns
        -------
        ndarray
            Shape ``(n_rows, n_features + 1)``: one value per feature, then the expected raw score. They sum to
            :meth:`predict_raw`. With more than two classes, ``(n_rows, n_classes, n_features + 1)``. With
            `interactions`, another axis of length ``n_features + 1`` follows; its sums are the values above.

        Raises
        ------
        InputError
            If the columns do not match the model, or the model records no training rows and `background` is missing.

        Examples
        --------
        >>> import numpy as np
        >>> import bitgrain
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = bitgrain.boosting.train(bitgrain.boosting.Dataset(X, 2 * X[:, 1]), rounds=20)
        >>> values = model.predict_contributions(X)
        >>> values.shape
        (500, 4)
        >>> bool(np.allclose(values.sum(axis=1), model.predict_raw(X)))
        True

        """
        if rounds is not None:
            rounds = integer("rounds", rounds, 0)
        return self._native.explain(
            self._read(X, n_jobs),
            interactions=bool(interactions),
            background=None if background is None else self._read(background, n_jobs),
            start=integer("start", start, 0),
            rounds=rounds,
            n_jobs=n_jobs,
        )

    pred_contrib = predict_contributions

    def partial_dependence(
        self,
        X: Any,
        features: str | int | Sequence[str | int],
        *,
        grid: Sequence[Any] | None = None,
        grid_size: int = 50,
        percentiles: tuple[float, float] = (0.05, 0.95),
        kind: str = "average",
        centered: bool = False,
        raw: bool = False,
        n_jobs: int | None = None,
    ) -> PartialDependence:
        """Return the mean prediction when one or two features are set to each of several values.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Rows whose features are set, as in :meth:`predict`.
        features : str, int, or a sequence of two
            Names or indices of the features.
        grid : sequence, optional
            Values of the feature, or a sequence of values for each of two features. NaN is a missing value, strings are
            categories.
        grid_size : int
            Maximum number of values per feature if `grid` is missing: all distinct values if there are at most as many,
            otherwise quantiles at evenly spaced ranks, or the most frequent categories.
        percentiles : tuple of float
            Ranks of the first and the last quantile, from 0 to 1.
        kind : {"average", "individual", "both"}
            Whether to return the prediction of each row as well (individual conditional expectations, ICE).
        centered : bool
            Whether to subtract the prediction at the first grid point from each curve.
        raw : bool
            Whether to average raw scores instead of predictions.
        n_jobs : int, optional
            Number of threads; all cores by default. The values do not depend on it.

        Returns
        -------
        PartialDependence
            Grid and predictions, in the shapes of scikit-learn's ``partial_dependence``.

        Raises
        ------
        InputError
            If a feature is unknown, or all of its values are missing.

        Examples
        --------
        >>> import numpy as np, bitgrain
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = bitgrain.train(bitgrain.Dataset(X, 3 * X[:, 0]), n_estimators=50)
        >>> found = model.partial_dependence(X, "f0", grid=[-1.0, 0.0, 1.0])
        >>> (found.average.round() + 0.0).tolist()
        [[-3.0, 0.0, 3.0]]

        """
        return partial_dependence(
            self,
            X,
            features,
            grid=grid,
            grid_size=grid_size,
            percentiles=percentiles,
            kind=kind,
            centered=centered,
            raw=raw,
            n_jobs=n_jobs,
        )

    def permutation_importance(
        self,
        X: Any,
        y: ArrayLike,
        *,
        metric: str | Callable[..., Any] | None = None,
        n_repeats: int = 5,
        seed: int = 0,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> PermutationImportance:
        """Return how much a metric deteriorates when the values of each feature are shuffled.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features, as in :meth:`predict`; held-out rows are most informative.
        y : array-like
            Targets, or class labels of the model.
        metric : str or callable, optional
            Metric as in :func:`train`; the default metric of the objective if missing.
        n_repeats : int
            Number of shuffles per feature.
        seed : int
            Seed of the shuffles.
        sample_weight : array-like, optional
            Weight of each row in the metric.
        n_jobs : int, optional
            Number of threads; all cores by default. The values do not depend on it.

        Returns
        -------
        PermutationImportance
            Deterioration per feature and repetition, with its mean and standard deviation.

        Raises
        ------
        InputError
            If the metric does not fit the model, or a target is missing.

        Examples
        --------
        >>> import numpy as np, bitgrain
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = bitgrain.train(bitgrain.Dataset(X, 3 * X[:, 0]), n_estimators=50)
        >>> found = model.permutation_importance(X, 3 * X[:, 0], metric="r2")
        >>> found.importances.shape, int(found.importances_mean.argmax())
        ((3, 5), 0)

        """
        return permutation_importance(
            self, X, y, metric=metric, n_repeats=n_repeats, seed=seed, sample_weight=sample_weight, n_jobs=n_jobs
        )

    def refit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        decay_rate: float = 0.9,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        objective: Objective | None = None,
        learning_rate: float | None = None,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        max_delta_step: float = 0.0,
        n_jobs: int | None = None,
    ) -> Model:
        """Return a copy of the model with the leaf values fitted to new rows.

        The splits of the trees are kept. Each leaf becomes `decay_rate` times its old value plus ``1 - decay_rate``
        times the value that training would give it for the new rows, which is 0 for a leaf without rows. Base scores
        are mixed in the same way.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features of the new rows, as in :meth:`predict`.
        y : array-like
            Targets, or class labels of the model.
        decay_rate : float
            Weight of the old values, from 0 to 1.
        sample_weight : array-like, optional
            Weight of each row.
        group, qid : array-like, optional
            Number of rows of each query, or the query of each row, for ranking.
        objective : str or callable, optional
            Objective as in :func:`train`; that of the model by default.
        learning_rate : float, optional
            Learning rate of all trees; by default that of each tree in training, which models of XGBoost do not
            contain.
        reg_alpha, reg_lambda, max_delta_step : float
            Penalties on leaf values and their limit, as in training.
        n_jobs : int, optional
            Number of threads; all cores by default. The result does not depend on it.

        Raises
        ------
        InputError
            If the data or the objective does not match the model, or a setting is out of range.

        Examples
        --------
        >>> import numpy as np, bitgrain
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = bitgrain.train(bitgrain.Dataset(X, X[:, 0]), n_estimators=50)
        >>> moved = model.refit(X, X[:, 0] + 10, decay_rate=0.0)
        >>> float(np.round(np.mean(moved.predict(X) - model.predict(X)), 2))
        10.0

        """
        rows, values, weight = read_rows(self, X, y, sample_weight, n_jobs)
        loss: Any = objective
        if callable(objective):
            loss = Loss(objective, self._native.n_outputs, self._native.link)
        native = self._native.refit(
            rows,
            values,
            weight,
            queries(group, qid),
            objective=loss,
            decay_rate=float(decay_rate),
            learning_rate=None if learning_rate is None else float(learning_rate),
            reg_alpha=float(reg_alpha),
            reg_lambda=float(reg_lambda),
            max_delta_step=float(max_delta_step),
            n_jobs=n_jobs,
        )
        return Model(native)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        valid: Sequence[Any] | None = None,
        title: str = "Training report",
        n_jobs: int | None = None,
    ) -> None:
        """Write a self-contained HTML report.

        The page shows learning curves, importances, SHAP values, the quality of the predictions, the columns and the
        trees. For tables with many rows, it uses evenly spaced rows.

        Parameters
        ----------
        path : path-like
            HTML file; it is replaced atomically.
        X : array, sparse matrix or data frame
            Features of the training data, as in :meth:`predict`.
        y : array-like
            Targets, or class labels of the model.
        sample_weight : array-like, optional
            Weight of each row.
        valid : tuple, optional
            Held-out data ``(X, y)`` or ``(X, y, sample_weight)``, on which the quality is measured.
        title : str
            Title of the page.
        n_jobs : int, optional
            Number of threads; all cores by default.

        Raises
        ------
        FileError
            If the file cannot be written.
        InputError
            If the data does not match the model, or a target is missing.

        Examples
        --------
        >>> import numpy as np, bitgrain, os, tempfile
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> model = bitgrain.train(bitgrain.Dataset(X, 3 * X[:, 0]), n_estimators=10)
        >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
        >>> model.report(path, X, 3 * X[:, 0])
        >>> os.path.getsize(path) > 10_000
        True

        """
        write_report(self, path, X, y, sample_weight=sample_weight, valid=valid, title=title, n_jobs=n_jobs)

    def _classified(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None) -> NDArray[Any]:
        native = self._native
        if not (native.has_probabilities if kind == "probability" else native.is_classifier):
            raise InputError(f"objective {native.objective} has no probabilities that sum to 1 over the classes")
        return self._predict(X, kind, rounds, n_jobs)

    def _predict(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None, start: int = 0) -> NDArray[Any]:
        native = self._native
        if rounds is not None:
            rounds = integer("rounds", rounds, 0)
        if start:
            start = integer("start", start, 0)
        if _is_ready(X, len(self._names)):
            return native.predict(X, kind, start=start, rounds=rounds, n_jobs=n_jobs)
        if self._wide and is_sparse(X):
            # Sparse values are float32, which is less precise than the thresholds of this model.
            csr = X.tocsr()
            blocks = [csr[at : at + _BLOCK].toarray() for at in range(0, csr.shape[0], _BLOCK)] or [csr.toarray()]
            return np.concatenate([self._predict(block, kind, rounds, n_jobs, start) for block in blocks])
        return native.predict(self._read(X, n_jobs), kind, start=start, rounds=rounds, n_jobs=n_jobs)

    def _read(self, X: Any, n_jobs: int | None) -> Any:
        """Return the rows as this model reads them."""
        if _is_ready(X, len(self._names)):
            return X
        if self._wide and is_sparse(X):
            # Sparse values are float32, which is less precise than the thresholds of this model.
            X = X.toarray()
        return read_like(
            X,
            names=self._names,
            categories=self._categories,
            in_order=self._in_order,
            wide=self._wide,
            n_jobs=n_jobs,
        ).features

    def feature_importance(self, kind: str = "gain") -> NDArray[np.float64]:
        """Return the importance of each feature.

        Parameters
        ----------
        kind : {"gain", "split"}
            Total gain of the feature's splits, or their number.

        """
        return self._native.importance(kind)

    def truncated(self, rounds: int) -> Model:
        """Return a model of the first `rounds` rounds."""
        return Model(self._native.truncated(integer("rounds", rounds, 0)))

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the model to a file atomically.

        Parameters
        ----------
        path : path-like
            Path of the file.
        format : str, optional
            Format of the file: ``"bitgrain"``, ``"json"``, ``"lightgbm"``, ``"lightgbm-json"`` (as ``dump_model``),
            ``"xgboost-json"``, ``"xgboost-ubj"``, ``"onnx"``, ``"c"`` or ``"rust"`` (source code). By default, the
            file extension selects the format: ``.json``, ``.txt`` (LightGBM), ``.ubj`` (XGBoost), ``.onnx``, ``.c``,
            ``.rs``, and bitgrain's own for every other extension. :func:`load_model` reads all but
            ``lightgbm-json``, ``onnx`` and source code.

        Raises
        ------
        FileError
            If the file cannot be written.
        FormatError
            If the format cannot represent the model.
        InputError
            If the format is unknown.

        """
        self._native.save(path, format)

    def export(self, format: str) -> bytes:
        """Return the bytes of the model in a format of :meth:`save`.

        Raises
        ------
        FormatError
            If the format cannot represent the model.
        InputError
            If the format is unknown.

        Examples
        --------
        >>> import bitgrain
        >>> model = bitgrain.train(bitgrain.Dataset([[1.0], [2.0]], [1.0, 2.0]), n_estimators=1)
        >>> model.export("lightgbm").splitlines()[:2]
        [b'tree', b'version=v4']

        """
        return self._native.export(format)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model file; see :func:`load_model`."""
        return load_model(path)

    def to_bytes(self) -> bytes:
        """Serialize the model to the bytes of a model file."""
        return self._native.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Read the bytes of a model file of bitgrain (binary or JSON), LightGBM or XGBoost.

        Raises
        ------
        FormatError
            If `data` is not a model.
        DamagedError
            If `data` is a model that was changed after it was written.

        """
        return Model(_native.Booster.from_bytes(bytes(data)))

    def to_json(self) -> str:
        """Return the model as indented JSON, which :meth:`from_bytes` and :func:`load_model` read."""
        return self._native.to_json()

    def to_shap(self) -> dict[str, Any]:
        """Return the trees as the dictionary of arrays that ``shap.TreeExplainer`` takes.

        ``shap.TreeExplainer(model)`` works as well and also explains categorical splits; the dictionary is for other
        programs that read it.

        Raises
        ------
        FormatError
            If the model has categorical splits, or splits that treat 0 as a missing value.

        """
        outputs = self._native.n_outputs
        trees = self._native.tree_arrays()
        for at, tree in enumerate(trees):
            values = np.zeros((len(tree["values"]), outputs))
            values[:, at % outputs] = tree["values"]
            tree["values"] = values
        base: Any = np.array(self._native.base_scores)
        return {"trees": trees, "base_offset": base if outputs > 1 else base[0], "tree_output": "raw_value"}

    @property
    def trees(self) -> list[dict[str, Any]]:
        """Trees as dictionaries of splits and leaves."""
        trees: list[dict[str, Any]] = json.loads(self._native.to_json())["trees"]
        return trees

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self._native.names

    @property
    def categories(self) -> dict[str, list[str]]:
        """Category strings of each categorical feature, in order of their codes."""
        named = zip(self._native.names, self._native.categories, strict=True)
        return {name: labels for name, labels in named if labels is not None}

    @property
    def classes(self) -> list[str]:
        """Class labels as strings; empty unless the model is a classifier."""
        return self._native.classes

    @property
    def objective(self) -> str:
        """Training objective."""
        return self._native.objective

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata of the model file."""
        return self._native.metadata

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._native.n_features

    @property
    def n_rounds(self) -> int:
        """Number of boosting rounds: trees per score."""
        return self._native.n_rounds

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._native.n_trees

    # The state consists of plain values, which both skops and pickle can store.
    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.to_bytes(), "history": self.history, "best_iteration": self.best_iteration}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Model.__init__(self, _native.Booster.from_bytes(state["model"]), state["history"], state["best_iteration"])

    def __repr__(self) -> str:
        return f"<Model: {self._native}>"


def _unpickled(data: bytes, history: dict[str, dict[str, list[float]]], best_iteration: int | None) -> Model:
    """Restore pickles of version 0.1.0, which refer to this function."""
    return Model(_native.Booster.from_bytes(data), history, best_iteration)


def _lists_of_pandas(native: _native.Booster) -> list[list[str]] | None:
    """Return the categories of each pandas column that LightGBM was trained on, in column order."""
    lists = native.metadata.get("lightgbm.pandas_categorical")
    try:
        return None if lists is None else [[label(each) for each in own] for own in json.loads(lists)]
    except (TypeError, ValueError):
        return None


def unwrapped(given: Any, what: str) -> Model:
    """Return a model, or the model of an estimator."""
    found = getattr(given, "booster_", given)
    if isinstance(found, Model):
        return found
    raise InputError(f"{what} must be a Model or a fitted bitgrain estimator, not {type(given).__name__}")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file: bitgrain's own format or its JSON, LightGBM's text format, or XGBoost's JSON or UBJSON.

    Parameters
    ----------
    path : path-like
        Path of the file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FileError
        If the file cannot be read.
    FormatError
        If the file is not a model, or a model of an unsupported kind.
    DamagedError
        If the file was changed after it was written.

    Examples
    --------
    >>> import numpy as np, bitgrain, os, tempfile
    >>> model = bitgrain.train(bitgrain.Dataset([[1.0], [2.0]], [1.0, 2.0]), n_estimators=1)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bitgrain")
    >>> model.save(path)
    >>> bitgrain.load_model(path).objective
    'squared'

    """
    return Model(_native.Booster.load(path))

"""Trained models."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native
from bitgrain.boosting.frame import is_sparse, read_like
from bitgrain.boosting.integer import integer
from bitgrain.boosting.pandas import label
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

    def predict(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Predict target values, or class probabilities for a classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Features. Columns of data frames are matched by name and strings by category; categories unseen in training
            are missing values. In plain arrays, the values of categorical features are category codes.
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
        return self._predict(X, "prediction", rounds, n_jobs)

    def predict_raw(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return raw scores, before the link function. Parameters are those of :meth:`predict`."""
        return self._predict(X, "raw", rounds, n_jobs)

    def predict_leaf(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.uint32]:
        """Return the leaf index of each row in each tree. Parameters are those of :meth:`predict`."""
        leaves: NDArray[np.uint32] = self._predict(X, "leaf", rounds, n_jobs)
        return leaves

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
            rounds=rounds,
            n_jobs=n_jobs,
        )

    pred_contrib = predict_contributions

    def _classified(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None) -> NDArray[Any]:
        native = self._native
        if not (native.has_probabilities if kind == "probability" else native.is_classifier):
            raise InputError(f"objective {native.objective} has no probabilities that sum to 1 over the classes")
        return self._predict(X, kind, rounds, n_jobs)

    def _predict(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None) -> NDArray[Any]:
        native = self._native
        if rounds is not None:
            rounds = integer("rounds", rounds, 0)
        if _is_ready(X, len(self._names)):
            return native.predict(X, kind, rounds=rounds, n_jobs=n_jobs)
        if self._wide and is_sparse(X):
            # Sparse values are float32, which is less precise than the thresholds of this model.
            csr = X.tocsr()
            blocks = [csr[at : at + _BLOCK].toarray() for at in range(0, csr.shape[0], _BLOCK)] or [csr.toarray()]
            return np.concatenate([self._predict(block, kind, rounds, n_jobs) for block in blocks])
        return native.predict(self._read(X, n_jobs), kind, rounds=rounds, n_jobs=n_jobs)

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically.

        Raises
        ------
        FileError
            If the file cannot be written.

        """
        self._native.save(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model file; see :func:`load_model`."""
        return load_model(path)

    def to_bytes(self) -> bytes:
        """Serialize the model to the bytes of a model file."""
        return self._native.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Read the bytes of a model file of bitgrain, LightGBM or XGBoost.

        Raises
        ------
        FormatError
            If `data` is not a model.
        DamagedError
            If `data` is a model that was changed after it was written.

        """
        return Model(_native.Booster.from_bytes(bytes(data)))

    def to_json(self) -> str:
        """Return the model as indented JSON for inspection; it cannot be loaded again."""
        return self._native.to_json()

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
    """Read a model file: bitgrain's own format, LightGBM's text format, or XGBoost's JSON or UBJSON.

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

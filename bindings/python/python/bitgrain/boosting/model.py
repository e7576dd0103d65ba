"""Models of trees."""

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

#: Sparse rows that are made dense at a time, for models that compare all digits.
_BLOCK = 4096


class Model:
    """Trees and all that is needed to use them.

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
        self._in_order = _lists_of_pandas(native)
        self.history = history or {}
        """Metrics after each round, by data and name; empty for models that were loaded."""
        self.best_iteration = best_iteration
        """Rounds after which the first metric on the first validation data was best."""

    def predict(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Predict: numbers, or probabilities for classifiers.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Columns of data frames go by their names, texts by their categories; what training did not see is missing.
            Values of plain arrays are codes where the model has categories.
        rounds : int, optional
            Use only so many rounds.
        n_jobs : int, optional
            Threads; all by default.

        Returns
        -------
        ndarray
            One number for each row; with more than two classes, one column for each.

        Raises
        ------
        InputError
            If columns or their number are not those of the model.
        DTypeError
            If a column is of a type that cannot be used.

        """
        return self._predict(X, "prediction", rounds, n_jobs)

    def predict_raw(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Give scores before the link: sums of leaves. Arguments are those of :meth:`predict`."""
        return self._predict(X, "raw", rounds, n_jobs)

    def predict_leaf(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.uint32]:
        """Give the leaf of each row in each tree. Arguments are those of :meth:`predict`."""
        leaves: NDArray[np.uint32] = self._predict(X, "leaf", rounds, n_jobs)
        return leaves

    def predict_proba(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Give a probability for each class, in columns. Arguments are those of :meth:`predict`.

        Raises
        ------
        InputError
            If the model is no classifier.

        """
        return self._classified(X, "probability", rounds, n_jobs)

    def predict_class(self, X: Any, *, rounds: int | None = None, n_jobs: int | None = None) -> NDArray[Any]:
        """Give the likeliest class of each row as its text. Arguments are those of :meth:`predict`.

        Raises
        ------
        InputError
            If the model is no classifier.

        """
        places = self._classified(X, "class", rounds, n_jobs)
        classes = self._native.classes
        found: NDArray[Any] = np.array(classes)[places] if classes else places.astype(np.intp)
        return found

    def _classified(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None) -> NDArray[Any]:
        native = self._native
        if not (native.has_probabilities if kind == "probability" else native.is_classifier):
            raise InputError(f"objective {native.objective} has no probabilities of classes that add up to 1")
        return self._predict(X, kind, rounds, n_jobs)

    def _predict(self, X: Any, kind: str, rounds: int | None, n_jobs: int | None) -> NDArray[Any]:
        native = self._native
        if rounds is not None:
            rounds = integer("rounds", rounds, 0)
        if native.wide and is_sparse(X):
            # Sparse rows are f32, and these thresholds are not.
            csr = X.tocsr()
            blocks = [csr[at : at + _BLOCK].toarray() for at in range(0, csr.shape[0], _BLOCK)] or [csr.toarray()]
            return np.concatenate([self._predict(block, kind, rounds, n_jobs) for block in blocks])
        rows = read_like(
            X,
            names=native.names,
            categories=native.categories,
            in_order=self._in_order,
            wide=native.wide,
            n_jobs=n_jobs,
        )
        return native.predict(rows.features, kind, rounds=rounds, n_jobs=n_jobs)

    def feature_importance(self, kind: str = "gain") -> NDArray[np.float64]:
        """Give how much the trees use each feature.

        Parameters
        ----------
        kind : {"gain", "split"}
            The gains of its splits, or their number.

        """
        return self._native.importance(kind)

    def truncated(self, rounds: int) -> Model:
        """Give the model after its first rounds."""
        return Model(self._native.truncated(integer("rounds", rounds, 0)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model's file, whole or not at all.

        Raises
        ------
        FileError
            If it cannot be written.

        """
        self._native.save(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Read a model's file; see :func:`load_model`."""
        return load_model(path)

    def to_bytes(self) -> bytes:
        """Give the bytes of the model's file."""
        return self._native.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Read the bytes of a model's file, or of one of LightGBM or XGBoost.

        Raises
        ------
        FormatError
            If they are no model.
        DamagedError
            If they were one.

        """
        return Model(_native.Booster.from_bytes(bytes(data)))

    def to_json(self) -> str:
        """Give the model as indented JSON, to look into; nothing reads it back."""
        return self._native.to_json()

    @property
    def trees(self) -> list[dict[str, Any]]:
        """The trees as dictionaries of splits and leaves."""
        trees: list[dict[str, Any]] = json.loads(self._native.to_json())["trees"]
        return trees

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self._native.names

    @property
    def categories(self) -> dict[str, list[str]]:
        """The texts of the codes of each feature of categories."""
        named = zip(self._native.names, self._native.categories, strict=True)
        return {name: labels for name, labels in named if labels is not None}

    @property
    def classes(self) -> list[str]:
        """The text of each class; empty if there are none."""
        return self._native.classes

    @property
    def objective(self) -> str:
        """What it was trained for."""
        return self._native.objective

    @property
    def metadata(self) -> dict[str, str]:
        """What the model's file says of its training."""
        return self._native.metadata

    @property
    def n_features(self) -> int:
        """Features of a row."""
        return self._native.n_features

    @property
    def n_rounds(self) -> int:
        """Rounds of training: trees of a score."""
        return self._native.n_rounds

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._native.n_trees

    # A state of plain values, which skops takes as well as pickle.
    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.to_bytes(), "history": self.history, "best_iteration": self.best_iteration}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Model.__init__(self, _native.Booster.from_bytes(state["model"]), state["history"], state["best_iteration"])

    def __repr__(self) -> str:
        return f"<Model: {self._native}>"


def _unpickled(data: bytes, history: dict[str, dict[str, list[float]]], best_iteration: int | None) -> Model:
    """Read pickles of version 0.1.0, which name this function."""
    return Model(_native.Booster.from_bytes(data), history, best_iteration)


def _lists_of_pandas(native: _native.Booster) -> list[list[str]] | None:
    """Give the categories of the data frame that LightGBM was trained on, column after column."""
    lists = native.metadata.get("lightgbm.pandas_categorical")
    try:
        return None if lists is None else [[label(each) for each in own] for own in json.loads(lists)]
    except (TypeError, ValueError):
        return None


def unwrapped(given: Any, what: str) -> Model:
    """Give the model of an estimator, or the model itself."""
    found = getattr(given, "booster_", given)
    if isinstance(found, Model):
        return found
    raise InputError(f"{what} must be a Model or a fitted estimator of bitgrain, not {type(given).__name__}")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model's file: bitgrain's own, LightGBM's text, XGBoost's JSON or UBJSON.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FileError
        If the file cannot be read.
    FormatError
        If it is no model, or one of a kind that is not supported.
    DamagedError
        If it was one.

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

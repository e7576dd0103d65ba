"""What the estimators share."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from bitgrain import _native
from bitgrain.boosting.callables import Loss, Metric, Objective, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.frame import is_frame, is_sparse, matrix, read_like
from bitgrain.boosting.model import Model, load_model
from bitgrain.boosting.params import Params
from bitgrain.boosting.rounds import Callback
from bitgrain.boosting.training import grow
from bitgrain.errors import FormatError, InputError

__all__ = ["BitgrainEstimator"]

#: Where the model's file keeps what only Python knows.
_KEY = "python.estimator"

_Pair = tuple[Any, ArrayLike]


class BitgrainEstimator(BaseEstimator):  # type: ignore[misc]
    """What the estimators share: settings, fitting, files."""

    #: Settings that are those of :class:`Params`, by the same name.
    _PARAMS: ClassVar[tuple[str, ...]] = (
        "n_estimators",
        "learning_rate",
        "num_leaves",
        "max_depth",
        "growth",
        "min_child_samples",
        "min_child_weight",
        "reg_alpha",
        "reg_lambda",
        "min_split_gain",
        "subsample",
        "subsample_freq",
        "data_sample_strategy",
        "top_rate",
        "other_rate",
        "colsample_bytree",
        "colsample_bynode",
        "gradient_precision",
        "early_stopping_rounds",
    )

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int | None = -1,
        growth: str = "leaf",
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        subsample_freq: int = 1,
        data_sample_strategy: str = "bagging",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bynode: float = 1.0,
        max_bin: int = 256,
        gradient_precision: str = "auto",
        categorical_features: Sequence[int] | Sequence[str] | None = None,
        early_stopping_rounds: int | None = None,
        importance_type: str = "gain",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool | None = False,
    ) -> None:
        self.objective = objective
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.growth = growth
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.min_split_gain = min_split_gain
        self.subsample = subsample
        self.subsample_freq = subsample_freq
        self.data_sample_strategy = data_sample_strategy
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bynode = colsample_bynode
        self.max_bin = max_bin
        self.gradient_precision = gradient_precision
        self.categorical_features = categorical_features
        self.early_stopping_rounds = early_stopping_rounds
        self.importance_type = importance_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------------------ fitting

    def _features(self, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
        """Give what is learned from or predicted, after scikit-learn's checks of names and counts."""
        X = X if is_frame(X) or is_sparse(X) else matrix(X)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        return X

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, int | np.integer) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _grow(
        self,
        X: Any,
        y: ArrayLike,
        given: _Pair,
        *,
        objective: str | Loss,
        scores: int,
        sample_weight: ArrayLike | None,
        class_weight: str | Sequence[float] | None,
        eval_set: _Pair | Sequence[_Pair] | None,
        eval_sample_weight: Sequence[ArrayLike | None] | None,
        eval_metric: Metric | Sequence[Metric] | None,
        callbacks: Sequence[Callback] | None,
        init_model: Model | BitgrainEstimator | None,
        classes: list[str] | None,
        encode: Any,
    ) -> Self:
        """Fit by numbers: `y` is encoded, as `encode` does it with further targets; `given` is what `fit` was given."""
        params = Params(seed=self._seed(), **{name: getattr(self, name) for name in self._PARAMS})
        params.check()
        base = getattr(init_model, "booster_", init_model)
        if base is not None and not isinstance(base, Model):
            raise InputError(f"init_model must be a Model or a fitted estimator, not {type(init_model).__name__}")
        if base is not None and classes is not None and base.classes and base.classes != classes:
            raise InputError(f"init_model has the classes {base.classes}, y has {classes}")
        data = Dataset(
            X,
            y,
            weight=sample_weight,
            categorical=self._categorical(X),
            max_bin=self.max_bin,
            class_weight=class_weight,
            init_model=base,
            seed=params.seed,
            n_jobs=self.n_jobs,
        )
        self.n_features_in_ = data.n_features
        valid, watch_train = self._valid(data, given, eval_set, eval_sample_weight, encode)
        model = grow(
            data,
            params,
            objective,
            valid=valid,
            metrics=measures(eval_metric, scores),
            watch_train=watch_train,
            callbacks=list(callbacks or ()),
            classes=classes,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
            metadata={_KEY: self._state()},
            keep=False,
            stacklevel=4,
        )
        return self._fitted(model)

    def _categorical(self, X: Any) -> Sequence[int] | Sequence[str] | None:
        given = self.categorical_features
        if given is None or isinstance(given, str):
            if given not in (None, "from_dtype"):
                raise InputError(f"categorical_features = {given!r}: it must be a list of columns, or None")
            return None
        columns = np.asarray(given)
        if columns.dtype == bool:
            if len(columns) != X.shape[1]:
                raise InputError(f"categorical_features has {len(columns)} flags, X has {X.shape[1]} features")
            return [int(at) for at in np.flatnonzero(columns)]
        found: list[Any] = columns.tolist()
        return found

    def _valid(
        self,
        data: Dataset,
        given: _Pair,
        eval_set: _Pair | Sequence[_Pair] | None,
        eval_sample_weight: Sequence[ArrayLike | None] | None,
        encode: Any,
    ) -> tuple[Dataset | None, bool]:
        """Give the data to measure on, and whether to measure on the training data, too."""
        pairs = [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
        weights = list(eval_sample_weight) if eval_sample_weight is not None else [None] * len(pairs)
        if len(weights) != len(pairs):
            raise InputError(f"{len(weights)} eval_sample_weight for {len(pairs)} eval_set")
        valid, watch_train = None, False
        for pair, weight in zip(pairs, weights, strict=True):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError("eval_set must be a pair (X, y), or a list of such pairs")
            if pair[0] is given[0] and pair[1] is given[1]:
                watch_train = True
            elif valid is None:
                own = pair[0] if is_frame(pair[0]) or is_sparse(pair[0]) else matrix(pair[0])
                valid = data.like(own, encode(pair[1]), weight=weight, n_jobs=self.n_jobs)
            else:
                raise InputError("eval_set holds two sets of validation data: one and the training data are measured")
        return valid, watch_train

    def _fitted(self, model: Model) -> Self:
        self.booster_ = model
        self._native = model._native
        self.best_iteration_ = model.best_iteration
        self.evals_result_ = model.history
        return self

    # --------------------------------------------------------------------------------------------------- prediction

    def _predict(self, X: Any, kind: str) -> NDArray[Any]:
        own = self.__dict__
        native: _native.Booster | None = own.get("_native")
        # One row is predicted in a few microseconds: no time for more than this.
        if (
            type(X) is np.ndarray
            and native is not None
            and X.ndim == 2
            and X.shape[1] == own["n_features_in_"]
            and X.dtype.char in "fd"
            and X.flags.forc
            and X.flags.aligned
            and X.dtype.isnative
            and len(X)
            and "feature_names_in_" not in own
        ):
            return native.predict(X, kind, n_jobs=self.n_jobs)
        if native is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before"
                " using this estimator."
            )
        X = self._features(X, reset=False)
        rows = read_like(X, names=native.names, categories=native.categories, wide=native.wide, n_jobs=self.n_jobs)
        return native.predict(rows.features, kind, n_jobs=self.n_jobs)

    def predict_leaf(self, X: Any) -> NDArray[np.uint32]:
        """Give the leaf of each row in each tree."""
        return self._predict(X, "leaf")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much the trees use each feature, by `importance_type`: shares that add up to 1."""
        if "_native" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        values = self.booster_.feature_importance(self.importance_type)
        total = values.sum()
        shares: NDArray[np.float64] = values / total if total > 0 else values
        return shares

    # -------------------------------------------------------------------------------------------------------- files

    def _state(self) -> str:
        """Give what only Python knows, as JSON."""
        params = {name: value for name, value in self.get_params(deep=False).items() if _is_plain(value)}
        state: dict[str, Any] = {"class": type(self).__name__, "params": params}
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            state["feature_names"] = [str(name) for name in names]
        state.update(self._more_state())
        return json.dumps(state)

    def _more_state(self) -> dict[str, Any]:
        return {}

    def _restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`_more_state` said."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model's file, from which :meth:`load` makes the estimator again.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If it cannot be written.

        """
        if "_native" not in self.__dict__:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        self.booster_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model's file as a fitted estimator: one that was saved, or any other model of the same task.

        Parameters
        ----------
        path : path-like
            The file; models of the command line, LightGBM and XGBoost are read, too.

        Returns
        -------
        estimator
            Fitted, with the settings it was trained with as far as the file has them.

        Raises
        ------
        FileError
            If the file cannot be read.
        FormatError
            If it is no model, or one for another task.

        """
        model = load_model(path)
        try:
            state = json.loads(model.metadata.get(_KEY, "{}"))
        except ValueError:
            state = {}
        known = cls._get_param_names()
        estimator = cls(**{name: value for name, value in state.get("params", {}).items() if name in known})
        if cls._classifies() != bool(model.classes):
            raise FormatError(f"{path}: a model with objective {model.objective} is none for {cls.__name__}")
        estimator.n_features_in_ = model.n_features
        if "feature_names" in state:
            estimator.feature_names_in_ = np.asarray(state["feature_names"], dtype=object)
        estimator._fitted(model)
        estimator._restore(state)
        return estimator

    @classmethod
    def _classifies(cls) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # It is in the booster already.
        return {name: value for name, value in state.items() if name != "_native"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "booster_" in self.__dict__:
            self._native = self.booster_._native

    def __sklearn_is_fitted__(self) -> bool:
        return "_native" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def _is_plain(value: Any) -> bool:
    """Whether JSON keeps it as it is."""
    if isinstance(value, list | tuple):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, bool | int | float | str)

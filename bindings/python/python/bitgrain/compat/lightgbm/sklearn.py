"""LightGBM's scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from bitgrain.boosting.frame import is_frame, is_sparse, matrix
from bitgrain.boosting.target import numbers
from bitgrain.compat.lightgbm.booster import Booster
from bitgrain.compat.lightgbm.callback import record_evaluation
from bitgrain.compat.lightgbm.dataset import Dataset
from bitgrain.compat.lightgbm.engine import train
from bitgrain.compat.lightgbm.parameters import canonical, metric_names
from bitgrain.errors import InputError

__all__ = ["LGBMClassifier", "LGBMModel", "LGBMRanker", "LGBMRegressor"]


class LGBMModel(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators; its parameters are LightGBM's, with further ones by keyword."""

    _default_objective: str | None = None

    def __init__(
        self,
        *,
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200_000,
        objective: str | Callable[..., Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: Any,
    ) -> None:
        self.boosting_type = boosting_type
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample_for_bin = subsample_for_bin
        self.objective = objective
        self.class_weight = class_weight
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.subsample_freq = subsample_freq
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.importance_type = importance_type
        self._other_params: dict[str, Any] = {}
        self.set_params(**kwargs)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, with those given by keyword."""
        return {**super().get_params(deep=deep), **self._other_params}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, by any of LightGBM's names."""
        own = self._get_param_names()
        for name, value in params.items():
            setattr(self, name, value)
            if name not in own:
                self._other_params[name] = value
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # Subclasses inherit the signature.
        names: list[str] = super(LGBMModel, LGBMModel)._get_param_names()
        return names

    def _training(self) -> dict[str, Any]:
        """Return the parameters of a training; keywords override the estimator's own parameters of the same meaning."""
        params = self.get_params(deep=False)
        for name in ("class_weight", "importance_type", "n_estimators"):
            params.pop(name, None)
        others = set(canonical(self._other_params))
        for name in list(params):
            if name not in self._other_params and canonical({name: params[name]}).keys() & others:
                del params[name]
        state = params.pop("random_state", None)
        if state is not None and "seed" not in others:
            if isinstance(state, np.random.Generator):
                state = state.integers(2**31 - 1)
            elif not isinstance(state, int | np.integer):
                state = check_random_state(state).randint(2**31 - 1)
            params["random_state"] = int(state)
        if self.objective is None:
            params["objective"] = self._objective()
        elif callable(self.objective):
            params["objective"] = _loss(self.objective)
        return params

    def _objective(self) -> str:
        if self._default_objective is None:
            raise InputError("LGBMModel needs an objective; use LGBMClassifier, LGBMRegressor or LGBMRanker")
        return self._default_objective

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        group: ArrayLike | None = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Any = None,
        eval_class_weight: Any = None,
        eval_init_score: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        **other: Any,
    ) -> Self:
        """Fit the model; the arguments are those of LightGBM."""
        if other:
            name = next(iter(other))
            fix = {
                "early_stopping_rounds": "callbacks=[early_stopping(...)]",
                "verbose": "callbacks=[log_evaluation(...)]",
                "eval_X": "eval_set=[(X, y)]",
                "eval_y": "eval_set=[(X, y)]",
            }.get(name, "see LightGBM's documentation of fit")
            raise TypeError(f"fit got an unexpected argument {name!r}; {fix}")
        rows = self._rows(X, reset=True)
        label = self._encode(y)
        params = self._training()
        names, feval = self._metrics(eval_metric, params)
        if names is not None:
            params = {name: value for name, value in params.items() if canonical({name: value}).keys() != {"metric"}}
            params["metric"] = names or "None"
        data = Dataset(
            rows, label, weight=self._weights(self.class_weight, y, sample_weight), group=group, init_score=init_score,
            feature_name=feature_name, categorical_feature=categorical_feature,
        )  # fmt: skip
        valid = []
        pairs = [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else list(eval_set)
        for at, (vX, vy) in enumerate(pairs):
            if vX is X and vy is y:
                valid.append(data)
                continue
            weight = self._weights(_at(eval_class_weight, at), vy, _at(eval_sample_weight, at))
            valid.append(
                data.create_valid(
                    self._rows(vX), self._encode_more(vy), weight, _at(eval_group, at), _at(eval_init_score, at)
                )
            )
        own = None
        if eval_names is not None:
            own = [_at(eval_names, at) or f"valid_{at}" for at in range(len(valid))]
        elif any(each is data for each in valid):
            own = ["training" if each is data else f"valid_{at}" for at, each in enumerate(valid)]
        recorded: dict[str, dict[str, list[float]]] = {}
        base = getattr(init_model, "booster_", init_model)
        booster = train(
            params, data, self.n_estimators, valid_sets=valid or None, valid_names=own if valid else None,
            feval=feval or None, init_model=base,
            callbacks=[*(callbacks or ()), *([record_evaluation(recorded)] if valid else [])],
        )  # fmt: skip
        self._Booster = booster
        self.evals_result_ = recorded
        self.best_iteration_ = max(booster.best_iteration, 0)
        self.best_score_ = booster.best_score
        self.objective_ = params["objective"] if self.objective is None else self.objective
        self.fitted_ = True
        return self

    def _rows(self, X: Any, reset: bool = False) -> Any:
        rows = X if is_frame(X) or is_sparse(X) else matrix(X)
        validate_data(self, rows, reset=reset, skip_check_array=True)
        return rows

    def _encode(self, y: ArrayLike) -> NDArray[np.float64]:
        column = column_or_1d(np.asarray(y), warn=True)
        return numbers(column, len(column), "y").astype(np.float64)

    def _encode_more(self, y: ArrayLike) -> NDArray[np.float64]:
        return LGBMModel._encode(self, y)

    def _weights(self, class_weight: Any, y: Any, sample_weight: ArrayLike | None) -> ArrayLike | None:
        if class_weight is None:
            return sample_weight
        own: NDArray[np.float64] = compute_sample_weight(class_weight, y)
        return own if sample_weight is None else own * np.asarray(sample_weight)

    def _metrics(
        self, eval_metric: Any, params: Mapping[str, Any]
    ) -> tuple[list[str] | None, list[Callable[..., Any]]]:
        """Return the names of all metrics, or None for the default, and the functions."""
        given = [] if eval_metric is None else eval_metric if isinstance(eval_metric, list) else [eval_metric]
        feval = [_measure(each) for each in given if callable(each)]
        named = [name for each in given if isinstance(each, str) for name in metric_names(each) or []]
        if not named:
            return None, feval
        metric = metric_names(canonical(params).get("metric"))
        several = str(params.get("objective")).startswith(("multiclass", "softmax"))
        fitting = {
            "logloss": "multi_logloss" if several else "binary_logloss",
            "error": "multi_error" if several else "binary_error",
        }
        if several:
            fitting |= {"binary_logloss": "multi_logloss", "binary_error": "multi_error"}
        else:
            fitting |= {"multi_logloss": "binary_logloss", "multi_error": "binary_error"} if self._classifies() else {}
        default = {"regression": "l2", "binary": "binary_logloss", "multiclass": "multi_logloss", "lambdarank": "ndcg"}
        # The objective's own metric comes along, as in LightGBM.
        objective = params.get("objective")
        first = metric or ([default.get(objective, objective)] if isinstance(objective, str) else [])
        return list(dict.fromkeys([*(fitting.get(name, name) for name in named), *first])), feval

    def _classifies(self) -> bool:
        return False

    # -------------------------------------------------------------------------------------------------- prediction

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> NDArray[Any]:
        """Predict rows; the arguments are those of :meth:`Booster.predict`."""
        booster = self.booster_
        if "num_threads" not in kwargs and "n_jobs" not in kwargs:
            kwargs["n_jobs"] = self.n_jobs
        return booster.predict(
            self._rows(X), start_iteration, num_iteration, raw_score, pred_leaf, pred_contrib, **kwargs
        )

    @property
    def booster_(self) -> Booster:
        """Trained booster."""
        if "_Booster" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before"
                " using this estimator."
            )
        found: Booster = self._Booster
        return found

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """Importance of each feature by `importance_type`, not normalized."""
        return self.booster_.feature_importance(self.importance_type)

    @property
    def feature_name_(self) -> list[str]:
        """Names of the features."""
        return self.booster_.feature_name()

    @property
    def n_features_(self) -> int:
        """Number of features."""
        return self.booster_.num_feature()

    @property
    def n_estimators_(self) -> int:
        """Number of rounds, or the best round if training stopped early."""
        return self.best_iteration_ if self.best_iteration_ > 0 else self.booster_.current_iteration()

    @property
    def n_iter_(self) -> int:
        """The same as :attr:`n_estimators_`."""
        return self.n_estimators_

    def __sklearn_is_fitted__(self) -> bool:
        return "_Booster" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


class LGBMRegressor(RegressorMixin, LGBMModel):  # type: ignore[misc]
    """Regressor with LightGBM's interface.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> model = LGBMRegressor(n_estimators=50).fit(X, X[:, 0])
    >>> bool(model.score(X, X[:, 0]) > 0.95)
    True

    """

    _default_objective = "regression"


class LGBMClassifier(ClassifierMixin, LGBMModel):  # type: ignore[misc]
    """Classifier with LightGBM's interface.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> y = np.where(X[:, 0] > 0.5, "high", "low")
    >>> LGBMClassifier(n_estimators=20).fit(X, y).predict([[0.9, 0.5]])
    array(['high'], dtype='<U4')

    """

    def _encode(self, y: ArrayLike) -> NDArray[np.float64]:
        column = column_or_1d(np.asarray(y), warn=True)
        check_classification_targets(column)
        self.classes_, codes = np.unique(column, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ < 2:
            raise InputError(f"y has only one class, `{self.classes_[0]}`; a classifier needs at least two")
        return codes.astype(np.float64)

    def _encode_more(self, y: ArrayLike) -> NDArray[np.float64]:
        column = column_or_1d(np.asarray(y))
        places: NDArray[np.intp] = np.searchsorted(self.classes_, column).clip(0, self.n_classes_ - 1)
        other = self.classes_[places] != column
        if np.any(other):
            raise InputError(f"class {column[int(np.argmax(other))]!r} of eval_set is not among the classes in y")
        return places.astype(np.float64)

    def _objective(self) -> str:
        return "binary" if self.n_classes_ == 2 else "multiclass"

    def _training(self) -> dict[str, Any]:
        params = super()._training()
        objective = params["objective"]
        if self.n_classes_ > 2:
            if objective == "binary":
                params["objective"] = "multiclass"
            if "num_class" not in canonical(self._other_params):
                params["num_class"] = self.n_classes_
        return params

    def _classifies(self) -> bool:
        return True

    def predict(self, X: Any, raw_score: bool = False, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Predict classes, or what the arguments of :meth:`Booster.predict` ask for."""
        found = self.predict_proba(X, raw_score, *args, **kwargs)
        if callable(self.objective) or raw_score or kwargs.get("pred_leaf") or kwargs.get("pred_contrib"):
            return found
        classes: NDArray[Any] = self.classes_[np.argmax(found, axis=1)]
        return classes

    def predict_proba(self, X: Any, raw_score: bool = False, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Predict the probability of each class, or what the arguments of :meth:`Booster.predict` ask for."""
        found: NDArray[Any] = super().predict(X, raw_score, *args, **kwargs)
        if callable(self.objective) or raw_score or kwargs.get("pred_leaf") or kwargs.get("pred_contrib"):
            return found
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found


class LGBMRanker(LGBMModel):
    """Ranker with LightGBM's interface; `fit` needs `group`."""

    _default_objective = "lambdarank"

    def fit(self, X: Any, y: ArrayLike, *args: Any, eval_at: Sequence[int] = (1, 2, 3, 4, 5), **kwargs: Any) -> Self:
        """Fit the model; the arguments are those of :class:`LGBMModel`, and the positions of the metrics."""
        if kwargs.get("group") is None and len(args) < 3:
            raise InputError("missing queries; pass the sizes of the queries as group")
        if kwargs.get("eval_set") is not None and kwargs.get("eval_group") is None:
            raise InputError("missing queries of eval_set; pass eval_group")
        before = dict(self._other_params)
        try:
            self._other_params["eval_at"] = list(eval_at)
            return super().fit(X, y, *args, **kwargs)
        finally:
            self._other_params = before


def _at(given: Any, at: int) -> Any:
    """Return the entry of a list or dict, if there is one."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return given.get(at)
    return given[at]


def _measure(call: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a metric ``(y_true, y_pred[, weight[, group]])`` to LightGBM's form."""

    def feval(predictions: Any, data: Dataset) -> Any:
        return call(*_arguments(call, predictions, data))

    feval.__name__ = str(getattr(call, "__name__", "metric"))
    return feval


def _loss(call: Callable[..., Any]) -> Callable[..., Any]:
    """Convert an objective ``(y_true, y_pred[, weight[, group]])`` to LightGBM's form."""

    def fobj(predictions: Any, data: Dataset) -> Any:
        return call(*_arguments(call, predictions, data))

    fobj.__name__ = str(getattr(call, "__name__", "custom"))
    return fobj


def _arguments(call: Callable[..., Any], predictions: Any, data: Dataset) -> list[Any]:
    import inspect

    given = [data.get_label(), predictions, data.get_weight(), data.get_group()]
    count = len(inspect.signature(call).parameters)
    if not 2 <= count <= 4:
        raise TypeError(f"a metric or objective takes 2 to 4 arguments, not {count}")
    return given[:count]

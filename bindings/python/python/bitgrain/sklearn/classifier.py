"""The classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from bitgrain.boosting.callables import Loss, Metric, Objective
from bitgrain.boosting.model import Model
from bitgrain.boosting.rounds import Callback
from bitgrain.errors import InputError
from bitgrain.sklearn.estimator import BitgrainEstimator

__all__ = ["BitgrainClassifier"]


class BitgrainClassifier(ClassifierMixin, BitgrainEstimator):  # type: ignore[misc]
    """Gradient-boosted trees that predict classes and their probabilities.

    Parameters
    ----------
    objective : str or callable, optional
        ``"binary"`` or ``"multiclass"``, by the number of classes if not given. A callable takes the places of the
        classes and raw scores, one column for each class if there are more than two, and returns gradients and
        hessians; probabilities are the logistic function or the softmax of the scores.
    class_weight : "balanced", dict or list, optional
        How much each class counts: all alike, by class, or in the order of the classes.
    n_estimators, learning_rate, num_leaves, max_depth, growth, min_child_samples, min_child_weight, reg_alpha, \
reg_lambda, min_split_gain, subsample, subsample_freq, data_sample_strategy, top_rate, other_rate, colsample_bytree, \
colsample_bynode, gradient_precision, early_stopping_rounds
        How trees are grown: see :class:`bitgrain.Params`.
    max_bin : int
        Bins of a feature at most, that of missing values included.
    categorical_features : list of int or str, or flags, optional
        Further columns whose numbers are codes of categories. Columns of a category type always are.
    importance_type : {"gain", "split"}
        What `feature_importances_` goes by.
    random_state : int, RandomState or None
        Chooses samples and roundings; ``None`` is 0.
    n_jobs : int, optional
        Threads; all by default. The model does not depend on it.
    verbose : bool, optional
        Show the progress; with ``None`` only in terminals and notebooks.

    Attributes
    ----------
    classes_ : ndarray
        The classes, ascending.
    n_classes_ : int
        How many there are.
    booster_ : Model
        The trees.
    feature_importances_ : ndarray
        How much the trees use each feature.
    n_features_in_ : int
        Features of a row.
    feature_names_in_ : ndarray of str
        Their names, if `X` had names that are all texts.
    evals_result_ : dict
        Metrics after each round, by data (``"train"``, ``"valid"``) and name.
    best_iteration_ : int or None
        Rounds after which the first metric on the validation data was best.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = BitgrainClassifier(gradient_precision="pair8").fit(X, y)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True

    """

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        class_weight: str | Mapping[Any, float] | Sequence[float] | None = None,
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
        super().__init__(
            objective=objective,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            num_leaves=num_leaves,
            max_depth=max_depth,
            growth=growth,
            min_child_samples=min_child_samples,
            min_child_weight=min_child_weight,
            reg_alpha=reg_alpha,
            reg_lambda=reg_lambda,
            min_split_gain=min_split_gain,
            subsample=subsample,
            subsample_freq=subsample_freq,
            data_sample_strategy=data_sample_strategy,
            top_rate=top_rate,
            other_rate=other_rate,
            colsample_bytree=colsample_bytree,
            colsample_bynode=colsample_bynode,
            max_bin=max_bin,
            gradient_precision=gradient_precision,
            categorical_features=categorical_features,
            early_stopping_rounds=early_stopping_rounds,
            importance_type=importance_type,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ArrayLike] | Sequence[tuple[Any, ArrayLike]] | None = None,
        eval_sample_weight: Sequence[ArrayLike | None] | None = None,
        eval_metric: Metric | Sequence[Metric] | None = None,
        callbacks: Sequence[Callback] | None = None,
        init_model: Model | BitgrainEstimator | None = None,
    ) -> Self:
        """Learn.

        Ctrl-C ends it after the round it is in: the estimator is fitted with the rounds that were done, and a
        :class:`bitgrain.TrainingInterrupted` warning says how many.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features. NaN and nulls are missing; columns of a category type are categories.
        y : array-like of shape (n_samples,)
            Classes: numbers, texts or booleans.
        sample_weight : array-like, optional
            How much each row counts.
        eval_set : (X, y) or list of such pairs, optional
            Data to measure on after each round. The very `X` and `y` that are fitted stand for the training
            data.
        eval_sample_weight : list of array-like, optional
            Weights of the rows of each pair.
        eval_metric : str, callable or list of them, optional
            What is measured; early stopping goes by the first. A callable takes the places of the classes and
            probabilities, and returns a value, which is better if it is less, or a name, a value and whether more is
            better.
        callbacks : list of callable, optional
            Each is called with a :class:`bitgrain.Round` after every round; a true value ends the training.
        init_model : Model or fitted estimator, optional
            A model to go on from.

        Returns
        -------
        BitgrainClassifier
            The estimator itself.

        Raises
        ------
        InputError
            If settings, shapes or values cannot be used.
        DTypeError
            If a column is of a type that cannot be used.

        """
        given = (X, y)
        X = self._features(X, reset=True, y=y)
        checked = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(checked)
        classes, places = np.unique(checked, return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"a classifier needs at least two classes, y has one class only: {classes[0]}")
        self.classes_ = classes
        self.n_classes_ = len(classes)

        def encode(target: ArrayLike) -> NDArray[np.float32]:
            given = column_or_1d(check_array(target, ensure_2d=False, dtype=None, input_name="y"))
            found = np.searchsorted(classes, given).clip(0, len(classes) - 1)
            if np.any(classes[found] != given):
                unknown = given[int(np.argmax(classes[found] != given))]
                raise InputError(f"class {str(unknown)!r} of eval_set is none of the {len(classes)} classes in y")
            places: NDArray[np.float32] = found.astype(np.float32)
            return places

        scores = 1 if len(classes) == 2 else len(classes)
        return self._grow(
            X,
            places.astype(np.float32),
            given,
            objective=self._objective(scores),
            scores=scores,
            sample_weight=sample_weight,
            class_weight=self._class_weights(),
            eval_set=eval_set,
            eval_sample_weight=eval_sample_weight,
            eval_metric=eval_metric,
            callbacks=callbacks,
            init_model=init_model,
            classes=[str(each) for each in classes],
            encode=encode,
        )

    def _objective(self, scores: int) -> str | Loss:
        if callable(self.objective):
            return Loss(self.objective, scores, "logistic" if scores == 1 else "softmax")
        name = self.objective
        if name in (None, "multiclass", "softmax", "multi:softprob", "multi:softmax", "log_loss"):
            return "binary" if scores == 1 else f"multiclass:{scores}"
        if name in ("binary", "logistic", "binary:logistic", "binary_logloss", "logloss"):
            if scores > 1:
                raise InputError(f"objective {name!r} learns two classes, y has {scores}: use 'multiclass'")
            return "binary"
        raise InputError(f"objective {name!r} learns no classes: use 'binary', 'multiclass' or a callable")

    def _class_weights(self) -> str | list[float] | None:
        given = self.class_weight
        if given is None or isinstance(given, str):
            return given
        if isinstance(given, Mapping):
            known = set(self.classes_.tolist())
            unknown = [each for each in given if each not in known]
            if unknown and not any(each in known for each in given):
                raise InputError(f"class_weight names class {unknown[0]!r}, which is not in y")
            return [float(given.get(each, 1.0)) for each in self.classes_.tolist()]
        found = [float(each) for each in given]
        if len(found) != len(self.classes_):
            raise InputError(f"class_weight has {len(found)} weights, y has {len(self.classes_)} classes")
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likeliest class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features that were fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.

        """
        raw = self._predict(X, "raw")
        places = raw.argmax(axis=1) if raw.ndim == 2 else (raw > 0.0).astype(np.intp)
        found: NDArray[Any] = self.classes_[places]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features that were fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            A column for each class, in the order of `classes_`.

        """
        found = self._predict(X, "prediction")
        if found.ndim == 2:
            return found
        # Columns on their own: half the time of rows of two.
        both = np.empty((len(found), 2), order="F")
        both[:, 1] = found
        np.subtract(1.0, found, out=both[:, 0])
        return both

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the logarithm of the probability of each class; see :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give scores before the link.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features that were fitted.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the logarithm of the odds of the second, else a score for each.

        """
        return self._predict(X, "raw")

    @classmethod
    def _classifies(cls) -> bool:
        return True

    def _more_state(self) -> dict[str, Any]:
        return {"classes": {"dtype": self.classes_.dtype.str, "values": [_plain(each) for each in self.classes_]}}

    def _restore(self, state: dict[str, Any]) -> None:
        said = state.get("classes")
        if said is None or said["values"] is None:
            classes = np.array(self.booster_.classes)
        else:
            dtype = np.dtype(said["dtype"])
            classes = np.array(said["values"], dtype=dtype)
        self.classes_ = classes
        self.n_classes_ = len(classes)


def _plain(value: Any) -> Any:
    """Give a class as JSON keeps it."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, bool | int | float | str) else str(plain)

"""Gradient-boosted classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from bitgrain import _native
from bitgrain.boosting.aliases import accepts_aliases
from bitgrain.boosting.callables import Loss, Objective
from bitgrain.boosting.target import Target, check_classes, class_weights
from bitgrain.errors import DTypeError, InputError
from bitgrain.sklearn.docstring import documented
from bitgrain.sklearn.estimator import BitgrainEstimator
from bitgrain.sklearn.state import plain
from bitgrain.sklearn.task import Task

__all__ = ["BitgrainClassifier"]


@documented(BitgrainEstimator)
@accepts_aliases
class BitgrainClassifier(ClassifierMixin, BitgrainEstimator):  # type: ignore[misc]
    """Gradient-boosted trees for classification.

    Parameters
    ----------
    objective : str or callable, optional
        ``"binary"``, ``"focal:2"`` or ``"multiclass"``, by default chosen by the number of classes. A callable takes
        the class indices and the raw scores, with one column per class if there are more than two, and returns
        gradients and hessians; probabilities are the logistic function or the softmax of the scores.
    class_weight : "balanced", dict or list, optional
        Weight of each class, by label or in the order of the classes. ``"balanced"`` gives every class the same total
        weight.
    scale_pos_weight : float, optional
        Weight of the second of two classes; that of the first is 1.
    and all of :class:`BitgrainEstimator`

    Attributes
    ----------
    classes_ : ndarray
        Class labels in ascending order.
    n_classes_ : int
        Number of classes.
    and all of :class:`BitgrainEstimator`

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
        scale_pos_weight: float | None = None,
        # Signature: written by `cargo xtask parameters`.
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        boosting: str = "gbdt",
        drop_rate: float = 0.1,
        max_drop: int | None = 50,
        skip_drop: float = 0.5,
        uniform_drop: bool = False,
        xgboost_dart_mode: bool = False,
        drop_seed: int = 4,
        num_leaves: int = 31,
        max_depth: int | None = None,
        growth: str = "leaf",
        min_child_samples: int = 20,
        min_child_weight: float = 0.001,
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
        gradient_precision: str = "f32",
        stochastic_rounding: bool = True,
        early_stopping_rounds: int | None = None,
        early_stopping_min_delta: float = 0.0,
        max_cat_to_onehot: int = 4,
        cat_l2: float = 10.0,
        cat_smooth: float = 10.0,
        max_cat_threshold: int = 32,
        lambdarank_truncation_level: int = 30,
        lambdarank_norm: bool = True,
        lambdarank_sigmoid: float = 1.0,
        label_gain: Sequence[float] | None = None,
        lambdarank_position_bias_regularization: float = 0.0,
        monotone_constraints: Sequence[int] | Mapping[str, int] | str | None = None,
        monotone_constraints_method: str = "basic",
        monotone_penalty: float = 0.0,
        interaction_constraints: Sequence[Sequence[int | str]] | str | None = None,
        max_delta_step: float = 0.0,
        path_smooth: float = 0.0,
        extra_trees: bool = False,
        extra_seed: int = 6,
        feature_contri: Sequence[float] | Mapping[str, float] | str | None = None,
        cegb_tradeoff: float = 1.0,
        cegb_penalty_split: float = 0.0,
        cegb_penalty_feature_coupled: Sequence[float] | Mapping[str, float] | str | None = None,
        forced_splits: Mapping[str, Any] | str | PathLike[str] | None = None,
        max_bin: int = 256,
        # End of the signature.
        categorical_features: Sequence[int] | Sequence[str] | None = None,
        importance_type: str = "gain",
        validation_fraction: float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool | int | None = False,
    ) -> None:
        given = locals()
        # scikit-learn reads the parameters from the signature, so it must list all of them; `locals` passes them on.
        super().__init__(**{name: given[name] for name in BitgrainEstimator._get_param_names()})
        self.class_weight = class_weight
        self.scale_pos_weight = scale_pos_weight

    def _task(self, y: ArrayLike) -> Task:
        check_classes(y)
        checked = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(checked)
        classes, places = np.unique(checked, return_inverse=True)
        if len(classes) < 2:
            raise InputError(f"y has only one class, `{classes[0]}`; a classifier needs at least two")
        self.classes_ = classes
        self.n_classes_ = len(classes)

        def encode(target: ArrayLike) -> Target:
            given = column_or_1d(check_array(target, ensure_2d=False, dtype=None, input_name="y"))
            found = np.searchsorted(classes, given).clip(0, len(classes) - 1)
            if np.any(classes[found] != given):
                unknown = given[int(np.argmax(classes[found] != given))]
                raise InputError(f"class {str(unknown)!r} of eval_set is not among the {len(classes)} classes in y")
            return Target(found.astype(np.float32), classes)

        objective, scores = self._objective(len(classes))
        return Task(
            target=Target(places.astype(np.float32), classes),
            encode=encode,
            objective=objective,
            scores=scores,
            class_weight=self._class_weight(classes.tolist()),
        )

    def _class_weight(self, classes: list[Any]) -> str | list[float] | None:
        if self.scale_pos_weight is None:
            return class_weights(self.class_weight, classes)
        if self.class_weight is not None:
            raise InputError("scale_pos_weight and class_weight exclude each other; pass one")
        if len(classes) != 2:
            raise InputError(f"scale_pos_weight is for two classes, but y has {len(classes)}; use class_weight")
        return class_weights([1.0, self.scale_pos_weight], classes)

    def _objective(self, classes: int) -> tuple[str | Loss, int]:
        """Return the objective for a number of classes, and its number of scores per row."""
        scores = 1 if classes == 2 else classes
        name = self.objective
        if callable(name):
            return Loss(name, scores, "logistic" if scores == 1 else "softmax"), scores
        if name is not None and not isinstance(name, str):
            raise DTypeError(f"objective = {name!r}: it must be a name or a callable")
        kind = "multiclass" if name is None else _native.objective_kind(name)
        if kind in ("regression", "ranking"):
            raise InputError(f"objective {name!r} is not for classification; use 'binary', 'multiclass' or a callable")
        # scikit-learn expects one score per row for two classes, so every classification objective becomes `binary`.
        return _native.infer_objective(None if kind == "multiclass" and classes == 2 else name, classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.

        """
        places = self._predict(X, "class")
        found: NDArray[Any] = self.classes_[places]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of `classes_`.

        """
        return self._predict(X, "probability")

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the logarithm of the probability of each class; see :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute raw scores, before the link function.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of the second class if there are two classes, otherwise one score per class.

        """
        return self._predict(X, "raw")

    def staged_predict_proba(self, X: Any, every: int = 1) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after every `every` rounds."""
        return self._staged(X, every, "probability")

    def staged_decision_function(self, X: Any, every: int = 1) -> Iterator[NDArray[np.float64]]:
        """Yield the raw scores after every `every` rounds."""
        return self._staged(X, every, "raw")

    def staged_predict(self, X: Any, every: int = 1) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after every `every` rounds."""
        return (self.classes_[places] for places in self._staged(X, every, "class"))

    @classmethod
    def _classifies(cls) -> bool:
        return True

    def _more_state(self) -> dict[str, Any]:
        return {"classes": {"dtype": self.classes_.dtype.str, "values": [plain(each) for each in self.classes_]}}

    def _restore(self, given: dict[str, Any]) -> None:
        said = given.get("classes")
        if said is None or said["values"] is None:
            classes = _read(self.booster_.classes)
        else:
            dtype = np.dtype(said["dtype"])
            classes = np.array(said["values"], dtype=dtype)
        self.classes_ = classes
        self.n_classes_ = len(classes)


def _read(strings: list[str]) -> NDArray[Any]:
    """Parse the class labels of a model file: integers if all of them are written as integers, otherwise strings."""
    return np.array([int(text) for text in strings] if all(map(_is_integer, strings)) else strings)


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text

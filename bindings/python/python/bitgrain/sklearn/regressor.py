"""The regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, column_or_1d

from bitgrain.boosting.callables import Loss, Metric
from bitgrain.boosting.model import Model
from bitgrain.boosting.rounds import Callback
from bitgrain.errors import InputError
from bitgrain.sklearn.estimator import BitgrainEstimator

__all__ = ["BitgrainRegressor"]


class BitgrainRegressor(RegressorMixin, BitgrainEstimator):  # type: ignore[misc]
    """Gradient-boosted trees that predict numbers.

    Parameters
    ----------
    objective : str or callable, optional
        What is minimised: ``"squared"`` (the default), ``"absolute"``, ``"huber"``, ``"quantile:0.9"``, ``"poisson"``,
        ``"gamma"``, ``"tweedie:1.5"``, or LightGBM's, XGBoost's and scikit-learn's names for them. A callable takes the
        targets and raw scores and returns gradients and hessians.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BitgrainRegressor(n_estimators=50, num_leaves=7)
    >>> bool(cross_val_score(model, X, y).mean() > 0.3)
    True

    """

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
            Numbers to predict.
        sample_weight : array-like, optional
            How much each row counts.
        eval_set : (X, y) or list of such pairs, optional
            Data to measure on after each round. The very `X` and `y` that are fitted stand for the training
            data.
        eval_sample_weight : list of array-like, optional
            Weights of the rows of each pair.
        eval_metric : str, callable or list of them, optional
            What is measured; early stopping goes by the first. A callable takes targets and predictions and returns a
            value, which is better if it is less, or a name, a value and whether more is better.
        callbacks : list of callable, optional
            Each is called with a :class:`bitgrain.Round` after every round; a true value ends the training.
        init_model : Model or fitted estimator, optional
            A model to go on from.

        Returns
        -------
        BitgrainRegressor
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

        def encode(target: ArrayLike) -> NDArray[np.float64]:
            array = check_array(target, ensure_2d=False, dtype=np.float64, input_name="y")
            found: NDArray[np.float64] = column_or_1d(array, warn=True)
            return found

        objective: Any = "squared" if self.objective is None else self.objective
        if callable(objective):
            objective = Loss(objective, 1, "identity")
        elif objective.partition(":")[0] in ("binary", "multiclass", "softmax", "multi"):
            raise InputError(f"objective {objective!r} learns classes: use BitgrainClassifier")
        return self._grow(
            X,
            encode(y),
            given,
            objective=objective,
            scores=1,
            sample_weight=sample_weight,
            class_weight=None,
            eval_set=eval_set,
            eval_sample_weight=eval_sample_weight,
            eval_metric=eval_metric,
            callbacks=callbacks,
            init_model=init_model,
            classes=None,
            encode=encode,
        )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features that were fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            A number for each row.

        """
        return self._predict(X, "prediction")

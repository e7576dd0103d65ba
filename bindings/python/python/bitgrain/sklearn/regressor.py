"""Gradient-boosted regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, column_or_1d

from bitgrain import _native
from bitgrain.boosting.callables import Loss
from bitgrain.boosting.target import Target, exact_numbers
from bitgrain.errors import DTypeError, InputError
from bitgrain.sklearn.docstring import documented
from bitgrain.sklearn.estimator import BitgrainEstimator
from bitgrain.sklearn.task import Task

__all__ = ["BitgrainRegressor"]


@documented(BitgrainEstimator)
class BitgrainRegressor(RegressorMixin, BitgrainEstimator):  # type: ignore[misc]
    """Gradient-boosted trees for regression.

    Parameters
    ----------
    objective : str or callable, optional
        Loss to minimize: ``"squared"`` (the default), ``"absolute"``, ``"huber"``, ``"quantile:0.9"``,
        ``"expectile:0.9"``, ``"fair"``, ``"log_cosh"``, ``"mape"``, ``"poisson"``, ``"gamma"``, ``"tweedie:1.5"``,
        ``"cross_entropy"`` (targets from 0 to 1), ``"cox"`` (survival times), or LightGBM's, XGBoost's and
        scikit-learn's names for them. A callable takes the targets and raw scores and returns gradients and hessians.
    and all of :class:`BitgrainEstimator`

    Attributes
    ----------
    and all of :class:`BitgrainEstimator`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BitgrainRegressor(n_estimators=50, num_leaves=7)
    >>> bool(cross_val_score(model, X, y).mean() > 0.3)
    True

    """

    def _task(self, y: ArrayLike) -> Task:
        def encode(target: ArrayLike) -> Target:
            if np.asarray(target).dtype.kind in "mM":
                raise DTypeError("y holds times, but it must be numeric; convert it, for example to days since a date")
            array = check_array(target, ensure_2d=False, dtype=np.float64, input_name="y")
            column = column_or_1d(array, warn=True)
            return Target(exact_numbers(column, len(column), "y"), None)

        objective: Any = "squared" if self.objective is None else self.objective
        if callable(objective):
            objective = Loss(objective, 1, "identity")
        elif not isinstance(objective, str):
            raise DTypeError(f"objective = {objective!r}: it must be a name or a callable")
        # XGBoost's `reg:logistic` is a regression on probabilities.
        elif not objective.startswith("reg:") and (kind := _native.objective_kind(objective)) != "regression":
            task, other = ("ranking", "Ranker") if kind == "ranking" else ("classification", "Classifier")
            raise InputError(f"objective {objective!r} is for {task}; use Bitgrain{other}")
        return Task(target=encode(y), encode=encode, objective=objective)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict target values.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted values.

        """
        return self._predict(X, "prediction")

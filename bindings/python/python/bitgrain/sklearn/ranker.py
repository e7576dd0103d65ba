"""Gradient-boosted ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, column_or_1d

from bitgrain import _native
from bitgrain.boosting.callables import Metric
from bitgrain.boosting.model import Model
from bitgrain.boosting.queries import query_metric
from bitgrain.boosting.rounds import Callback
from bitgrain.boosting.target import Target, exact_numbers
from bitgrain.errors import DTypeError, InputError
from bitgrain.sklearn.docstring import documented
from bitgrain.sklearn.estimator import BitgrainEstimator
from bitgrain.sklearn.eval_set import EvalSet, Pair
from bitgrain.sklearn.task import Task

__all__ = ["BitgrainRanker"]


@documented(BitgrainEstimator)
class BitgrainRanker(BitgrainEstimator):
    """Gradient-boosted trees for ranking the rows of a query.

    Parameters
    ----------
    objective : str, optional
        ``"lambdarank"`` (the default), ``"rank_xendcg"``, ``"rank_pairwise"``, ``"rank_map"``, or LightGBM's and
        XGBoost's names for them.
    and all of :class:`BitgrainEstimator`

    Attributes
    ----------
    and all of :class:`BitgrainEstimator`

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 4))
    >>> y = (4 * X[:, 0] * X[:, 1]).round()
    >>> qid = np.repeat(np.arange(100), 20)
    >>> model = BitgrainRanker(n_estimators=30).fit(X, y, qid=qid)
    >>> bool(model.score(X, y, qid=qid) > 0.95)
    True

    """

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: ArrayLike,
        group: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        position: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Pair | Sequence[Pair] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_sample_weight: Sequence[ArrayLike | None] | None = None,
        eval_metric: Metric | Sequence[Metric] | None = None,
        callbacks: Sequence[Callback] | None = None,
        init_model: Model | BitgrainEstimator | None = None,
        eval_names: Sequence[str] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features. The rows of a query must be adjacent.
        y : array-like of shape (n_samples,)
            Relevance labels: integers of at least 0, higher for more relevant rows.
        group : array-like of int, optional
            Number of rows of each query.
        qid : array-like of shape (n_samples,), optional
            Query of each row, instead of `group`.
        position : array-like of int of shape (n_samples,), optional
            Position at which each row was displayed; ``lambdarank`` corrects the bias of clicks toward the first
            positions.
        sample_weight : array-like, optional
            Weight of each row.
        eval_set : (X, y) or list of such pairs, optional
            Validation data, evaluated after each round. A pair with the same values as `X` and `y` is the training
            data. Early stopping and the best round use the first other pair only.
        eval_group : list of array-like, optional
            Number of rows of each query, of each pair.
        eval_qid : list of array-like, optional
            Query of each row, of each pair, instead of `eval_group`.
        eval_sample_weight : list of array-like, optional
            Row weights of each pair.
        eval_metric : str, callable or list of them, optional
            Metrics to evaluate, ``"ndcg@10"`` by default; early stopping uses the first.
        callbacks : list of callable, optional
            Functions called with a :class:`bitgrain.boosting.Round` after every round; a true return value stops the
            training.
        init_model : Model or fitted estimator, optional
            Model to continue training from.
        eval_names : list of str, optional
            Name of each pair in `evals_result_`.

        Returns
        -------
        estimator
            Fitted estimator.

        Raises
        ------
        InputError
            If a setting, shape or value is unusable, or the queries are missing.
        DTypeError
            If a column has an unsupported dtype.

        """
        if group is None and qid is None:
            raise InputError("missing queries; pass the sizes of the queries as group, or the query of each row as qid")
        watched = EvalSet.read(eval_set, eval_sample_weight, eval_names).with_queries(eval_group, eval_qid)
        queries = {"group": group, "qid": qid, "position": position}
        return self._or_unchanged(
            lambda: self._fit((X, y), sample_weight, watched, eval_metric, callbacks or (), init_model, queries)
        )

    def _task(self, y: ArrayLike) -> Task:
        def encode(target: ArrayLike) -> Target:
            array = check_array(target, ensure_2d=False, dtype=np.float64, input_name="y")
            column = column_or_1d(array, warn=True)
            return Target(exact_numbers(column, len(column), "y"), None)

        objective: Any = "lambdarank" if self.objective is None else self.objective
        if not isinstance(objective, str):
            raise DTypeError(f"objective = {objective!r}: it must be a name")
        if _native.objective_kind(objective) != "ranking":
            raise InputError(
                f"objective {objective!r} is not for ranking; use 'lambdarank' or another ranking objective"
            )
        return Task(target=encode(y), encode=encode, objective=objective)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict scores, by which the rows of a query are ranked: highest first.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; only their order within a query has a meaning.

        """
        return self._predict(X, "prediction")

    def score(
        self,
        X: Any,
        y: ArrayLike,
        group: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        metric: str = "ndcg@10",
    ) -> float:
        """Evaluate a ranking metric, NDCG of the first ten rows by default.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Relevance labels.
        group : array-like of int, optional
            Number of rows of each query.
        qid : array-like of shape (n_samples,), optional
            Query of each row, instead of `group`.
        sample_weight : array-like, optional
            Weight of each row.
        metric : str
            Name of the metric; see :func:`bitgrain.boosting.query_metric`.

        Returns
        -------
        float
            Mean over the queries; higher is better.

        """
        return query_metric(metric, y, self.predict(X), group=group, qid=qid, sample_weight=sample_weight)

"""Base class of the estimators."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from bitgrain import _native
from bitgrain.boosting.callables import Metric, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.frame import is_frame, is_sparse, matrix, nameless
from bitgrain.boosting.model import Model, load_model, unwrapped
from bitgrain.boosting.rounds import Callback
from bitgrain.boosting.training import grow
from bitgrain.errors import FormatError, InputError
from bitgrain.sklearn import state
from bitgrain.sklearn.eval_set import EvalSet, Pair, held_out
from bitgrain.sklearn.settings import Settings
from bitgrain.sklearn.task import Task

__all__ = ["BitgrainEstimator"]


class BitgrainEstimator(Settings):
    """Base class of the estimators: parameters, fitting and files.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of boosting rounds; each adds one tree, or one tree per class.
    learning_rate : float, default 0.1
        Learning rate: shrinkage of each tree's contribution.
    boosting : {"gbdt", "dart", "rf"}, default "gbdt"
        Combination of trees: gradient boosting, boosting with dropout of trees (DART), or a random forest.
    drop_rate : float, default 0.1
        Fraction of the earlier rounds that DART drops in a round.
    max_drop : int, optional, default 50
        Maximum number of rounds that DART drops at once, 50 by default.
    skip_drop : float, default 0.5
        Probability that DART drops no trees in a round.
    uniform_drop : bool, default False
        Equal chances of all rounds to be dropped by DART, instead of chances proportional to their weights.
    xgboost_dart_mode : bool, default False
        Weights of the trees of DART as in XGBoost.
    drop_seed : int, default 4
        Random seed of the dropped rounds, combined with seed.
    num_leaves : int, default 31
        Maximum number of leaves per tree; symmetric trees round it up to a power of two.
    max_depth : int, optional
        Maximum tree depth, unlimited by default; symmetric trees have at most 16 levels.
    growth : {"leaf", "depth", "symmetric"}, default "leaf"
        Tree growth: leaf with the largest gain first, level by level, or symmetric with one split per level.
    min_child_samples : int, default 20
        Minimum number of rows per leaf, estimated from the hessians.
    min_child_weight : float, default 0.001
        Minimum sum of hessians per leaf.
    reg_alpha : float, default 0.0
        L1 penalty on leaf values.
    reg_lambda : float, default 0.0
        L2 penalty on leaf values.
    min_split_gain : float, default 0.0
        Minimum gain of a split.
    subsample : float, default 1.0
        Fraction of the rows sampled for each tree.
    subsample_freq : int, default 1
        Number of rounds that use the same row sample; 0 uses all rows.
    data_sample_strategy : {"bagging", "goss"}, default "bagging"
        Row sampling: uniform, or gradient-based (GOSS) with top_rate and other_rate.
    top_rate : float, default 0.2
        Fraction of the rows that GOSS keeps: those with the largest gradients.
    other_rate : float, default 0.1
        Fraction of the rows that GOSS samples from those it does not keep.
    colsample_bytree : float, default 1.0
        Fraction of the features sampled for each tree.
    colsample_bynode : float, default 1.0
        Fraction of the features sampled for each node.
    gradient_precision : {"f32", "pair8", "pair4", "auto"}, default "f32"
        Storage of gradients: f32, pairs of 8 or 4 bits, or auto (f32 up to 1 million rows, pair8 up to 10 million).
    stochastic_rounding : bool, default True
        Stochastic rounding of quantized gradients; pair4 always uses it.
    early_stopping_rounds : int, optional
        Number of rounds without improvement on the validation data after which training stops; off by default.
    early_stopping_min_delta : float, default 0.0
        Minimum improvement of the metric that counts for early stopping.
    max_cat_to_onehot : int, default 4
        Maximum number of categories of a feature for one-vs-rest splits.
    cat_l2 : float, default 10.0
        Additional L2 penalty for categorical splits.
    cat_smooth : float, default 10.0
        Smoothing of the category statistics that determine the order of categories.
    max_cat_threshold : int, default 32
        Maximum number of categories on the smaller side of a split.
    lambdarank_truncation_level : int, default 30
        Number of top-ranked rows per query that form pairs with other rows in ranking.
    lambdarank_norm : bool, default True
        Normalization of the gradients of each query in ranking, so that long queries do not dominate.
    lambdarank_sigmoid : float, default 1.0
        Factor of score differences in the logistic function of pairs in ranking.
    label_gain : sequence of float, optional
        Gain of each relevance label in ranking, 2^label - 1 by default.
    lambdarank_position_bias_regularization : float, default 0.0
        L2 penalty on the biases of positions in ranking.
    monotone_constraints : Sequence[int] | Mapping[str, int] | str | None
        Direction of each feature's effect on the score: 1 increasing, -1 decreasing, 0 free; by position or by name.
    monotone_constraints_method : {"basic", "intermediate", "advanced"}, default "basic"
        Bounds that keep trees monotone: basic restricts leaf values most, advanced least.
    monotone_penalty : float, default 0.0
        Penalty on splits of monotone features near the root; levels above it have no such split.
    interaction_constraints : Sequence[Sequence[int | str]] | str | None
        Groups of features that may share a path from the root to a leaf; a feature in no group shares none.
    max_delta_step : float, default 0.0
        Maximum absolute value of a leaf before the learning rate; 0 is unlimited.
    path_smooth : float, default 0.0
        Smoothing of each node's value toward its parent's value, which counts as this number of rows.
    extra_trees : bool, default False
        Extremely randomized trees: one random cut per feature and node is tried.
    extra_seed : int, default 6
        Random seed of extra_trees.
    feature_contri : Sequence[float] | Mapping[str, float] | str | None
        Factor for the gain of each feature, by position or by name; 1 by default.
    cegb_tradeoff : float, default 1.0
        Factor for all costs of cost-effective gradient boosting.
    cegb_penalty_split : float, default 0.0
        Cost of a split per row of its node, subtracted from the gain.
    cegb_penalty_feature_coupled : Sequence[float] | Mapping[str, float] | str | None
        Cost of the first split on each feature in the whole model, subtracted from the gain.
    forced_splits : Mapping[str, Any] | str | PathLike[str] | None
        Splits at the top of every tree: a JSON file or object in the format of LightGBM.
    max_bin : int, default 256
        Maximum number of bins per numeric feature, including the bin for missing values.
    categorical_features : list of int or str, or flags, optional
        Additional columns whose numbers are category codes. Columns with a categorical dtype are always categorical.
    importance_type : {"gain", "split"}
        Kind of importance in `feature_importances_`.
    validation_fraction : float, optional
        Fraction of the rows that `fit` holds out as validation data, stratified by class, if it gets no `eval_set`.
    warm_start : bool, default False
        Whether `fit` adds rounds to those of the last fit, up to `n_estimators` in total.
    random_state : int, RandomState or None
        Seed of row samples and stochastic rounding; ``None`` is 0.
    n_jobs : int, optional
        Number of threads; all cores by default. The model does not depend on it.
    verbose : bool or int, optional
        Whether to show progress; ``None`` shows it in terminals and notebooks only, integers above 0 always.

    Attributes
    ----------
    booster_ : Model
        Trained model.
    feature_importances_ : ndarray
        Importance of each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features; defined only if all column names of `X` are strings.
    evals_result_ : dict
        Metrics after each round, by dataset (``"train"``, ``"valid"``, or its name in `eval_names`) and metric name.
    best_iteration_ : int or None
        Number of rounds after which the first metric on the first validation set was best.
    best_score_ : dict
        Metrics after the best round, or after the last one, by dataset and metric name.
    n_iter_ : int
        Number of rounds of the model.
    feature_name_ : list of str
        Names of the features, also if the columns of `X` are unnamed.

    """

    # ------------------------------------------------------------------------------------------------------ fitting

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        eval_set: Pair | Sequence[Pair] | None = None,
        eval_sample_weight: Sequence[ArrayLike | None] | None = None,
        eval_metric: Metric | Sequence[Metric] | None = None,
        callbacks: Sequence[Callback] | None = None,
        init_model: Model | BitgrainEstimator | None = None,
        eval_names: Sequence[str] | None = None,
        init_score: ArrayLike | None = None,
        eval_init_score: Sequence[ArrayLike] | None = None,
    ) -> Self:
        """Fit the model.

        Ctrl-C stops the training after the current round: the estimator is fitted with the completed rounds, and a
        :class:`bitgrain.errors.TrainingInterrupted` warning gives their number. A second Ctrl-C raises
        ``KeyboardInterrupt``. If fitting fails, the estimator is unchanged.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Features. NaN and nulls are missing values; columns with a categorical dtype are categorical.
        y : array-like of shape (n_samples,)
            Target: numbers for a regressor; numbers, strings or booleans as class labels for a classifier.
        sample_weight : array-like, optional
            Weight of each row.
        eval_set : (X, y) or list of such pairs, optional
            Validation data, evaluated after each round. A pair with the same values as `X` and `y` is the training
            data. Early stopping and the best round use the first other pair only.
        eval_sample_weight : list of array-like, optional
            Row weights of each pair.
        eval_metric : str, callable or list of them, optional
            Metrics to evaluate; early stopping uses the first. With three or more classes, ``"logloss"`` means
            ``"multi_logloss"`` and ``"error"`` means ``"multi_error"``. A callable takes targets and predictions, which
            are class indices and probabilities for a classifier, and returns a value, where lower is better, or a name,
            a value and whether higher is better.
        callbacks : list of callable, optional
            Functions called with a :class:`bitgrain.boosting.Round` after every round; a true return value stops the
            training.
        init_model : Model or fitted estimator, optional
            Model to continue training from.
        eval_names : list of str, optional
            Name of each pair in `evals_result_`. By default the training data is called ``"train"``, a single other
            pair ``"valid"``, and several pairs ``"valid_0"``, ``"valid_1"`` and so on.
        init_score : array-like, optional
            Raw score of each row from which training starts (base margin); one column per class if there are more than
            two. Predictions do not include it: add it to the raw scores.
        eval_init_score : list of array-like, optional
            Initial scores of each pair of `eval_set`; required if there is `init_score`.

        Returns
        -------
        estimator
            Fitted estimator.

        Raises
        ------
        InputError
            If a setting, shape or value is unusable.
        DTypeError
            If a column has an unsupported dtype.

        """
        if self.validation_fraction is not None and eval_set is None:
            if init_score is not None:
                raise InputError("validation_fraction and init_score exclude each other; pass eval_set")
            (X, y, sample_weight), eval_set, eval_sample_weight = held_out(
                X, y, sample_weight, self.validation_fraction, self._seed(), stratify=self._classifies()
            )
        watched = EvalSet.read(eval_set, eval_sample_weight, eval_names).with_init_scores(eval_init_score)
        more = {} if init_score is None else {"init_score": init_score}
        return self._or_unchanged(
            lambda: self._fit((X, y), sample_weight, watched, eval_metric, callbacks or (), init_model, more)
        )

    def _or_unchanged(self, fit: Callable[[], Self]) -> Self:
        """Fit the model; if that fails, restore the estimator."""
        before = dict(self.__dict__)
        try:
            return fit()
        except BaseException:
            # Restore the old state: new classes with old trees would give wrong predictions.
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            self.__dict__.update(before)
            raise

    def _fit(
        self,
        given: Pair,
        sample_weight: ArrayLike | None,
        watched: EvalSet,
        eval_metric: Metric | Sequence[Metric] | None,
        callbacks: Sequence[Callback],
        init_model: Model | BitgrainEstimator | None,
        queries: Mapping[str, Any] = MappingProxyType({}),
    ) -> Self:
        params = self._params()
        if self.warm_start and init_model is None and self.__sklearn_is_fitted__():
            more = params.n_estimators - self.n_iter_
            if more < 0:
                raise InputError(
                    f"n_estimators = {params.n_estimators}, but the model has {self.n_iter_} rounds already"
                )
            if more == 0:
                return self
            init_model, params = self.booster_, params.replace(n_estimators=more)
        X = self._features(given[0], reset=True, y=given[1])
        task = self._task(given[1])
        data = Dataset(
            X,
            task.target,
            weight=sample_weight,
            **queries,
            categorical=self._categorical(X),
            max_bin=self.max_bin,
            class_weight=task.class_weight,
            init_model=_base(init_model, task),
            seed=params.seed,
            n_jobs=self.n_jobs,
        )
        self.n_features_in_ = data.n_features
        encode, objective, scores = task.encode, task.objective, task.scores
        # Releases the encoded target: the data has its own copy, and both would count in the peak of memory.
        del task
        valid, watch_train = watched.binned(data, given, encode, self.n_jobs)
        model = grow(
            data,
            params,
            objective,
            valid=valid,
            metrics=measures(eval_metric, scores),
            watch_train=watch_train,
            callbacks=callbacks,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
            metadata={state.KEY: self._state()},
            keep=False,
            stacklevel=6,
        )
        return self._fitted(model)

    def _task(self, y: ArrayLike) -> Task:
        """Return the encoded target and the objective."""
        raise NotImplementedError(
            f"{type(self).__name__} is abstract; use BitgrainClassifier, BitgrainRegressor or BitgrainRanker"
        )

    def _features(self, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
        """Return the features after scikit-learn's checks of column names and counts."""
        X = X if is_frame(X) or is_sparse(X) else matrix(X)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        return X

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
        # A single row is predicted in a few microseconds, so this path skips all other checks.
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
        self._check_fitted()
        return self.booster_._predict(self._features(X, reset=False), kind, None, self.n_jobs)

    @property
    def n_iter_(self) -> int:
        """Number of rounds of the model."""
        self._check_fitted()
        return self.booster_.n_rounds

    @property
    def feature_name_(self) -> list[str]:
        """Names of the features."""
        self._check_fitted()
        return self.booster_.feature_names

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Metrics after the best round, or after the last one."""
        self._check_fitted()
        at = -1 if self.best_iteration_ is None else self.best_iteration_ - 1
        return {data: {name: values[at] for name, values in own.items()} for data, own in self.evals_result_.items()}

    def staged_predict(self, X: Any, every: int = 1) -> Iterator[NDArray[Any]]:
        """Yield the predictions after every `every` rounds."""
        return self._staged(X, every, "prediction")

    def _staged(self, X: Any, every: int, kind: str) -> Iterator[NDArray[Any]]:
        self._check_fitted()
        return self.booster_.staged_predict(self._features(X, reset=False), every=every, kind=kind, n_jobs=self.n_jobs)

    def _check_fitted(self) -> None:
        if "_native" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before"
                " using this estimator."
            )

    def predict_leaf(self, X: Any) -> NDArray[np.uint32]:
        """Return the leaf index of each row in each tree."""
        return self._predict(X, "leaf")

    def predict_contributions(
        self, X: Any, *, background: Any = None, interactions: bool = False
    ) -> NDArray[np.float64]:
        """Divide the raw score of each row among the features: exact SHAP values.

        See :meth:`bitgrain.boosting.Model.predict_contributions` for the parameters and the shape of the result.
        """
        self._check_fitted()
        rows = self._features(X, reset=False)
        others = None if background is None else self._features(background, reset=False)
        return self.booster_.predict_contributions(
            rows, background=others, interactions=interactions, n_jobs=self.n_jobs
        )

    pred_contrib = predict_contributions

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Feature importances by `importance_type`, normalized to sum to 1."""
        self._check_fitted()
        values = self.booster_.feature_importance(self.importance_type)
        total = values.sum()
        shares: NDArray[np.float64] = values / total if total > 0 else values
        return shares

    # -------------------------------------------------------------------------------------------------------- files

    def _state(self) -> str:
        names = getattr(self, "feature_names_in_", None)
        return state.as_json(type(self).__name__, self.get_params(deep=False), names, self._more_state())

    def _more_state(self) -> dict[str, Any]:
        return {}

    def _restore(self, said: dict[str, Any]) -> None:
        """Restore the state returned by :meth:`_more_state`."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, from which :meth:`load` restores the estimator.

        Parameters
        ----------
        path : path-like
            Path of the file.

        Raises
        ------
        FileError
            If the file cannot be written.

        """
        self._check_fitted()
        self.booster_.save(path, "bitgrain")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file as a fitted estimator: a saved estimator, or any other model for the same task.

        Parameters
        ----------
        path : path-like
            Path of the file; models of the command line, LightGBM and XGBoost are accepted as well.

        Returns
        -------
        estimator
            Fitted estimator, with its parameters as far as the file contains them.

        Raises
        ------
        FileError
            If the file cannot be read.
        FormatError
            If the file is not a model, or a model for another task.

        """
        model = load_model(path)
        said = state.read(model)
        known = cls._get_param_names()
        estimator = cls(**{name: value for name, value in said.get("params", {}).items() if name in known})
        if cls._classifies() != bool(model.classes):
            raise FormatError(f"{path}: {cls.__name__} does not support objective {model.objective}")
        estimator.n_features_in_ = model.n_features
        if "feature_names" in said:
            estimator.feature_names_in_ = np.asarray(said["feature_names"], dtype=object)
        elif not said and not nameless(model.feature_names):
            estimator.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        estimator._fitted(model)
        estimator._restore(said)
        return estimator

    @classmethod
    def _classifies(cls) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        kept: dict[str, Any] = super().__getstate__()
        # The booster contains it already.
        return {name: value for name, value in kept.items() if name != "_native"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
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


def _base(init_model: Model | BitgrainEstimator | None, task: Task) -> Model | None:
    """Return the model to continue training from."""
    if init_model is None:
        return None
    base = unwrapped(init_model, "init_model")
    classes = None if task.target.classes is None else [str(each) for each in task.target.classes]
    if classes is not None and base.classes and base.classes != classes:
        raise InputError(f"init_model has the classes {base.classes}, but y has {classes}")
    return base

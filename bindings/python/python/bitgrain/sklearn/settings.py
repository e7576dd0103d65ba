"""Parameters of the estimators, stored as attributes in the manner of scikit-learn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from bitgrain.boosting.aliases import accepts_aliases, renamed
from bitgrain.boosting.callables import Objective
from bitgrain.boosting.params import Params
from bitgrain.errors import InputError

__all__ = ["Settings"]


@accepts_aliases
class Settings(BaseEstimator):  # type: ignore[misc]
    """Parameters common to all estimators; :class:`BitgrainEstimator` documents them."""

    def __init__(
        self,
        *,
        objective: Objective | None = None,
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
        self.objective = objective
        # Attributes: written by `cargo xtask parameters`.
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.boosting = boosting
        self.drop_rate = drop_rate
        self.max_drop = max_drop
        self.skip_drop = skip_drop
        self.uniform_drop = uniform_drop
        self.xgboost_dart_mode = xgboost_dart_mode
        self.drop_seed = drop_seed
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
        self.gradient_precision = gradient_precision
        self.stochastic_rounding = stochastic_rounding
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_min_delta = early_stopping_min_delta
        self.max_cat_to_onehot = max_cat_to_onehot
        self.cat_l2 = cat_l2
        self.cat_smooth = cat_smooth
        self.max_cat_threshold = max_cat_threshold
        self.lambdarank_truncation_level = lambdarank_truncation_level
        self.lambdarank_norm = lambdarank_norm
        self.lambdarank_sigmoid = lambdarank_sigmoid
        self.label_gain = label_gain
        self.lambdarank_position_bias_regularization = lambdarank_position_bias_regularization
        self.monotone_constraints = monotone_constraints
        self.monotone_constraints_method = monotone_constraints_method
        self.monotone_penalty = monotone_penalty
        self.interaction_constraints = interaction_constraints
        self.max_delta_step = max_delta_step
        self.path_smooth = path_smooth
        self.extra_trees = extra_trees
        self.extra_seed = extra_seed
        self.feature_contri = feature_contri
        self.cegb_tradeoff = cegb_tradeoff
        self.cegb_penalty_split = cegb_penalty_split
        self.cegb_penalty_feature_coupled = cegb_penalty_feature_coupled
        self.forced_splits = forced_splits
        self.max_bin = max_bin
        # End of the attributes.
        self.categorical_features = categorical_features
        self.importance_type = importance_type
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters by canonical name or by the names of LightGBM and XGBoost.

        Raises
        ------
        InputError
            If a name is unknown, or a parameter is given twice with different values.

        """
        own = type(self)._get_param_names()
        changed: Self = super().set_params(**(params if params.keys() <= set(own) else renamed(params, own)))
        return changed

    def _params(self) -> Params:
        """Return the validated training parameters."""
        names = [field.name for field in dataclasses.fields(Params) if field.name != "seed"]
        params = Params(seed=self._seed(), **{name: getattr(self, name) for name in names})
        params.check()
        return params

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, int | np.integer) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

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

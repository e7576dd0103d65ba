"""Hyperparameters of boosting."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from bitgrain import _native
from bitgrain.boosting.aliases import accepts_aliases, resolved
from bitgrain.errors import DTypeError

__all__ = ["Chosen", "Params", "chosen"]


@accepts_aliases
@dataclasses.dataclass(frozen=True, kw_only=True)
class Params:
    """Hyperparameters of boosting.

    Names and defaults are those of LightGBM's scikit-learn interface, except for `subsample_freq`. LightGBM's and
    XGBoost's names are accepted as well: ``Params(lambda_l2=1.0).reg_lambda`` is 1.0. Values are checked on use.

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
    seed : int, default 0
        Random seed for sampling and stochastic rounding.

    Examples
    --------
    >>> Params(num_leaves=63).num_leaves
    63
    >>> Params(eta=0.05).learning_rate
    0.05
    >>> Params(learning_rate=-1.0).check()
    Traceback (most recent call last):
    bitgrain.errors.InputError: invalid learning_rate: `-1.0`; use a number above 0

    """

    # Fields: written by `cargo xtask parameters`.
    n_estimators: int = 100
    learning_rate: float = 0.1
    boosting: str = "gbdt"
    drop_rate: float = 0.1
    max_drop: int | None = 50
    skip_drop: float = 0.5
    uniform_drop: bool = False
    xgboost_dart_mode: bool = False
    drop_seed: int = 4
    num_leaves: int = 31
    max_depth: int | None = None
    growth: str = "leaf"
    min_child_samples: int = 20
    min_child_weight: float = 0.001
    reg_alpha: float = 0.0
    reg_lambda: float = 0.0
    min_split_gain: float = 0.0
    subsample: float = 1.0
    subsample_freq: int = 1
    data_sample_strategy: str = "bagging"
    top_rate: float = 0.2
    other_rate: float = 0.1
    colsample_bytree: float = 1.0
    colsample_bynode: float = 1.0
    gradient_precision: str = "f32"
    stochastic_rounding: bool = True
    early_stopping_rounds: int | None = None
    early_stopping_min_delta: float = 0.0
    max_cat_to_onehot: int = 4
    cat_l2: float = 10.0
    cat_smooth: float = 10.0
    max_cat_threshold: int = 32
    lambdarank_truncation_level: int = 30
    lambdarank_norm: bool = True
    lambdarank_sigmoid: float = 1.0
    label_gain: Sequence[float] | None = None
    lambdarank_position_bias_regularization: float = 0.0
    monotone_constraints: Sequence[int] | Mapping[str, int] | str | None = None
    monotone_constraints_method: str = "basic"
    monotone_penalty: float = 0.0
    interaction_constraints: Sequence[Sequence[int | str]] | str | None = None
    max_delta_step: float = 0.0
    path_smooth: float = 0.0
    extra_trees: bool = False
    extra_seed: int = 6
    feature_contri: Sequence[float] | Mapping[str, float] | str | None = None
    cegb_tradeoff: float = 1.0
    cegb_penalty_split: float = 0.0
    cegb_penalty_feature_coupled: Sequence[float] | Mapping[str, float] | str | None = None
    forced_splits: Mapping[str, Any] | str | PathLike[str] | None = None
    seed: int = 0
    # End of the fields.

    def replace(self, **settings: Any) -> Params:
        """Return a copy with some parameters changed.

        Raises
        ------
        InputError
            If a name is unknown, or a parameter is given twice with different values.

        """
        return dataclasses.replace(self, **_fields(resolved(settings)))

    def check(self) -> None:
        """Validate every parameter.

        Raises
        ------
        InputError
            If a value is out of range.
        DTypeError
            If a value has the wrong type.

        """
        _native.check_parameters(self.native())

    def native(self) -> dict[str, Any]:
        """Return the parameters as the dictionary that the native extension validates."""
        return dict(vars(self))


@dataclasses.dataclass(frozen=True, slots=True)
class Chosen:
    """Hyperparameters, and the parameters of the call that runs the training."""

    params: Params
    run: dict[str, Any]
    """Objective, metric, threads and verbosity, as far as they were given as parameters."""

    def own(self, name: str, keyword: Any, default: Any = None) -> Any:
        """Return a keyword argument, or the parameter of that name if the argument has its default value."""
        return self.run.get(name, keyword) if keyword is default else keyword


def chosen(params: Params | Mapping[str, Any] | None, settings: Mapping[str, Any], objective: object = None) -> Chosen:
    """Merge `params` and `settings`, where `settings` take precedence, and validate the result."""
    if params is not None and not isinstance(params, Params | Mapping):
        raise DTypeError(f"params must be Params or a dict of settings, not {type(params).__name__}")
    base = params if isinstance(params, Params) else Params()
    given = params if isinstance(params, Mapping) else {}
    objective = objective or resolved(settings).get("objective") or resolved(given).get("objective")
    merged = {**resolved(given, objective), **resolved(settings, objective)}
    run: dict[str, Any] = {
        name: merged.pop(name) for name in ("objective", "metric", "n_jobs", "verbose") if name in merged
    }
    own = dataclasses.replace(base, **_fields(merged))
    own.check()
    return Chosen(own, run)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """Reject parameters that are not fields, such as `max_bin`, which belongs to a dataset."""
    others = {name: value for name, value in given.items() if name not in Params.__dataclass_fields__}
    if others:
        _native.check_parameters(others)
    return given

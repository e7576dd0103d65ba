"""Parameters of LightGBM: translation to bitgrain's, and errors for those that are not supported."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bitgrain import _native
from bitgrain.boosting.aliases import resolved
from bitgrain.compat.lightgbm.metrics import MetricSpec, default_metrics, metric_specs
from bitgrain.errors import InputError

__all__ = ["Settings", "canonical", "translated"]

#: LightGBM's parameters outside bitgrain's table, with their aliases.
_OTHERS: dict[str, tuple[str, ...]] = {
    "alpha": (),
    "bagging_by_query": (),
    "bagging_seed": ("bagging_fraction_seed",),
    "boost_from_average": (),
    "categorical_feature": ("cat_feature", "categorical_column", "cat_column", "categorical_features"),
    "cegb_penalty_feature_lazy": (),
    "data_random_seed": ("data_seed",),
    "deterministic": (),
    "device_type": ("device",),
    "enable_bundle": ("is_enable_bundle", "bundle"),
    "eval_at": ("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
    "fair_c": (),
    "feature_fraction_seed": (),
    "feature_pre_filter": (),
    "first_metric_only": (),
    "force_col_wise": (),
    "force_row_wise": (),
    "forcedbins_filename": (),
    "histogram_pool_size": ("hist_pool_size",),
    "is_enable_sparse": ("is_sparse", "enable_sparse", "sparse"),
    "is_provide_training_metric": ("training_metric", "is_training_metric", "train_metric"),
    "is_unbalance": ("unbalance", "unbalanced_sets"),
    "linear_tree": ("linear_trees",),
    "max_bin_by_feature": (),
    "metric_freq": ("output_freq",),
    "min_data_in_bin": (),
    "min_data_per_group": (),
    "multi_error_top_k": (),
    "neg_bagging_fraction": ("neg_sub_row", "neg_subsample", "neg_bagging"),
    "num_class": ("num_classes",),
    "num_grad_quant_bins": (),
    "num_machines": ("num_machine",),
    "objective_seed": (),
    "poisson_max_delta_step": (),
    "pos_bagging_fraction": ("pos_sub_row", "pos_subsample", "pos_bagging"),
    "pre_partition": ("is_pre_partition",),
    "quant_train_renew_leaf": (),
    "reg_sqrt": (),
    "saved_feature_importance_type": (),
    "scale_pos_weight": (),
    "sigmoid": (),
    "snapshot_freq": ("save_period",),
    "tree_learner": ("tree", "tree_type", "tree_learner_type"),
    "tweedie_variance_power": (),
    "two_round": ("two_round_loading", "use_two_round_loading"),
    "use_missing": (),
    "use_quantized_grad": (),
    "zero_as_missing": (),
}

#: Parameters of speed and memory only: the model does not depend on them.
_WITHOUT_EFFECT_ON_MODELS = {
    "deterministic",
    "enable_bundle",
    "feature_pre_filter",
    "force_col_wise",
    "force_row_wise",
    "histogram_pool_size",
    "is_enable_sparse",
    "metric_freq",
    "pre_partition",
    "quant_train_renew_leaf",
    "saved_feature_importance_type",
    "two_round",
}

#: Parameters with the only accepted values, and the alternative to all others.
_FIXED: dict[str, tuple[tuple[Any, ...], str]] = {
    "bagging_by_query": ((True, False), ""),
    "cegb_penalty_feature_lazy": ((None, ""), "use cegb_penalty_feature_coupled"),
    "device_type": (("cpu",), "bitgrain trains on the CPU"),
    "forcedbins_filename": ((None, ""), "round the feature to the wanted bounds before training"),
    "linear_tree": ((False,), "use leaves with constants and more of them"),
    "max_bin_by_feature": ((None, "", [], ()), "use max_bin for all features"),
    "min_data_in_bin": ((1, 3), "use a smaller max_bin"),
    "min_data_per_group": ((1, 100), "use cat_smooth and cat_l2"),
    "multi_error_top_k": ((1,), "pass a function as feval"),
    "neg_bagging_fraction": ((1.0,), "use bagging_fraction and weights"),
    "num_machines": ((1,), "use bitgrain.distributed"),
    "poisson_max_delta_step": ((0.7,), "use max_delta_step"),
    "pos_bagging_fraction": ((1.0,), "use bagging_fraction and weights"),
    "reg_sqrt": ((False,), "train on the square roots of the targets and square the predictions"),
    "snapshot_freq": ((-1, 0), "use bitgrain.train(checkpoint=...)"),
    "tree_learner": (("serial",), "use bitgrain.distributed"),
    "use_missing": ((True,), "replace missing values with a number before training"),
    "zero_as_missing": ((False,), "replace zeros with NaN before training"),
}

#: Seeds of parts of LightGBM. Bitgrain has one seed, which is derived from all that are given.
_SEEDS = ("bagging_seed", "data_random_seed", "feature_fraction_seed", "objective_seed")

_COMMAND_LINE = {
    "config", "data", "input_model", "output_model", "output_result", "save_binary", "task", "valid", "machines",
    "machine_list_filename", "convert_model", "convert_model_language", "local_listen_port", "time_out", "header",
    "label_column", "weight_column", "group_column", "ignore_column", "gpu_platform_id", "gpu_device_id", "gpu_use_dp",
    "num_gpu", "max_conflict_rate", "monotone_constraints_cost", "linear_lambda", "parser_config_file",
    "precise_float_parser",
    "refit_decay_rate", "stochastic_rounding_seed",
}  # fmt: skip

_TABLE = {name: entry["name"] for entry in _native.parameters() for name in [entry["name"], *entry["aliases"]]}
_KNOWN = {alias: name for name, aliases in _OTHERS.items() for alias in (name, *aliases)}

#: XGBoost's names that mean something else or nothing in LightGBM.
_NOT_LIGHTGBM = {"gamma", "booster"}

_NO_OBJECTIVE = {"none", "null", "custom", "na"}


@dataclasses.dataclass
class Settings:
    """Parameters of one training in bitgrain's terms."""

    training: dict[str, Any]
    """Hyperparameters of :class:`bitgrain.boosting.Params`."""
    binning: dict[str, Any]
    """Keywords of :class:`bitgrain.Dataset`."""
    objective: str | Callable[..., Any]
    metrics: list[MetricSpec]
    num_class: int
    n_jobs: int | None
    verbosity: int
    class_weight: list[float] | str | None
    """Weights of the classes 0 and 1, or ``"balanced"``."""
    zero_base: bool
    """Whether the first tree starts from scores of 0."""
    early_stopping: int | None
    min_delta: float
    first_metric_only: bool
    watch_train: bool
    categorical: Any


def canonical(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return parameters by one name each; the same parameter twice is an error unless the values agree.

    Raises
    ------
    InputError
        If a name is unknown, with the most similar ones.

    """
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for name, value in (params or {}).items():
        own = _KNOWN.get(name) or (None if name in _NOT_LIGHTGBM else _TABLE.get(name))
        if own is None:
            raise InputError(_unknown(name))
        if own in found and not _same(found[own], value):
            raise InputError(f"{spelled[own]}={found[own]!r} and {name}={value!r} are the same parameter; pass one")
        found[own], spelled[own] = value, name
    return found


def translated(params: Mapping[str, Any] | None) -> Settings:
    """Translate LightGBM's parameters.

    Raises
    ------
    InputError
        If a parameter is unknown or not supported; the message names the alternative.

    """
    given = canonical(params)
    for name in _WITHOUT_EFFECT_ON_MODELS:
        given.pop(name, None)
    for name, (accepted, alternative) in _FIXED.items():
        if name in given:
            value = given.pop(name)
            if not any(_same(value, each) for each in accepted):
                raise InputError(f"{name}={value!r} is not supported by bitgrain; {alternative}")
    boosting(given)
    seeds(given)
    quantized(given)
    settings = {"subsample_freq": 0, **given}
    own = {name: settings.pop(name) for name in list(settings) if name in _OTHERS}
    objective = objective_name(own, settings.pop("objective", None))
    metric = settings.pop("metric", None)
    given_at = own.get("eval_at", (1, 2, 3, 4, 5))
    at = [int(each) for each in (given_at.split(",") if isinstance(given_at, str) else _listed(given_at))]
    names = metric_names(metric)
    specs = default_metrics(objective, own, at) if names is None else metric_specs(names, objective, own, at)
    n_jobs = settings.pop("n_jobs", None)
    verbosity = settings.pop("verbose", 1)
    binning: dict[str, Any] = {}
    if "max_bin" in settings:
        # Bitgrain counts the bin of missing values.
        binning["max_bin"] = int(settings.pop("max_bin")) + 1
    if "sample_rows" in settings:
        binning["sample_rows"] = settings.pop("sample_rows")
    if "seed" in settings:
        binning["seed"] = settings["seed"]
    early = settings.pop("early_stopping_rounds", None)
    min_delta = settings.pop("early_stopping_min_delta", 0.0)
    settings.pop("n_estimators", None)
    return Settings(
        training=resolved(settings),
        binning=binning,
        objective=objective,
        metrics=specs,
        num_class=int(own.get("num_class", 1)),
        n_jobs=None if n_jobs is None or n_jobs == 0 else int(n_jobs),
        verbosity=int(verbosity),
        class_weight=class_weight(own, objective),
        zero_base=not own.get("boost_from_average", True),
        early_stopping=int(early) if early is not None and int(early) > 0 else None,
        min_delta=min_delta,
        first_metric_only=bool(own.get("first_metric_only", False)),
        watch_train=bool(own.get("is_provide_training_metric", False)),
        categorical=own.get("categorical_feature"),
    )


def boosting(given: dict[str, Any]) -> None:
    """Translate the kind of boosting."""
    kind = str(given.pop("boosting", "gbdt")).lower()
    if kind == "goss":
        given["data_sample_strategy"] = "goss"
    elif kind in ("dart", "rf", "random_forest"):
        given["boosting"] = kind
    elif kind not in ("gbdt", "gbrt"):
        raise InputError(f"boosting={kind!r} is not supported by bitgrain; use gbdt, dart, rf or goss")


def seeds(given: dict[str, Any]) -> None:
    """Combine the seeds of LightGBM's parts into one."""
    parts = [int(given.pop(name)) for name in _SEEDS if name in given]
    seed = given.get("seed")
    if seed is None:
        given.pop("seed", None)
    if parts:
        combined = int(seed or 0)
        for part in parts:
            combined = (combined * 1_000_003 + part) % 2**31
        given["seed"] = combined


def quantized(given: dict[str, Any]) -> None:
    """Translate quantized gradients."""
    bins = int(given.pop("num_grad_quant_bins", 4))
    if given.pop("use_quantized_grad", False):
        given["gradient_precision"] = "pair4" if bins <= 16 else "pair8"


def objective_name(own: Mapping[str, Any], given: Any) -> Any:
    """Return the objective with its parameter."""
    if callable(given):
        return given
    name = "regression" if given is None else str(given).strip().lower()
    if name in _NO_OBJECTIVE:
        raise InputError(f"objective={given!r} needs a function; pass it as params['objective']")
    if name in ("multiclassova", "multiclass_ova", "ova", "ovr"):
        raise InputError(f"objective={given!r} is not supported by bitgrain; use multiclass")
    if name in ("cross_entropy_lambda", "xentlambda"):
        raise InputError(f"objective={given!r} is not supported by bitgrain; use cross_entropy")
    if name == "binary" and float(own.get("sigmoid", 1.0)) != 1.0:
        raise InputError("sigmoid is not supported for binary; multiply learning_rate by its square")
    if name in ("multiclass", "softmax"):
        classes = int(own.get("num_class", 1))
        if classes < 2:
            raise InputError("objective='multiclass' needs num_class of at least 2")
        return f"multiclass:{classes}"
    if int(own.get("num_class", 1)) > 1:
        raise InputError(f"num_class={own['num_class']} needs the objective multiclass, not {name}")
    parameter = {
        "huber": own.get("alpha", 0.9),
        "quantile": own.get("alpha", 0.9),
        "fair": own.get("fair_c", 1.0),
        "tweedie": own.get("tweedie_variance_power", 1.5),
    }.get(name)
    own_name = {"l2_root": "squared", "root_mean_squared_error": "squared"}.get(name, name)
    full: str = _native.infer_objective(own_name if parameter is None else f"{own_name}:{parameter}", 2)[0]
    return full


def class_weight(own: Mapping[str, Any], objective: Any) -> list[float] | str | None:
    """Return the weights of two classes."""
    scale, balanced = float(own.get("scale_pos_weight", 1.0)), bool(own.get("is_unbalance", False))
    if scale == 1.0 and not balanced:
        return None
    if objective != "binary":
        raise InputError("scale_pos_weight and is_unbalance need the objective binary; use weights")
    if scale != 1.0 and balanced:
        raise InputError("scale_pos_weight and is_unbalance exclude each other; pass one")
    return "unbalanced" if balanced else [1.0, scale]


def metric_names(metric: Any) -> list[str] | None:
    """Return the names of metrics; ``None`` for the objective's own, an empty list for no metric."""
    if metric is None or (isinstance(metric, str) and not metric.strip()):
        return None
    given = metric.split(",") if isinstance(metric, str) else _listed(metric)
    names = []
    for each in given:
        if not isinstance(each, str):
            raise InputError(f"metric {each!r} is not a name; pass a function as feval")
        name = each.strip().lower()
        if name and name not in (*_NO_OBJECTIVE,) and name not in names:
            names.append(name)
    return names


def _listed(value: Any) -> list[Any]:
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return a.strip().lower() == b.strip().lower()
    try:
        return bool(a == b)
    except ValueError:
        return a is b


def _unknown(name: str) -> str:
    if name in _COMMAND_LINE:
        return f"parameter {name!r} is not supported by bitgrain's Python interface; see docs/coming-from/lightgbm.md"
    close = difflib.get_close_matches(name, [*_KNOWN, *_TABLE], n=1)
    return f"unknown parameter {name!r}" + (f"; did you mean {close[0]!r}?" if close else "; see docs/parameters.md")

"""Equivalent training runs by bitgrain, LightGBM and XGBoost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost

import bitgrain
from differential.case import Case, Table
from differential.task import Array

__all__ = ["Trained", "train_lightgbm", "train_ours", "train_xgboost"]

_LIGHTGBM = {
    "squared": "regression",
    "absolute": "regression_l1",
    "quantile": "quantile",
    "huber": "huber",
    "poisson": "poisson",
    "gamma": "gamma",
    "tweedie": "tweedie",
    "binary": "binary",
    "multiclass": "multiclass",
}

# XGBoost has only the pseudo-Huber loss, which is a different objective.
_XGBOOST = {
    "squared": "reg:squarederror",
    "absolute": "reg:absoluteerror",
    "quantile": "reg:quantileerror",
    "poisson": "count:poisson",
    "gamma": "reg:gamma",
    "tweedie": "reg:tweedie",
    "binary": "binary:logistic",
    "multiclass": "multi:softprob",
}


@dataclasses.dataclass(frozen=True)
class Trained:
    """A rival's model."""

    booster: Any
    predict: Callable[[Array], Array]
    raw: Callable[[Array], Array]
    """Raw scores, before the link function."""


def train_ours(case: Case, table: Table, *, n_jobs: int = 1, history: bool = False) -> bitgrain.boosting.Model:
    """Train with bitgrain."""
    settings = dict(case.settings)
    rows, rest = table.train, table.held_out
    data = bitgrain.Dataset(
        rows.X,
        rows.y,
        weight=rows.weight,
        categorical=table.categorical,
        max_bin=settings.pop("max_bin"),
        n_jobs=n_jobs,
    )
    valid = data.like(rest.X, rest.y, weight=rest.weight) if history else None
    return bitgrain.train(data, settings, objective=case.task.name, valid=valid, watch_train=history, n_jobs=n_jobs)


def train_lightgbm(case: Case, table: Table) -> Trained | None:
    """Train with LightGBM and equivalent settings; ``None`` if it fails, as it does for an empty row sample."""
    own, task = case.settings, case.task
    params = {
        "objective": _LIGHTGBM[task.objective],
        "learning_rate": own["learning_rate"],
        "num_leaves": own["num_leaves"],
        "max_depth": own["max_depth"],
        "min_data_in_leaf": own["min_child_samples"],
        "min_sum_hessian_in_leaf": own["min_child_weight"],
        "lambda_l1": own["reg_alpha"],
        "lambda_l2": own["reg_lambda"],
        "bagging_fraction": own["subsample"],
        "bagging_freq": 1 if own["subsample"] < 1 else 0,
        "feature_fraction": own["colsample_bytree"],
        # bitgrain counts the bin of missing values.
        "max_bin": own["max_bin"] - 1,
        "min_data_in_bin": 1,
        # A limit on categories that bitgrain does not have.
        "min_data_per_group": 1,
        "feature_pre_filter": False,
        "seed": own["seed"],
        "num_threads": 1,
        "deterministic": True,
        "force_col_wise": True,
        "verbosity": -1,
    }
    if task.objective == "multiclass":
        params["num_class"] = task.n_classes
    elif task.objective in ("quantile", "huber"):
        params["alpha"] = task.parameter
    elif task.objective == "tweedie":
        params["tweedie_variance_power"] = task.parameter
    rows = table.train
    data = lightgbm.Dataset(rows.X, rows.y, weight=rows.weight, categorical_feature=table.categorical, params=params)
    try:
        booster = lightgbm.train(params, data, own["n_estimators"])
    except lightgbm.basic.LightGBMError:
        return None

    def predict(X: Array, *, raw: bool = False) -> Array:
        return np.asarray(booster.predict(X, raw_score=raw, num_threads=1), dtype=np.float64)

    return Trained(booster, predict, lambda X: predict(X, raw=True))


def train_xgboost(case: Case, table: Table) -> Trained | None:
    """Train with XGBoost and equivalent settings; ``None`` if it lacks the objective or fails."""
    own, task = case.settings, case.task
    if task.objective not in _XGBOOST:
        return None
    leafwise = own["growth"] == "leaf"
    params = {
        "objective": _XGBOOST[task.objective],
        "eta": own["learning_rate"],
        "grow_policy": "lossguide" if leafwise else "depthwise",
        "max_leaves": own["num_leaves"],
        "max_depth": max(own["max_depth"], 0),
        # The closest equivalent of a minimum number of rows.
        "min_child_weight": max(own["min_child_weight"], 0.0),
        "alpha": own["reg_alpha"],
        "lambda": own["reg_lambda"],
        "subsample": own["subsample"],
        "colsample_bytree": own["colsample_bytree"],
        "max_bin": own["max_bin"],
        "tree_method": "hist",
        "seed": own["seed"],
        "nthread": 1,
        "verbosity": 0,
    }
    if task.objective == "multiclass":
        params["num_class"] = task.n_classes
    elif task.objective == "quantile":
        params["quantile_alpha"] = task.parameter
    elif task.objective == "tweedie":
        params["tweedie_variance_power"] = task.parameter
    kinds = ["c" if at in table.categorical else "q" for at in range(table.train.X.shape[1])]

    def matrix(X: Array, y: Array | None = None, weight: Array | None = None) -> xgboost.DMatrix:
        return xgboost.DMatrix(X, y, weight=weight, feature_types=kinds, enable_categorical=True, nthread=1)

    rows = table.train
    try:
        booster = xgboost.train(params, matrix(rows.X, rows.y, rows.weight), own["n_estimators"])
    except xgboost.core.XGBoostError:
        return None

    def predict(X: Array, *, raw: bool = False) -> Array:
        return np.asarray(booster.predict(matrix(X), output_margin=raw), dtype=np.float64)

    return Trained(booster, predict, lambda X: predict(X, raw=True))

"""Names of LightGBM's metrics, and those that bitgrain defines differently."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native
from bitgrain.errors import InputError

__all__ = ["MetricSpec", "default_metrics", "metric_specs"]

Array = NDArray[np.float64]

_ALIASES = {
    "mean_absolute_error": "l1", "mae": "l1", "regression_l1": "l1",
    "mean_squared_error": "l2", "mse": "l2", "regression_l2": "l2", "regression": "l2",
    "root_mean_squared_error": "rmse", "l2_root": "rmse",
    "mean_absolute_percentage_error": "mape",
    "binary": "binary_logloss", "multiclass": "multi_logloss", "softmax": "multi_logloss",
    "lambdarank": "ndcg", "rank_xendcg": "ndcg", "xendcg": "ndcg", "xe_ndcg": "ndcg", "xe_ndcg_mart": "ndcg",
    "xendcg_mart": "ndcg", "mean_average_precision": "map",
    "xentropy": "cross_entropy", "kldiv": "kullback_leibler",
}  # fmt: skip

#: LightGBM's names of metrics with the same definition.
_SAME = {
    "l1": "mae",
    "l2": "mse",
    "rmse": "rmse",
    "r2": "r2",
    "mape": "mape:1",
    "binary_logloss": "logloss",
    "binary_error": "error",
    "auc": "auc",
    "average_precision": "average_precision",
    "multi_logloss": "multi_logloss",
    "multi_error": "multi_error",
    "auc_mu": "auc_mu",
    "cross_entropy": "cross_entropy",
}


@dataclasses.dataclass(frozen=True)
class MetricSpec:
    """A metric with its name in LightGBM."""

    name: str
    own: str | Callable[..., Any]
    """Bitgrain's name, or a function of targets, predictions and weights."""
    higher: bool

    @property
    def key(self) -> str:
        """Name in bitgrain's history."""
        return self.own if isinstance(self.own, str) else self.name


def metric_specs(
    names: Sequence[str], objective: Any, params: Mapping[str, Any], at: Sequence[int]
) -> list[MetricSpec]:
    """Return metrics by LightGBM's names."""
    specs: list[MetricSpec] = []
    for given in names:
        for spec in _specs(_ALIASES.get(given, given), objective, params, at):
            if spec.name not in [known.name for known in specs]:
                specs.append(spec)
    return specs


def default_metrics(objective: Any, params: Mapping[str, Any], at: Sequence[int]) -> list[MetricSpec]:
    """Return the metric that LightGBM evaluates if none is given."""
    if callable(objective):
        return []
    name = str(objective).split(":")[0]
    default = {
        "squared": "l2",
        "absolute": "l1",
        "binary": "binary_logloss",
        "multiclass": "multi_logloss",
        "lambdarank": "ndcg",
        "rank_xendcg": "ndcg",
    }.get(name)
    try:
        return _specs(default or name, objective, params, at)
    except InputError:
        # Objectives that LightGBM lacks have bitgrain's own metric.
        own, higher = _native.describe_metrics(objective)[0]
        return [MetricSpec(own, own, higher)]


def _specs(name: str, objective: Any, params: Mapping[str, Any], at: Sequence[int]) -> list[MetricSpec]:
    if name in ("ndcg", "map"):
        return [MetricSpec(f"{name}@{each}", f"{name}@{each}", True) for each in at]
    base, _, cutoff = name.partition("@")
    if base in ("ndcg", "map") and cutoff.isdecimal():
        return [MetricSpec(name, f"{base}@{cutoff}", True)]
    if name == "quantile":
        return [MetricSpec(name, f"pinball:{params.get('alpha', 0.9)}", False)]
    if name == "huber":
        return [MetricSpec(name, f"huber:{params.get('alpha', 0.9)}", False)]
    if name in _SAME:
        own = _SAME[name]
        described = "squared" if callable(objective) else objective
        # Checks that the metric fits the objective, too.
        key, higher = _native.describe_metrics(described, [own])[0]
        return [MetricSpec(name, key, higher)]
    loss = _LOSSES.get(name)
    if loss is None:
        known = sorted([*_SAME, *_LOSSES, "huber", "map", "ndcg", "quantile"])
        raise InputError(f"metric {name!r} is not supported by bitgrain; use feval or one of {', '.join(known)}")
    return [MetricSpec(name, _mean(name, loss, params), False)]


def _mean(name: str, loss: Callable[[Array, Array, Mapping[str, Any]], Array], params: Mapping[str, Any]) -> Any:
    def measure(y_true: Array, y_pred: Array, weight: Array | None) -> tuple[str, float, bool]:
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = loss(y_true, y_pred, params)
        total = float(np.average(losses, weights=weight))
        # LightGBM reports the sum of this deviance.
        size = len(losses) if weight is None else float(np.sum(weight))
        return name, 2 * size * total if name == "gamma_deviance" else total, False

    measure.__name__ = name
    return measure


def _fair(y: Array, p: Array, params: Mapping[str, Any]) -> Array:
    c = float(params.get("fair_c", 1.0))
    error = np.abs(p - y)
    losses: Array = c * error - c * c * np.log1p(error / c)
    return losses


def _tweedie(y: Array, p: Array, params: Mapping[str, Any]) -> Array:
    rho = float(params.get("tweedie_variance_power", 1.5))
    mean = np.maximum(p, 1e-10)
    losses: Array = -y * mean ** (1 - rho) / (1 - rho) + mean ** (2 - rho) / (2 - rho)
    return losses


def _entropy(share: Array) -> Array:
    inside = np.clip(share, 1e-300, 1)
    found: Array = -share * np.log(inside)
    return found


def _divergence(y: Array, p: Array, _: Mapping[str, Any]) -> Array:
    likely = np.clip(p, 1e-12, 1 - 1e-12)
    losses: Array = -y * np.log(likely) - (1 - y) * np.log1p(-likely) - _entropy(y) - _entropy(1 - y)
    return losses


#: LightGBM's losses that bitgrain's metrics express differently.
_LOSSES: dict[str, Callable[[Array, Array, Mapping[str, Any]], Array]] = {
    "poisson": lambda y, p, _: p - y * np.log(np.maximum(p, 1e-10)),
    "gamma": lambda y, p, _: y / p + np.log(p),
    "gamma_deviance": lambda y, p, _: y / (p + 1e-9) - np.log(y / (p + 1e-9)) - 1,
    "tweedie": _tweedie,
    "fair": _fair,
    "kullback_leibler": _divergence,
}

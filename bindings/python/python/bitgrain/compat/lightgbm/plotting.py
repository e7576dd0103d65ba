"""LightGBM's plots, drawn by bitgrain."""

from __future__ import annotations

from typing import Any

from bitgrain import boosting
from bitgrain.compat.lightgbm.booster import Booster
from bitgrain.errors import DTypeError, InputError

__all__ = ["plot_importance", "plot_metric", "plot_tree"]

_LABELS = ("title", "xlabel", "ylabel", "xlim", "ylim")


def _booster(given: Any) -> Booster:
    found = getattr(given, "booster_", given)
    if not isinstance(found, Booster):
        raise DTypeError(f"booster must be a Booster or a fitted estimator, not {type(given).__name__}")
    return found


def _labeled(ax: Any, labels: dict[str, Any]) -> Any:
    for name, value in labels.items():
        if name not in _LABELS:
            raise InputError(f"{name} is not supported; change the returned matplotlib axes")
        if value is not None:
            ax.set(**{name: value})
    return ax


def plot_importance(
    booster: Any, ax: Any = None, importance_type: str = "auto", max_num_features: int | None = None, **labels: Any
) -> Any:
    """Draw the importance of each feature, and return the axes; `labels` are ``title``, ``xlabel`` and others."""
    own = _booster(booster)
    kind = getattr(booster, "importance_type", "split") if importance_type == "auto" else importance_type
    count = len(own.feature_name()) if max_num_features is None else max_num_features
    return _labeled(boosting.plot_importance(own.model, kind=kind, max_features=count, ax=ax), labels)


def plot_metric(booster: Any, metric: str | None = None, ax: Any = None, **labels: Any) -> Any:
    """Draw a metric after each round: of a fitted estimator, or of a dict that ``record_evaluation`` filled."""
    history = booster if isinstance(booster, dict) else getattr(booster, "evals_result_", None)
    if not history:
        raise InputError("plot_metric needs a fitted estimator with eval_set, or the dict of record_evaluation")
    return _labeled(boosting.plot_metric(history, metric, ax=ax), labels)


def plot_tree(booster: Any, ax: Any = None, tree_index: int = 0, **labels: Any) -> Any:
    """Draw a tree and return the axes."""
    return _labeled(boosting.plot_tree(_booster(booster).model, tree_index, ax=ax), labels)

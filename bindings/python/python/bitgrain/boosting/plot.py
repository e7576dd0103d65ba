"""Plots of models and training histories with matplotlib."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from bitgrain.boosting.explain import PartialDependence, PermutationImportance
from bitgrain.boosting.integer import integer
from bitgrain.boosting.model import Model, unwrapped
from bitgrain.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_importance",
    "plot_metric",
    "plot_partial_dependence",
    "plot_permutation_importance",
    "plot_tree",
]

_BLUE, _ORANGE, _GREY = "#3b6ea5", "#d9822b", "#8a8f98"
#: Maximum number of characters of a name.
_LONG = 32
#: Colors of the validation sets, in order.
_VALID = (_BLUE, "#4f9d69", "#8e6bb0", "#b0565c")


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: install it with pip install 'bitgrain[plot]'") from error
    made: Axes = ax if ax is not None else pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return made


def plot_importance(model: Any, *, kind: str = "gain", max_features: int = 20, ax: Axes | None = None) -> Axes:
    """Plot feature importances.

    Parameters
    ----------
    model : Model or fitted estimator
        The model.
    kind : {"gain", "split"}
        Total gain of the feature's splits, or their number.
    max_features : int
        Maximum number of bars.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the plot.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    """
    found = unwrapped(model, "model")
    max_features = integer("max_features", max_features, 1)
    values = found.feature_importance(kind)
    order = [at for at in np.argsort(values, kind="stable") if values[at] > 0][-max_features:]
    axes = _axes(ax, 7.0, 1.0 + 0.28 * max(len(order), 1))
    axes.barh([_text(found.feature_names[at]) for at in order], values[order], color=_BLUE, height=0.7)
    axes.set_xlabel({"gain": "total gain", "split": "number of splits"}[kind])
    axes.set_title("Feature importance")
    return _quiet(axes)


def plot_metric(model: Any, metric: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot a metric over the training rounds.

    Parameters
    ----------
    model : Model, fitted estimator or dict
        Model returned by :func:`train`, or its history: values by dataset and metric name.
    metric : str, optional
        Name of the metric; the first one by default.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the plot.

    Raises
    ------
    InputError
        If the history is empty or lacks the metric.
    ImportError
        If matplotlib is not installed.

    """
    best = None if isinstance(model, dict) else unwrapped(model, "model").best_iteration
    history: dict[str, dict[str, list[float]]] = model if isinstance(model, dict) else unwrapped(model, "model").history
    names = list(dict.fromkeys(name for values in history.values() for name in values))
    if not names:
        raise InputError(
            "the training history is empty; pass valid or watch_train to train (model files do not contain the history)"
        )
    metric = names[0] if metric is None else metric
    if metric not in names:
        raise InputError(f"metric {metric!r} is not in the training history; use one of {', '.join(names)}")
    axes = _axes(ax, 7.0, 4.0)
    measured = {data: values[metric] for data, values in history.items() if metric in values}
    colors = itertools.cycle(_VALID)
    for data, values in measured.items():
        color = _GREY if data == "train" else next(colors)
        axes.plot(range(1, len(values) + 1), values, color=color, label=data)
    if best is not None:
        axes.axvline(best, color=_ORANGE, linestyle="--", linewidth=1.0, label=f"best: round {best}")
    axes.set_xlabel("round")
    axes.set_ylabel(metric)
    axes.set_title(f"{metric} over the rounds")
    axes.legend(frameon=False)
    return _quiet(axes)


def plot_permutation_importance(
    found: PermutationImportance, *, max_features: int = 20, ax: Axes | None = None
) -> Axes:
    """Plot permutation importances, with their standard deviations.

    Parameters
    ----------
    found : PermutationImportance
        Result of :meth:`Model.permutation_importance`.
    max_features : int
        Maximum number of bars.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the plot.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    """
    if not isinstance(found, PermutationImportance):
        raise InputError(f"found must be the result of permutation_importance, not {type(found).__name__}")
    max_features = integer("max_features", max_features, 1)
    mean, deviation = found.importances_mean, found.importances_std
    order = np.argsort(mean, kind="stable")[-max_features:]
    axes = _axes(ax, 7.0, 1.0 + 0.28 * max(len(order), 1))
    names = [_text(found.features[at]) for at in order]
    axes.barh(names, mean[order], xerr=deviation[order], color=_BLUE, ecolor=_GREY, height=0.7)
    axes.set_xlabel(f"deterioration of {found.metric}")
    axes.set_title("Permutation importance")
    return _quiet(axes)


def plot_partial_dependence(
    found: PartialDependence, *, score: int = 0, max_curves: int = 100, ax: Axes | None = None
) -> Axes:
    """Plot partial dependence: a curve for one feature, bars for categories, a map for two features.

    Parameters
    ----------
    found : PartialDependence
        Result of :meth:`Model.partial_dependence`.
    score : int
        Index of the score or class.
    max_curves : int
        Maximum number of individual curves, evenly spaced in the data.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the plot.

    Raises
    ------
    InputError
        If the score does not exist.
    ImportError
        If matplotlib is not installed.

    """
    if not isinstance(found, PartialDependence):
        raise InputError(f"found must be the result of partial_dependence, not {type(found).__name__}")
    score = integer("score", score, 0, len(found.average) - 1)
    max_curves = integer("max_curves", max_curves, 0)
    axes = _axes(ax, 7.0, 4.0)
    places, ticks = zip(*(_ticks(grid) for grid in found.grid), strict=True)
    average = found.average[score]
    if average.ndim == 2:
        drawn = axes.pcolormesh(places[0], places[1], average.T, shading="nearest")
        axes.figure.colorbar(drawn, ax=axes)
        axes.set_ylabel(_text(found.features[1]))
        if ticks[1] is not None:
            axes.set_yticks(places[1], ticks[1])
    else:
        if found.individual is not None and max_curves:
            curves = found.individual[score]
            step = max(1, -(-len(curves) // max_curves))
            axes.plot(places[0], curves[::step].T, color=_GREY, linewidth=0.6, alpha=0.4)
        if ticks[0] is not None:
            axes.bar(places[0], average, color=_BLUE, width=0.7)
        else:
            axes.plot(places[0], average, color=_BLUE, linewidth=2.0, marker="o" if len(average) == 1 else None)
        axes.set_ylabel("mean prediction")
    if ticks[0] is not None:
        axes.set_xticks(places[0], ticks[0])
    axes.set_xlabel(_text(found.features[0]))
    axes.set_title("Partial dependence")
    return _quiet(axes)


def _ticks(grid: Any) -> tuple[Any, list[str] | None]:
    """Return positions on an axis, and category labels."""
    if grid.dtype.kind == "O":
        return np.arange(len(grid)), [_text(str(label)) for label in grid]
    return grid, None


def plot_tree(model: Any, tree: int = 0, *, max_depth: int | None = None, ax: Axes | None = None) -> Axes:
    """Plot a tree: its splits and leaf values.

    Parameters
    ----------
    model : Model or fitted estimator
        The model.
    tree : int
        Index of the tree.
    max_depth : int, optional
        Maximum number of levels of splits; each subtree below is drawn as one box.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the plot.

    Raises
    ------
    InputError
        If the index is out of range.
    ImportError
        If matplotlib is not installed.

    """
    found = unwrapped(model, "model")
    if not 0 <= tree < found.n_trees:
        raise InputError(f"tree {tree} is out of range: the model has {found.n_trees} trees (0-based)")
    drawing = _Tree(found, tree, max_depth)
    axes = _axes(ax, max(6.0, 1.6 * drawing.width), max(3.0, 1.3 * drawing.depth))
    drawing.draw(axes)
    axes.set_title(f"Tree {tree}")
    return axes


class _Tree:
    """Layout of a tree: leaves side by side, each split centered above its children."""

    def __init__(self, model: Model, tree: int, max_depth: int | None) -> None:
        self._tree = model.trees[tree]
        self._categories = model.categories
        self._max_depth = max_depth
        self._boxes: list[tuple[float, int, str, bool]] = []
        self._lines: list[tuple[float, int, float, str]] = []
        self.width = 0
        self.depth = 1
        root = {"split": 0} if self._tree["splits"] else {"leaf": 0}
        self._place(root, 0)

    def _place(self, child: dict[str, int], level: int) -> float:
        self.depth = max(self.depth, level + 1)
        if "leaf" in child:
            leaf = self._tree["leaves"][child["leaf"]]
            return self._end(level, f"{leaf['value']:+.4g}\n{leaf['count']} rows")
        split = self._tree["splits"][child["split"]]
        if self._max_depth is not None and level >= self._max_depth:
            return self._end(level, f"…\n{split['count']} rows")
        left = self._place(split["left"], level + 1)
        right = self._place(split["right"], level + 1)
        x = (left + right) / 2
        self._boxes.append((x, level, f"{self._question(split)}\n{split['count']} rows", False))
        missing_left = split["missing_left"] and split["missing"] != "nothing"
        self._lines.append((x, level, left, "yes, or missing" if missing_left else "yes"))
        self._lines.append(
            (x, level, right, "no" if missing_left or split["missing"] == "nothing" else "no, or missing")
        )
        return x

    def _end(self, level: int, text: str) -> float:
        x = float(self.width)
        self.width += 1
        self._boxes.append((x, level, text, True))
        return x

    def _question(self, split: dict[str, Any]) -> str:
        name = _text(split["feature"])
        if "at_most" in split:
            threshold = split["at_most"]
            return f"{name} is present?" if isinstance(threshold, str) else f"{name} ≤ {threshold:.5g}?"
        codes = split["in"] if "in" in split else split["not_in"]
        labels = self._categories.get(split["feature"]) or []
        names = [_text(labels[code]) if code < len(labels) else str(code) for code in codes]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"{name} is {'' if 'in' in split else 'not '}{', '.join(names[:3])}{more}?"

    def draw(self, axes: Axes) -> None:
        for x, level, to, text in self._lines:
            axes.plot([x, to], [-level, -level - 1], color=_GREY, linewidth=1.0, zorder=1)
            white = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            place = (x + to) / 2, -level - 0.5
            axes.text(*place, text, ha="center", va="center", fontsize=7, color=_GREY, bbox=white, zorder=2)
        for x, level, text, is_leaf in self._boxes:
            color = "#fdf3e7" if is_leaf else "#e9f0f8"
            box = {"boxstyle": "round,pad=0.35", "facecolor": color, "edgecolor": _ORANGE if is_leaf else _BLUE}
            axes.text(x, -level, text, ha="center", va="center", fontsize=8, bbox=box, zorder=3)
        axes.set_xlim(-0.7, max(self.width - 0.3, 0.7))
        axes.set_ylim(-self.depth + 0.5, 0.6)
        axes.set_axis_off()


def _text(name: str) -> str:
    """Return a name for drawing: `$` is escaped, since it starts math text, and long names are truncated."""
    short = name if len(name) <= _LONG else f"{name[: _LONG - 1]}…"
    return short.replace("$", r"\$")


def _quiet(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    return axes

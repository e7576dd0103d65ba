"""Explanations of models: partial dependence and permutation importance."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitgrain.boosting.callables import Measure
from bitgrain.boosting.integer import integer
from bitgrain.boosting.target import check_classes, numbers, weights
from bitgrain.detach import detached
from bitgrain.errors import DTypeError, InputError

if TYPE_CHECKING:
    from bitgrain.boosting.model import Model

__all__ = [
    "PartialDependence",
    "PermutationImportance",
    "partial_dependence",
    "permutation_importance",
    "read_rows",
    "write_report",
]


@dataclasses.dataclass(frozen=True, slots=True)
class PartialDependence:
    """Result of :meth:`Model.partial_dependence`."""

    features: list[str]
    """Names of the features."""
    grid: list[NDArray[Any]]
    """Values that each feature was set to: numbers, or category strings."""
    average: NDArray[np.float64]
    """Mean prediction per score and grid point: shape ``(n_scores, len(grid[0]))``, or with another axis for a second
    feature."""
    individual: NDArray[np.float64] | None
    """Prediction per score, row and grid point (individual conditional expectations); ``None`` unless requested."""


@dataclasses.dataclass(frozen=True, slots=True)
class PermutationImportance:
    """Result of :meth:`Model.permutation_importance`. The names of the fields are those of scikit-learn."""

    features: list[str]
    """Names of the features."""
    metric: str
    """Name of the metric."""
    baseline: float
    """Value of the metric on the unshuffled rows."""
    importances: NDArray[np.float64]
    """Deterioration of the metric per feature and repetition; positive if the feature helps, whether or not higher
    values of the metric are better."""

    @property
    def importances_mean(self) -> NDArray[np.float64]:
        """Mean over the repetitions."""
        mean: NDArray[np.float64] = self.importances.mean(axis=1)
        return mean

    @property
    def importances_std(self) -> NDArray[np.float64]:
        """Standard deviation over the repetitions."""
        deviation: NDArray[np.float64] = self.importances.std(axis=1)
        return deviation


def partial_dependence(
    model: Model,
    X: Any,
    features: str | int | Sequence[str | int],
    *,
    grid: Sequence[Any] | None,
    grid_size: int,
    percentiles: tuple[float, float],
    kind: str,
    centered: bool,
    raw: bool,
    n_jobs: int | None,
) -> PartialDependence:
    """Compute partial dependence; see :meth:`Model.partial_dependence`."""
    if kind not in ("average", "individual", "both"):
        raise InputError(f"kind = {kind!r}: it must be 'average', 'individual' or 'both'")
    several = [features] if isinstance(features, str | int | np.integer) else list(features)
    places = [_place(model, feature) for feature in several]
    names = [model.feature_names[place] for place in places]
    labels = [model.categories.get(name) for name in names]
    values = None
    if grid is not None:
        # The grid of a single feature need not be nested.
        is_flat = len(places) == 1 and not (len(grid) == 1 and isinstance(grid[0], Sequence | np.ndarray))
        grids = [grid] if is_flat or (len(grid) > 0 and isinstance(grid[0], str)) else list(grid)
        if len(grids) != len(places):
            raise InputError(f"grid has {len(grids)} lists of values for {len(places)} features; pass one per feature")
        values = [_codes(name, own, each) for name, own, each in zip(names, labels, grids, strict=True)]
    try:
        low, high = (float(each) for each in percentiles)
    except (TypeError, ValueError):
        raise DTypeError(f"percentiles = {percentiles!r}: it must be two numbers from 0 to 1") from None
    found, average, individual = model._native.partial_dependence(
        model._read(X, n_jobs),
        places,
        values=values,
        grid_size=integer("grid_size", grid_size, 0),
        percentiles=(low, high),
        raw=bool(raw),
        individual=kind != "average",
        centered=bool(centered),
        n_jobs=n_jobs,
    )
    shown = [_labels(own, each) for own, each in zip(labels, found, strict=True)]
    return PartialDependence(names, shown, average, individual)


def _place(model: Model, feature: Any) -> int:
    if isinstance(feature, str):
        return model._native.feature_index(feature)
    return integer("feature", feature, 0, max(model.n_features - 1, 0))


def _codes(name: str, labels: list[str] | None, values: Any) -> list[float]:
    """Return grid values as numbers: category strings become their codes."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise DTypeError(f"grid of {name!r} is {values!r}; it must be a list of values")
    codes = {} if labels is None else {text: float(code) for code, text in enumerate(labels)}
    found = []
    for value in values:
        if isinstance(value, str):
            if value not in codes:
                raise InputError(f"{value!r} is not a category of feature {name!r}")
            found.append(codes[value])
        else:
            try:
                found.append(float("nan") if value is None else float(value))
            except (TypeError, ValueError):
                raise DTypeError(f"grid value {value!r} of feature {name!r} is not a number") from None
    return found


def _labels(labels: list[str] | None, values: NDArray[np.float64]) -> NDArray[Any]:
    """Return category strings instead of codes."""
    if not labels:
        return values
    found = [None if np.isnan(code) or code >= len(labels) else labels[int(code)] for code in values]
    return np.array(found, dtype=object)


def permutation_importance(
    model: Model,
    X: Any,
    y: ArrayLike,
    *,
    metric: str | Callable[..., Any] | None,
    n_repeats: int,
    seed: int,
    sample_weight: ArrayLike | None,
    n_jobs: int | None,
) -> PermutationImportance:
    """Compute permutation importance; see :meth:`Model.permutation_importance`."""
    if metric is not None and not isinstance(metric, str) and not callable(metric):
        raise DTypeError(f"metric {metric!r} must be a name or a callable")
    rows, values, weight = read_rows(model, X, y, sample_weight, n_jobs)
    name, baseline, importances = model._native.permutation_importance(
        rows,
        values,
        weight,
        metric=Measure(metric, model._native.n_outputs) if callable(metric) else metric,
        repeats=integer("n_repeats", n_repeats, 1, 10_000),
        seed=integer("seed", seed, 0),
        n_jobs=n_jobs,
    )
    return PermutationImportance(model.feature_names, name, baseline, importances)


def read_rows(
    model: Model, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_jobs: int | None
) -> tuple[Any, NDArray[np.float64], NDArray[np.float32] | None]:
    """Return features, targets and weights in the form the native extension expects."""
    array = np.asarray(detached(y, "y"))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead")
    rows = model._read(X, n_jobs)
    check_classes(y)
    return rows, _targets(array, model.classes), weights(sample_weight, len(array))


def _targets(y: NDArray[Any], classes: list[str]) -> NDArray[np.float64]:
    """Return targets as numbers: the indices of class labels, if the model has labels."""
    if not classes or (y.dtype.kind == "f" and np.isnan(y).any()):
        # Missing targets are left to the engine, which names the row.
        if y.dtype.kind in "biuf":
            return np.ascontiguousarray(y, dtype=np.float64)
        return numbers(y, len(y), "y").astype(np.float64)
    places = {text: place for place, text in enumerate(classes)}
    known, inverse = np.unique(y, return_inverse=True)
    codes = []
    for each in known.tolist():
        text = str(each)
        if text not in places and isinstance(each, float) and each.is_integer():
            # Tables on disk have integers as labels; NumPy often holds them as floats.
            text = str(int(each))
        if text not in places:
            raise InputError(f"class {text!r} in y is not among the {len(classes)} classes of the model")
        codes.append(float(places[text]))
    return np.ascontiguousarray(np.array(codes)[inverse], dtype=np.float64)


def write_report(
    model: Model,
    path: str | os.PathLike[str],
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    valid: Sequence[Any] | None,
    title: str,
    n_jobs: int | None,
) -> None:
    """Write the HTML report; see :meth:`Model.report`."""
    if valid is not None and (not isinstance(valid, Sequence) or len(valid) not in (2, 3)):
        raise DTypeError("valid must be a tuple (X, y) or (X, y, sample_weight)")
    train = read_rows(model, X, y, sample_weight, n_jobs)
    held = None if valid is None else read_rows(model, valid[0], valid[1], (*valid, None)[2], n_jobs)
    curves = [(data, metric, values) for data, own in model.history.items() for metric, values in own.items()]
    best = None if model.best_iteration is None else max(model.best_iteration - 1, 0)
    model._native.report(path, train, held, title=str(title), curves=curves, best_round=best, n_jobs=n_jobs)

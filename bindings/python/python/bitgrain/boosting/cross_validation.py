"""Cross-validation: every row is held back once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native
from bitgrain.boosting.callables import Metric, Objective, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.integer import integer
from bitgrain.boosting.params import Params, chosen
from bitgrain.boosting.training import prepared
from bitgrain.errors import InputError

__all__ = ["CrossValidationResult", "cross_validate"]


@dataclasses.dataclass(frozen=True, slots=True)
class CrossValidationResult:
    """What came out of every fold.

    Attributes
    ----------
    metrics : dict
        The values of each metric, one for each fold: after its last round, or after its best if training stopped early.
    rounds : list of int
        Rounds of each fold's model.

    """

    metrics: dict[str, NDArray[np.float64]]
    rounds: list[int]

    def __str__(self) -> str:
        return "  ".join(f"{name} {values.mean():.5g} ± {values.std():.2g}" for name, values in self.metrics.items())


def cross_validate(
    data: Dataset,
    params: Params | Mapping[str, Any] | None = None,
    *,
    objective: Objective | None = None,
    metric: Metric | Sequence[Metric] | None = None,
    folds: int = 5,
    stratified: bool | None = None,
    link: str = "identity",
    outputs: int = 1,
    n_jobs: int | None = None,
    **settings: Any,
) -> CrossValidationResult:
    """Train once for each fold, and measure on the rows that were held back.

    Folds share the bins of the data, which say nothing of targets.

    Parameters
    ----------
    data : Dataset
        What is learned from.
    params : Params or dict, optional
        Hyper-parameters as for :func:`train`; `seed` also assigns the rows to folds.
    objective, metric, link, outputs, n_jobs
        As for :func:`train`.
    folds : int
        Number of folds.
    stratified : bool, optional
        Whether each fold gets its share of every class; by default if there are classes.
    **settings
        Hyper-parameters, which take precedence over those of `params`.

    Returns
    -------
    CrossValidationResult
        The metrics of each fold.

    Raises
    ------
    InputError
        If settings or data cannot be used.

    Examples
    --------
    >>> import numpy as np, bitgrain
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> data = bitgrain.Dataset(X, X[:, 0] > 0.5)
    >>> found = bitgrain.boosting.cross_validate(data, metric="auc", folds=3, n_estimators=10)
    >>> found.metrics["auc"].shape
    (3,)

    """
    given = chosen(params, settings, objective)
    loss, scores = prepared(data, given.own("objective", objective), link, outputs)
    if integer("folds", folds, 0) < 2:
        raise InputError(f"folds = {folds}: it must be from 2 to the number of rows")
    metrics, rounds = _native.cross_validate(
        data._native,
        given.params.native(),
        loss,
        measures(given.own("metric", metric), scores),
        folds=folds,
        stratified=data.classes is not None if stratified is None else stratified,
        seed=given.params.seed,
        n_jobs=given.own("n_jobs", n_jobs),
    )
    return CrossValidationResult({name: np.array(values) for name, values in metrics}, rounds)

"""Cross-validation."""

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
    """Result of :func:`cross_validate`.

    Attributes
    ----------
    metrics : dict
        Value of each metric per fold: after the last round, or after the best round if training stopped early.
    rounds : list of int
        Number of rounds of each fold's model.

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
    """Train one model per fold and evaluate it on the held-out rows.

    Folds share the bins of the dataset, which do not depend on the target. Queries of ranking data are never divided.

    Parameters
    ----------
    data : Dataset
        Training data.
    params : Params or dict, optional
        Hyperparameters as for :func:`train`; `seed` also assigns the rows to folds.
    objective, metric, link, outputs, n_jobs
        As for :func:`train`.
    folds : int
        Number of folds.
    stratified : bool, optional
        Whether to preserve the class proportions in each fold; defaults to True for classification.
    **settings
        Hyperparameters, which override those in `params`.

    Returns
    -------
    CrossValidationResult
        The metrics of each fold.

    Raises
    ------
    InputError
        If a setting or the data is unusable.

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
        raise InputError(f"folds = {folds}: it must be between 2 and the number of rows")
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

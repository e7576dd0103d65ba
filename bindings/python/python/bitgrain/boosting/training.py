"""Growing trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bitgrain import _native
from bitgrain.boosting.callables import Loss, Metric, Objective, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.integer import integer
from bitgrain.boosting.model import Model
from bitgrain.boosting.params import Params, chosen
from bitgrain.boosting.rounds import Callback, on_round
from bitgrain.boosting.valid import Valid, named
from bitgrain.errors import DTypeError, InputError, TrainingInterrupted
from bitgrain.progress import Progress

__all__ = ["grow", "prepared", "train"]


def train(
    data: Dataset,
    params: Params | Mapping[str, Any] | None = None,
    *,
    objective: Objective | None = None,
    valid: Valid | None = None,
    metric: Metric | Sequence[Metric] | None = None,
    watch_train: bool = False,
    callbacks: Sequence[Callback] = (),
    link: str = "identity",
    outputs: int = 1,
    verbose: bool | int | None = False,
    n_jobs: int | None = None,
    **settings: Any,
) -> Model:
    """Grow trees on a dataset.

    Ctrl-C ends the training after the round it is in: the model has the rounds that were done, and a
    :class:`TrainingInterrupted` warning says how many. A second one raises ``KeyboardInterrupt``.

    Parameters
    ----------
    data : Dataset
        What is learned from. It can be used again: the training works on a copy of its bins.
    params : Params or dict, optional
        Hyper-parameters: those of :class:`Params` by any of their names, and ``objective``, ``metric``, ``n_jobs`` and
        ``verbose``.
    objective : str or callable, optional
        What is minimised: ``"squared"``, ``"absolute"``, ``"huber"``, ``"quantile:0.9"``, ``"poisson"``, ``"gamma"``,
        ``"tweedie:1.5"``, ``"binary"``, ``"multiclass"``, or LightGBM's and XGBoost's names for them. By default what
        suits the target. A callable takes the targets and raw scores, and the weights as a third argument if it has one
        (then it multiplies them in itself); it returns gradients and hessians. Scores begin with 0.
    valid : Dataset, or several in a list or by name in a dict, optional
        Rows to measure on, made by :meth:`Dataset.like`. In the history the only one is called ``"valid"``, of several
        each has its number: ``"valid_0"``, ``"valid_1"`` and so on. Early stopping and the best round go by the first;
        the others are only measured.
    metric : str, callable or sequence of them, optional
        What is measured after each round; early stopping goes by the first. By default what suits the objective. A
        callable takes targets and predictions, and the weights if it has a third argument; it returns a value, which is
        better if it is less (unless the callable's name ends in ``_score``), or a name, a value, and whether more is
        better. On training data the rows come in an order of their own.
    watch_train : bool
        Measure on the training data, too.
    callbacks : sequence of callable
        Each is called with a :class:`Round` after every round; a true value ends the training. Callables of all kinds
        run on another thread than the caller's, one at a time, in the context of the caller.
    link : {"identity", "logistic", "softmax", "exponential"}
        From scores to predictions, for objectives of your own.
    outputs : int
        Scores per row, for objectives of your own.
    verbose : bool or int, optional
        Show the progress, above 0; with ``None`` only in terminals and notebooks.
    n_jobs : int, optional
        Threads; all by default. The model does not depend on it.
    **settings
        Hyper-parameters, which take precedence over those of `params`.

    Returns
    -------
    Model
        The trees; up to the best round if training stopped early.

    Raises
    ------
    InputError
        If settings, data or gradients cannot be used.

    Examples
    --------
    >>> import numpy as np, bitgrain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 3), dtype=np.float32)
    >>> y = np.sin(5 * X[:, 0]) + X[:, 1]
    >>> data = bitgrain.Dataset(X[:800], y[:800])
    >>> model = bitgrain.train(data, valid=data.like(X[800:], y[800:]), n_estimators=200, early_stopping_rounds=10)
    >>> model.n_rounds == model.best_iteration
    True
    >>> bool(model.history["valid"]["rmse"][-1] < 0.1)
    True

    """
    given = chosen(params, settings, objective)
    loss, own = prepared(data, given.own("objective", objective), link, outputs)
    return grow(
        data,
        given.params,
        loss,
        valid=named(valid),
        metrics=measures(given.own("metric", metric), own),
        watch_train="train" if watch_train else None,
        callbacks=callbacks,
        verbose=given.own("verbose", verbose, False),
        n_jobs=given.own("n_jobs", n_jobs),
    )


def prepared(data: Dataset, objective: Objective | None, link: str, outputs: int) -> tuple[str | Loss, int]:
    """Return the objective as the native half takes it, and its scores per row."""
    if not isinstance(data, Dataset):
        raise DTypeError(f"data must be a Dataset, not {type(data).__name__}: make one by Dataset(X, y)")
    if objective is not None and not isinstance(objective, str) and not callable(objective):
        raise DTypeError(f"objective = {objective!r}: it must be a name or a callable")
    if callable(objective):
        outputs = integer("outputs", outputs, 1, 2**16)
        return Loss(objective, outputs, link), outputs
    return data._native.objective(objective)


def grow(
    data: Dataset,
    params: Params,
    objective: str | Loss,
    *,
    valid: list[tuple[str, Dataset]],
    metrics: list[Any] | None,
    watch_train: str | None,
    callbacks: Sequence[Callback],
    verbose: bool | int | None,
    n_jobs: int | None,
    metadata: dict[str, str] | None = None,
    keep: bool = True,
    stacklevel: int = 3,
) -> Model:
    """Grow trees by settings that are ready; warns if Ctrl-C ended it.

    Validation data has names; `watch_train` is that of the training data, if it is measured, too.
    """
    if not isinstance(callbacks, Iterable):
        raise DTypeError(f"callbacks = {callbacks!r}: it must be a list of callables")
    callbacks = list(callbacks)
    for callback in callbacks:
        if not callable(callback):
            raise InputError(f"callback {callback!r} cannot be called")
    if (params.early_stopping_rounds or 0) > 0 and not valid:
        raise InputError("early_stopping_rounds needs validation data to watch: give valid, or eval_set to fit")
    quiet = verbose is not None and not verbose > 0
    progress = None if quiet else Progress(params.n_estimators, "training", show=verbose)
    told: Callable[..., bool] | None = on_round(callbacks, progress)
    try:
        native, history, best, _, interrupted = _native.train(
            data._native,
            params.native(),
            objective,
            metrics,
            valid=[(name, each._native) for name, each in valid],
            watch_train=watch_train,
            on_round=told,
            metadata=metadata,
            keep=keep,
            n_jobs=n_jobs,
        )
    finally:
        if progress is not None:
            progress.close()
    by_data: dict[str, dict[str, list[float]]] = {}
    for of, name, values in history:
        by_data.setdefault(of, {})[name] = values
    if interrupted:
        done = native.n_rounds - (data.init_model.n_rounds if data.init_model is not None else 0)
        message = f"training was interrupted after {done} of {params.n_estimators} rounds; the model has these"
        warnings.warn(message, TrainingInterrupted, stacklevel=stacklevel)
    return Model(native, by_data, None if best is None else best + 1)

"""Training of gradient-boosted trees."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bitgrain import _native
from bitgrain.boosting.callables import Loss, Measure, Metric, Objective, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.integer import integer
from bitgrain.boosting.model import Model
from bitgrain.boosting.params import Params, chosen
from bitgrain.boosting.rounds import Callback, Checkpoints, on_round
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
    stop_on: str | tuple[str, str] | None = None,
    callbacks: Sequence[Callback] = (),
    link: str = "identity",
    outputs: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 10,
    resume: bool = False,
    verbose: bool | int | None = False,
    n_jobs: int | None = None,
    **settings: Any,
) -> Model:
    """Train a model on a dataset.

    Ctrl-C stops the training after the current round: the model contains the completed rounds, and a
    :class:`TrainingInterrupted` warning gives their number. A second Ctrl-C raises ``KeyboardInterrupt``.

    Parameters
    ----------
    data : Dataset
        Training data. It can be used again. Training works on its bins in place, so several threads that train on one
        dataset take turns; with callbacks, progress or user-defined functions it works on a copy.
    params : Params or dict, optional
        Hyperparameters: those of :class:`Params` by any of their names, and ``objective``, ``metric``, ``n_jobs`` and
        ``verbose``.
    objective : str or callable, optional
        Loss to minimize: ``"squared"``, ``"absolute"``, ``"huber"``, ``"quantile:0.9"``, ``"expectile:0.9"``,
        ``"fair"``, ``"log_cosh"``, ``"mape"``, ``"poisson"``, ``"gamma"``, ``"tweedie:1.5"``, ``"cross_entropy"``,
        ``"cox"``, ``"binary"``, ``"focal:2"``, ``"multiclass"``, ``"lambdarank"``, ``"rank_xendcg"``,
        ``"rank_pairwise"``, ``"rank_map"``, or LightGBM's and XGBoost's names for them. Chosen by the target by
        default; ``"lambdarank"`` for data with queries. A callable takes the targets and raw scores, and the weights if
        it has a third argument (then it must apply them itself); it returns gradients and hessians. Its initial scores
        are 0.
    valid : Dataset, list of Dataset or dict of Dataset, optional
        Validation data, made by :meth:`Dataset.like`; a dict maps names to datasets. In the history a single dataset is
        called ``"valid"`` and the datasets of a list ``"valid_0"``, ``"valid_1"`` and so on. Early stopping and the
        best round use the first dataset only.
    metric : str, callable or sequence of them, optional
        Metrics evaluated after each round; early stopping uses the first. Chosen by the objective by default. A
        callable takes targets and predictions, and the weights if it has a third argument. It returns a value, where
        lower is better unless the callable's name ends in ``_score``, or a name, a value and whether higher is better.
        On training data the order of the rows is unspecified.
    watch_train : bool
        Whether to evaluate the metrics on the training data as well.
    stop_on : str or tuple of str, optional
        Metric, or name of a validation dataset and metric, that early stopping and the best round use instead of the
        first: ``"auc"``, ``("valid_1", "auc")``. `early_stopping_min_delta` is the least improvement that counts.
    callbacks : sequence of callable
        Functions called with a :class:`Round` after every round; a true return value stops the training. User-defined
        objectives, metrics and callbacks run on another thread, one at a time, in the context of the caller.
    link : {"identity", "logistic", "softmax", "exponential"}
        Link function from scores to predictions, for user-defined objectives.
    outputs : int
        Number of scores per row, for user-defined objectives.
    checkpoint : path, optional
        File that is replaced every `checkpoint_every` rounds by the model so far and the metrics, and when training is
        stopped. :func:`load_model` reads it like any other model.
    checkpoint_every : int
        Number of rounds between checkpoints.
    resume : bool
        Whether `data` was created with a checkpoint as `init_model`: training continues after its rounds, with the same
        parameters. With quantized gradients (``"pair8"``, ``"pair4"``) the model is that of an uninterrupted training,
        bit for bit; with ``"f32"`` it differs by rounding.
    verbose : bool or int, optional
        Whether to show progress; ``None`` shows it in terminals and notebooks only, ``True`` and 1 always. An integer N
        above 1 prints the metrics every N rounds instead.
    n_jobs : int, optional
        Number of threads; all cores by default. The model does not depend on it.
    **settings
        Hyperparameters, which override those in `params`.

    Returns
    -------
    Model
        Trained model, up to the best round if training stopped early.

    Raises
    ------
    InputError
        If a setting, the data or a gradient is unusable.

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
    integer("checkpoint_every", checkpoint_every, 1)
    return grow(
        data,
        given.params,
        loss,
        valid=named(valid),
        metrics=measures(given.own("metric", metric), own),
        watch_train="train" if watch_train else None,
        stop_on=stop_on,
        callbacks=callbacks,
        checkpoint=None if checkpoint is None else Checkpoints(checkpoint, checkpoint_every),
        resume=resume,
        verbose=given.own("verbose", verbose, False),
        n_jobs=given.own("n_jobs", n_jobs),
    )


def prepared(data: Dataset, objective: Objective | None, link: str, outputs: int) -> tuple[str | Loss, int]:
    """Return the objective in the form the native extension expects, and its number of scores per row."""
    if not isinstance(data, Dataset):
        raise DTypeError(f"data must be a Dataset, not {type(data).__name__}; use Dataset(X, y)")
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
    stop_on: str | tuple[str, str] | None = None,
    checkpoint: Checkpoints | None = None,
    resume: bool = False,
    verbose: bool | int | None,
    n_jobs: int | None,
    metadata: dict[str, str] | None = None,
    keep: bool = True,
    stacklevel: int = 3,
) -> Model:
    """Train with validated settings; warn if Ctrl-C stopped the training.

    `watch_train` is the name of the training data in the history, or ``None`` to skip its evaluation.
    """
    if not isinstance(callbacks, Iterable):
        raise DTypeError(f"callbacks = {callbacks!r}: it must be a list of callables")
    callbacks = list(callbacks)
    for callback in callbacks:
        if not callable(callback):
            raise InputError(f"callback {callback!r} is not callable")
    if (params.early_stopping_rounds or 0) > 0 and not valid:
        raise InputError("early_stopping_rounds needs validation data; pass valid to train, or eval_set to fit")
    log_every = verbose if isinstance(verbose, int) and not isinstance(verbose, bool) and verbose > 1 else 0
    quiet = log_every or (verbose is not None and not verbose > 0)
    progress = None if quiet else Progress(params.n_estimators, "training", show=verbose)
    told: Callable[..., Any] | None = on_round(callbacks, progress, checkpoint, log_every)
    if checkpoint is not None and params.boosting == "dart":
        raise InputError("a checkpoint does not contain the dropped trees of dart; omit it, or use boosting gbdt")
    if resume and data.init_model is None:
        raise InputError("resume needs data that starts from a checkpoint; pass init_model=load_model(path) to Dataset")
    try:
        native, history, best, _, interrupted = _native.train(
            data._native,
            params.native(),
            objective,
            metrics,
            valid=[(name, each._native) for name, each in valid],
            watch_train=watch_train,
            stop_on=_indices(stop_on, valid, metrics, objective),
            on_round=told,
            checkpoint=data.init_model._native if resume and data.init_model is not None else None,
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
    if interrupted and resume:
        warnings.warn("training was interrupted", TrainingInterrupted, stacklevel=stacklevel)
    elif interrupted:
        done = native.n_rounds - (data.init_model.n_rounds if data.init_model is not None else 0)
        message = (
            f"training was interrupted after {done} of {params.n_estimators} rounds; "
            "the model contains the completed rounds"
        )
        warnings.warn(message, TrainingInterrupted, stacklevel=stacklevel)
    return Model(native, by_data, None if best is None else best + 1)


def _indices(
    stop_on: str | tuple[str, str] | None,
    valid: list[tuple[str, Dataset]],
    metrics: list[Any] | None,
    objective: str | Loss,
) -> tuple[int, int]:
    """Return the indices of the validation dataset and the metric of early stopping."""
    if stop_on is None:
        return 0, 0
    chosen: Any = (None, stop_on) if isinstance(stop_on, str) else stop_on
    if not isinstance(chosen, tuple | list) or len(chosen) != 2:
        raise DTypeError(f"stop_on = {stop_on!r}: it must be a metric, or a tuple of a dataset and a metric")
    name, metric = chosen
    labels = [label for label, _ in valid]
    if name is not None and name not in labels:
        raise InputError(f"stop_on names the dataset {name!r}, which is not among {labels}")
    known: list[str] = []
    for given in metrics or [None]:
        if isinstance(given, Measure):
            known.append(given.name)
        elif isinstance(objective, str):
            known.append(_native.describe_metrics(objective, None if given is None else [given])[0][0])
        else:
            known.append(str(given))
    own = metric
    if isinstance(objective, str) and metric not in known:
        own = _native.describe_metrics(objective, [metric])[0][0]
    if own not in known:
        raise InputError(f"stop_on names the metric {metric!r}, which is not among {known}; pass it as metric")
    return 0 if name is None else labels.index(name), known.index(own)

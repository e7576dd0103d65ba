"""Training on one worker of a group."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bitgrain import _native
from bitgrain.boosting.callables import Metric, Objective, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.frame import Rows, read
from bitgrain.boosting.model import Model
from bitgrain.boosting.params import Params, chosen
from bitgrain.boosting.queries import queries
from bitgrain.boosting.rounds import Callback, Checkpoints, on_round
from bitgrain.boosting.target import Target, encoded, weights
from bitgrain.boosting.training import prepared
from bitgrain.boosting.valid import default_names
from bitgrain.distributed.communicator import Communicator, agreed, exchange
from bitgrain.errors import InputError

__all__ = ["train"]

#: Rows of a worker: features, target, and optionally weights.
Part = tuple[Any, Any] | tuple[Any, Any, Any]

#: Settings of the cuts, which belong to the dataset.
_BINNING = ("max_bin", "sample_rows")


def train(
    group: Communicator,
    X: Any,
    y: Any,
    params: Params | Mapping[str, Any] | None = None,
    *,
    weight: Any = None,
    qid: Any = None,
    categorical: Sequence[int] | Sequence[str] | None = None,
    objective: Objective | None = None,
    valid: Sequence[Part] = (),
    metric: Metric | Sequence[Metric] | None = None,
    watch_train: bool = False,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 10,
    n_jobs: int | None = None,
    **settings: Any,
) -> Model:
    """Train on the rows of all workers of a group; each calls this function with its own rows and the same settings.

    Parameters
    ----------
    group : Communicator
        Connection to the other workers.
    X, y, weight, qid, categorical
        Rows of this worker; see :class:`bitgrain.Dataset`. `X` may have no rows, or be ``None``. All rows of a query
        must be on the same worker.
    params, objective, metric, watch_train, callbacks, n_jobs, **settings
        See :func:`bitgrain.train`; also ``max_bin`` and ``sample_rows``. ``gradient_precision`` is ``"pair8"`` by
        default, because sums of floats depend on the number of workers.
    valid : sequence of (X, y) or (X, y, weight)
        Rows of this worker in each validation set. Worker 0 evaluates the metrics on the rows of all workers.
    checkpoint : path, optional
        File that worker 0 writes after every `checkpoint_every` rounds. If it exists, training continues after its last
        round; the number of workers may differ if together they have the same rows in the same order. The file is
        removed at the end.
    checkpoint_every : int
        Number of rounds between checkpoints.

    Returns
    -------
    Model
        The same model on every worker: the one that :func:`bitgrain.train` trains on all rows, in the order of the
        workers.

    Raises
    ------
    WorkerError
        On every worker, if one of them fails or is lost.

    Examples
    --------
    >>> import numpy as np
    >>> from bitgrain import Dataset, train as train_alone
    >>> from bitgrain.distributed import run_threads, train
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((3000, 4))
    >>> y = X[:, 0] + np.sin(5 * X[:, 1])
    >>> def work(group):
    ...     own = slice(group.rank * 1000, (group.rank + 1) * 1000)
    ...     return train(group, X[own], y[own], n_estimators=5).to_bytes()
    >>> alone = train_alone(Dataset(X, y), n_estimators=5, gradient_precision="pair8").to_bytes()
    >>> [model == alone for model in run_threads(3, work)]
    [True, True, True]

    """

    def work() -> Model:
        binning = {name: settings.pop(name) for name in _BINNING if name in settings}
        given = chosen(params, {**_default_precision(params, settings), **settings}, objective)
        threads = given.own("n_jobs", n_jobs)
        rows, target, classes = _meet(group, X, y, categorical, threads)
        started = _started(group, checkpoint)
        data = _dataset(group, rows, target, classes, weight, qid, binning, given.params.seed, started, threads)
        sets = _valid(group, data, valid, threads)
        loss, own = _objective(group, data, given.own("objective", objective))
        kept = None if checkpoint is None or group.rank > 0 else Checkpoints(checkpoint, checkpoint_every)
        told = on_round(list(callbacks), None, kept)
        native, history, best, _, _ = _native.train(
            data._native,
            given.params.native(),
            loss,
            measures(given.own("metric", metric), own),
            valid=[(name, each._native) for name, each in zip(default_names(len(sets)), sets, strict=True)],
            watch_train="train" if watch_train else None,
            on_round=told,
            keep=False,
            n_jobs=threads,
            checkpoint=None if started is None else started._native,
            group=group,
        )
        by_data: dict[str, dict[str, list[float]]] = {}
        for of, name, values in history:
            by_data.setdefault(of, {})[name] = values
        return Model(native, by_data, None if best is None else best + 1)

    model = agreed(group, work)
    if checkpoint is not None and group.rank == 0:
        Path(checkpoint).unlink(missing_ok=True)
    return model


def _default_precision(params: Params | Mapping[str, Any] | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the precision of gradients, unless it is given."""
    names = {"gradient_precision", "precision"}
    given = isinstance(params, Params) or bool(names & {*settings, *(params or {})})
    return {} if given else {"gradient_precision": "pair8"}


def _read(
    X: Any, y: Any, categorical: Sequence[int] | Sequence[str] | None, n_jobs: int | None
) -> tuple[Rows | None, Target]:
    """Read the rows of this worker."""
    if X is None or _count(X) == 0:
        return None, Target(np.empty(0, dtype=np.float32), None)
    rows = read(X, categorical=categorical, n_jobs=n_jobs)
    return rows, encoded(y, rows.shape[0])


def _count(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape is not None else len(X)


def _meet(
    group: Communicator, X: Any, y: Any, categorical: Sequence[int] | Sequence[str] | None, n_jobs: int | None
) -> tuple[Rows | None, Target, Any]:
    """Read the rows of this worker; return them with the class labels of all workers."""
    try:
        rows, target = _read(X, y, categorical, n_jobs)
        own: bytes | Exception = pickle.dumps(None if rows is None else (target.classes,))
    except Exception as error:
        own = error
    found = [each[0] for data in exchange(group, own) if (each := pickle.loads(data)) is not None]
    if all(each is None for each in found):
        return rows, target, None
    if any(each is None for each in found):
        raise InputError("the target is a number on some workers and a class label on others")
    classes = np.unique(np.concatenate(found))
    if rows is not None and target.classes is not None:
        places = np.searchsorted(classes, target.classes)
        target = Target(places[target.values.astype(np.intp)].astype(np.float32), classes)
    return rows, target, classes


def _dataset(
    group: Communicator,
    rows: Rows | None,
    target: Target,
    classes: Any,
    weight: Any,
    qid: Any,
    binning: dict[str, Any],
    seed: int,
    started: Model | None,
    n_jobs: int | None,
) -> Dataset:
    """Bin the rows of this worker like all rows at once."""
    data = object.__new__(Dataset)
    data._classes = classes
    data._values = None
    data._base = started
    data._native = _native.BinnedData.shard(
        group,
        None if rows is None else rows.features,
        target.values,
        None if rows is None else weights(weight, rows.shape[0]),
        queries=None if rows is None else queries(None, qid),
        names=None if rows is None else rows.names,
        categories=None if rows is None else rows.categories,
        classes=None if classes is None else [str(each) for each in classes],
        settings={**binning, "seed": seed},
        base=None if started is None else started._native,
        n_jobs=n_jobs,
    )
    return data


def _valid(group: Communicator, data: Dataset, valid: Sequence[Part], n_jobs: int | None) -> list[Dataset]:
    """Bin the rows of this worker in each validation set."""

    def like(part: Part) -> Dataset:
        X, y, *weight = part
        if X is not None and _count(X) > 0:
            return data.like(X, y, weight=weight[0] if weight else None, n_jobs=n_jobs)
        empty = object.__new__(Dataset)
        empty._classes, empty._values, empty._base = data._classes, None, data._base
        empty._native = data._native.without_rows()
        return empty

    return agreed(group, lambda: [like(part) for part in valid])


def _objective(group: Communicator, data: Dataset, objective: Objective | None) -> tuple[Any, int]:
    """Return the objective and its number of outputs: that of the worker with the most classes."""
    loss, outputs = agreed(group, lambda: prepared(data, objective, "identity", 1))
    if not isinstance(loss, str):
        return loss, outputs
    found = [json.loads(each) for each in exchange(group, json.dumps([outputs, loss]).encode())]
    outputs, loss = max(found, key=lambda each: each[0])
    return loss, outputs


def _started(group: Communicator, checkpoint: str | os.PathLike[str] | None) -> Model | None:
    """Return the model of the checkpoint that worker 0 finds."""
    if checkpoint is None:
        return None
    own = Path(checkpoint).read_bytes() if group.rank == 0 and Path(checkpoint).exists() else b""
    found = exchange(group, own)[0]
    return Model.from_bytes(found) if found else None

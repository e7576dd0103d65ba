"""Training on Dask collections: one task per worker, on the partitions that the worker holds.

Dask places the tasks, moves the partitions and reports lost workers. An actor on one of the workers computes the sums.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from dask import delayed
from dask.distributed import Client, Future, MultiLock, default_client, get_worker, wait

from bitgrain.boosting.model import Model
from bitgrain.distributed import training
from bitgrain.distributed.hub import Hub, HubCommunicator
from bitgrain.errors import InputError, WorkerError

__all__ = ["BitgrainDaskClassifier", "BitgrainDaskRanker", "BitgrainDaskRegressor", "predict", "train"]

#: Seconds between checks of the workers.
_PATIENCE = 0.2


def train(
    X: Any,
    y: Any,
    *args: Any,
    weight: Any = None,
    qid: Any = None,
    valid: Sequence[tuple[Any, ...]] = (),
    client: Client | None = None,
    workers: Sequence[str] | None = None,
    in_order: bool = True,
    **settings: Any,
) -> Model:
    """Train on Dask collections; see :func:`bitgrain.distributed.train`.

    Parameters
    ----------
    X, y, weight, qid : Dask array or data frame
        Rows, with the same partitions in all collections. Columns of an array must be in one chunk.
    valid : sequence of (X, y) or (X, y, weight)
        Validation data, as Dask collections.
    client : Client, optional
        Connection to the cluster; the current one by default.
    workers : sequence of str, optional
        Addresses of the workers to use; all by default.
    in_order : bool
        Whether each worker gets adjacent partitions, so that the model is the one of all rows in order, regardless of
        the number of workers. Otherwise partitions stay where they are, and the rows are in the order of the workers.
    *args, **settings
        See :func:`bitgrain.distributed.train`.

    Raises
    ------
    WorkerError
        If a task fails, or a worker is lost.

    """
    client = default_client() if client is None else client
    own = [(X, y, weight, qid), *((*part, *(None,) * (4 - len(part))) for part in valid)]
    known = list(client.scheduler_info(n_workers=-1)["workers"]) if workers is None else list(workers)
    if not known:
        raise InputError("the cluster has no workers")
    known.sort()
    # Training runs on every worker at once: two trainings that hold some of the workers would wait for each other.
    with MultiLock(known, client=client):
        sets = [_placed(client, _partitions(each), known, in_order) for each in own]
        return _run(client, known, sets, args, settings)


def _partitions(collections: Sequence[Any]) -> list[Any]:
    """Return one delayed tuple per partition of collections with the same partitions."""
    columns: list[list[Any] | None] = []
    for collection in collections:
        if collection is None:
            columns.append(None)
            continue
        parts = collection.to_delayed()
        parts = parts.ravel().tolist() if isinstance(parts, np.ndarray) else list(parts)
        columns.append(parts)
    count = len(columns[0] or [])
    if any(column is not None and len(column) != count for column in columns):
        raise InputError("the collections have different numbers of partitions; repartition or rechunk them")
    rows = [[None if column is None else column[at] for column in columns] for at in range(count)]
    return [delayed(tuple)(row) for row in rows]


def _placed(client: Client, parts: list[Any], workers: list[str], in_order: bool) -> list[list[Future]]:
    """Compute partitions; return those of each worker."""
    futures: list[Future] = client.compute(parts)
    wait(futures)
    for future in futures:
        if future.status != "finished":
            future.result()
    placed: list[list[Future]] = [[] for _ in workers]
    if in_order:
        for at, future in enumerate(futures):
            placed[at * len(workers) // len(futures)].append(future)
        return placed
    where = client.who_has(futures)
    for future in futures:
        holders = [address for address in where.get(future.key, ()) if address in workers]
        rank = workers.index(holders[0]) if holders else min(range(len(workers)), key=lambda at: len(placed[at]))
        placed[rank].append(future)
    return placed


def _run(
    client: Client, workers: list[str], sets: list[list[list[Future]]], args: Sequence[Any], settings: dict[str, Any]
) -> Model:
    """Run one task per worker; return the model of the first."""
    size = len(workers)
    hub = client.submit(Hub, size, actor=True, workers=[workers[0]], pure=False).result()
    name = uuid.uuid4().hex
    tasks = [
        client.submit(
            _work,
            hub,
            rank,
            size,
            [each[rank] for each in sets],
            list(args),
            settings,
            key=f"bitgrain-train-{name}-{rank}",
            workers=[address],
            allow_other_workers=False,
            pure=False,
            # A second run of the task would find no other worker.
            retries=0,
        )
        for rank, address in enumerate(workers)
    ]
    try:
        _watch(client, workers, tasks, hub)
        model: Model = tasks[0].result()
        return model
    finally:
        client.cancel(tasks)


def _watch(client: Client, workers: list[str], tasks: list[Future], hub: Any) -> None:
    """Wait for the tasks; end all of them when one fails or its worker is lost."""
    while True:
        if all(task.status == "finished" for task in tasks):
            return
        alive = client.scheduler_info(n_workers=-1)["workers"]
        lost = next((rank for rank, address in enumerate(workers) if address not in alive), None)
        if lost is not None:
            _end(hub, lost, "Dask lost it")
            reason = "Dask lost it; restart from the last checkpoint"
            raise WorkerError(f"worker {lost} failed: {reason}", lost, reason)
        failed = next((rank for rank, task in enumerate(tasks) if task.status in ("error", "cancelled", "lost")), None)
        if failed is not None:
            error = tasks[failed].exception()
            if not isinstance(error, WorkerError):
                _end(hub, failed, str(error))
                reason = f"{type(error).__name__}: {error}"
                error = WorkerError(f"worker {failed} failed: {reason}", failed, reason)
            raise error
        time.sleep(_PATIENCE)


def _end(hub: Any, rank: int, message: str) -> None:
    try:
        hub.fail(rank, message).result(timeout=5)
    except Exception:
        # The hub was on the lost worker: calls to it fail.
        return


def _work(hub: Any, rank: int, size: int, sets: list[list[tuple[Any, ...]]], args: list[Any], settings: Any) -> Any:
    """Train on one worker; the first returns the model."""
    loop = get_worker().io_loop.asyncio_loop

    def call(method: str, *arguments: Any) -> Any:
        outcome = getattr(hub, method)(*arguments)
        if inspect.iscoroutine(outcome):
            # The actor is on this worker.
            return asyncio.run_coroutine_threadsafe(outcome, loop).result()
        return outcome.result()

    group = HubCommunicator(rank, size, call)
    (X, y, weight, qid), *valid = [_joined(parts) for parts in sets]
    parts = [part[:3] if part[2] is not None else part[:2] for part in valid]
    # One training uses as many threads as Dask gives to the worker.
    settings = {"n_jobs": get_worker().state.nthreads, **settings}
    model = training.train(group, X, y, *args, weight=weight, qid=qid, valid=parts, **settings)
    return model if rank == 0 else None


def _joined(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Concatenate partitions, column by column."""
    if not parts:
        return None, None, None, None
    return tuple(None if column[0] is None else _concatenated(column) for column in zip(*parts, strict=True))


def _concatenated(column: Sequence[Any]) -> Any:
    if len(column) == 1:
        # A copy, because arrays that come from another worker may be misaligned.
        return column[0].copy()
    if hasattr(column[0], "iloc"):
        import pandas as pd
        from pandas.api.types import union_categoricals

        if not hasattr(column[0], "columns"):
            return pd.concat(column)
        # Categorical columns with different categories would become columns of objects.
        frames = [frame.copy(deep=False) for frame in column]
        for name in frames[0].columns:
            if isinstance(frames[0][name].dtype, pd.CategoricalDtype):
                union = union_categoricals([frame[name] for frame in frames], sort_categories=True).categories
                for frame in frames:
                    frame[name] = frame[name].cat.set_categories(union)
        return pd.concat(frames)
    return np.concatenate(column)


def predict(model: Model, X: Any, kind: str = "predict") -> Any:
    """Predict a Dask collection, one partition at a time: with ``predict``, ``predict_proba``, ``predict_class``.

    The result is a lazy Dask array.
    """
    outputs = len(model.classes) if kind == "predict_proba" else 0
    if hasattr(X, "map_blocks"):
        options = {"drop_axis": 1} if outputs == 0 else {"chunks": (X.chunks[0], (outputs,))}
        kind_of = object if kind == "predict_class" else np.float64
        return X.map_blocks(lambda block: getattr(model, kind)(block), dtype=kind_of, **options)
    parts = [delayed(getattr(model, kind))(part) for part in X.to_delayed()]
    import dask.array as da

    shape = (np.nan,) if outputs == 0 else (np.nan, outputs)
    return da.concatenate([da.from_delayed(part, shape, dtype=np.float64) for part in parts], axis=0)


class _Estimator:
    """Estimator for Dask collections, with the keywords of :func:`bitgrain.distributed.train`."""

    def __init__(self, *, client: Client | None = None, **settings: Any) -> None:
        self.client = client
        self.settings = settings

    @property
    def model(self) -> Model:
        """Trained model."""
        found = self.__dict__.get("model_")
        if found is None:
            raise InputError(f"this {type(self).__name__} is not fitted; call fit first")
        trained: Model = found
        return trained

    def _fit(self, X: Any, y: Any, **data: Any) -> None:
        self.model_ = train(X, y, client=self.client, **data, **self.settings)


class BitgrainDaskRegressor(_Estimator):
    """Regressor for Dask collections.

    Parameters
    ----------
    client : Client, optional
        Connection to the cluster; the current one by default.
    **settings
        Keywords of :func:`train`.

    """

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, eval_set: Sequence[tuple[Any, ...]] = ()
    ) -> BitgrainDaskRegressor:
        """Fit the model."""
        self.settings.setdefault("objective", "squared")
        self._fit(X, y, weight=sample_weight, valid=eval_set)
        return self

    def predict(self, X: Any) -> Any:
        """Predict target values, as a lazy Dask array."""
        return predict(self.model, X)


class BitgrainDaskClassifier(_Estimator):
    """Classifier for Dask collections; the target holds class labels.

    Parameters
    ----------
    client : Client, optional
        Connection to the cluster; the current one by default.
    **settings
        Keywords of :func:`train`.

    """

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, eval_set: Sequence[tuple[Any, ...]] = ()
    ) -> BitgrainDaskClassifier:
        """Fit the model. Numeric labels become strings, like the classes of the model."""

        def labels(target: Any) -> Any:
            return target.astype(str)

        valid = [(part[0], labels(part[1]), *part[2:]) for part in eval_set]
        self._fit(X, labels(y), weight=sample_weight, valid=valid)
        self.classes_ = np.array(self.model.classes)
        return self

    def predict(self, X: Any) -> Any:
        """Predict class labels, as a lazy Dask array."""
        return predict(self.model, X, "predict_class")

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class, as a lazy Dask array."""
        return predict(self.model, X, "predict_proba")


class BitgrainDaskRanker(_Estimator):
    """Ranker for Dask collections. The rows of a query must be in the partitions of one worker.

    Parameters
    ----------
    client : Client, optional
        Connection to the cluster; the current one by default.
    **settings
        Keywords of :func:`train`.

    """

    def fit(self, X: Any, y: Any, *, qid: Any, sample_weight: Any = None) -> BitgrainDaskRanker:
        """Fit the model."""
        self.settings.setdefault("objective", "lambdarank")
        self._fit(X, y, qid=qid, weight=sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict scores, as a lazy Dask array."""
        return predict(self.model, X)

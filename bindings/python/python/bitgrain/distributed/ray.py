"""Training on Ray datasets: one actor per worker, placed and supervised by Ray."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from bitgrain.boosting.model import Model
from bitgrain.distributed import training
from bitgrain.distributed.hub import Hub, HubCommunicator
from bitgrain.errors import InputError, WorkerError

__all__ = ["Predictor", "train"]


def train(
    data: Any,
    *args: Any,
    label: str | None = None,
    weight: str | None = None,
    qid: str | None = None,
    valid: Sequence[Any] = (),
    num_workers: int = 2,
    cpus_per_worker: float = 1,
    resources_per_worker: Mapping[str, float] | None = None,
    placement: str = "SPREAD",
    max_failures: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Model:
    """Train on a Ray dataset, or on a list of shards; see :func:`bitgrain.distributed.train`.

    Parameters
    ----------
    data : ray.data.Dataset or sequence of (X, y) or (X, y, weight)
        Rows. A dataset is divided into adjacent blocks of rows; each element of a list is the shard of a worker.
    label, weight, qid : str
        Columns of the dataset.
    valid : sequence
        Validation datasets, or lists of shards.
    num_workers : int
        Number of workers for a dataset.
    cpus_per_worker, resources_per_worker, placement
        Resources of each worker, and the strategy by which Ray places them.
    max_failures : int
        Number of times that training restarts after a worker is lost: from the checkpoint if there is one, with as many
        workers as Ray can place. The model does not depend on the number of workers.
    checkpoint : path, optional
        File that worker 0 writes; it must be on storage that all machines share.
    *args, **settings
        See :func:`bitgrain.distributed.train`.

    Returns
    -------
    Model
        Trained model.

    Raises
    ------
    WorkerError
        If a worker fails, or is lost more than `max_failures` times.

    """
    columns = {"label": label, "weight": weight, "qid": qid}
    lost = 0
    while True:
        shards = _shards(data, num_workers, columns)
        sets = [_shards(each, len(shards), columns) for each in valid]
        try:
            return _run(
                shards,
                sets,
                args,
                {"checkpoint": checkpoint, **settings},
                cpus_per_worker,
                dict(resources_per_worker or {}),
                placement,
            )
        except WorkerError as error:
            lost += 1
            if error.reason != _LOST or lost > max_failures:
                raise
            if hasattr(data, "split"):
                num_workers = max(1, min(num_workers, int(ray.cluster_resources().get("CPU", 1) // cpus_per_worker)))


#: Reason of the loss of a worker, after which a training may start again.
_LOST = "Ray lost it; restart from the last checkpoint"


def _shards(data: Any, workers: int, columns: Mapping[str, str | None]) -> list[Any]:
    """Return the shard of each worker: a dataset with the names of its columns, or arrays."""
    if not hasattr(data, "split"):
        return list(data)
    if columns["label"] is None:
        raise InputError("label is missing: pass the column to predict")
    # Adjacent rows, so that the order does not depend on the number of workers.
    count = data.count()
    places = [count * rank // workers for rank in range(1, workers)]
    parts = data.split_at_indices(places) if places else [data]
    return [(part, dict(columns)) for part in parts]


def _arrays(shard: Any) -> tuple[Any, Any, Any, Any]:
    """Return features, target, weights and queries of a shard."""
    part, columns, *rest = shard
    if not hasattr(part, "to_pandas"):
        return part, columns, rest[0] if rest else None, None
    frame = part.to_pandas(limit=None) if part.count() else None
    if frame is None or not len(frame):
        return None, None, None, None
    named = {name: None if column is None else frame.pop(column).to_numpy() for name, column in columns.items()}
    return frame, named["label"], named["weight"], named["qid"]


class _Worker:
    """Actor that trains on one shard."""

    def work(
        self, hub: Any, rank: int, size: int, shard: Any, valid: list[Any], args: list[Any], settings: dict[str, Any]
    ) -> bytes | None:
        def call(method: str, *arguments: Any) -> Any:
            try:
                return ray.get(getattr(hub, method).remote(*arguments))
            except ray.exceptions.RayTaskError as error:
                cause = error.cause
                raise cause if isinstance(cause, WorkerError) else error from None

        group = HubCommunicator(rank, size, call)
        X, y, weight, qid = _arrays(shard)
        sets = []
        for each in valid:
            own_x, own_y, own_weight, _ = _arrays(each)
            sets.append((own_x, own_y) if own_weight is None else (own_x, own_y, own_weight))
        model = training.train(group, X, y, *args, weight=weight, qid=qid, valid=sets, **settings)
        return model.to_bytes() if rank == 0 else None


def _run(
    shards: list[Any],
    valid: list[list[Any]],
    args: Sequence[Any],
    settings: dict[str, Any],
    cpus: float,
    resources: dict[str, float],
    placement: str,
) -> Model:
    size = len(shards)
    bundle = {"CPU": cpus, **resources}
    # All or nothing: with some of the workers, two trainings would wait for each other.
    placed = placement_group([bundle] * size, strategy=placement)
    try:
        ray.get(placed.ready())
        options: dict[str, Any] = {
            "num_cpus": cpus,
            "resources": resources or None,
            "max_restarts": 0,
            "max_task_retries": 0,
        }
        # On the machine of the driver, which learns of lost workers.
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        hub = ray.remote(Hub).options(num_cpus=0, max_concurrency=4 * size + 4, scheduling_strategy=here).remote(size)
        settings = {"n_jobs": max(1, int(cpus)), **settings}
        workers = []
        for rank in range(size):
            strategy = PlacementGroupSchedulingStrategy(placed, placement_group_bundle_index=rank)
            workers.append(ray.remote(_Worker).options(**options, scheduling_strategy=strategy).remote())
        tasks = [
            worker.work.remote(hub, rank, size, shards[rank], [each[rank] for each in valid], list(args), settings)
            for rank, worker in enumerate(workers)
        ]
        return _result(tasks, hub)
    finally:
        remove_placement_group(placed)


def _result(tasks: list[Any], hub: Any) -> Model:
    """Return the model of worker 0; end all workers when one fails or is lost."""
    waiting = list(tasks)
    model: bytes = b""
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        rank = tasks.index(done[0])
        try:
            found = ray.get(done[0])
            model = found if rank == 0 else model
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, WorkerError):
                # Another worker may be the one that was lost.
                raise (_loss(tasks) or cause) from None
            reason = f"{type(cause).__name__}: {cause}"
            hub.fail.remote(rank, reason)
            raise WorkerError(f"worker {rank} failed: {reason}", rank, reason) from error
        except ray.exceptions.RayActorError:
            hub.fail.remote(rank, _LOST)
            ray.wait(waiting, num_returns=len(waiting), timeout=10) if waiting else None
            raise WorkerError(f"worker {rank} failed: {_LOST}", rank, _LOST) from None
    return Model.from_bytes(model)


def _loss(tasks: list[Any]) -> WorkerError | None:
    """Return the loss of a worker, if one was lost."""
    done, _ = ray.wait(tasks, num_returns=len(tasks), timeout=2)
    for task in done:
        try:
            ray.get(task)
        except ray.exceptions.RayActorError:
            rank = tasks.index(task)
            return WorkerError(f"worker {rank} failed: {_LOST}", rank, _LOST)
        except ray.exceptions.RayTaskError:
            continue
    return None


class Predictor:
    """Callable class for ``Dataset.map_batches``: adds a column of predictions to each batch.

    ``dataset.map_batches(Predictor, fn_constructor_args=[model], batch_format="pandas", concurrency=2)``
    """

    def __init__(self, model: Model, kind: str = "predict", column: str = "prediction") -> None:
        self._model = model
        self._kind = kind
        self._column = column

    def __call__(self, batch: Any) -> Any:
        """Return the batch with a column of predictions; probabilities of several classes are lists."""
        values: Any = getattr(self._model, self._kind)(batch[self._model.feature_names])
        if values.ndim == 2:
            values = np.array([row.tolist() for row in values], dtype=object)
        return batch.assign(**{self._column: values})

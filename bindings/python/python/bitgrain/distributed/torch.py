"""Workers of a process group of PyTorch: ``torchrun --nproc-per-node 4 train.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from bitgrain.boosting.model import Model
from bitgrain.distributed import training
from bitgrain.errors import WorkerError

__all__ = ["TorchCommunicator", "train"]


class TorchCommunicator:
    """Communicator of a process group with the backend gloo; its timeout bounds the wait for a lost process."""

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self._group = group
        self.rank: int = dist.get_rank(group)
        self.size: int = dist.get_world_size(group)

    def all_reduce(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of each number over all processes: sums of int64 wrap around like those of uint64."""
        sums = torch.from_numpy(numbers.view(np.int64).copy())
        self._call(dist.all_reduce, sums, group=self._group)
        total: NDArray[np.uint64] = sums.numpy().view(np.uint64)
        return total

    def all_gather(self, data: bytes) -> list[bytes]:
        """Return the bytes of every process."""
        found: list[Any] = [None] * self.size
        self._call(dist.all_gather_object, found, data, group=self._group)
        return found

    def gather(self, data: bytes) -> list[bytes] | None:
        """Return the bytes of every process on process 0."""
        found = self.all_gather(data)
        return found if self.rank == 0 else None

    def fail(self, message: str) -> None:
        """End the process group; the calls of the other workers raise when they detect it."""
        dist.destroy_process_group(self._group)

    def _call(self, operation: Any, *arguments: Any, **options: Any) -> None:
        try:
            operation(*arguments, **options)
        except RuntimeError as error:
            raise WorkerError(f"the process group lost a worker: {error}") from error


def train(X: Any, y: Any, *args: Any, group: dist.ProcessGroup | None = None, **settings: Any) -> Model:
    """Train on the rows of all processes of a group; see :func:`bitgrain.distributed.train`."""
    return training.train(TorchCommunicator(group), X, y, *args, **settings)

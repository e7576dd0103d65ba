"""Workers of an MPI job, with mpi4py: ``mpiexec -n 4 python train.py``.

If a training script raises on one process outside of :func:`train`, the other processes wait for it forever when MPI
shuts down. Run the script with ``python -m mpi4py train.py``, which ends all processes. ``mpiexec`` itself ends the job
if a process dies.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from bitgrain.boosting.model import Model
from bitgrain.distributed import training

__all__ = ["MpiCommunicator", "train"]

#: Bytes per message: MPI counts in 32 bits.
_MESSAGE = 1 << 30


class MpiCommunicator:
    """Communicator of an MPI process.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Group of processes; by default all processes of the job. It is duplicated, so that other messages do not
        interfere.

    """

    def __init__(self, comm: MPI.Comm | None = None) -> None:
        self._comm = (MPI.COMM_WORLD if comm is None else comm).Dup()
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()

    def all_reduce(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of each number over all processes."""
        numbers = np.ascontiguousarray(numbers)
        sums = np.empty_like(numbers)
        step = _MESSAGE // 8
        for start in range(0, len(numbers), step):
            self._comm.Allreduce(numbers[start : start + step], sums[start : start + step], op=MPI.SUM)
        return sums

    def all_gather(self, data: bytes) -> list[bytes]:
        """Return the bytes of every process."""
        return self._gathered(data, to_all=True)

    def gather(self, data: bytes) -> list[bytes] | None:
        """Return the bytes of every process on process 0."""
        found = self._gathered(data, to_all=False)
        return found if self.rank == 0 else None

    def _gathered(self, data: bytes, *, to_all: bool) -> list[bytes]:
        lengths = np.empty(self.size, dtype=np.int64)
        self._comm.Allgather(np.array([len(data)], dtype=np.int64), lengths)
        parts: list[list[bytes]] = [[] for _ in range(self.size)]
        step = _MESSAGE // self.size
        for start in range(0, int(lengths.max()), step):
            counts = np.clip(lengths - start, 0, step)
            own = np.frombuffer(data, dtype=np.uint8)[start : start + step]
            receives = to_all or self.rank == 0
            out = np.empty(int(counts.sum()) if receives else 0, dtype=np.uint8)
            target: Any = [out, counts, MPI.BYTE] if receives else None
            if to_all:
                self._comm.Allgatherv([own, MPI.BYTE], target)
            else:
                self._comm.Gatherv([own, MPI.BYTE], target, root=0)
            if receives:
                ends = np.cumsum(counts)
                for rank in range(self.size):
                    parts[rank].append(out[ends[rank] - counts[rank] : ends[rank]].tobytes())
        return [b"".join(each) for each in parts]

    def fail(self, message: str) -> None:
        """End all processes of the job: MPI has no other way to interrupt a pending operation."""
        print(f"bitgrain: worker {self.rank} failed: {message}", file=sys.stderr, flush=True)
        self._comm.Abort(1)


def train(X: Any, y: Any, *args: Any, comm: MPI.Comm | None = None, **settings: Any) -> Model:
    """Train on the rows of all processes of an MPI job; see :func:`bitgrain.distributed.train`.

    Every process gets the model; process 0 usually saves it.
    """
    return training.train(MpiCommunicator(comm), X, y, *args, **settings)

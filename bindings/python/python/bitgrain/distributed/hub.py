"""Collective operations through a hub: an object on one machine that all workers call.

Dask and Ray have remote objects (actors) but no sums over workers, so the object computes the sums.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitgrain.errors import WorkerError

__all__ = ["Hub", "HubCommunicator"]


class _Meeting:
    """One collective operation."""

    def __init__(self, size: int, kind: str) -> None:
        self.kind = kind
        self.given: list[Any] = [None] * size
        self.missing = size
        self.leaving = size
        self.result: Any = None
        self.done = asyncio.Event()


class Hub:
    """Collects the inputs of all workers in each operation, and returns the result to all of them.

    Its methods are coroutines, so that it waits for many workers at once without threads.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._meetings: dict[int, _Meeting] = {}
        self._failure: tuple[int | None, str] | None = None

    async def meet(self, turn: int, rank: int, kind: str, own: Any) -> Any:
        """Return the result of operation `turn` when every worker has given its part."""
        self._check()
        meeting = self._meetings.get(turn)
        if meeting is None:
            meeting = self._meetings[turn] = _Meeting(self._size, kind)
        if meeting.kind != kind:
            await self.fail(rank, f"it called {kind} when others called {meeting.kind}")
            self._check()
        meeting.given[rank] = own
        meeting.missing -= 1
        if meeting.missing == 0:
            meeting.result = sum(meeting.given[1:], meeting.given[0]) if kind == "sum" else meeting.given
            meeting.done.set()
        await meeting.done.wait()
        if meeting.missing > 0:
            self._check()
        meeting.leaving -= 1
        if meeting.leaving == 0:
            del self._meetings[turn]
        return None if kind == "gather" and rank > 0 else meeting.result

    async def fail(self, rank: int | None, message: str) -> None:
        """End all pending and later operations."""
        if self._failure is None:
            self._failure = (rank, message)
        for meeting in self._meetings.values():
            meeting.done.set()

    def _check(self) -> None:
        if self._failure is not None:
            rank, reason = self._failure
            who = "a worker" if rank is None else f"worker {rank}"
            raise WorkerError(f"{who} failed: {reason}", rank, reason)


class HubCommunicator:
    """Communicator of a worker that calls a hub."""

    def __init__(self, rank: int, size: int, call: Callable[..., Any]) -> None:
        """Create the communicator; `call` calls a method of the hub and returns its result."""
        self.rank = rank
        self.size = size
        self._call = call
        self._turn = 0

    def all_reduce(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of each number over all workers."""
        # A copy, because arrays in messages may be misaligned.
        return np.array(self._meet("sum", numbers), dtype=np.uint64)

    def all_gather(self, data: bytes) -> list[bytes]:
        """Return the bytes of every worker."""
        return list(self._meet("all_gather", data))

    def gather(self, data: bytes) -> list[bytes] | None:
        """Return the bytes of every worker on worker 0."""
        found = self._meet("gather", data)
        return None if found is None else list(found)

    def fail(self, message: str) -> None:
        """Make the calls of the other workers raise."""
        self._call("fail", self.rank, message)

    def _meet(self, kind: str, own: Any) -> Any:
        self._turn += 1
        return self._call("meet", self._turn, self.rank, kind, own)

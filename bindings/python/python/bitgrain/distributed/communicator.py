"""Connections between workers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bitgrain.errors import WorkerError

__all__ = ["Communicator", "agreed", "exchange"]

_T = TypeVar("_T")


@runtime_checkable
class Communicator(Protocol):
    """Connection of a worker to the other workers.

    Every worker calls the same methods in the same order, from one thread at a time. A call must not hang: if a worker
    fails or is lost, the calls of the other workers raise within seconds, if possible a
    :class:`bitgrain.errors.WorkerError`.
    """

    @property
    def rank(self) -> int:
        """Index of this worker, 0-based."""

    @property
    def size(self) -> int:
        """Number of workers."""

    def all_reduce(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sum of each number over all workers, modulo 2**64."""

    def all_gather(self, data: bytes) -> list[bytes]:
        """Return the bytes of every worker, by rank."""

    def gather(self, data: bytes) -> list[bytes] | None:
        """Return the bytes of every worker on worker 0, and ``None`` on the others."""

    def fail(self, message: str) -> None:
        """Make the pending and all later calls of the other workers raise; does not wait."""


def exchange(group: Communicator, own: bytes | Exception) -> list[bytes]:
    """Return the bytes of every worker; raise a :class:`WorkerError` on all of them if one has an error instead.

    The native extension exchanges messages of the same form, so a worker that fails here also reaches workers that are
    inside the extension.
    """
    if isinstance(own, Exception):
        text = f"{type(own).__name__}: {own}".encode()
        message = struct.pack("<QQ", 1, len(text)) + text
    else:
        message = struct.pack("<Q", 0) + own
    found = group.all_gather(message)
    for rank, data in enumerate(found):
        if data[:8] != bytes(8):
            reason = data[16:].decode(errors="replace")
            raise WorkerError(f"worker {rank} failed: {reason}", rank, reason)
    return [data[8:] for data in found]


def agreed(group: Communicator, work: Callable[[], _T]) -> _T:
    """Return the result of `work`; if it raises on one worker, raise the same :class:`WorkerError` on all."""
    try:
        result = work()
    except WorkerError:
        # The others know.
        raise
    except Exception as error:
        try:
            exchange(group, error)
        except WorkerError as shared:
            raise shared from error
        raise
    exchange(group, b"")
    return result

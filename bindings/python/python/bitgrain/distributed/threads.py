"""Workers that are threads of this process, for tests and examples."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bitgrain.distributed.hub import Hub, HubCommunicator

__all__ = ["run_threads"]

_T = TypeVar("_T")


def run_threads(size: int, work: Callable[[HubCommunicator], _T]) -> list[_T]:
    """Call `work` with a communicator on each of `size` threads; return the results by rank.

    Examples
    --------
    >>> run_threads(3, lambda group: group.all_gather(str(group.rank).encode()))[1]
    [b'0', b'1', b'2']

    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    hub = Hub(size)

    def call(method: str, *arguments: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(getattr(hub, method)(*arguments), loop).result()

    def of_rank(rank: int) -> _T:
        group = HubCommunicator(rank, size, call)
        try:
            return work(group)
        finally:
            group.fail("it has ended")

    try:
        with ThreadPoolExecutor(size) as pool:
            futures = [pool.submit(of_rank, rank) for rank in range(size)]
            return [future.result() for future in futures]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

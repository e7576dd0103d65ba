"""Snapshots: read-only views of a store at one moment."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from bitgrain import _native as native
from bitgrain.store.reading import Reading

__all__ = ["StoreSnapshot"]


class StoreSnapshot(Reading):
    """A read-only view of a store at one moment; created by :meth:`TensorStore.snapshot`.

    Later writes are not visible, and everything in the view stays readable when it is deleted or compacted, even after
    the store is closed. Reads do not count as use. Compacted files stay on disk until the snapshot is closed.
    """

    _native: native.StoreSnapshot

    def __init__(self, opened: native.StoreSnapshot) -> None:
        self._native = opened

    def close(self) -> None:
        """Release the files. Closing twice is allowed."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<StoreSnapshot, {'closed' if self.closed else f'{len(self)} tensors'}>"

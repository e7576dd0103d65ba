"""A store as it was at one moment."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from bitgrain import _native as native
from bitgrain.store.reading import Reading

__all__ = ["StoreSnapshot"]


class StoreSnapshot(Reading):
    """A store as it was at one moment, for reading: see :meth:`TensorStore.snapshot`.

    It sees none of what is written later, and what it sees stays readable whatever is deleted or compacted, even when
    the store is closed. Reading from it does not count as use. Compacted files stay on the disk until it is closed.
    """

    _native: native.StoreSnapshot

    def __init__(self, opened: native.StoreSnapshot) -> None:
        self._native = opened

    def close(self) -> None:
        """Let go of the files. Closing twice is fine."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<StoreSnapshot, {'closed' if self.closed else f'{len(self)} tensors'}>"

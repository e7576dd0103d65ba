"""Atomic batches."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn, Self

import numpy.typing as npt

from bitgrain import _native as native
from bitgrain.errors import DTypeError
from bitgrain.store.array import TensorId, float32
from bitgrain.store.writing import Writing, frame_time

__all__ = ["StoreBatch"]


class StoreBatch(Writing):
    """A batch of changes that are applied atomically: readers and crash recovery see all of them or none.

    Created by :meth:`TensorStore.batch`. As a context manager, it commits at the end of the block, or discards the
    changes after an exception. Values are encoded when they are put into the batch, so a batch takes as much memory as
    the data will take on disk. For each id, the last :meth:`put` or :meth:`delete` wins.
    """

    _native: native.StoreBatch

    def __init__(self, begun: native.StoreBatch) -> None:
        self._native = begun

    def append(self, id: TensorId, frame: npt.ArrayLike, *, time: int | None = None) -> None:
        """Append a frame, like :meth:`TensorStore.append`. Its shape is checked by :meth:`commit`."""
        self._native.append(id, float32(frame), frame_time(time))

    def delete(self, id: TensorId) -> None:
        """Delete a tensor. Its existence is checked by :meth:`commit`."""
        self._native.delete(id)

    def __delitem__(self, id: TensorId) -> None:
        self.delete(id)

    def __len__(self) -> int:
        return self._native.count()

    def __bool__(self) -> bool:
        return True

    def commit(self) -> None:
        """Apply all changes, or none. The batch is closed in both cases.

        Raises
        ------
        NotFoundError
            If a tensor to delete does not exist.
        InputError
            If frames have the wrong shape, a tensor to delete has dependents, or a limit was set in the meantime.
        FileError
            If an I/O error occurs.

        """
        self._native.commit()

    def discard(self) -> None:
        """Discard the changes and close the batch."""
        self._native.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()

    def __reduce__(self) -> NoReturn:
        raise DTypeError("a batch belongs to an open store and cannot be pickled or copied")

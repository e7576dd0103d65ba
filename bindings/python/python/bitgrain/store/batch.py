"""Several changes at once."""

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
    """Changes that are made together: all of them or none, for whoever reads and after a crash.

    See :meth:`TensorStore.batch`. As a context manager it makes the changes at the end, or none of them after an
    exception. Values are encoded when they are put into the batch, so it takes the memory of what will be stored. Of
    several :meth:`put` and :meth:`delete` of one id the last one counts.
    """

    _native: native.StoreBatch

    def __init__(self, begun: native.StoreBatch) -> None:
        self._native = begun

    def append(self, id: TensorId, frame: npt.ArrayLike, *, time: int | None = None) -> None:
        """As :meth:`TensorStore.append`. Whether the frame goes with those before is found at the end."""
        self._native.append(id, float32(frame), frame_time(time))

    def delete(self, id: TensorId) -> None:
        """Delete a tensor. Whether it is there is found at the end."""
        self._native.delete(id)

    def __delitem__(self, id: TensorId) -> None:
        self.delete(id)

    def __len__(self) -> int:
        return self._native.count()

    def __bool__(self) -> bool:
        return True

    def commit(self) -> None:
        """Make all changes, or none. Either way, the batch is over.

        Raises
        ------
        NotFoundError
            If a tensor that is to be deleted is not there.
        InputError
            If frames do not go with those before, others need what is to be deleted, or a limit was set meanwhile.
        FileError
            If the disk refused.

        """
        self._native.commit()

    def discard(self) -> None:
        """Make none of the changes. The batch is over."""
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

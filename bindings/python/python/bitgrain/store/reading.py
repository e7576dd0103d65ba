"""Methods that a store and a snapshot have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NoReturn, TypeVar, overload

import numpy as np

from bitgrain import _native as native
from bitgrain.errors import DTypeError, InputError, NotFoundError
from bitgrain.store.array import Array, TensorId, destination, whole
from bitgrain.store.provenance import FrameInfo, Provenance, frame_info, provenance
from bitgrain.store.report import TensorInfo, tensor_info

__all__ = ["Reading"]

T = TypeVar("T")


class Reading(Mapping[TensorId, Array]):
    """A mapping from ids to arrays."""

    _native: native.Store | native.StoreSnapshot

    def __getitem__(self, id: TensorId, /) -> Array:
        return self._native.get(id)[0]

    def __contains__(self, id: object, /) -> bool:
        if isinstance(id, bool) or not isinstance(id, str | int | np.integer):
            return False
        if not isinstance(id, str):
            id = int(id)
            if not 0 <= id < 1 << 128:
                return False
        return self._native.contains(id)

    def __len__(self) -> int:
        return self._native.count()

    def __iter__(self) -> Iterator[TensorId]:
        return iter(self._native.ids())

    # The methods of `Mapping` would read and compare every tensor.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @overload
    def get(self, id: TensorId, default: None = None, /) -> Array | None: ...
    @overload
    def get(self, id: TensorId, default: Array | T, /) -> Array | T: ...
    @overload
    def get(self, id: TensorId, /, *, out: Array, with_provenance: Literal[False] = False) -> Array: ...
    @overload
    def get(self, id: TensorId, /, *, rows: slice | range, with_provenance: Literal[False] = False) -> Array: ...
    @overload
    def get(
        self,
        id: TensorId,
        /,
        *,
        out: Array | None = None,
        rows: slice | range | None = None,
        with_provenance: Literal[True],
    ) -> tuple[Array, Provenance]: ...
    def get(
        self,
        id: TensorId,
        default: object = None,
        /,
        *,
        out: Array | None = None,
        rows: slice | range | None = None,
        with_provenance: bool = False,
    ) -> object:
        """Read a tensor; for a temporal tensor, its last frame.

        Parameters
        ----------
        id
            Name or number.
        default
            Return value for unknown ids, as in every mapping. With ``out``, ``rows`` or ``with_provenance``, an unknown
            id is an error.
        out
            A float32 array of the tensor's shape to fill and return, instead of a new one.
        rows
            Rows to read along the first axis: a slice or a range with step 1. Only the blocks that contain them are
            read.
        with_provenance
            Return a tuple of the array and its :class:`Provenance`.

        Returns
        -------
        numpy.ndarray
            Float32 array with the shape that was put. The caller owns it.

        Raises
        ------
        NotFoundError
            If the id is unknown and no ``default`` applies, or the data was evicted, unless the store was opened with
            ``absent_reads="zeros"``.
        DamagedError
            If the data is damaged; the message names the segment.
        InputError
            If ``out`` or ``rows`` do not match the tensor, or the store is closed.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from bitgrain import TensorStore
        >>> with tempfile.TemporaryDirectory() as folder, TensorStore(folder) as store:
        ...     store["a"] = np.arange(6.0).reshape(3, 2)
        ...     store.get("a", rows=slice(1, None)).shape
        ...     store.get("b") is None
        (2, 2)
        True

        """
        if out is None and rows is None and not with_provenance:
            try:
                return self._native.get(id)[0]
            except NotFoundError:
                if id in self:
                    raise  # evicted: a default for an existing tensor would hide the loss
                return default
        if out is not None and rows is not None:
            raise InputError("out requires the complete tensor; pass either out or rows")
        if out is not None:
            array = destination(out, tuple(self._native.shape(id)))
            cost = self._native.get_into(id, array)
        elif rows is not None:
            array, cost = self._native.get_rows(id, *self._rows(id, rows))
        else:
            array, cost = self._native.get(id)
        return (array, provenance(cost)) if with_provenance else array

    def _rows(self, id: TensorId, rows: slice | range) -> tuple[int, int]:
        """Return the first row and the end of the range."""
        shape = self._native.shape(id)
        if not shape:
            raise InputError("the tensor is a scalar and has no rows")
        if isinstance(rows, slice):
            start, stop, step = rows.indices(shape[0])
            stop = max(start, stop)
        elif isinstance(rows, range):
            start, stop, step = rows.start, rows.stop, rows.step
        else:
            raise DTypeError(f"rows is {rows!r}; it must be a slice or a range, such as slice(10, 20)")
        if step != 1:
            raise InputError(f"rows has step {step}, but only step 1 is supported")
        return whole("the first row", start), whole("the end of the rows", stop)

    @overload
    def get_rows(self, id: TensorId, start: int, stop: int, *, with_provenance: Literal[False] = False) -> Array: ...
    @overload
    def get_rows(
        self, id: TensorId, start: int, stop: int, *, with_provenance: Literal[True]
    ) -> tuple[Array, Provenance]: ...
    def get_rows(
        self, id: TensorId, start: int, stop: int, *, with_provenance: bool = False
    ) -> Array | tuple[Array, Provenance]:
        """Read a range of rows along the first axis. Only the blocks that contain them are read.

        Parameters
        ----------
        id
            Name or number.
        start, stop
            First row, and end of the range (exclusive). Both must be in range.
        with_provenance
            Return a tuple of the array and its :class:`Provenance`.

        Raises
        ------
        NotFoundError
            If there is no such tensor.
        InputError
            If the rows are out of range.

        """
        array, cost = self._native.get_rows(id, *self._rows(id, range(start, stop)))
        return (array, provenance(cost)) if with_provenance else array

    @overload
    def frames(
        self, id: TensorId, start: int = 0, stop: int | None = None, *, with_provenance: Literal[False] = False
    ) -> Array: ...
    @overload
    def frames(
        self, id: TensorId, start: int = 0, stop: int | None = None, *, with_provenance: Literal[True]
    ) -> tuple[Array, list[FrameInfo]]: ...
    def frames(
        self, id: TensorId, start: int = 0, stop: int | None = None, *, with_provenance: bool = False
    ) -> Array | tuple[Array, list[FrameInfo]]:
        """Read frames of a temporal tensor.

        Parameters
        ----------
        id
            Name or number.
        start, stop
            First frame, and end of the range (exclusive); ``None`` reads to the end.
        with_provenance
            Return a tuple of the array and a list with the :class:`FrameInfo` of each frame.

        Returns
        -------
        numpy.ndarray
            The frames, stacked along a new first axis.

        Raises
        ------
        NotFoundError
            If there is no such tensor.
        InputError
            If the tensor is not temporal, or the frames are out of range.

        """
        end = self._native.frame_count(id) if stop is None else whole("stop", stop)
        array, facts = self._native.frames(id, whole("start", start), end)
        return (array, [frame_info(frame) for frame in facts]) if with_provenance else array

    def stat(self, id: TensorId) -> TensorInfo:
        """Return the metadata of a tensor. Does not count as a use.

        Raises
        ------
        NotFoundError
            If there is no such tensor.

        """
        return tensor_info(self._native.stat(id))

    def scan(self, prefix: str | None = None) -> Iterator[TensorInfo]:
        """Iterate over the metadata of all tensors, sorted by id: names before numbers.

        Parameters
        ----------
        prefix
            Only names that start with this prefix.

        """
        for id in self._ids(prefix):
            try:
                yield self.stat(id)
            except NotFoundError:  # deleted in the meantime
                continue

    def _ids(self, prefix: str | None) -> list[TensorId]:
        ids = self._native.ids()
        return ids if prefix is None else [id for id in ids if isinstance(id, str) and id.startswith(prefix)]

    @property
    def closed(self) -> bool:
        """Whether the store or snapshot is closed."""
        return self._native.closed

    def __reduce__(self) -> NoReturn:
        raise DTypeError(
            f"a {type(self).__name__} holds open files and cannot be pickled or copied; "
            'hand over the path and open it there with mode="r"'
        )

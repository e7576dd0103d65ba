"""The tensor store."""

from __future__ import annotations

import os
import pathlib
import weakref
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Literal, Self

import numpy.typing as npt

from bitgrain import _native as native
from bitgrain.errors import DTypeError, InputError
from bitgrain.store.array import Array, TensorId, checked_id, float32, number, whole
from bitgrain.store.batch import StoreBatch
from bitgrain.store.moment import SimulatedClock, milliseconds
from bitgrain.store.policy import TierPolicy
from bitgrain.store.provenance import FrameInfo, frame_info
from bitgrain.store.reading import Reading
from bitgrain.store.recipe import Delta, Factor, recipe
from bitgrain.store.report import (
    CompactReport,
    RecoveryReport,
    StoreStats,
    SyncReport,
    TickPlan,
    TickReport,
    VerifyReport,
    recovery_report,
    store_stats,
    tick_plan,
    tick_report,
    verify_report,
)
from bitgrain.store.search import SearchResult, search_result
from bitgrain.store.snapshot import StoreSnapshot
from bitgrain.store.tier import Tier
from bitgrain.store.writing import Writing, frame_time, user_pairs

__all__ = ["TensorStore"]


def location(path: str | os.PathLike[str]) -> pathlib.Path | str:
    """Return a path, or an address unchanged: a path would merge its slashes."""
    text = os.fspath(path)
    return text if "://" in text else pathlib.Path(text)


class TensorStore(Writing, Reading, MutableMapping[TensorId, Array]):
    """A folder of quantized float32 arrays: a context manager and a mapping from ids to arrays.

    Can be shared between threads: methods release the GIL, readers do not block each other or writers, and concurrent
    writers share one fsync. One process can write at a time; others can open the store with ``mode="r"`` and see the
    state at that time. A change that returned survives a crash, within the limits of ``sync``.

    Parameters
    ----------
    path
        Folder of the store, or an address such as ``s3://bucket/prefix``, ``gs://bucket/prefix`` or
        ``az://container/prefix``, with credentials from the environment. ``memory://name`` is a store in the memory of
        this process.
    mode
        ``"a"`` to read and write, creating the store if it does not exist; ``"r+"`` to read and write an existing
        store; ``"r"`` to read only, even while another process writes.
    sync
        Durability that a write waits for. ``"always"``: it survives a power failure. ``"on_seal"``: it survives a crash
        of the process; a power failure may lose writes since the last :meth:`flush`.
    segment_bytes
        Size in bytes at which a segment is sealed and the next one started; at least 512.
    block_len
        Number of values that share a scale, for tensors put from now on: a multiple of 8.
    two_level
        Use a second scale for outliers in 3-bit blocks when the policy moves a tensor to the cold tier.
    mapped
        Read files through memory maps, which is fastest. If a disk fails or another program truncates a file during a
        read, the process is killed by SIGBUS; with ``False``, the read raises an error.
    on_damage
        Handling of damaged files: ``"refuse"`` raises an error with the location, ``"salvage"`` opens the rest and
        lists the losses in :attr:`recovery`.
    absent_reads
        Result of reading a tensor whose data was evicted and that cannot be reconstructed: ``"refuse"`` raises a
        :class:`NotFoundError`, ``"zeros"`` returns zeros with an infinite bound.
    policy
        Settings of :meth:`tick`, or the name of a policy: ``"careful"`` (the default: at least 6 bits), ``"adr019"``
        (down to 3 bits) or ``"budget:BYTES"`` (the least error within a total size). Not saved in the store.
    clock
        A :class:`SimulatedClock` for tests and simulations. Default: the system clock.

    Raises
    ------
    LockedError
        If the store is already open for writing, in this process or another. A remote store is taken over instead: the
        next write of the earlier writer raises this error.
    DamagedError
        If durable data is unreadable.
    FormatError
        If the store has a newer format version, or the files are not a store.
    FileError
        If the store does not exist, the folder contains other files, or an I/O error occurs.
    InputError
        If a setting is out of range.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from bitgrain import TensorStore
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = TensorStore(folder.name)
    >>> store["layer/0"] = np.linspace(-1, 1, 64).reshape(8, 8)
    >>> store["layer/0"].shape, "layer/1" in store, len(store)
    ((8, 8), False, 1)
    >>> store.put("mean", np.ones(3), max_error=0.01).bound <= 0.01
    True
    >>> list(store)
    ['layer/0', 'mean']
    >>> store.close()
    >>> store["mean"]
    Traceback (most recent call last):
    bitgrain.errors.InputError: the store is closed
    >>> folder.cleanup()

    """

    _native: native.Store

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: Literal["r", "r+", "a"] = "a",
        sync: Literal["always", "on_seal"] = "always",
        segment_bytes: int = 64 << 20,
        block_len: int = 128,
        two_level: bool = False,
        mapped: bool = True,
        on_damage: Literal["refuse", "salvage"] = "refuse",
        absent_reads: Literal["zeros", "refuse"] = "refuse",
        policy: TierPolicy | str | None = None,
        clock: SimulatedClock | None = None,
    ) -> None:
        if isinstance(policy, str):
            policy = TierPolicy.named(policy)
        if policy is not None and not isinstance(policy, TierPolicy):
            raise InputError(f"policy is {policy!r}; it must be a TierPolicy or the name of one")
        if clock is not None and not isinstance(clock, SimulatedClock):
            raise InputError(f"clock is {clock!r}; it must be a SimulatedClock")
        settings = {
            "sync": str(sync),
            "segment_bytes": whole("segment_bytes", segment_bytes),
            "block_len": whole("block_len", block_len),
            "two_level": bool(two_level),
            "mapped": bool(mapped),
            "on_damage": str(on_damage),
            "absent_reads": str(absent_reads),
            "policy": policy,
            "clock": None if clock is None else clock._native,
        }
        if not os.fspath(path):
            raise InputError("path is empty; name a folder, such as './store'")
        self._path = location(path)
        self._mode = mode
        self._native = native.Store(self._path, str(mode), settings)
        # Closes a store that was not closed explicitly, when it is collected or the interpreter exits.
        self._closing = weakref.finalize(self, self._native.close)

    # ------------------------------------------------------------------------------------------------ open and close

    @property
    def path(self) -> pathlib.Path | str:
        """Folder of the store; the address of a remote store."""
        return self._path

    @property
    def mode(self) -> str:
        """Mode in which the store was opened."""
        return self._mode

    @property
    def recovery(self) -> RecoveryReport:
        """Report of opening the store."""
        return recovery_report(self._native.recovery())

    def flush(self) -> None:
        """Make all writes so far durable, regardless of ``sync``."""
        self._native.flush()

    def close(self) -> None:
        """Write the usage of tensors, make everything durable and release the lock.

        Waits for calls in other threads. Closing twice is allowed. Leaving a ``with`` block also closes the store.

        Raises
        ------
        FileError
            If an I/O error occurs. The lock is released nevertheless.

        """
        self._closing.detach()
        self._native.close()

    def __enter__(self) -> Self:
        if self.closed:
            raise InputError("the store is closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{len(self)} tensors"
        return f"<TensorStore {str(self._path)!r}, mode {self._mode!r}, {state}>"

    # ---------------------------------------------------------------------------------------------------- delete

    def __delitem__(self, id: TensorId) -> None:
        self.delete(id)

    def delete(self, id: TensorId, *, dependents: Literal["refuse", "materialize"] = "refuse") -> None:
        """Delete a tensor and its metadata.

        Parameters
        ----------
        id
            Name or number.
        dependents
            Handling of tensors that are reconstructed from it: ``"refuse"`` raises an error, ``"materialize"`` stores
            them at 8 bits first.

        Raises
        ------
        NotFoundError
            If there is no such tensor.
        InputError
            If other tensors are reconstructed from it.

        """
        self._native.delete(id, str(dependents))

    def clear(self) -> None:
        """Delete all tensors, one at a time."""
        for id in self:
            self.delete(id, dependents="materialize")

    def batch(self) -> StoreBatch:
        """Start a batch of changes that are applied atomically.

        Examples
        --------
        >>> import tempfile
        >>> from bitgrain import TensorStore
        >>> with tempfile.TemporaryDirectory() as folder, TensorStore(folder) as store:
        ...     store["old"] = [1.0, 2.0]
        ...     with store.batch() as batch:
        ...         batch["new"] = [3.0, 4.0]
        ...         del batch["old"]
        ...     list(store)
        ['new']

        """
        return StoreBatch(self._native.batch())

    # ---------------------------------------------------------------------------------------------------------- frames

    def append(
        self, id: TensorId, frame: npt.ArrayLike, *, time: int | None = None, max_error: float | None = None
    ) -> FrameInfo:
        """Append a frame to a temporal tensor, or create the tensor with this frame.

        The frame shares scales with earlier frames, or is stored as a difference, where that is smaller without a
        larger error bound.

        Parameters
        ----------
        id
            Id of a temporal tensor, or a new id.
        frame
            Real, finite numbers, with the shape of the earlier frames.
        time
            Timestamp of the frame: an integer in any unit. Default: milliseconds since 1970.
        max_error
            Largest error of this frame and all later ones. More bits are used if necessary.

        Raises
        ------
        InputError
            If the id was put as one tensor, earlier frames have another shape, or the error limit cannot be met.

        """
        most = None if max_error is None else number("max_error", max_error)
        values = float32(frame)
        try:
            return frame_info(self._native.append(id, values, frame_time(time), most))
        except InputError:
            before = self._frame_shape(id)
            if before is not None and before != values.shape:
                raise InputError(f"the frame has shape {values.shape}, but earlier frames have {before}") from None
            raise

    def _frame_shape(self, id: TensorId) -> tuple[int, ...] | None:
        """Return the shape of a tensor's frames; ``None`` if it is not temporal."""
        if id not in self or self.stat(id).frames is None:
            return None
        return tuple(self._native.shape(id))

    # --------------------------------------------------------------------------------------------------- reconstruction

    def put_absent(self, id: TensorId, reconstruct: Delta | Factor, *, shape: Sequence[int] | None = None) -> None:
        """Put a tensor without data; reads reconstruct it from its base.

        Parameters
        ----------
        id
            Name or number.
        reconstruct
            A :class:`Delta` to a base, or a :class:`Factor` of a source.
        shape
            Shape of the result. Default: the shape of the array in the delta, or the one that follows from the factor.

        Raises
        ------
        NotFoundError
            If the base or source does not exist.
        InputError
            If it does not match the base or source, causes a cycle, or makes the chain too long.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from bitgrain import TensorStore
        >>> from bitgrain.store import Delta, Factor
        >>> with tempfile.TemporaryDirectory() as folder, TensorStore(folder) as store:
        ...     store["base"] = np.eye(4)
        ...     store.put_absent("tuned", Delta("base", wanted=np.eye(4) + 0.01))
        ...     store.put_absent("half", Factor("base", scale=0.5))
        ...     store["half"].diagonal().tolist(), store.stat("tuned").tier
        ([0.5, 0.5, 0.5, 0.5], <Tier.ABSENT: 'absent'>)

        """
        axes = None if shape is None else [whole("an axis of shape", axis) for axis in shape]
        self._native.put_absent(id, recipe(reconstruct), axes)

    def attach(self, id: TensorId, reconstruct: Delta | Factor | None) -> None:
        """Set the reconstruction used when the policy evicts the data; ``None`` removes it, as does a put.

        Each frame of a temporal tensor is reconstructed from the frame of the base with the same index, or from a base
        without frames; a :class:`Delta` then needs ``delta``, which is added to every frame.
        """
        self._native.attach(id, None if reconstruct is None else recipe(reconstruct))

    # ---------------------------------------------------------------------------------------------------- restrictions

    def pin(self, id: TensorId, tier: Tier | str | None) -> None:
        """Pin a tensor to a tier: it is written with at least that many bits and never re-encoded with fewer.

        ``None`` removes the pin. Precision that is already lost returns only with the next put.
        """
        self._native.pin(id, None if tier is None else str(tier))

    def set_max_error(self, id: TensorId, max_error: float | None) -> None:
        """Limit the error bound of a tensor from now on; ``None`` removes the limit.

        Raises
        ------
        InputError
            If its bound already exceeds the limit.

        """
        self._native.set_max_error(id, None if max_error is None else number("max_error", max_error))

    def set_user(self, id: TensorId, user: Mapping[str, str]) -> None:
        """Replace the user metadata of a tensor."""
        self._native.set_user(id, user_pairs(user))

    # --------------------------------------------------------------------------------------------------- maintenance

    def tick(self, now: datetime | None = None, *, now_ms: int | None = None) -> TickReport:
        """Re-encode rarely used tensors with fewer bits, as determined by the policy.

        Call it periodically, such as every few minutes: it never runs automatically, and nothing else lowers the
        precision of stored data. Data is only evicted as :attr:`TierPolicy.absent` allows: by default, if it can be
        reconstructed.

        Parameters
        ----------
        now
            Time of the tick. Default: the store's clock. At most a day from it, unless the store was opened with a
            :class:`SimulatedClock`.
        now_ms
            The same in milliseconds since 1970.

        Raises
        ------
        InputError
            If the time is more than a day from the clock.
        FileError
            If an I/O error occurs; the message has the number of tensors already moved.

        """
        return tick_report(self._native.tick(milliseconds(now, now_ms)))

    def plan(self, now: datetime | None = None, *, now_ms: int | None = None) -> TickPlan:
        """Return the changes that :meth:`tick` would make. The time may be in the future."""
        return tick_plan(self._native.plan(milliseconds(now, now_ms)))

    def stats(self) -> StoreStats:
        """Compute statistics: tensors, bytes, compression and errors of each tier."""
        return store_stats(self._native.stats())

    def verify(self) -> VerifyReport:
        """Read the whole store and verify every checksum. Damage is reported in the result, not as an exception."""
        return verify_report(self._native.verify())

    def compact(self, *, garbage: float = 0.25, all: bool = False) -> CompactReport:
        """Reclaim the space of replaced and deleted data. Reads and writes may continue.

        Parameters
        ----------
        garbage
            Minimum share of garbage for a file to be compacted.
        all
            Compact all files, regardless of their garbage.

        """
        share = number("garbage", garbage)
        if not 0.0 <= share <= 1.0:
            raise InputError(f"garbage is {share}; it must be from 0 to 1")
        return CompactReport(**self._native.compact(share, bool(all)))

    def search(
        self,
        query: npt.ArrayLike,
        k: int = 10,
        *,
        metric: Literal["ip", "cosine", "l2"] = "ip",
        prefix: str | None = None,
        ids: Iterable[TensorId] | None = None,
        filter: Mapping[str, str] | None = None,
        exact: bool = False,
        approximate: bool = False,
    ) -> SearchResult:
        """Find the k vectors nearest to a query, among tensors of its length and rows of matrices.

        The scan reads the stored codes in place, on every core, without the GIL. New tensors are found and deleted
        ones are not. The first search reads and verifies all tensors once. The answers count as used.

        Parameters
        ----------
        query
            A vector. :meth:`search_batch` takes several at once.
        k
            Number of answers; fewer are returned if fewer vectors are selected.
        metric
            ``"ip"`` for the inner product, ``"cosine"``, or ``"l2"`` for the squared Euclidean distance, where smaller
            is better.
        prefix
            Search only names that start with this string.
        ids
            Search only these tensors; unknown ids are ignored.
        filter
            Search only tensors whose user metadata contains these pairs.
        exact
            Prove as many answers as the stored data allows, at any cost. All answers from lossless tensors are proven,
            except ties.
        approximate
            Estimate all scores from one bit per value first, and read only vectors that may be among the best: several
            times faster in a large store. About one answer in a thousand is missed, and ``certified`` is 0. The first
            such search makes the tables of bits and keeps them in memory.

        Returns
        -------
        SearchResult
            The answers, best first.

        Raises
        ------
        InputError
            If a query is not finite, ``k`` is 0, the metric is unknown, a selected tensor has another shape, or a
            search is both exact and approximate.
        DamagedError
            If the data of a tensor is damaged.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from bitgrain import TensorStore
        >>> with tempfile.TemporaryDirectory() as folder, TensorStore(folder) as store:
        ...     store["east"], store["north"] = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        ...     found = store.search([0.75, 0.25], k=1)
        >>> found.ids, found.certified
        (['east'], 1)
        >>> bool(found.low[0] <= 0.75 <= found.high[0])
        True

        """
        vector = float32(query)
        if vector.ndim != 1:
            raise InputError(f"query has {vector.ndim} axes; it must be a vector; search_batch takes a matrix")
        return self._search(vector[None], k, metric, prefix, ids, filter, exact, approximate)[0]

    def search_batch(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        metric: Literal["ip", "cosine", "l2"] = "ip",
        prefix: str | None = None,
        ids: Iterable[TensorId] | None = None,
        filter: Mapping[str, str] | None = None,
        exact: bool = False,
        approximate: bool = False,
    ) -> list[SearchResult]:
        """Search for several queries in one pass, which is several times faster than one by one.

        The parameters are those of :meth:`search`, except that ``queries`` is a matrix with one query per row.
        """
        matrix = float32(queries)
        if matrix.ndim != 2:
            raise InputError(f"queries has {matrix.ndim} axes; it must be a matrix with one query per row")
        return self._search(matrix, k, metric, prefix, ids, filter, exact, approximate)

    def _search(
        self,
        queries: Array,
        k: int,
        metric: str,
        prefix: str | None,
        ids: Iterable[TensorId] | None,
        filter: Mapping[str, str] | None,
        exact: bool,
        approximate: bool,
    ) -> list[SearchResult]:
        if isinstance(ids, str):
            raise DTypeError(f"ids is {ids!r}; it must be a list of ids")
        selected = None if ids is None else [checked_id(id) for id in ids]
        settings = {
            "metric": str(metric),
            "prefix": None if prefix is None else str(prefix),
            "ids": selected,
            "filter": [] if filter is None else [(str(key), str(value)) for key, value in filter.items()],
            "exact": bool(exact),
            "approximate": bool(approximate),
        }
        found = self._native.search(queries, whole("k", k, 1 << 62), settings)
        return [search_result(result) for result in found]

    def snapshot(self) -> StoreSnapshot:
        """Return a read-only view of the current state; later writes are not visible in it."""
        return StoreSnapshot(self._native.snapshot())

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the current state to a new folder or address; reads and writes may continue.

        The copy is an independent store.

        Raises
        ------
        FileError
            If the folder is not empty, or an I/O error occurs.

        """
        self._native.backup(location(path))

    def sync_to(self, path: str | os.PathLike[str]) -> SyncReport:
        """Update a replica at a folder or address: copy what is missing there, and delete what was replaced.

        Creates the replica if it does not exist. A replica can be opened with ``mode="r"`` like any store, but only
        this method may change it.

        Raises
        ------
        FileError
            If the destination is another store or was changed since the last update, or an I/O error occurs.

        Examples
        --------
        >>> import numpy as np
        >>> from bitgrain import TensorStore
        >>> with TensorStore("memory://from") as store:
        ...     store["x"] = np.ones(3)
        ...     store.sync_to("memory://to").segments_copied, store.sync_to("memory://to").segments_copied
        (1, 0)

        """
        return SyncReport(**self._native.sync_to(location(path)))

    def _ids(self, prefix: str | None) -> list[TensorId]:
        return self._native.ids(prefix)

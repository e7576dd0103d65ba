"""A folder of tensors."""

from __future__ import annotations

import os
import pathlib
import weakref
from collections.abc import Mapping, MutableMapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Literal, Self

import numpy.typing as npt

from bitgrain import _native as native
from bitgrain.errors import InputError
from bitgrain.store.array import Array, TensorId, float32, number, whole
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
    TickPlan,
    TickReport,
    VerifyReport,
    recovery_report,
    store_stats,
    tick_plan,
    tick_report,
    verify_report,
)
from bitgrain.store.snapshot import StoreSnapshot
from bitgrain.store.tier import Tier
from bitgrain.store.writing import Writing, frame_time, user_pairs

__all__ = ["TensorStore"]


class TensorStore(Writing, Reading, MutableMapping[TensorId, Array]):
    """A folder that keeps float32 arrays small: a context manager and a mapping from ids to arrays.

    May be shared by threads: no method holds the interpreter's lock while it works, readers do not wait for each
    other or for writers, and writers only share the wait for the disk. One process writes at a time; others can open
    the store with ``mode="r"`` and see it as it was then. What a method did is there after a crash, as ``sync`` says.

    Parameters
    ----------
    path
        The folder.
    mode
        ``"a"`` to read and write, and make the store if it is not there; ``"r+"`` to read and write one that is;
        ``"r"`` to read only, whether or not somebody writes.
    sync
        What a write waits for. ``"always"``: until it would survive a loss of power. ``"on_seal"``: until it survives
        the end of the process, however sudden; a loss of power may take what was written since the last
        :meth:`flush`.
    segment_bytes
        Bytes after which a file of the store is sealed and the next begun, at least 512.
    block_len
        Values that share a scale, in tensors put from now on: a multiple of 8.
    two_level
        Whether 3-bit blocks may have a second scale for outliers when the policy sends a tensor there.
    mapped
        Whether files are read where the system has them in memory, which is fastest. If a disk fails or another program
        cuts a file short while it is read, the process then ends; with ``False``, it gets an error.
    on_damage
        What to do with a file that was damaged after it was written: ``"refuse"`` to open and say where, or
        ``"salvage"`` the rest and say in :attr:`recovery` what is lost.
    absent_reads
        Result of reading a tensor whose data was evicted and that cannot be reconstructed: ``"refuse"`` raises a
        :class:`NotFoundError`, ``"zeros"`` returns zeros with an infinite bound.
    policy
        How :meth:`tick` chooses tiers. None of the settings is kept in the store.
    clock
        A :class:`SimulatedClock` for tests and simulations; the machine's if nothing is given.

    Raises
    ------
    LockedError
        If it is open for writing already, in this process or another.
    DamagedError
        If something that was durable is not readable.
    FormatError
        If it was written by a later version, or is not a store.
    FileError
        If there is no store, the folder of a new one has other files in it, or the system refuses.
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
        policy: TierPolicy | None = None,
        clock: SimulatedClock | None = None,
    ) -> None:
        if policy is not None and not isinstance(policy, TierPolicy):
            raise InputError(f"policy is {policy!r}, it must be a TierPolicy")
        if clock is not None and not isinstance(clock, SimulatedClock):
            raise InputError(f"clock is {clock!r}, it must be a SimulatedClock")
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
            raise InputError("path is empty: name the folder, such as './store'")
        self._path = pathlib.Path(path)
        self._mode = mode
        self._native = native.Store(self._path, str(mode), settings)
        # Closes a store that was forgotten: when it is collected, or at the end of the interpreter.
        self._closing = weakref.finalize(self, self._native.close)

    # ------------------------------------------------------------------------------------------------ open and close

    @property
    def path(self) -> pathlib.Path:
        """The folder."""
        return self._path

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    @property
    def recovery(self) -> RecoveryReport:
        """What was found when the store was opened."""
        return recovery_report(self._native.recovery())

    def flush(self) -> None:
        """Make everything that was written durable, whatever ``sync`` says."""
        self._native.flush()

    def close(self) -> None:
        """Write down how tensors were used, make all of it durable and give up the lock.

        Waits for other threads that use the store. Closing twice is fine. The end of a ``with`` block does the same.

        Raises
        ------
        FileError
            If the disk refused. The lock is given up nevertheless.

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

    def delete(self, id: TensorId, *, dependents: Literal["refuse", "materialise"] = "refuse") -> None:
        """Delete a tensor and all that is known about it.

        Parameters
        ----------
        id
            Name or number.
        dependents
            What to do about tensors that would be reconstructed from it: ``"refuse"`` to delete it, or
            ``"materialise"`` them, which keeps them at 8 bits.

        Raises
        ------
        NotFoundError
            If there is no such tensor.
        InputError
            If others are reconstructed from it.

        """
        self._native.delete(id, str(dependents))

    def clear(self) -> None:
        """Delete all tensors, one after another."""
        for id in self:
            self.delete(id, dependents="materialise")

    def batch(self) -> StoreBatch:
        """Begin a batch: changes that are made together or not at all.

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
        """Append a frame to a temporal tensor, or make one with this frame.

        Frames share scales with the ones before, or are differences to them, where that is smaller and the bound not
        larger.

        Parameters
        ----------
        id
            Name or number of a tensor with frames, or of none.
        frame
            Real, finite numbers, of the shape that the frames before have.
        time
            Time of the frame: a whole number in whatever unit; milliseconds since 1970 if nothing is given.
        max_error
            Largest error of this frame and all later ones. More bits are taken where the tier's are too few.

        Raises
        ------
        InputError
            If the id was put as a whole, the frames before have another shape, or the largest error cannot be kept.

        """
        most = None if max_error is None else number("max_error", max_error)
        values = float32(frame)
        try:
            return frame_info(self._native.append(id, values, frame_time(time), most))
        except InputError:
            before = self._frame_shape(id)
            if before is not None and before != values.shape:
                raise InputError(f"the frame has the shape {values.shape}, those before have {before}") from None
            raise

    def _frame_shape(self, id: TensorId) -> tuple[int, ...] | None:
        """Shape of a tensor's frames; none if it has no frames."""
        if id not in self or self.stat(id).frames is None:
            return None
        return tuple(self._native.shape(id))

    # --------------------------------------------------------------------------------------------------- reconstruction

    def put_absent(self, id: TensorId, reconstruct: Delta | Factor, *, shape: Sequence[int] | None = None) -> None:
        """Put a tensor without data: reads reconstruct it from another one.

        Parameters
        ----------
        id
            Name or number.
        reconstruct
            How: a :class:`Delta` to a base, or what a :class:`Factor` makes of a source.
        shape
            Shape of the result, if it is not that of the array in the delta or what follows from the factor.

        Raises
        ------
        NotFoundError
            If the other one is not there.
        InputError
            If it does not go with the other one, would be reconstructed from itself, or is too many steps from data.

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
        """Say how a tensor comes back if the policy drops its data; ``None`` takes that away. A put does as well."""
        self._native.attach(id, None if reconstruct is None else recipe(reconstruct))

    # -------------------------------------------------------------------------------------------------- what is allowed

    def pin(self, id: TensorId, tier: Tier | str | None) -> None:
        """Hold a tensor at a tier from now on: it is written at that one, and never gets fewer bits.

        ``None`` lets go of it. Bits that are gone come with the next put only.
        """
        self._native.pin(id, None if tier is None else str(tier))

    def set_max_error(self, id: TensorId, max_error: float | None) -> None:
        """Limit the error of a tensor from now on; ``None`` lifts the limit.

        Raises
        ------
        InputError
            If its bound is above the limit already.

        """
        self._native.set_max_error(id, None if max_error is None else number("max_error", max_error))

    def set_user(self, id: TensorId, user: Mapping[str, str]) -> None:
        """Replace what is written down beside a tensor."""
        self._native.set_user(id, user_pairs(user))

    # ---------------------------------------------------------------------------------------------------- upkeep

    def tick(self, now: datetime | None = None, *, now_ms: int | None = None) -> TickReport:
        """Re-encode rarely used tensors with fewer bits, as the policy says.

        Call it periodically, such as every few minutes; it never runs by itself, and nothing else lowers the precision
        of stored data. Data is only evicted as :attr:`TierPolicy.absent` allows: by default, if it can be
        reconstructed.

        Parameters
        ----------
        now
            The time; that of the store's clock if nothing is given. At most a day from it, unless the store was opened
            with a :class:`SimulatedClock`.
        now_ms
            The same in milliseconds since 1970.

        Raises
        ------
        InputError
            If the time is more than a day from the clock.
        FileError
            If the disk refused; says how many tensors were moved before.

        """
        return tick_report(self._native.tick(milliseconds(now, now_ms)))

    def plan(self, now: datetime | None = None, *, now_ms: int | None = None) -> TickPlan:
        """What :meth:`tick` would do, without doing it. The time may lie in the future."""
        return tick_plan(self._native.plan(milliseconds(now, now_ms)))

    def stats(self) -> StoreStats:
        """Count what is there: tensors, bytes, compression and errors of each tier."""
        return store_stats(self._native.stats())

    def verify(self) -> VerifyReport:
        """Read every byte of the store and compare every checksum. Damage is in the report, not an exception."""
        return verify_report(self._native.verify())

    def compact(self, *, garbage: float = 0.25, all: bool = False) -> CompactReport:
        """Get back the space of what no longer counts. Others may read and write meanwhile.

        Parameters
        ----------
        garbage
            Files with at least this share of bytes that do not count are worth it.
        all
            Compact everything, worth it or not.

        """
        share = number("garbage", garbage)
        if not 0.0 <= share <= 1.0:
            raise InputError(f"garbage is {share}, it must be a share from 0 to 1")
        return CompactReport(**self._native.compact(share, bool(all)))

    def snapshot(self) -> StoreSnapshot:
        """The store as it is now, for reading while others go on writing."""
        return StoreSnapshot(self._native.snapshot())

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store as it is now to a new folder, while others read and write. The copy is a store of its own.

        Raises
        ------
        FileError
            If the folder has something in it, or the disk refused.

        """
        self._native.backup(pathlib.Path(path))

    def _ids(self, prefix: str | None) -> list[TensorId]:
        return self._native.ids(prefix)

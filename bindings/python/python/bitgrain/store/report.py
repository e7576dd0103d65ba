"""Metadata of tensors and statistics and reports of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, SupportsIndex, overload

from bitgrain import _native as native
from bitgrain.store.array import TensorId
from bitgrain.store.moment import moment
from bitgrain.store.provenance import Provenance, provenance
from bitgrain.store.tier import Tier

__all__ = [
    "CompactReport",
    "Damage",
    "RecoveryReport",
    "StoreStats",
    "SyncReport",
    "TensorInfo",
    "TickPlan",
    "TickReport",
    "TierMove",
    "TierMoves",
    "TierStats",
    "VerifyReport",
    "WantedTiers",
]


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Metadata of a tensor. Times are in UTC."""

    id: TensorId
    """Id of the tensor."""
    shape: tuple[int, ...]
    """Length of each axis; of one frame if the tensor is temporal."""
    provenance: Provenance
    """Tier, bits and errors of the stored data; if temporal, the lowest tier and largest errors of its frames."""
    wanted: Tier
    """Pinned tier, or else the wanted tier of the last tick; the minimum for the next write."""
    stored_bytes: int
    """Size of its records in bytes."""
    created: datetime
    """Time of the first put of the id."""
    updated: datetime
    """Time of the last put or append."""
    accessed: datetime
    """Time of the last read or write."""
    accesses: int
    """Number of reads and writes. A crash loses the accesses since the last tick."""
    score: float
    """Use score, from 0 to 1024."""
    pinned: Tier | None
    """Tier that the tensor is pinned to."""
    max_error: float | None
    """Largest error bound allowed."""
    frames: int | None
    """Number of frames, if the tensor is temporal."""
    reconstructable: bool
    """Whether the tensor can be reconstructed when its data is evicted."""
    user: dict[str, str]
    """User metadata, in the order given."""

    @property
    def tier(self) -> Tier:
        """Tier of the stored data."""
        return self.provenance.tier


def tensor_info(known: dict[str, Any]) -> TensorInfo:
    """Convert from the native representation."""
    pinned = known["pinned"]
    known.update(
        shape=tuple(known["shape"]),
        provenance=provenance(known["provenance"]),
        wanted=Tier(known["wanted"]),
        pinned=None if pinned is None else Tier(pinned),
        user=dict(known["user"]),
        **{when: moment(known[when]) for when in ("created", "updated", "accessed")},
    )
    return TensorInfo(**known)


@dataclass(frozen=True, slots=True)
class TierStats:
    """Statistics of one tier."""

    tensors: int
    """Number of tensors."""
    bytes: int
    """Size of their records in bytes."""
    f32_bytes: int
    """Size in bytes of the same values as float32."""
    worst_bound: float
    """Largest error bound of a tensor or frame; infinite for tensors without data."""

    @property
    def compression(self) -> float:
        """Compression ratio relative to float32; 0 for an empty tier."""
        return self.f32_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Statistics of a store."""

    tensors: int
    """Number of tensors."""
    temporal: int
    """Number of temporal tensors."""
    frames: int
    """Total number of frames."""
    tiers: dict[Tier, TierStats]
    """Statistics per tier, from most to fewest bits. A temporal tensor counts for the lowest tier of its frames."""
    segments: int
    """Number of segments."""
    file_bytes: int
    """Total size of the segments in bytes."""
    live_bytes: int
    """Size of live records in bytes."""
    garbage_bytes: int
    """Size in bytes of records that the next compaction can drop."""

    @property
    def f32_bytes(self) -> int:
        """Size in bytes of all values as float32."""
        return sum(tier.f32_bytes for tier in self.tiers.values())

    @property
    def compression(self) -> float:
        """Compression ratio relative to float32; 0 for an empty store."""
        stored = sum(tier.bytes for tier in self.tiers.values())
        return self.f32_bytes / stored if stored else 0.0


def store_stats(counts: dict[str, Any]) -> StoreStats:
    """Convert from the native representation."""
    tiers = {Tier(tier): TierStats(*rest) for tier, *rest in counts.pop("tiers")}
    return StoreStats(tiers=tiers, **counts)


@dataclass(frozen=True, slots=True)
class TierMove:
    """A tensor that is re-encoded with fewer bits."""

    id: TensorId
    """Id of the tensor."""
    before: Tier
    """Tier of its data before the move."""
    after: Tier
    """Tier of its data after the move."""
    reason: str
    """``use`` if its score fell, ``warm-cap`` or ``budget`` if the warm tensors or all tensors exceeded their size."""
    bytes: int
    """Size of its records in bytes before the move."""
    frames: range | None = None
    """Indices of the frames, if the tensor is temporal: its frames are moved in runs, old ones before new ones."""


class _Kept:
    """Replacement for the native list in a pickled report."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def count(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> list[Any]:
        return self.rows[start:stop]

    def totals(self) -> list[tuple[str, str, int]]:
        counts = Counter((before, after) for _, before, after, _, _ in self.rows)
        return [(before, after, count) for (before, after), count in counts.items()]


class TierMoves(Sequence[TierMove]):
    """Moves of a tick, converted to objects on access, because a tick may move a million tensors."""

    def __init__(self, made: native.StoreMoves | _Kept) -> None:
        self._native = made

    def __len__(self) -> int:
        return self._native.count()

    @overload
    def __getitem__(self, index: SupportsIndex) -> TierMove: ...
    @overload
    def __getitem__(self, index: slice) -> list[TierMove]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> TierMove | list[TierMove]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        return _move(self._native.part(at, at + 1)[0])

    def __iter__(self) -> Iterator[TierMove]:
        for start in range(0, len(self), _PART):
            yield from map(_move, self._native.part(start, min(start + _PART, len(self))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} moves>"

    def __reduce__(self) -> tuple[type[TierMoves], tuple[_Kept]]:
        return TierMoves, (_Kept(self._native.part(0, len(self))),)

    def totals(self) -> dict[tuple[Tier, Tier], int]:
        """Count the moves per pair of tiers, without converting them to objects."""
        return {(Tier(before), Tier(after)): count for before, after, count in self._native.totals()}


#: Number of moves converted to objects at a time.
_PART = 1024


def _move(move: tuple[TensorId, str, str, str, int, tuple[int, int] | None]) -> TierMove:
    id, before, after, reason, size, frames = move
    return TierMove(id, Tier(before), Tier(after), reason, size, None if frames is None else range(*frames))


@dataclass(frozen=True, slots=True)
class TickReport:
    """Result of a tick."""

    moves: TierMoves
    """Tensors re-encoded with fewer bits: a sequence of :class:`TierMove`."""
    skipped: int
    """Number of moves skipped because the tensor was changed in the meantime or dependents need its data."""
    wanted_tiers: int
    """Number of tensors whose wanted tier changed."""
    bytes_before: int
    """Size in bytes of the moved records before the tick."""
    bytes_after: int
    """Size in bytes of the moved records after the tick."""
    over_budget: int
    """Estimated size in bytes by which all tensors exceed the budget of the policy."""


def tick_report(ticked: dict[str, Any]) -> TickReport:
    """Convert from the native representation."""
    return TickReport(moves=TierMoves(ticked.pop("moves")), **ticked)


class WantedTiers(Mapping[TensorId, Tier]):
    """Mapping from ids to wanted tiers, converted to objects on first access."""

    def __init__(self, made: native.StoreWantedTiers | _Kept) -> None:
        self._native = made
        self._tiers: dict[TensorId, Tier] | None = None

    def _all(self) -> dict[TensorId, Tier]:
        if self._tiers is None:
            parts = range(0, len(self), _PART)
            pairs = (pair for start in parts for pair in self._native.part(start, min(start + _PART, len(self))))
            self._tiers = {id: Tier(tier) for id, tier in pairs}
        return self._tiers

    def __len__(self) -> int:
        return self._native.count()

    def __getitem__(self, id: TensorId) -> Tier:
        return self._all()[id]

    def __iter__(self) -> Iterator[TensorId]:
        return iter(self._all())

    def __repr__(self) -> str:
        return f"<{len(self)} wanted tiers>"

    def __reduce__(self) -> tuple[type[WantedTiers], tuple[_Kept]]:
        return WantedTiers, (_Kept(self._native.part(0, len(self))),)


@dataclass(frozen=True, slots=True)
class TickPlan:
    """Preview of a tick."""

    moves: TierMoves
    """Tensors that would be re-encoded with fewer bits: a sequence of :class:`TierMove`."""
    wanted_tiers: WantedTiers
    """Tensors whose wanted tier would change: a mapping from ids to tiers."""
    warm_bytes_before: int
    """Size of warm tensors in bytes before the tick."""
    warm_bytes_after: int
    """Estimated size of warm tensors in bytes after the tick."""
    over_budget: int
    """Estimated size in bytes by which all tensors would exceed the budget of the policy."""


def tick_plan(planned: dict[str, Any]) -> TickPlan:
    """Convert from the native representation."""
    moves, wanted_tiers = TierMoves(planned.pop("moves")), WantedTiers(planned.pop("wanted_tiers"))
    return TickPlan(moves=moves, wanted_tiers=wanted_tiers, **planned)


@dataclass(frozen=True, slots=True)
class Damage:
    """Location and description of damage."""

    segment: str
    """File name, relative to the store."""
    offset: int
    """Byte offset in the file."""
    id: TensorId | None
    """Affected tensor, if known."""
    what: str
    """Description of the damage."""


def _damages(damages: list[tuple[str, int, TensorId | None, str]]) -> list[Damage]:
    return [Damage(*damage) for damage in damages]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Result of a verification."""

    segments: int
    """Number of segments read."""
    records: int
    """Number of records read, live or not."""
    bytes: int
    """Number of bytes read."""
    damages: list[Damage]
    """All damage."""

    @property
    def is_clean(self) -> bool:
        """Whether no damage was found."""
        return not self.damages


def verify_report(verified: dict[str, Any]) -> VerifyReport:
    """Convert from the native representation."""
    return VerifyReport(damages=_damages(verified.pop("damages")), **verified)


@dataclass(frozen=True, slots=True)
class CompactReport:
    """Result of a compaction."""

    segments_removed: int
    """Number of segments deleted."""
    segments_written: int
    """Number of segments written."""
    records: int
    """Number of records copied."""
    bytes_removed: int
    """Size in bytes of the deleted segments."""
    bytes_written: int
    """Size in bytes of the written segments."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Result of an update of a replica."""

    segments_copied: int
    """Number of segments copied, completely or in part."""
    bytes_copied: int
    """Number of bytes copied."""
    segments_kept: int
    """Number of segments that were already complete."""
    segments_removed: int
    """Number of segments deleted, because a compaction replaced them."""


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """Report of opening a store."""

    created: bool
    """Whether the store was just created."""
    read_only: bool
    """Whether it was opened read-only, so that nothing was repaired."""
    segments: int
    """Number of segments."""
    tensors: int
    """Number of tensors."""
    scanned: list[str]
    """Segments that were read completely because their index is missing or damaged."""
    bad_indexes: int
    """Number of sealed segments whose index is damaged."""
    torn_bytes: int
    """Bytes of an incomplete write, never acknowledged."""
    torn_records: int
    """Complete records within the torn bytes, such as those of an incomplete batch."""
    leftovers: list[str]
    """Leftover files that did not belong to the store when it crashed."""
    damages: list[Damage]
    """Durable data that is no longer readable. Empty unless opened with ``on_damage="salvage"``."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing had to be repaired; for a read-only store, whether all acknowledged data is readable.

        An open log and leftover files may belong to an active writer, so they are not faults for a reader.
        """
        unsettled = bool(self.scanned or self.torn_bytes or self.leftovers)
        return not (self.damages or self.bad_indexes or (unsettled and not self.read_only))


def recovery_report(recovered: dict[str, Any]) -> RecoveryReport:
    """Convert from the native representation."""
    return RecoveryReport(damages=_damages(recovered.pop("damages")), **recovered)

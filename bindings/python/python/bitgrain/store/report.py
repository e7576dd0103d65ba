"""What is known of tensors and of a store."""

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
    "TensorInfo",
    "TickPlan",
    "TickReport",
    "TierMove",
    "TierMoves",
    "TierStats",
    "TierWishes",
    "VerifyReport",
]


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor without its values. Times are in UTC."""

    id: TensorId
    """Name or number."""
    shape: tuple[int, ...]
    """Lengths of the axes; of one frame if the tensor is temporal."""
    provenance: Provenance
    """Tier, bits and errors of the stored data; the lowest tier and largest errors of all frames if it is temporal."""
    wanted: Tier
    """The pin, or else the tier that its use asked for at the last tick. The next write has at least these bits."""
    stored_bytes: int
    """Bytes of its records."""
    created: datetime
    """When the id was first put."""
    updated: datetime
    """When its values were last put or appended."""
    accessed: datetime
    """When it was last read or written."""
    accesses: int
    """Reads and writes so far. Those since the last tick are forgotten in a crash."""
    score: float
    """Score of its use, from 0 to 1024."""
    pinned: Tier | None
    """Tier it is held at."""
    max_error: float | None
    """Largest bound it may get."""
    frames: int | None
    """Frames, if it is temporal."""
    reconstructable: bool
    """True if it can be reconstructed when its data is gone."""
    user: dict[str, str]
    """What the user wrote down, in the order given."""

    @property
    def tier(self) -> Tier:
        """Tier of the stored data."""
        return self.provenance.tier


def tensor_info(known: dict[str, Any]) -> TensorInfo:
    """From what the native half hands over."""
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
    """Tensors of one tier."""

    tensors: int
    """How many."""
    bytes: int
    """Bytes of their records."""
    f32_bytes: int
    """Bytes of the same values as float32."""
    worst_bound: float
    """Largest bound of one, or of a frame of one; infinite for those without data."""

    @property
    def compression(self) -> float:
        """How many times smaller than float32; 0 if there are none."""
        return self.f32_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What is in a store."""

    tensors: int
    """Tensors."""
    temporal: int
    """Temporal ones among them."""
    frames: int
    """Frames of these."""
    tiers: dict[Tier, TierStats]
    """Of each tier, from most bits to fewest. Temporal tensors are in the one they began with."""
    segments: int
    """Segments."""
    file_bytes: int
    """Bytes of these."""
    live_bytes: int
    """Bytes of records that count."""
    garbage_bytes: int
    """Bytes of records that do not, until a compaction."""

    @property
    def f32_bytes(self) -> int:
        """Bytes of all values as float32."""
        return sum(tier.f32_bytes for tier in self.tiers.values())

    @property
    def compression(self) -> float:
        """How many times smaller than float32 the tensors are; 0 if there are none."""
        stored = sum(tier.bytes for tier in self.tiers.values())
        return self.f32_bytes / stored if stored else 0.0


def store_stats(counts: dict[str, Any]) -> StoreStats:
    """From what the native half hands over."""
    tiers = {Tier(tier): TierStats(*rest) for tier, *rest in counts.pop("tiers")}
    return StoreStats(tiers=tiers, **counts)


@dataclass(frozen=True, slots=True)
class TierMove:
    """A tensor that gets fewer bits."""

    id: TensorId
    """The tensor."""
    before: Tier
    """Tier of its data before."""
    after: Tier
    """And after."""
    reason: str
    """``use``: its score asks for fewer; ``warm-cap``: the warm tensors were too many bytes."""
    bytes: int
    """Bytes of its record before."""


class _Kept:
    """What the native half hands over, of a report that was pickled."""

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
    """Moves of a tick. Each becomes an object when it is looked at: a tick may move a million tensors."""

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
        """Count the moves from each tier to each other, without looking at them one by one."""
        return {(Tier(before), Tier(after)): count for before, after, count in self._native.totals()}


#: Moves that are made into objects at once.
_PART = 1024


def _move(move: tuple[TensorId, str, str, str, int]) -> TierMove:
    id, before, after, reason, size = move
    return TierMove(id, Tier(before), Tier(after), reason, size)


@dataclass(frozen=True, slots=True)
class TickReport:
    """What a tick did."""

    moves: TierMoves
    """Tensors that got fewer bits: a sequence of :class:`TierMove`."""
    skipped: int
    """Moves that were not made, as somebody used the tensor meanwhile or others need its data."""
    wishes: int
    """Tensors whose use asks for another tier than before."""
    bytes_before: int
    """Bytes of the records that were moved."""
    bytes_after: int
    """And after."""


def tick_report(ticked: dict[str, Any]) -> TickReport:
    """From what the native half hands over."""
    return TickReport(moves=TierMoves(ticked.pop("moves")), **ticked)


class TierWishes(Mapping[TensorId, Tier]):
    """Tensors with the tier of their next write. They become objects when one of them is looked at."""

    def __init__(self, made: native.StoreWishes | _Kept) -> None:
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
        return f"<{len(self)} wishes>"

    def __reduce__(self) -> tuple[type[TierWishes], tuple[_Kept]]:
        return TierWishes, (_Kept(self._native.part(0, len(self))),)


@dataclass(frozen=True, slots=True)
class TickPlan:
    """What a tick would do."""

    moves: TierMoves
    """Tensors that would get fewer bits: a sequence of :class:`TierMove`."""
    wishes: TierWishes
    """Tensors whose use asks for another tier than at the last tick: a mapping from ids to tiers."""
    warm_bytes_before: int
    """Bytes of warm tensors before."""
    warm_bytes_after: int
    """And after, as estimated."""


def tick_plan(planned: dict[str, Any]) -> TickPlan:
    """From what the native half hands over."""
    return TickPlan(moves=TierMoves(planned.pop("moves")), wishes=TierWishes(planned.pop("wishes")), **planned)


@dataclass(frozen=True, slots=True)
class Damage:
    """A place where a store is not what was written."""

    segment: str
    """File, relative to the store."""
    offset: int
    """Where in it."""
    id: TensorId | None
    """The tensor, if it is known."""
    what: str
    """What is wrong."""


def _damages(damages: list[tuple[str, int, TensorId | None, str]]) -> list[Damage]:
    return [Damage(*damage) for damage in damages]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a look at every byte found."""

    segments: int
    """Segments that were read."""
    records: int
    """Records that were read, whether they count or not."""
    bytes: int
    """Bytes that were read."""
    damages: list[Damage]
    """Everything that is not as it was written."""

    @property
    def is_clean(self) -> bool:
        """True if all is as it was written."""
        return not self.damages


def verify_report(verified: dict[str, Any]) -> VerifyReport:
    """From what the native half hands over."""
    return VerifyReport(damages=_damages(verified.pop("damages")), **verified)


@dataclass(frozen=True, slots=True)
class CompactReport:
    """What a compaction did."""

    segments_removed: int
    """Segments that went."""
    segments_written: int
    """Segments that came."""
    records: int
    """Records that were copied."""
    bytes_removed: int
    """Bytes of the segments that went."""
    bytes_written: int
    """Bytes of the segments that came."""


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What opening a store found and did."""

    created: bool
    """True if the store was made just now."""
    read_only: bool
    """True if it was opened for reading only, so that nothing was repaired."""
    segments: int
    """Segments that count."""
    tensors: int
    """Tensors that are there."""
    scanned: list[str]
    """Segments that were read from end to end, as they have no index or a bad one."""
    bad_indexes: int
    """Segments among these that were sealed, and so have a bad index."""
    torn_bytes: int
    """Bytes of a write that a crash cut short; they were never acknowledged."""
    torn_records: int
    """Whole records among them, such as those of a batch without its end."""
    leftovers: list[str]
    """Files that did not count any more, or not yet when a crash came."""
    damages: list[Damage]
    """What was durable once and is not readable any more. Empty unless opened with ``on_damage="salvage"``."""

    @property
    def is_clean(self) -> bool:
        """True if there was nothing to repair; for a reader, if everything that was acknowledged is readable.

        A reader cannot tell the log and the files of a writer at work from those that a crash left.
        """
        unsettled = bool(self.scanned or self.torn_bytes or self.leftovers)
        return not (self.damages or self.bad_indexes or (unsettled and not self.read_only))


def recovery_report(recovered: dict[str, Any]) -> RecoveryReport:
    """From what the native half hands over."""
    return RecoveryReport(damages=_damages(recovered.pop("damages")), **recovered)

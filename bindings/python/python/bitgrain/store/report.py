"""What is known of tensors and of a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

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
    "TierStats",
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


def _moves(moves: list[tuple[TensorId, str, str, str, int]]) -> list[TierMove]:
    return [TierMove(id, Tier(before), Tier(after), reason, size) for id, before, after, reason, size in moves]


@dataclass(frozen=True, slots=True)
class TickReport:
    """What a tick did."""

    moves: list[TierMove]
    """Tensors that got fewer bits."""
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
    return TickReport(moves=_moves(ticked.pop("moves")), **ticked)


@dataclass(frozen=True, slots=True)
class TickPlan:
    """What a tick would do."""

    moves: list[TierMove]
    """Tensors that would get fewer bits."""
    wishes: dict[TensorId, Tier]
    """Tensors whose use asks for another tier than at the last tick, and that tier."""
    warm_bytes_before: int
    """Bytes of warm tensors before."""
    warm_bytes_after: int
    """And after, as estimated."""


def tick_plan(planned: dict[str, Any]) -> TickPlan:
    """From what the native half hands over."""
    wishes = {id: Tier(tier) for id, tier in planned.pop("wishes")}
    return TickPlan(moves=_moves(planned.pop("moves")), wishes=wishes, **planned)


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
    segments: int
    """Segments that count."""
    tensors: int
    """Tensors that are there."""
    scanned: list[str]
    """Segments that were read from end to end, as they have no index or a bad one."""
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
        """True if there was nothing to repair."""
        return not (self.scanned or self.torn_bytes or self.leftovers or self.damages)


def recovery_report(recovered: dict[str, Any]) -> RecoveryReport:
    """From what the native half hands over."""
    return RecoveryReport(damages=_damages(recovered.pop("damages")), **recovered)

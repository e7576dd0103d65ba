"""Where values come from and how far they can be off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bitgrain.store.tier import Tier

__all__ = ["FrameInfo", "Provenance"]

#: As the native half hands it over.
Cost = tuple[str, int, float, float, int]
Facts = tuple[int, int, str, Cost, int | None]


class Provenance(NamedTuple):
    """Where values come from and how far they can be from what was put, as float32."""

    tier: Tier
    """Tier of the stored data."""
    bits: int
    """Bits of a stored value."""
    bound: float
    """No value is further from what was put than this: the bounds of all encodings since then, added up. Infinite if
    the data is gone."""
    measured: float
    """Largest error measured while encoding, added up likewise: at most ``bound``."""
    depth: int
    """Reconstructions that were followed: 0 if the tensor's own data was read."""


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """What is known of a frame of a temporal tensor."""

    index: int
    """Its place among the frames, from 0."""
    time: int
    """The time it is of, as whoever appended it said."""
    role: str
    """What it shares with others: ``key``, ``shared``, ``difference-key`` or ``difference-shared``."""
    provenance: Provenance
    """Where its values come from and how far they can be off."""
    nbytes: int | None
    """Bytes of scales and codes when it was appended; ``None`` for one that was read."""


def provenance(cost: Cost) -> Provenance:
    """From what the native half hands over."""
    tier, bits, bound, measured, depth = cost
    return Provenance(Tier(tier), bits, bound, measured, depth)


def frame_info(facts: Facts) -> FrameInfo:
    """From what the native half hands over."""
    index, time, role, cost, nbytes = facts
    return FrameInfo(index, time, role, provenance(cost), nbytes)

"""Tier and error of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bitgrain.store.tier import Tier

__all__ = ["FrameInfo", "Provenance"]

#: Native representation of a provenance.
Cost = tuple[str, int, float, float, int]
Facts = tuple[int, int, str, Cost, int | None]


class Provenance(NamedTuple):
    """Tier and error of values, relative to the float32 values that were put."""

    tier: Tier
    """Tier of the stored data."""
    bits: int
    """Bits per stored value."""
    bound: float
    """Error bound: no value is further from what was put. The sum of the bounds of all encodings since the put;
    infinite if the data was evicted."""
    measured: float
    """Largest error measured while encoding, summed in the same way; at most ``bound``."""
    depth: int
    """Number of reconstructions between the tensor and stored data: 0 if its own data is stored."""


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """Metadata of a frame of a temporal tensor."""

    index: int
    """0-based index of the frame."""
    time: int
    """Timestamp given to ``append``."""
    role: str
    """Data it shares with other frames: ``key``, ``shared``, ``difference-key`` or ``difference-shared``."""
    provenance: Provenance
    """Tier and error of its values."""
    nbytes: int | None
    """Size of scales and codes in bytes, when appended; ``None`` when read."""


def provenance(cost: Cost) -> Provenance:
    """Convert from the native representation."""
    tier, bits, bound, measured, depth = cost
    return Provenance(Tier(tier), bits, bound, measured, depth)


def frame_info(facts: Facts) -> FrameInfo:
    """Convert from the native representation."""
    index, time, role, cost, nbytes = facts
    return FrameInfo(index, time, role, provenance(cost), nbytes)

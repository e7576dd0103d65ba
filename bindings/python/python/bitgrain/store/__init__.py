"""Tensors at rest, with bits where the reads are.

A :class:`TensorStore` is a folder that keeps float32 arrays in 8, 7, 5 or 3 bits, as many as their use deserves.
Every read can say how far its values can be from what was put, and what was acknowledged survives a crash.

>>> import tempfile
>>> import numpy as np
>>> import bitgrain
>>> folder = tempfile.TemporaryDirectory()
>>> with bitgrain.TensorStore(folder.name) as store:
...     store["waves"] = np.sin(np.arange(1000) / 10)
...     values, provenance = store.get("waves", with_provenance=True)
>>> provenance.tier, provenance.bits, provenance.bound < 0.004
(<Tier.HOT: 'hot'>, 8, True)
>>> folder.cleanup()
"""

from bitgrain.store.batch import StoreBatch
from bitgrain.store.moment import SimulatedClock
from bitgrain.store.policy import TierPolicy
from bitgrain.store.provenance import FrameInfo, Provenance
from bitgrain.store.recipe import Delta, Factor
from bitgrain.store.report import (
    CompactReport,
    Damage,
    RecoveryReport,
    StoreStats,
    TensorInfo,
    TickPlan,
    TickReport,
    TierMove,
    TierMoves,
    TierStats,
    TierWishes,
    VerifyReport,
)
from bitgrain.store.snapshot import StoreSnapshot
from bitgrain.store.tensor_store import TensorStore
from bitgrain.store.tier import Tier

__all__ = [
    "CompactReport",
    "Damage",
    "Delta",
    "Factor",
    "FrameInfo",
    "Provenance",
    "RecoveryReport",
    "SimulatedClock",
    "StoreBatch",
    "StoreSnapshot",
    "StoreStats",
    "TensorInfo",
    "TensorStore",
    "TickPlan",
    "TickReport",
    "Tier",
    "TierMove",
    "TierMoves",
    "TierPolicy",
    "TierStats",
    "TierWishes",
    "VerifyReport",
]

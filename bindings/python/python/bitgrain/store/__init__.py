"""Crash-safe store for tensors, with a precision that follows their use.

A :class:`TensorStore` is a folder of float32 arrays, quantized to 3 to 8 bits depending on how often they are
used. Every read can return a bound on its error, and acknowledged writes survive a crash.

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
    SyncReport,
    TensorInfo,
    TickPlan,
    TickReport,
    TierMove,
    TierMoves,
    TierStats,
    VerifyReport,
    WantedTiers,
)
from bitgrain.store.search import SearchResult
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
    "SearchResult",
    "SimulatedClock",
    "StoreBatch",
    "StoreSnapshot",
    "StoreStats",
    "SyncReport",
    "TensorInfo",
    "TensorStore",
    "TickPlan",
    "TickReport",
    "Tier",
    "TierMove",
    "TierMoves",
    "TierPolicy",
    "TierStats",
    "VerifyReport",
    "WantedTiers",
]

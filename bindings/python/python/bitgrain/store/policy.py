"""How use becomes tiers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Literal

from bitgrain.errors import DTypeError, InputError
from bitgrain.store.tier import Tier

__all__ = ["TierPolicy"]


@dataclass(frozen=True, kw_only=True)
class TierPolicy:
    """Weights, thresholds and times by which :meth:`TensorStore.tick` chooses tiers.

    Every tensor has a score of its use, from 0 to 1024; the guide explains it. By default, only tensors with a
    reconstruction policy may lose their data. ``absent="any"`` drops the data of every tensor that was not used for a
    day, unless a pin or an error limit holds it.

    Examples
    --------
    >>> TierPolicy(absent="never", first_tier="warm").residency
    datetime.timedelta(seconds=7200)

    """

    period: timedelta = timedelta(minutes=10)
    """Accesses within one period count once; 64 periods are remembered singly."""
    ema_weight: float = 0.0625
    """What a period adds to the average of periods with an access."""
    recency_half_life: timedelta = timedelta(hours=2)
    """After this long without an access, recency is half."""
    weight_ema: float = 512.0
    """Score of a tensor whose average is 1."""
    weight_recency: float = 256.0
    """Score of a tensor that was used right now."""
    weight_window: float = 256.0
    """Score of a tensor that was used in each of the last 64 periods."""
    hot_min: float = 512.0
    """Least score of a hot tensor."""
    warm_min: float = 64.0
    """Least score of a warm tensor."""
    score_hysteresis: float = 0.2
    """A tensor has to be this share below a threshold to fall, having been above it."""
    residency: timedelta = timedelta(hours=2)
    """A tensor stays in a tier for at least this long before it steps down."""
    absent_min_score: float = 1.0
    """Only data with a score below this is evicted."""
    absent_age_threshold: timedelta = timedelta(hours=24)
    """Only data that was not used for longer than this is evicted."""
    absent: Literal["never", "reconstructable", "any"] = "reconstructable"
    """Tensors whose data may be evicted. With ``"any"``, data that nothing can reconstruct is lost."""
    first_tier: Tier | str = Tier.HOT
    """Tier of tensors and frames that are written without a tier and a pin."""
    warm_byte_cap: int = 64 << 20
    """Bytes that tensors at 7 and 5 bits may have together before the least recently used go from 7 to 5."""
    warm_hysteresis: float = 0.2
    """7 bits are wanted again only where this share of the cap stays free."""
    warm_downgrade_interval: timedelta = timedelta(minutes=1)
    """Tensors go from 7 to 5 bits for the cap at most this often."""

    def __post_init__(self) -> None:
        # Whether a number is in its range is for the store to say; here, only what it could not even be given.
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            wanted: type = next(kind for kind in (float, int, str, timedelta) if isinstance(default, kind))
            accepted = (float, int) if wanted is float else wanted
            if not isinstance(value, accepted) or isinstance(value, bool):
                raise DTypeError(f"{field.name} is {value!r}, it must be a {wanted.__name__}")
            if isinstance(value, timedelta) and value < timedelta(0):
                raise InputError(f"{field.name} is {value}, it must not be negative")
        if not 0 <= self.warm_byte_cap < 1 << 64:
            raise InputError(f"warm_byte_cap is {self.warm_byte_cap}, it must be from 0 to 2**64 - 1")

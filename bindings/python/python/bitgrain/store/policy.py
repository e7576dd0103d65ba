"""Settings of the tier policy."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Literal

from bitgrain import _native as native
from bitgrain.errors import DTypeError, InputError
from bitgrain.store.tier import Tier

__all__ = ["TierPolicy"]


@dataclass(frozen=True, kw_only=True)
class TierPolicy:
    """Weights, thresholds and durations of :meth:`TensorStore.tick`.

    The default is the policy ``careful``: 8, 7 or 6 bits by use. :meth:`named` returns the others.

    Every tensor has a use score from 0 to 1024; the guide explains it. By default, only tensors with a reconstruction
    are evicted. ``absent="any"`` evicts every tensor that was unused for a day, unless it has a pin or an error
    limit.

    Examples
    --------
    >>> TierPolicy(absent="never", first_tier="warm").residency
    datetime.timedelta(seconds=7200)
    >>> TierPolicy.named("adr019").least_tier
    'cold'
    >>> TierPolicy.named("budget:1000000").budget
    1000000

    """

    period: timedelta = timedelta(minutes=10)
    """Accesses within one period count once; the last 64 periods are remembered individually."""
    ema_weight: float = 0.0625
    """Weight of the current period in the moving average of periods with an access."""
    recency_half_life: timedelta = timedelta(hours=2)
    """Time without access after which the recency is halved."""
    weight_ema: float = 512.0
    """Score contribution of a moving average of 1."""
    weight_recency: float = 256.0
    """Score contribution of an access right now."""
    weight_window: float = 256.0
    """Score contribution of an access in each of the last 64 periods."""
    hot_min: float = 512.0
    """Minimum score of a hot tensor."""
    warm_min: float = 64.0
    """Minimum score of a warm tensor."""
    score_hysteresis: float = 0.2
    """Share by which a score must fall below a threshold before the tensor leaves the tier."""
    residency: timedelta = timedelta(hours=2)
    """Minimum time in a tier before the next step down; with a budget, only for new data."""
    absent_min_score: float = 1.0
    """Score below which data may be evicted."""
    absent_age_threshold: timedelta = timedelta(hours=24)
    """Minimum time without access before data may be evicted."""
    absent: Literal["never", "reconstructable", "any"] = "reconstructable"
    """Tensors whose data may be evicted. With ``"any"``, data without a reconstruction is lost."""
    first_tier: Tier | str = Tier.HOT
    """Tier of tensors and frames written without an explicit tier or pin."""
    least_tier: Tier | str = Tier.B6
    """Lowest tier of a tick, except absent: a tensor keeps at least these bits however rarely it is used."""
    budget: int | None = None
    """Maximum total size in bytes of all tensors; if set, it decides the tiers instead of scores and thresholds.
    ``named("budget:BYTES")`` also sets a residency of a day and a least tier of 3 bits."""
    warm_byte_cap: int = 64 << 20
    """Maximum total size in bytes of warm tensors, which have at most 7 bits, but more than ``least_tier``; above it,
    the least recently used go to 5 bits, or to ``least_tier`` if that has more."""
    warm_hysteresis: float = 0.2
    """Share of the cap that must be free before tensors return to 7 bits."""
    warm_downgrade_interval: timedelta = timedelta(minutes=1)
    """Minimum time between downgrades for the cap."""

    @classmethod
    def named(cls, name: str) -> TierPolicy:
        """Return the policy with this name: ``"careful"``, ``"adr019"`` or ``"budget:BYTES"``."""
        return cls(**native.named_policy(name))

    def __post_init__(self) -> None:
        # The store checks the ranges; only values that cannot be passed to it are rejected here.
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            if field.name == "budget":
                continue
            wanted: type = next(kind for kind in (float, int, str, timedelta) if isinstance(default, kind))
            accepted = (float, int) if wanted is float else wanted
            if not isinstance(value, accepted) or isinstance(value, bool):
                raise DTypeError(f"{field.name} is {value!r}; it must be a {wanted.__name__}")
            if isinstance(value, timedelta) and value < timedelta(0):
                raise InputError(f"{field.name} is {value}; it must not be negative")
        if not 0 <= self.warm_byte_cap < 1 << 64:
            raise InputError(f"warm_byte_cap is {self.warm_byte_cap}; it must be from 0 to 2**64 - 1")
        if self.budget is None:
            return
        if not isinstance(self.budget, int) or isinstance(self.budget, bool):
            raise DTypeError(f"budget is {self.budget!r}; it must be an int or None")
        if not 0 <= self.budget < 1 << 64:
            raise InputError(f"budget is {self.budget}; it must be from 0 to 2**64 - 1")

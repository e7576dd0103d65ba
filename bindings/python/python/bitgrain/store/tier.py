"""Precision classes, from lossless to absent."""

from enum import StrEnum

__all__ = ["Tier"]


class Tier(StrEnum):
    """Precision of a tensor's values. Functions also accept the name of a tier.

    Examples
    --------
    >>> Tier("cold").bits
    3
    >>> Tier.HOT == "hot"
    True

    """

    LOSSLESS = "lossless"
    """32 bits: the original values."""
    F16 = "f16"
    """16 bits: half-precision floats; values that exceed their range are stored as f32."""
    HOT = "hot"
    """8 bits."""
    WARM = "warm"
    """7 bits."""
    B6 = "b6"
    """6 bits."""
    WARM_AGGRESSIVE = "warm-aggressive"
    """5 bits: replaces warm when warm tensors exceed their size limit."""
    B4 = "b4"
    """4 bits."""
    COLD = "cold"
    """3 bits."""
    ABSENT = "absent"
    """No data, only metadata and optionally a reconstruction."""

    @property
    def bits(self) -> int:
        """Bits per value."""
        return _BITS[self]


_BITS = {
    Tier.LOSSLESS: 32,
    Tier.F16: 16,
    Tier.HOT: 8,
    Tier.WARM: 7,
    Tier.B6: 6,
    Tier.WARM_AGGRESSIVE: 5,
    Tier.B4: 4,
    Tier.COLD: 3,
    Tier.ABSENT: 0,
}

"""Precision classes, from lossless to absent."""

from enum import StrEnum

__all__ = ["Tier"]


class Tier(StrEnum):
    """How many bits a tensor's values get. Where one is asked for, its name will do.

    Examples
    --------
    >>> Tier("cold").bits
    3
    >>> Tier.HOT == "hot"
    True

    """

    LOSSLESS = "lossless"
    """32 bits: the values as they came."""
    HOT = "hot"
    """8 bits."""
    WARM = "warm"
    """7 bits."""
    WARM_AGGRESSIVE = "warm-aggressive"
    """5 bits: a warm tensor when the warm ones are too many."""
    COLD = "cold"
    """3 bits."""
    ABSENT = "absent"
    """No data, only what is known about the tensor and perhaps how to reconstruct it."""

    @property
    def bits(self) -> int:
        """Bits of a value."""
        return _BITS[self]


_BITS = {
    Tier.LOSSLESS: 32,
    Tier.HOT: 8,
    Tier.WARM: 7,
    Tier.WARM_AGGRESSIVE: 5,
    Tier.COLD: 3,
    Tier.ABSENT: 0,
}

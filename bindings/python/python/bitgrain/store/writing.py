"""What can be put into a store, and into a batch of changes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy.typing as npt

from bitgrain import _native as native
from bitgrain.errors import DTypeError, InputError
from bitgrain.store.array import TensorId, float32, number, whole
from bitgrain.store.provenance import Provenance, provenance
from bitgrain.store.tier import Tier

__all__ = ["Writing", "frame_time", "user_pairs"]


class Writing:
    """What takes tensors."""

    _native: native.Store | native.StoreBatch

    def __setitem__(self, id: TensorId, array: npt.ArrayLike) -> None:
        # Refuses to take the place of frames, as `put` does.
        self._native.put(id, float32(array))

    def put(
        self,
        id: TensorId,
        array: npt.ArrayLike,
        *,
        tier: Tier | str | None = None,
        pin: Tier | str | None = None,
        max_error: float | None = None,
        lossless: bool = False,
        user: Mapping[str, str] | None = None,
        non_finite: Literal["reject", "zero", "clamp"] = "reject",
        two_level: bool = False,
        replace: bool = False,
    ) -> Provenance:
        """Put a tensor, in place of what had the id.

        A new tensor is encoded in 8 bits, one that was there with as many as its use asks for now. What was pinned,
        allowed or written down for the id stays unless something else is said.

        Parameters
        ----------
        id
            A text of up to 65,536 bytes, or a whole number below 2**128.
        array
            Real numbers, of any shape. Float32 in C order is read where it is; other types are converted to float32,
            and errors are counted from there.
        tier
            Tier of this write; the pin if that has more bits. By default the pin, or else 8 bits.
        pin
            Lowest tier from now on, this write included.
        max_error
            Largest error from now on. More bits are taken where the tier's are too few; if 8 are, that is an error.
        lossless
            Keep the values as they are, in 32 bits; so it goes with no tier or pin of fewer.
        user
            Texts to write down beside the tensor.
        non_finite
            What to do with NaN and infinities: ``"reject"`` the array, encode them as ``"zero"``, or ``"clamp"``
            infinities to the largest finite magnitude nearby, and NaN to 0.
        two_level
            Whether 3-bit blocks may have a second scale for outliers.
        replace
            Whether a tensor with frames may be replaced, which drops all of them.

        Returns
        -------
        Provenance
            What it cost.

        Raises
        ------
        DTypeError
            If the array is of objects, complex numbers or text; or is to be lossless and has values that float32 does
            not.
        InputError
            If values are not finite, the largest error cannot be kept, others are reconstructed from what is there, or
            the id has frames and ``replace`` is false.
        FileError
            If the store is open for reading only, or the disk refused.

        """
        settings = _put_settings(tier, pin, max_error, lossless, user, non_finite, two_level, replace)
        return provenance(self._native.put(id, float32(array, exact=lossless), settings))


def _put_settings(
    tier: Tier | str | None,
    pin: Tier | str | None,
    max_error: float | None,
    lossless: bool,
    user: Mapping[str, str] | None,
    non_finite: str,
    two_level: bool,
    replace: bool,
) -> dict[str, Any] | None:
    """As the native half takes them; none if there is nothing to say."""
    for what, given in (("tier", tier), ("pin", pin)):
        if lossless and given is not None and str(given) != Tier.LOSSLESS:
            raise InputError(f"lossless=True keeps 32 bits, {what}={str(given)!r} fewer: give one of them")
    said = (tier, pin, max_error, user) != (None, None, None, None) or lossless or two_level or replace
    if not said and non_finite == "reject":
        return None
    return {
        "tier": None if tier is None else str(tier),
        "pin": None if pin is None else str(pin),
        "max_error": None if max_error is None else number("max_error", max_error),
        "lossless": bool(lossless),
        "user": None if user is None else user_pairs(user),
        "non_finite": str(non_finite),
        "two_level": bool(two_level),
        "replace": bool(replace),
    }


def user_pairs(user: Mapping[str, str]) -> list[tuple[str, str]]:
    """User metadata as the native half takes it."""
    if not isinstance(user, Mapping):
        raise DTypeError(f"user is {user!r}, it must be a dict of texts")
    pairs = list(user.items())
    for key, value in pairs:
        if not isinstance(key, str) or not isinstance(value, str):
            raise DTypeError(f"user metadata is text: {key!r} is {value!r}; use str or json.dumps")
    return pairs


def frame_time(time: int | None) -> int | None:
    """Time of a frame; ``None`` is that of the store's clock, in milliseconds since 1970."""
    return None if time is None else whole("time", time)

"""Methods that a store and a batch have in common."""

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
    """Base class of stores and batches."""

    _native: native.Store | native.StoreBatch

    def __setitem__(self, id: TensorId, array: npt.ArrayLike) -> None:
        # Does not replace frames, like `put` without `replace`.
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
        """Put a tensor, replacing any tensor with this id.

        It is encoded at its pin, or else with 8 bits, and with more bits if the last tick wanted them. The id keeps its
        pin, error limit and user metadata unless new ones are given.

        Parameters
        ----------
        id
            A string of up to 65,536 bytes, or an integer below 2**128.
        array
            Real numbers, of any shape. Float32 in C order is read without a copy; other types are converted to float32,
            and errors refer to the float32 values.
        tier
            Tier of this write; raised to the pin if that has more bits. Default: the pin, or else 8 bits.
        pin
            Minimum tier from now on, including this write.
        max_error
            Largest error from now on. More bits are used if necessary; an error if 8 bits do not suffice.
        lossless
            Store the values unchanged, with 32 bits. Cannot be combined with a lower tier or pin.
        user
            User metadata: strings to store with the tensor.
        non_finite
            Handling of NaN and infinities: ``"reject"`` the array, replace them with ``"zero"``, or ``"clamp"``
            infinities to the largest finite magnitude of their block and NaN to 0.
        two_level
            Use a second scale for outliers in 3-bit blocks.
        replace
            Allow replacing a temporal tensor, which deletes its frames.

        Returns
        -------
        Provenance
            Tier and error of the stored values.

        Raises
        ------
        DTypeError
            If the array contains objects, complex numbers or strings; or ``lossless`` is set and float32 cannot
            represent all values.
        InputError
            If values are not finite, the error limit cannot be met, other tensors are reconstructed from the one to
            replace, or the id has frames and ``replace`` is false.
        FileError
            If the store is open read-only, or an I/O error occurs.

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
    """Convert to the native representation; ``None`` if all are defaults."""
    for what, given in (("tier", tier), ("pin", pin)):
        if lossless and given is not None and str(given) != Tier.LOSSLESS:
            raise InputError(f"lossless=True keeps 32 bits, but {what}={str(given)!r} has fewer; pass only one of them")
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
    """Convert user metadata to the native representation."""
    if not isinstance(user, Mapping):
        raise DTypeError(f"user is {user!r}; it must be a dict of strings")
    pairs = list(user.items())
    for key, value in pairs:
        if not isinstance(key, str) or not isinstance(value, str):
            raise DTypeError(f"user metadata must be strings: {key!r} is {value!r}; use str or json.dumps")
    return pairs


def frame_time(time: int | None) -> int | None:
    """Validate the timestamp of a frame; ``None`` is the time of the store's clock, in milliseconds since 1970."""
    return None if time is None else whole("time", time)

"""Several changes at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

import numpy.typing as npt

from bitgrain import _native as native
from bitgrain.errors import DTypeError
from bitgrain.store.array import TensorId, float32, whole
from bitgrain.store.moment import milliseconds
from bitgrain.store.provenance import Provenance, provenance
from bitgrain.store.tier import Tier

__all__ = ["StoreBatch"]


class StoreBatch:
    """Changes that are made together: all of them or none, for whoever reads and after a crash.

    See :meth:`TensorStore.batch`. As a context manager it makes the changes at the end, or none of them after an
    exception. Values are encoded when they are put into the batch, so it takes the memory of what will be stored. Of
    several ``put`` and ``delete`` of one id the last one counts.
    """

    def __init__(self, begun: native.StoreBatch) -> None:
        self._native = begun

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
    ) -> Provenance:
        """As :meth:`TensorStore.put`."""
        settings = put_settings(tier, pin, max_error, lossless, user, non_finite, two_level)
        return provenance(self._native.put(id, float32(array, exact=lossless), settings))

    def append(self, id: TensorId, frame: npt.ArrayLike, *, time: int | None = None) -> None:
        """As :meth:`TensorStore.append`. Whether the frame goes with those before is found at the end."""
        self._native.append(id, float32(frame), frame_time(time))

    def delete(self, id: TensorId) -> None:
        """Delete a tensor. Whether it is there is found at the end."""
        self._native.delete(id)

    def __setitem__(self, id: TensorId, array: npt.ArrayLike) -> None:
        self.put(id, array)

    def __delitem__(self, id: TensorId) -> None:
        self.delete(id)

    def __len__(self) -> int:
        return self._native.count()

    def __bool__(self) -> bool:
        return True

    def commit(self) -> None:
        """Make all changes, or none. Either way, the batch is over.

        Raises
        ------
        NotFoundError
            If a tensor that is to be deleted is not there.
        InputError
            If frames do not go with those before, others need what is to be deleted, or a limit was set meanwhile.
        FileError
            If the disk refused.

        """
        self._native.commit()

    def discard(self) -> None:
        """Make none of the changes. The batch is over."""
        self._native.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()

    def __reduce__(self) -> NoReturn:
        raise DTypeError("a batch belongs to an open store and cannot be pickled or copied")


def put_settings(
    tier: Tier | str | None,
    pin: Tier | str | None,
    max_error: float | None,
    lossless: bool,
    user: Mapping[str, str] | None,
    non_finite: str,
    two_level: bool,
) -> dict[str, Any] | None:
    """As the native half takes them; none if there is nothing to say."""
    said = (tier, pin, max_error, user) != (None, None, None, None) or lossless or two_level
    if not said and non_finite == "reject":
        return None
    return {
        "tier": None if tier is None else str(tier),
        "pin": None if pin is None else str(pin),
        "max_error": None if max_error is None else float(max_error),
        "lossless": bool(lossless),
        "user": None if user is None else user_pairs(user),
        "non_finite": str(non_finite),
        "two_level": bool(two_level),
    }


def user_pairs(user: Mapping[str, str]) -> list[tuple[str, str]]:
    """User metadata as the native half takes it."""
    pairs = list(user.items())
    for key, value in pairs:
        if not isinstance(key, str) or not isinstance(value, str):
            raise DTypeError(f"user metadata is text: {key!r} is {value!r}; use str or json.dumps")
    return pairs


def frame_time(time: int | None) -> int:
    """Time of a frame; now, in milliseconds since 1970, if nobody said."""
    return milliseconds(None) if time is None else whole("time", time)

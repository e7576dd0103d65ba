"""Times: milliseconds since 1970 in the store, datetimes for people."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime

from bitgrain.errors import DTypeError, InputError

#: The last millisecond that a datetime has.
_LAST = int(datetime.max.replace(tzinfo=UTC).timestamp() * 1000) - 1


def moment(milliseconds: int) -> datetime:
    """As people read it, in UTC."""
    return datetime.fromtimestamp(min(milliseconds, _LAST) / 1000, UTC)


def milliseconds(now: datetime | float | None) -> int:
    """As the store has it. Numbers are seconds since 1970, as of ``time.time()``; ``None`` is now."""
    if now is None:
        return time.time_ns() // 1_000_000
    try:
        seconds = now.timestamp() if isinstance(now, datetime) else float(now)
    except (TypeError, ValueError):
        raise DTypeError(f"{now!r} is no time: give seconds since 1970, or a datetime") from None
    if not 0 <= seconds * 1000 < 1 << 64 or not math.isfinite(seconds):
        raise InputError(f"{now!r} is no time: seconds since 1970, or a datetime after that")
    return int(seconds * 1000)

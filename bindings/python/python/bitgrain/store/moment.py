"""Conversion between datetimes and milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bitgrain import _native as native
from bitgrain.errors import DTypeError, InputError
from bitgrain.store.array import whole

__all__ = ["SimulatedClock"]

#: Last millisecond that a datetime can represent.
_LAST = int(datetime.max.replace(tzinfo=UTC).timestamp() * 1000) - 1


def moment(milliseconds: int) -> datetime:
    """Convert to a datetime in UTC."""
    return datetime.fromtimestamp(min(milliseconds, _LAST) / 1000, UTC)


def milliseconds(now: datetime | None, now_ms: int | None = None) -> int | None:
    """Convert to milliseconds since 1970; ``None`` is the time of the store's clock."""
    if now is not None and now_ms is not None:
        raise InputError("now and now_ms are both given; pass only one of them")
    if now_ms is not None:
        return whole("now_ms", now_ms)
    if now is None:
        return None
    if not isinstance(now, datetime):
        raise DTypeError(f"now is {now!r}; pass a datetime, or milliseconds since 1970 as now_ms")
    since = now.timestamp() * 1000
    if since < 0:
        raise InputError(f"now is {now}; it must be after 1970")
    return int(since)


class SimulatedClock:
    """A clock that shows the same time until it is set, for tests and simulations of a :class:`TensorStore`.

    A store opened with such a clock accepts any time in :meth:`TensorStore.tick`.

    Parameters
    ----------
    now
        Initial time. Without a time zone, it is local time.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime, timedelta
    >>> from bitgrain import TensorStore
    >>> from bitgrain.store import SimulatedClock
    >>> clock = SimulatedClock(datetime(2030, 1, 1, tzinfo=UTC))
    >>> with tempfile.TemporaryDirectory() as folder, TensorStore(folder, clock=clock) as store:
    ...     store["a"] = [1.0, 2.0]
    ...     clock.advance(timedelta(hours=3))
    ...     report = store.tick()
    ...     store.stat("a").created.isoformat(), clock.now.isoformat()
    ('2030-01-01T00:00:00+00:00', '2030-01-01T03:00:00+00:00')

    """

    def __init__(self, now: datetime) -> None:
        self._native = native.StoreClock(_of_clock(now))

    @property
    def now(self) -> datetime:
        """Current time of the clock, in UTC."""
        return moment(self._native.now())

    def set(self, now: datetime) -> None:
        """Set the clock, forward or backward."""
        self._native.set(_of_clock(now))

    def advance(self, by: timedelta) -> None:
        """Advance the clock; a negative difference moves it back."""
        self.set(self.now + by)

    def __repr__(self) -> str:
        return f"SimulatedClock({self.now!r})"


def _of_clock(now: datetime) -> int:
    since = milliseconds(now)
    if since is None:
        raise DTypeError("now must be a datetime, not None")
    return since

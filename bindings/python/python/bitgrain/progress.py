"""Progress bars for terminals and notebooks."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """A progress bar of ``total`` steps: tqdm if it is installed, otherwise a single line that is overwritten.

    With ``show=None`` the bar appears only in a terminal or, with tqdm, in a notebook. Integers are verbosity levels as
    in other libraries: the bar appears above 0.

    >>> with Progress(total=3, label="rounds", show=False) as progress:
    ...     for round in range(3):
    ...         progress.update(round + 1, note="loss 0.5")
    """

    def __init__(self, total: int, label: str, show: bool | int | None = None) -> None:
        self._total = total
        self._label = label
        self._done = 0
        self._bar: Any = None
        self._line = False
        if show is not None and not show > 0:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._line = True if show else sys.stderr.isatty()
        else:
            # disable=None makes tqdm show the bar only in a terminal or a notebook.
            self._bar = tqdm(total=total, desc=label, disable=None if show is None else False, leave=False)

    def update(self, done: int, note: str = "") -> None:
        """Set the number of completed steps and the note next to the bar."""
        if self._bar is not None:
            if note:
                self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(done - self._done)
        elif self._line:
            print(f"\r{self._label}: {done}/{self._total} {note}\x1b[K", end="", file=sys.stderr, flush=True)
        self._done = done

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
        elif self._line:
            print(file=sys.stderr)
            self._line = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

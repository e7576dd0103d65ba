"""Name patterns with wildcards."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bitgrain.errors import NotFoundError

__all__ = ["check_patterns", "matches"]


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern: ``*`` matches any characters, ``?`` one, all others themselves.

    Examples
    --------
    >>> matches("layer[0].weight", "layer[0].*"), matches("layer0.weight", "layer[0].*")
    (True, False)

    """
    parts = (".*" if each == "*" else "." if each == "?" else re.escape(each) for each in pattern)
    return re.fullmatch("".join(parts), name, flags=re.DOTALL) is not None


def check_patterns(patterns: Iterable[str], names: Iterable[str], what: str) -> None:
    """Reject patterns that match none of the names, because they are probably misspelled."""
    known = list(names)
    for pattern in patterns:
        if not any(matches(name, pattern) for name in known):
            raise NotFoundError(f"{pattern!r} matches no {what}; known names: {', '.join(known[:20])}")

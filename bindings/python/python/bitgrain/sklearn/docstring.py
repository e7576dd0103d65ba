"""Shared sections of the estimators' docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

__all__ = ["documented"]

T = TypeVar("T", bound=type)


def documented(base: type) -> Callable[[T], T]:
    """Insert sections of a base class's docstring into that of a class, in place of the line *and all of* the base.

    Examples
    --------
    >>> class Base:
    ...     '''A base.
    ...
    ...     Parameters
    ...     ----------
    ...     a : int
    ...         The first.
    ...     '''
    >>> @documented(Base)
    ... class Derived(Base):
    ...     '''A class.
    ...
    ...     Parameters
    ...     ----------
    ...     b : int
    ...         The second.
    ...     and all of :class:`Base`
    ...     '''
    >>> Derived.__doc__.splitlines()[4:]
    ['b : int', '    The second.', 'a : int', '    The first.']

    """
    shared, said = _sections(base), f"and all of :class:`{base.__name__}`"

    def complete(derived: T) -> T:
        section, lines = "", list[str]()
        for line in inspect.cleandoc(derived.__doc__ or "").splitlines():
            if _is_rule(line):
                section = lines[-1]
            lines.extend(shared[section] if line == said else [line])
        derived.__doc__ = "\n".join(lines)
        return derived

    return complete


def _sections(base: type) -> dict[str, list[str]]:
    """Return the lines of each section of a docstring, by section title."""
    lines = inspect.cleandoc(base.__doc__ or "").splitlines()
    titles = [at for at, line in enumerate(lines[1:]) if _is_rule(line)]
    bodies = [lines[at + 2 : end] for at, end in zip(titles, [*titles[1:], len(lines)], strict=True)]
    # Sections are separated by an empty line.
    trimmed = [body if not body or body[-1] else body[:-1] for body in bodies]
    return {lines[at]: body for at, body in zip(titles, trimmed, strict=True)}


def _is_rule(line: str) -> bool:
    """Return whether a line underlines a section title."""
    return bool(line) and set(line) == {"-"}

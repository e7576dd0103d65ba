"""Aliases of parameters: names in LightGBM, XGBoost and scikit-learn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from bitgrain import _native

__all__ = ["accepts_aliases", "renamed", "resolved"]

T = TypeVar("T", bound=type)

#: The names of each parameter, the canonical name first.
_TABLE: list[list[str]] = [[entry["name"], *entry["aliases"]] for entry in _native.parameters()]

_KNOWN = frozenset(name for names in _TABLE for name in names)


def resolved(given: Mapping[str, Any], objective: object = None) -> dict[str, Any]:
    """Return parameters by canonical name; `objective` is the objective if it is given elsewhere.

    Raises
    ------
    InputError
        If a name is unknown, or a parameter is given twice with different values.

    """
    return _native.resolve_parameters(dict(given), objective if isinstance(objective, str) else None)


def renamed(given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return keywords by the names in `names`, such as ``random_state`` for ``seed``.

    Raises
    ------
    InputError
        If a name is unknown, or a parameter is given twice with different values.

    """
    own = {name: value for name, value in given.items() if name in names and name not in _KNOWN}
    others = resolved({name: value for name, value in given.items() if name not in own})
    spelled = {known[0]: name for known in _TABLE for name in known if name in names}
    return {**own, **{spelled.get(name, name): value for name, value in others.items()}}


def accepts_aliases(decorated: T) -> T:
    """Make the constructor of a class accept every alias of its keywords.

    The signature is unchanged, because scikit-learn and editors read it.
    """
    plain = decorated.__init__  # type: ignore[misc]
    names = frozenset(inspect.signature(plain).parameters) - {"self"}

    @functools.wraps(plain)
    def accept(self: Any, *arguments: Any, **given: Any) -> None:
        if not given.keys() <= names:
            try:
                given = renamed(given, names)
            except ValueError as error:
                # An unexpected keyword is a TypeError in Python; contradictory values are an InputError.
                if given.keys() <= names | _KNOWN:
                    raise
                raise TypeError(str(error)) from None
        plain(self, *arguments, **given)

    decorated.__init__ = accept  # type: ignore[misc]
    return decorated

"""Validation of integer arguments that are not hyperparameters."""

from __future__ import annotations

import operator

from bitgrain.errors import DTypeError, InputError

__all__ = ["integer"]


def integer(name: str, value: object, least: int, most: int = 2**63 - 1) -> int:
    """Return `value` as an integer, or raise an error if it is not an integer within the bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DTypeError(f"{name} = {value!r}: it must be an integer") from None
    if not least <= number <= most:
        between = f"of at least {least}" if most == 2**63 - 1 else f"from {least} to {most}"
        raise InputError(f"{name} = {number}: it must be an integer {between}")
    return number

"""What can go wrong, as a tree of exceptions.

Every exception of this package is an :class:`Error`; each is also what Python's own libraries would raise in its place,
so ``except ValueError`` and ``except KeyError`` go on working.

>>> import bitgrain
>>> issubclass(bitgrain.errors.NotFoundError, KeyError) and issubclass(bitgrain.errors.NotFoundError, bitgrain.Error)
True
"""

import errno
from typing import Any

__all__ = [
    "DTypeError",
    "DamagedError",
    "Error",
    "FileError",
    "FormatError",
    "InputError",
    "InternalError",
    "LockedError",
    "MissingFileError",
    "NotFoundError",
    "RefusedFileError",
    "TrainingInterrupted",
]


class Error(Exception):
    """Base class of all exceptions of this package."""

    # Without slots of its own, an Error has the memory layout of an Exception: see InternalError.
    __slots__ = ()


class InputError(Error, ValueError):
    """A value, a shape or a setting that cannot be used."""


class DTypeError(Error, TypeError):
    """An array or column of a type that cannot be used."""


class NotFoundError(Error, KeyError):
    """No tensor, feature or format of that name."""

    def __str__(self) -> str:
        # A KeyError shows the repr of its argument, which hides a sentence in quotes.
        return str(self.args[0]) if self.args else ""


class FileError(Error, OSError):
    """A file or folder that cannot be opened, read or written.

    A :class:`MissingFileError` if it is not there, a :class:`RefusedFileError` if the system allows it to others only.
    """

    def __new__(cls, *args: Any) -> Any:
        """Make the class that fits the number."""
        # OSError chooses among Python's own classes by the number, but only for itself.
        kind = _BY_NUMBER.get(args[0], cls) if cls is FileError and args else cls
        return super().__new__(kind, *args)


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that is not there."""


class RefusedFileError(FileError, PermissionError):
    """A file or folder that this process may not use so."""


class LockedError(FileError):
    """A store that another process writes."""


_BY_NUMBER = {
    errno.ENOENT: MissingFileError,
    errno.EACCES: RefusedFileError,
    errno.EPERM: RefusedFileError,
}


class FormatError(Error, ValueError):
    """Bytes that are not what they should be: foreign, truncated, of a later version."""


class DamagedError(FormatError):
    """Bytes that were right once: a checksum does not fit."""


class InternalError(Error, RuntimeError):
    """A bug in this package: a panic of the native code.

    The interpreter and other objects remain usable. Do not reuse the object whose method failed.

    Examples
    --------
    >>> import bitgrain
    >>> try:
    ...     bitgrain._native._panic("index out of range")
    ... except Exception as error:
    ...     print(error)
    index out of range; this is a bug in bitgrain, please report it with the steps that led to it

    """

    # The native half makes this the base of the exception that PyO3 raises for a panic. Python allows that only between
    # classes of the same memory layout.
    __slots__ = ()

    def __str__(self) -> str:
        text = super().__str__()
        # A panic that passed through a Python callback has the advice in its message already.
        return text if text.endswith(_ADVICE) else text + _ADVICE

    def __reduce__(self) -> tuple[Any, ...]:
        # The exception of a panic has a class that pickle cannot import; worker processes send it back as this one.
        return InternalError, self.args


_ADVICE = "; this is a bug in bitgrain, please report it with the steps that led to it"


class TrainingInterrupted(UserWarning):
    """A training ended early by Ctrl-C; the model has the rounds that were done."""

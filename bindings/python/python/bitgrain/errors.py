"""What can go wrong, as a tree of exceptions.

Every exception of this package is an :class:`Error`; each is also what Python's own libraries would raise in its place,
so ``except ValueError`` and ``except KeyError`` go on working.

>>> import bitgrain
>>> issubclass(bitgrain.NotFoundError, KeyError) and issubclass(bitgrain.NotFoundError, bitgrain.Error)
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
    "LockedError",
    "MissingFileError",
    "NotFoundError",
    "RefusedFileError",
    "TrainingInterrupted",
]


class Error(Exception):
    """Anything that this package raises on purpose."""


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


class TrainingInterrupted(UserWarning):
    """A training ended early by Ctrl-C; the model has the rounds that were done."""

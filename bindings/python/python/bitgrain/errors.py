"""Exceptions and warnings.

Every exception of this package is an :class:`Error` and also derives from the built-in exception for the same failure,
so ``except ValueError`` and ``except KeyError`` keep working.

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
    "WorkerError",
]


class Error(Exception):
    """Base class of all exceptions of this package."""

    # Empty __slots__ keep the memory layout of Exception, which InternalError depends on.
    __slots__ = ()


class InputError(Error, ValueError):
    """An unusable value, shape or setting."""


class WorkerError(Error, RuntimeError):
    """A worker of a distributed training failed or was lost; raised on every worker."""

    # Set on instances by __init__.
    __slots__ = ("rank", "reason")

    def __init__(self, message: str, rank: int | None = None, reason: str | None = None) -> None:
        super().__init__(message, rank, reason)
        self.rank = rank
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class DTypeError(Error, TypeError):
    """An array or column with an unsupported dtype."""


class NotFoundError(Error, KeyError):
    """An unknown name of a tensor, feature or format."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which would put the message in quotes.
        return str(self.args[0]) if self.args else ""


class FileError(Error, OSError):
    """A file or directory that cannot be opened, read or written.

    Raised as :class:`MissingFileError` if it does not exist and as :class:`RefusedFileError` if permission is denied.
    """

    def __new__(cls, *args: Any) -> Any:
        """Create the subclass that matches the error number."""
        # OSError picks its subclass by errno only when called directly, not when called through a subclass.
        kind = _BY_NUMBER.get(args[0], cls) if cls is FileError and args else cls
        return super().__new__(kind, *args)


class MissingFileError(FileError, FileNotFoundError):
    """A file or directory that does not exist."""


class RefusedFileError(FileError, PermissionError):
    """A file or directory that this process has no permission to use."""


class LockedError(FileError):
    """A store that another process has open for writing."""


_BY_NUMBER = {
    errno.ENOENT: MissingFileError,
    errno.EACCES: RefusedFileError,
    errno.EPERM: RefusedFileError,
}


class FormatError(Error, ValueError):
    """Bytes in an unknown, truncated or newer format."""


class DamagedError(FormatError):
    """Bytes that were changed after they were written: a checksum does not match."""


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

    # The native extension makes this the base class of the exception that PyO3 raises for a panic. Python allows that
    # only between classes with the same memory layout.
    __slots__ = ()

    def __str__(self) -> str:
        text = super().__str__()
        # The message of a panic that passed through a Python callback already ends with the advice.
        return text if text.endswith(_ADVICE) else text + _ADVICE

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle cannot import the class of a panic, so worker processes send it back as an InternalError.
        return InternalError, self.args


_ADVICE = "; this is a bug in bitgrain, please report it with the steps that led to it"


class TrainingInterrupted(UserWarning):
    """Training was stopped early by Ctrl-C; the model contains the completed rounds."""

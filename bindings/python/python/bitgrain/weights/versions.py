"""Float32 weights and their quantized versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.errors import InputError
from bitgrain.weights.array import Floats, as_floats, as_number
from bitgrain.weights.dtype import DTypeInfo, format_name
from bitgrain.weights.tensor import QuantizedTensor

__all__ = ["WeightStore"]


class WeightStore:
    """Float32 weights (the master) and quantized versions of them.

    Versions are created from the master on first use and dropped when it changes. A store can be shared between
    threads.

    Parameters
    ----------
    weights : array_like
        Finite numbers of any shape; groups and blocks are formed along the last axis.

    Raises
    ------
    InputError
        If the array is empty, or a value is NaN or infinite; the message has its index.
    DTypeError
        If the array does not hold real numbers.

    Examples
    --------
    >>> import bitgrain, numpy as np
    >>> store = bitgrain.weights.WeightStore(np.array([[1.27, -0.5, 0.0, 0.25]], np.float32))
    >>> store.morph("int8")
    >>> store.active("int8").scales
    array([[0.01]], dtype=float32)
    >>> store.apply_gradients(np.array([[1.0, 0.0, 0.0, 0.0]]), rate=0.5)
    >>> store.master
    array([[ 0.77, -0.5 ,  0.  ,  0.25]], dtype=float32)
    >>> store.active("int8") is None  # dropped, because the weights changed
    True
    """

    def __init__(self, weights: npt.ArrayLike) -> None:
        self._native = _native.WeightVersions(as_floats(weights, "weights"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return tuple(self._native.shape)

    @property
    def master(self) -> Floats:
        """Copy of the master weights; assign to replace them."""
        return self._native.master().reshape(self.shape)

    @master.setter
    def master(self, weights: npt.ArrayLike) -> None:
        self._native.set_master(self._like(weights, "weights"))

    @property
    def importance(self) -> Floats | None:
        """Importance of the errors in each column, or None. Assigning drops all versions."""
        return self._native.importance()

    @importance.setter
    def importance(self, importance: npt.ArrayLike | None) -> None:
        self._native.set_importance(None if importance is None else as_floats(importance, "importance").ravel())

    def morph(self, dtype: str | DTypeInfo) -> None:
        """Create the version in a format, unless it exists.

        If several threads request the same version, one creates it and the others wait. If rows are not a multiple of
        the block length, the nearest format that fits is used.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As for :func:`bitgrain.quantize`.

        Raises
        ------
        InputError
            If the format is unknown, or a weight would become infinite in it.
        """
        self._native.morph(format_name(dtype))

    def active(self, dtype: str | DTypeInfo) -> QuantizedTensor | None:
        """Return the version in a format if it exists. Does not create versions and never returns a stale one.

        Parameters
        ----------
        dtype : str or DTypeInfo
            Format, as passed to :meth:`morph`.

        Returns
        -------
        QuantizedTensor or None
            None if the version does not exist, or ``dtype`` is float32, so that the master is used.
        """
        native = self._native.active(format_name(dtype))
        return None if native is None else QuantizedTensor(native)

    def values(self, dtype: str | DTypeInfo) -> Floats:
        """Return the dequantized weights of a version, creating it if necessary.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As for :meth:`morph`.

        Returns
        -------
        numpy.ndarray
            A new float32 array.
        """
        return self._native.values(format_name(dtype)).reshape(self.shape)

    def unpack(self, dtype: str | DTypeInfo) -> None:
        """Replace the master by the dequantized weights of a version. Does nothing if the version does not exist.

        Parameters
        ----------
        dtype : str or DTypeInfo
            Format, as passed to :meth:`morph`.
        """
        self._native.unpack(format_name(dtype))

    def apply_gradients(self, gradients: npt.ArrayLike, rate: float) -> None:
        """Take a gradient step: ``master -= rate * gradients``. Drops all versions.

        Parameters
        ----------
        gradients : array_like
            Gradients, in the shape of the weights.
        rate : float
            Learning rate.

        Raises
        ------
        InputError
            If the shape differs, or a weight would become NaN or infinite; then nothing is changed.
        """
        self._native.apply_gradients(self._like(gradients, "gradients"), as_number(rate, "rate"))

    def multiply(self, x: npt.ArrayLike, dtype: str | DTypeInfo = "float32") -> Floats:
        """Multiply rows by the weights, using the codes of a version: ``x @ weights.T``.

        Parameters
        ----------
        x : array_like
            Rows of the same length as the rows of the weights.
        dtype : str or DTypeInfo, optional
            Format of the version to use, created if necessary.

        Returns
        -------
        numpy.ndarray
            For each row of ``x``, one number per row of the weights.
        """
        rows = as_floats(x, "x")
        product = self._native.multiply(rows, format_name(dtype))
        return product.reshape((*rows.shape[:-1], int(np.prod(self.shape[:-1], dtype=np.int64))))

    def clear(self, dtype: str | DTypeInfo) -> None:
        """Drop a version; it is created again on the next use.

        Parameters
        ----------
        dtype : str or DTypeInfo
            Format, as passed to :meth:`morph`.
        """
        self._native.clear(format_name(dtype))

    @property
    def versions(self) -> list[str]:
        """Formats of the existing versions, in order of creation."""
        return [name for name, _ in self._native.memory() if name != "float32"]

    def memory(self) -> dict[str, int]:
        """Return the size of each copy.

        Returns
        -------
        dict of str to int
            Sizes in bytes: ``float32`` is the master; versions follow.
        """
        return dict(self._native.memory())

    def _like(self, values: npt.ArrayLike, what: str) -> Floats:
        floats = as_floats(values, what)
        if floats.shape != self.shape:
            raise InputError(f"{what} have shape {floats.shape}, but the weights have {self.shape}")
        return floats

    def __getstate__(self) -> dict[str, Any]:
        return {"master": self.master, "importance": self.importance, "versions": self.versions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._native = _native.WeightVersions(state["master"])
        self.importance = state["importance"]
        for name in state["versions"]:
            self._native.morph(name)

    def __repr__(self) -> str:
        versions = ", ".join(self.versions) or "none"
        return f"WeightStore(shape={self.shape}, versions: {versions})"

"""Weights at float32, and quantized versions of them."""

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
    """Weights at float32 (the master), and as many quantized versions of them as were asked for.

    Versions are made from the master when they are first needed, and are gone as soon as it changes. Many threads may
    use one store.

    Parameters
    ----------
    weights : array_like
        Finite numbers of any shape; rows lie along the last axis.

    Raises
    ------
    InputError
        For an empty array, and for NaN and infinities with their index.
    DTypeError
        For an array of something else than real numbers.

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
    >>> store.active("int8") is None  # made from weights that are no more
    True
    """

    def __init__(self, weights: npt.ArrayLike) -> None:
        self._native = _native.WeightVersions(as_floats(weights, "weights"))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the weights."""
        return tuple(self._native.shape)

    @property
    def master(self) -> Floats:
        """A copy of the weights that training changes and versions are made from; assign to put others in place."""
        return self._native.master().reshape(self.shape)

    @master.setter
    def master(self, weights: npt.ArrayLike) -> None:
        self._native.set_master(self._like(weights, "weights"))

    @property
    def importance(self) -> Floats | None:
        """How much the errors of each column matter, if that was said. Versions made before are gone."""
        return self._native.importance()

    @importance.setter
    def importance(self, importance: npt.ArrayLike | None) -> None:
        self._native.set_importance(None if importance is None else as_floats(importance, "importance").ravel())

    def morph(self, dtype: str | DTypeInfo) -> None:
        """Make a version, unless there is one.

        Of threads that ask at once, one makes it and the others wait. Where rows are not whole blocks of the format,
        the nearest one that fits is taken.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As for :func:`bitgrain.quantize`.

        Raises
        ------
        InputError
            For a format that does not exist, and weights that would become infinite in it.
        """
        self._native.morph(format_name(dtype))

    def active(self, dtype: str | DTypeInfo) -> QuantizedTensor | None:
        """Give the version of that format if it exists. Never makes one, never gives a stale one.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As it was asked for.

        Returns
        -------
        QuantizedTensor or None
            None if the master is what is used: there is no such version, or ``dtype`` is float32.
        """
        native = self._native.active(format_name(dtype))
        return None if native is None else QuantizedTensor(native)

    def values(self, dtype: str | DTypeInfo) -> Floats:
        """Give the weights that a version stands for, made if need be.

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
        """Make the master what a version stands for. Without such a version nothing happens.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As it was asked for.
        """
        self._native.unpack(format_name(dtype))

    def apply_gradients(self, gradients: npt.ArrayLike, rate: float) -> None:
        """Take a step: ``master -= rate * gradients``. All versions are gone.

        Parameters
        ----------
        gradients : array_like
            As many numbers as there are weights.
        rate : float
            The learning rate.

        Raises
        ------
        InputError
            For gradients of another shape, or if a weight would become NaN or infinite; then nothing is changed.
        """
        self._native.apply_gradients(self._like(gradients, "gradients"), as_number(rate, "rate"))

    def multiply(self, x: npt.ArrayLike, dtype: str | DTypeInfo = "float32") -> Floats:
        """Multiply rows with the weights, on the codes of a version: ``x @ weights.T``.

        Parameters
        ----------
        x : array_like
            Rows as long as those of the weights.
        dtype : str or DTypeInfo, optional
            The format to multiply in, made if need be.

        Returns
        -------
        numpy.ndarray
            For each row of ``x`` a number per row of the weights.
        """
        rows = as_floats(x, "x")
        product = self._native.multiply(rows, format_name(dtype))
        return product.reshape((*rows.shape[:-1], int(np.prod(self.shape[:-1], dtype=np.int64))))

    def clear(self, dtype: str | DTypeInfo) -> None:
        """Forget a version, so that it is made again when it is needed.

        Parameters
        ----------
        dtype : str or DTypeInfo
            As it was asked for.
        """
        self._native.clear(format_name(dtype))

    @property
    def versions(self) -> list[str]:
        """The formats of the versions that exist, in the order they were asked for."""
        return [name for name, _ in self._native.memory() if name != "float32"]

    def memory(self) -> dict[str, int]:
        """Give the bytes of each copy.

        Returns
        -------
        dict of str to int
            ``float32`` is the master; versions follow.
        """
        return dict(self._native.memory())

    def _like(self, values: npt.ArrayLike, what: str) -> Floats:
        floats = as_floats(values, what)
        if floats.shape != self.shape:
            raise InputError(f"{what} have shape {floats.shape}, the weights have {self.shape}")
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

"""Layers with weights, that train at float32 and run in any format."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from bitgrain import _native
from bitgrain.errors import DTypeError, InputError
from bitgrain.weights import layers as _layers
from bitgrain.weights.array import Floats, as_count, as_floats, as_mask
from bitgrain.weights.dtype import DTypeInfo, format_name
from bitgrain.weights.network_comparison import NetworkComparison, network_comparison
from bitgrain.weights.parameter import Parameter, table
from bitgrain.weights.pattern import check_patterns
from bitgrain.weights.trainable import Trainable

__all__ = ["Network"]


class Network(Trainable):
    """Layers with weights, that train at float32 and run in any format.

    What is trained are the masters at float32; :meth:`morph` chooses the formats that a forward pass reads. Calls
    from many threads are safe: each sees the network as it was when the call began. One at a time may change it: while
    :meth:`fit`, :meth:`morph`, :meth:`set_weights` or :meth:`calibrate` is at work, another of them is refused.

    Parameters
    ----------
    input_shape : int or sequence of int or None
        The shape of a sample, without the axis that counts samples. The first dimension may be None: sequences of any
        length.
    layers : sequence of layers.Layer
        What it is made of: see :mod:`bitgrain.layers`.
    seed : int, optional
        What the random weights to begin with depend on.

    Raises
    ------
    InputError
        For layers that do not fit together, with the layer.

    Examples
    --------
    >>> import bitgrain, numpy as np
    >>> from bitgrain import layers
    >>> network = bitgrain.Network(2, [layers.Dense(8, activation="relu"), layers.Dense(2)], seed=3)
    >>> x, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])  # exclusive or
    >>> history = network.fit(x, y, epochs=200, batch_size=4, learning_rate=0.05)
    >>> network.predict(x).argmax(axis=1)
    array([0, 1, 1, 0])
    >>> network.morph("int8")
    >>> network.predict(x).argmax(axis=1)
    array([0, 1, 1, 0])
    """

    def __init__(
        self,
        input_shape: int | Sequence[int | None],
        layers: Sequence[_layers.Layer],
        *,
        seed: int = 0,
    ) -> None:
        given = input_shape if isinstance(input_shape, Iterable) else [input_shape]
        dims = [None if dim is None else as_count(dim, "a dimension") for dim in given]
        self._native = _native.WeightNetwork(dims, _layers.to_json(layers), as_count(seed, "seed"))

    @property
    def output_shape(self) -> tuple[int | None, ...]:
        """The shape of what comes out for a sample."""
        return tuple(self._native.output)

    @property
    def layers(self) -> list[_layers.Layer]:
        """The layers; activations are layers of their own."""
        return _layers.from_json(self._native.layers())

    @property
    def parameters(self) -> list[Parameter]:
        """All weights, in the order of the layers."""
        rows = self._native.parameters()
        return [
            Parameter(name, (cols,) if vector else (rows, cols), dtype, nbytes)
            for name, rows, cols, vector, dtype, nbytes in rows
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of the weights that a forward pass reads, each parameter in its format."""
        return self._native.active_bytes()

    def memory(self) -> dict[str, dict[str, int]]:
        """Give the bytes of every copy of every parameter.

        Returns
        -------
        dict of str to dict of str to int
            For each parameter the bytes of its master (``float32``), if it is in memory, and of its versions.
        """
        out: dict[str, dict[str, int]] = {}
        for name, dtype, nbytes in self._native.memory():
            out.setdefault(name, {})[dtype] = nbytes
        return out

    def freeze(self) -> None:
        """Drop everything that a forward pass does not read.

        Masters of parameters that run on codes, other versions and calibrations are freed, as if the network had been
        saved without ``everything`` and loaded. Outputs stay the same. Masters become what the codes stand for:
        training or morphing afterwards starts from those and decodes them into memory again.

        Examples
        --------
        >>> import bitgrain
        >>> network = bitgrain.Network(256, [bitgrain.layers.Dense(64)])
        >>> network.morph("int4")
        >>> network.freeze()
        >>> sorted(network.memory()["0.weight"])
        ['int4']
        """
        self._native.freeze()

    def weights(self, name: str, *, master: bool = False) -> Floats:
        """Give the weights of a parameter.

        Parameters
        ----------
        name : str
            As :attr:`parameters` has it.
        master : bool, optional
            Those that are trained, instead of those that a forward pass sees.

        Returns
        -------
        numpy.ndarray
            A new float32 array.

        Raises
        ------
        NotFoundError
            If there is no such parameter.
        """
        return self._native.weights(name, master).reshape(self._shape(name))

    def set_weights(self, name: str, weights: npt.ArrayLike) -> None:
        """Put weights in place. Versions of the old ones are gone.

        Parameters
        ----------
        name : str
            As :attr:`parameters` has it.
        weights : array_like
            An array of the parameter's shape.

        Raises
        ------
        NotFoundError
            If there is no such parameter.
        InputError
            For weights of another shape, and for NaN and infinities.
        """
        floats, shape = as_floats(weights, "weights"), self._shape(name)
        if shape is not None and floats.shape != shape:
            raise InputError(f"weights have shape {floats.shape}, `{name}` has {shape}")
        self._native.set_weights(name, floats)

    def _shape(self, name: str) -> Any:
        return next((one.shape for one in self.parameters if one.name == name), None)

    def predict(
        self,
        X: npt.ArrayLike,
        dtype: str | DTypeInfo | None = None,
        *,
        mask: npt.ArrayLike | None = None,
    ) -> Floats:
        """Give what comes out for each sample.

        Parameters
        ----------
        X : array_like
            Samples along the first axis.
        dtype : str or DTypeInfo, optional
            Runs all matrices in this format, once; to do so often, :meth:`morph` first. Unless told, every parameter
            runs in the format it has.
        mask : array_like of bool, optional
            Which places of the sequences count: one flag per place of each sample.

        Returns
        -------
        numpy.ndarray
            A float32 array with the samples along the first axis. Of a classifier: the numbers before the softmax.

        Raises
        ------
        InputError
            For samples of another shape, none at all, and NaN and infinities.
        DTypeError
            For an array of something else than real numbers.
        """
        name = None if dtype is None else format_name(dtype)
        samples = self._samples(X)
        values, shape = self._native.predict(samples, name, as_mask(mask, samples))
        return values.reshape(shape)

    def morph(self, dtype: str | DTypeInfo | Mapping[str, str | DTypeInfo]) -> None:
        """Choose the formats that a forward pass reads. What is trained remains the master.

        Parameters
        ----------
        dtype : str, DTypeInfo or mapping
            One format for every matrix, vectors staying at float32; or a recipe: names of parameters, in which ``*``
            and ``?`` stand for any characters and for one, with formats. The first that matches decides, what none
            matches runs at float32. Where rows are not whole blocks of a format, the nearest one that fits is taken.

        Raises
        ------
        InputError
            For a format that does not exist, and weights that would become infinite in it; then nothing is changed.
        NotFoundError
            If a name in a recipe matches no parameter.

        Examples
        --------
        >>> import bitgrain
        >>> from bitgrain import layers
        >>> network = bitgrain.Network(64, [layers.Dense(32, activation="relu"), layers.Dense(10)])
        >>> network.morph({"2.*": "int8", "*.weight": "q4_0"})
        >>> [parameter.dtype for parameter in network.parameters]
        ['q4_0', 'float32', 'int8', 'int8']
        """
        if isinstance(dtype, Mapping):
            rules = [(pattern, format_name(one)) for pattern, one in dtype.items()]
            check_patterns(dtype, (one.name for one in self.parameters), "parameter")
            self._native.morph_by("keep", rules)
        else:
            self._native.morph(format_name(dtype))

    def calibrate(self, X: npt.ArrayLike, *, method: str = "feedback", mask: npt.ArrayLike | None = None) -> None:
        """Watch what goes into each matrix, so that versions to come lose less of what comes out.

        Parameters
        ----------
        X : array_like
            Samples as they will come.
        method : {"feedback", "importance"}, optional
            What one weight loses others make up for, where the format has groups or blocks; or scales are searched for
            with the size of each input in mind.
        mask : array_like of bool, optional
            Which places of the sequences count.
        """
        if method not in ("feedback", "importance"):
            raise InputError(f'method cannot be "{method}"; choose feedback or importance')
        samples = self._samples(X)
        self._native.calibrate(samples, method == "feedback", as_mask(mask, samples))

    def compare(
        self, other: Network, inputs: npt.ArrayLike | None = None, *, mask: npt.ArrayLike | None = None
    ) -> NetworkComparison:
        """Compare the weights that two networks of the same layers use, and what they make of inputs.

        Parameters
        ----------
        other : Network
            The other one.
        inputs : array_like, optional
            Samples to run both on.
        mask : array_like of bool, optional
            Which places of their sequences count.

        Returns
        -------
        NetworkComparison

        Raises
        ------
        InputError
            If they do not have the same parameters.
        """
        if not isinstance(other, Network):
            raise DTypeError(f"other must be a Network, not {type(other).__name__}")
        samples = None if inputs is None else self._samples(inputs)
        flags = None if samples is None else as_mask(mask, samples)
        return network_comparison(self._native.compare(other._native, samples, flags))

    def save(self, path: str | os.PathLike[str], *, contents: str = "all") -> None:
        """Write a file: JSON or safetensors, as its name ends. It appears when it is complete, or not at all.

        Parameters
        ----------
        path : path-like
            A name that ends in ``.json`` or ``.safetensors``.
        contents : {"all", "active"}, optional
            Masters and all versions, so that it can be trained on; or only the weights that it runs on.

        Raises
        ------
        InputError
            For another ending.
        FileError
            If the file system refuses.
        """
        if contents not in ("all", "active"):
            raise InputError(f'contents cannot be "{contents}"; choose all or active')
        self._native.save(os.fspath(path), contents == "all")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Read a file of either kind.

        Parameters
        ----------
        path : path-like
            What :meth:`save` wrote.

        Returns
        -------
        Network

        Raises
        ------
        FileError
            If the file system refuses.
        FormatError
            If it is no network, or of a later version; :class:`DamagedError` if it was changed since.
        """
        return cls._of(_native.WeightNetwork.open(os.fspath(path)))

    @classmethod
    def _of(cls, native: _native.WeightNetwork) -> Network:
        network = cls.__new__(cls)
        network._native = native
        return network

    def copy(self) -> Network:
        """Give a network of its own with the same weights and formats."""
        return copy.deepcopy(self)

    def summary(self) -> str:
        """Give a table of the parameters.

        Returns
        -------
        str
            A line per parameter: name, shape, format and bytes.

        Examples
        --------
        >>> import bitgrain
        >>> from bitgrain import layers
        >>> print(bitgrain.Network(4, [layers.Dense(3)]).summary())
        parameter  shape   dtype    bytes
        0.weight   3 x 4   float32     48
        0.bias     3       float32     12
        total                          60
        """
        return table(self.parameters, self.nbytes)

    def __getstate__(self) -> dict[str, Any]:
        return {"safetensors": self._native.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._native = _native.WeightNetwork.from_bytes(state["safetensors"])

    def __repr__(self) -> str:
        formats = sorted({one.dtype for one in self.parameters if len(one.shape) > 1})
        return (
            f"Network({self.input_shape} -> {self.output_shape}, {len(self.layers)} layers, "
            f"{', '.join(formats) or 'float32'}, {self.nbytes} bytes)"
        )

"""Neural networks that train at float32 and run in any format."""

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
    """Neural network that trains at float32 and runs in any format.

    Training updates the float32 masters; :meth:`morph` chooses the formats that the forward pass reads. Methods are
    thread-safe: each call uses the state of the network at its start. :meth:`fit`, :meth:`morph`, :meth:`set_weights`
    and :meth:`calibrate` exclude each other: a call raises an error while another one is running.

    Parameters
    ----------
    input_shape : int or sequence of int or None
        Shape of a sample, without the batch axis. The first dimension may be None, for sequences of any length.
    layers : sequence of layers.Layer
        Layers of the network; see :mod:`bitgrain.layers`.
    seed : int, optional
        Seed of the initial weights.

    Raises
    ------
    InputError
        If layers do not fit together; the message names the layer.

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
        """Output shape of a sample."""
        return tuple(self._native.output)

    @property
    def layers(self) -> list[_layers.Layer]:
        """Layers, with activations as separate layers."""
        return _layers.from_json(self._native.layers())

    @property
    def parameters(self) -> list[Parameter]:
        """Parameters, in the order of the layers."""
        rows = self._native.parameters()
        return [
            Parameter(name, (cols,) if vector else (rows, cols), dtype, nbytes)
            for name, rows, cols, vector, dtype, nbytes in rows
        ]

    @property
    def nbytes(self) -> int:
        """Size in bytes of the weights that a forward pass reads, in their current formats."""
        return self._native.active_bytes()

    def memory(self) -> dict[str, dict[str, int]]:
        """Return the size of every copy of every parameter.

        Returns
        -------
        dict of str to dict of str to int
            For each parameter, the size in bytes of its master (``float32``), if it is in memory, and of its versions.
        """
        out: dict[str, dict[str, int]] = {}
        for name, dtype, nbytes in self._native.memory():
            out.setdefault(name, {})[dtype] = nbytes
        return out

    def freeze(self) -> None:
        """Free everything that a forward pass does not read.

        Drops the masters of quantized parameters, unused versions and calibrations, as if the network had been saved
        with ``contents="active"`` and loaded again. Outputs do not change. The dequantized codes become the masters:
        later training or morphing decodes them into memory again.

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
        """Return the weights of a parameter.

        Parameters
        ----------
        name : str
            Name, as in :attr:`parameters`.
        master : bool, optional
            Whether to return the float32 master instead of the weights that a forward pass uses.

        Returns
        -------
        numpy.ndarray
            A new float32 array.

        Raises
        ------
        NotFoundError
            If the parameter does not exist.
        """
        return self._native.weights(name, master).reshape(self._shape(name))

    def set_weights(self, name: str, weights: npt.ArrayLike) -> None:
        """Replace the weights of a parameter and drop its quantized versions.

        Parameters
        ----------
        name : str
            Name, as in :attr:`parameters`.
        weights : array_like
            New weights, in the shape of the parameter.

        Raises
        ------
        NotFoundError
            If the parameter does not exist.
        InputError
            If the shape differs, or a weight is NaN or infinite.
        """
        floats, shape = as_floats(weights, "weights"), self._shape(name)
        if shape is not None and floats.shape != shape:
            raise InputError(f"weights have shape {floats.shape}, but `{name}` has {shape}")
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
        """Run the network on samples.

        Parameters
        ----------
        X : array_like
            Samples along the first axis.
        dtype : str or DTypeInfo, optional
            Format of all matrices for this call; for repeated use call :meth:`morph` instead. By default every
            parameter runs in its current format.
        mask : array_like of bool, optional
            Valid positions of the sequences: one flag per position of each sample.

        Returns
        -------
        numpy.ndarray
            Float32 array with the samples along the first axis. For a classifier, the logits.

        Raises
        ------
        InputError
            If the samples have another shape, are empty, or contain NaN or infinities.
        DTypeError
            If the array does not hold real numbers.
        """
        name = None if dtype is None else format_name(dtype)
        samples = self._samples(X)
        values, shape = self._native.predict(samples, name, as_mask(mask, samples))
        return values.reshape(shape)

    def morph(self, dtype: str | DTypeInfo | Mapping[str, str | DTypeInfo]) -> None:
        """Choose the formats that a forward pass reads. Training still updates the masters.

        Parameters
        ----------
        dtype : str, DTypeInfo or mapping
            One format for every matrix, with vectors at float32; or a mapping from name patterns to formats, where
            ``*`` matches any characters and ``?`` a single one. The first matching pattern applies; parameters without
            a match run at float32. If rows are not a multiple of the block length, the nearest format that fits is
            used.

        Raises
        ------
        InputError
            If a format is unknown, or a weight would become infinite in it; then nothing is changed.
        NotFoundError
            If a pattern matches no parameter.

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
        """Observe the inputs of each matrix, so that later quantization reduces the error of the outputs.

        Parameters
        ----------
        X : array_like
            Representative samples.
        method : {"feedback", "importance"}, optional
            ``"feedback"`` rounds weights so that they compensate for each other's errors, in formats with groups or
            blocks; ``"importance"`` weights the errors of each column by the magnitude of its inputs.
        mask : array_like of bool, optional
            Valid positions of the sequences.
        """
        if method not in ("feedback", "importance"):
            raise InputError(f'method cannot be "{method}"; choose feedback or importance')
        samples = self._samples(X)
        self._native.calibrate(samples, method == "feedback", as_mask(mask, samples))

    def compare(
        self, other: Network, inputs: npt.ArrayLike | None = None, *, mask: npt.ArrayLike | None = None
    ) -> NetworkComparison:
        """Compare the weights in use and the outputs of two networks with the same layers.

        Parameters
        ----------
        other : Network
            Network to compare with.
        inputs : array_like, optional
            Samples to run both networks on.
        mask : array_like of bool, optional
            Valid positions of the sequences.

        Returns
        -------
        NetworkComparison

        Raises
        ------
        InputError
            If the networks have different parameters.
        """
        if not isinstance(other, Network):
            raise DTypeError(f"other must be a Network, not {type(other).__name__}")
        samples = None if inputs is None else self._samples(inputs)
        flags = None if samples is None else as_mask(mask, samples)
        return network_comparison(self._native.compare(other._native, samples, flags))

    def save(self, path: str | os.PathLike[str], *, contents: str = "all") -> None:
        """Write the network to a JSON or safetensors file, depending on the extension, atomically.

        Parameters
        ----------
        path : path-like
            Path that ends in ``.json`` or ``.safetensors``.
        contents : {"all", "active"}, optional
            Write masters and all versions, so that training can continue; or only the weights in use.

        Raises
        ------
        InputError
            If the path has another extension.
        FileError
            If the file cannot be written.
        """
        if contents not in ("all", "active"):
            raise InputError(f'contents cannot be "{contents}"; choose all or active')
        self._native.save(os.fspath(path), contents == "all")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Read a network file.

        Parameters
        ----------
        path : path-like
            File written by :meth:`save`.

        Returns
        -------
        Network

        Raises
        ------
        FileError
            If the file cannot be read.
        FormatError
            If the file is not a network, or has a newer version; :class:`DamagedError` if it was changed after it was
            written.
        """
        return cls._of(_native.WeightNetwork.open(os.fspath(path)))

    @classmethod
    def _of(cls, native: _native.WeightNetwork) -> Network:
        network = cls.__new__(cls)
        network._native = native
        return network

    def copy(self) -> Network:
        """Return an independent copy with the same weights and formats."""
        return copy.deepcopy(self)

    def summary(self) -> str:
        """Return a table of the parameters.

        Returns
        -------
        str
            One line per parameter: name, shape, format and size in bytes.

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

"""Layers with weights, that train at float32 and run in any format."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.errors import DTypeError, InputError, TrainingInterrupted
from bitgrain.progress import Progress
from bitgrain.weights import layers as _layers
from bitgrain.weights.array import Floats, as_array, as_count, as_floats, as_mask, as_number
from bitgrain.weights.dtype import DTypeInfo, format_name
from bitgrain.weights.fidelity import Fidelity

__all__ = ["Epoch", "History", "Network", "NetworkComparison", "Parameter", "Score"]


@dataclass(frozen=True)
class Epoch:
    """What an epoch of training came to.

    Attributes
    ----------
    number : int
        Which one, from 1.
    loss : float
        The mean loss over its batches.
    held_back_loss, held_back_accuracy : float or None
        How the network does on the samples that were held back, if there are any.
    rate : float
        The learning rate of its last step.
    """

    number: int
    loss: float
    held_back_loss: float | None
    held_back_accuracy: float | None
    rate: float


@dataclass(frozen=True)
class History:
    """What a training came to.

    Attributes
    ----------
    epochs : list of Epoch
        Every epoch.
    chosen : int
        The epoch whose weights the network has: the best on samples held back, or the last.
    stopped_early : bool
        Whether it ended because nothing got better.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    epochs: list[Epoch]
    chosen: int
    stopped_early: bool
    interrupted: bool


@dataclass(frozen=True)
class Score:
    """How a network does on samples: the mean loss and, for classes, the share that is right."""

    loss: float
    accuracy: float | None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a network.

    Attributes
    ----------
    name : str
        The place of its layer, and what it is there: ``2.weight``.
    shape : tuple of int
        Rows and columns, or the length of a vector.
    dtype : str
        The format it runs in.
    nbytes : int
        Bytes of the weights in it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int


@dataclass(frozen=True)
class NetworkComparison:
    """Two networks side by side.

    Attributes
    ----------
    parameters : dict of str to Fidelity
        How far the weights of each parameter are apart, as they are used.
    overall : Fidelity
        All weights together.
    outputs : Fidelity or None
        How far what comes out is apart, if inputs were given.
    mean_cosine : float or None
        The mean, over samples, of the cosine between their outputs.
    same_choice : float or None
        The share of samples whose largest output is in the same place.
    """

    parameters: dict[str, Fidelity]
    overall: Fidelity
    outputs: Fidelity | None
    mean_cosine: float | None
    same_choice: float | None


class Network:
    """Layers with weights, that train at float32 and run in any format.

    What is trained are the masters at float32; :meth:`morph` chooses the formats that a forward pass reads. Calls
    from many threads are safe: each sees the network as it was when the call began.

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
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of a sample."""
        return tuple(self._native.input)

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
            For each parameter the bytes of its master (``float32``) and of its versions.
        """
        out: dict[str, dict[str, int]] = {}
        for name, dtype, nbytes in self._native.memory():
            out.setdefault(name, {})[dtype] = nbytes
        return out

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
        values, shape = self._native.predict(self._samples(X), name, as_mask(mask))
        return values.reshape(shape)

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        epochs: int = 30,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        loss: str | None = None,
        optimizer: str = "adamw",
        momentum: float = 0.9,
        weight_decay: float = 0.01,
        schedule: str = "constant",
        validation_data: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        patience: int | None = None,
        clip: float | None = None,
        seed: int = 0,
        mask: npt.ArrayLike | None = None,
        callback: Callable[[Epoch], bool | None] | None = None,
        progress: bool | None = None,
    ) -> History:
        """Train the masters. Quantized versions are made again when they are needed.

        Ctrl-C ends the training after the epoch at hand, with the weights so far and a :class:`TrainingInterrupted`
        warning. The same seed gives the same network, whatever the number of threads.

        Parameters
        ----------
        X : array_like
            Samples along the first axis.
        y : array_like
            Classes, numbered from 0, or the numbers that are to come out.
        epochs, batch_size : int, optional
            How often every sample is seen, and how many go into one step.
        learning_rate : float, optional
            The size of a step.
        loss : {"cross_entropy", "mean_square"}, optional
            What is made small. Unless told, the first for whole numbers in ``y``, the second for others.
        optimizer : {"adamw", "sgd"}, optional
            How gradients become steps; with ``momentum`` for the second, ``weight_decay`` for the first.
        momentum, weight_decay : float, optional
            As said.
        schedule : {"constant", "cosine"}, optional
            How the learning rate changes.
        validation_data : tuple of array_like, optional
            Samples and targets held back. The network has the weights of its best epoch on them at the end.
        patience : int, optional
            Epochs without a smaller loss after which it ends.
        clip : float, optional
            The length that gradients of all parameters together have at most.
        seed : int, optional
            What the order of the samples depends on.
        mask : array_like of bool, optional
            Which places of the sequences in ``X`` count.
        callback : callable, optional
            Called with each :class:`Epoch`; ends the training by returning True. What it raises ends the training, too,
            and the network stays as it was.
        progress : bool, optional
            Whether to show a bar; unless told, in terminals and notebooks.

        Returns
        -------
        History

        Raises
        ------
        InputError
            For shapes, targets and settings that do not fit, and if the loss is no longer finite; then the network
            stays as it was.
        """
        samples, (targets, whole) = self._samples(X), _targets(y)
        loss = loss or ("cross_entropy" if whole else "mean_square")
        settings = {
            "epochs": as_count(epochs, "epochs"),
            "batch": as_count(batch_size, "batch_size"),
            "loss": loss,
            "optimizer": optimizer,
            "rate": as_number(learning_rate, "learning_rate"),
            "momentum": as_number(momentum, "momentum"),
            "decay": as_number(weight_decay, "weight_decay"),
            "schedule": schedule,
            "patience": None if patience is None else as_count(patience, "patience"),
            "clip": None if clip is None else as_number(clip, "clip"),
            "seed": as_count(seed, "seed"),
        }
        held_back = None
        if validation_data is not None:
            held_back = (self._samples(validation_data[0]), _for_loss(loss, *_targets(validation_data[1])), None)
        with Progress(total=epochs, label="epochs", show=progress) as bar:

            def watch(row: dict[str, Any]) -> bool:
                epoch = Epoch(**row)
                bar.update(epoch.number, note=f"loss {epoch.loss:.4g}")
                return bool(callback(epoch)) if callback is not None else False

            done = self._native.train(
                samples, _for_loss(loss, targets, whole), held_back, settings, watch, as_mask(mask)
            )
        done["epochs"] = [Epoch(**row) for row in done["epochs"]]
        history = History(**done)
        if history.interrupted:
            warnings.warn(
                f"interrupted after {len(history.epochs)} of {epochs} epochs; the network keeps what it learned",
                TrainingInterrupted,
                stacklevel=2,
            )
        return history

    def evaluate(
        self, X: npt.ArrayLike, y: npt.ArrayLike, *, loss: str | None = None, mask: npt.ArrayLike | None = None
    ) -> Score:
        """Measure how the network does, each parameter in its format.

        Parameters
        ----------
        X, y : array_like
            Samples and their targets, as for :meth:`fit`.
        loss : {"cross_entropy", "mean_square"}, optional
            As for :meth:`fit`.
        mask : array_like of bool, optional
            Which places of the sequences count.

        Returns
        -------
        Score
        """
        targets, whole = _targets(y)
        loss = loss or ("cross_entropy" if whole else "mean_square")
        found = self._native.evaluate(self._samples(X), _for_loss(loss, targets, whole), loss, as_mask(mask))
        return Score(*found)

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
        self._native.calibrate(self._samples(X), method == "feedback", as_mask(mask))

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
        samples = None if inputs is None else self._samples(inputs)
        found = self._native.compare(other._native, samples, as_mask(mask))
        outputs = found["outputs"]
        return NetworkComparison(
            parameters={row["name"]: Fidelity(**row["error"]) for row in found["parameters"]},
            overall=Fidelity(**found["overall"]),
            outputs=None if outputs is None else Fidelity(**outputs["error"]),
            mean_cosine=None if outputs is None else outputs["mean_cosine"],
            same_choice=None if outputs is None else outputs["same_choice"],
        )

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
        rows = [(one.name, " x ".join(map(str, one.shape)), one.dtype, str(one.nbytes)) for one in self.parameters]
        rows = [("parameter", "shape", "dtype", "bytes"), *rows, ("total", "", "", str(self.nbytes))]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        line = "{:<%d}  {:<%d}   {:<%d}  {:>%d}" % tuple(widths)  # noqa: UP031
        return "\n".join(line.format(*row) for row in rows)

    def _samples(self, X: npt.ArrayLike) -> Floats:
        samples = as_floats(X, "X")
        wanted = self.input_shape
        if samples.ndim != len(wanted) + 1:
            shape = ", ".join("any" if dim is None else str(dim) for dim in wanted)
            raise InputError(
                f"X has shape {samples.shape}; samples of ({shape}) along the first axis are needed, that is "
                f"{len(wanted) + 1} axes: reshape it"
            )
        return samples

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


def _targets(y: npt.ArrayLike) -> tuple[npt.NDArray[Any], bool]:
    """Targets in one dimension, and whether they are classes."""
    array = as_array(y, "y")
    return array.ravel(), array.dtype.kind in "iub"


def _for_loss(loss: str, targets: npt.NDArray[Any], whole: bool) -> npt.NDArray[Any]:
    if loss != "cross_entropy":
        return as_floats(targets, "y")
    if not whole:
        raise DTypeError("y holds no whole numbers, which cross_entropy needs; convert classes with .astype(int)")
    return np.ascontiguousarray(targets, dtype=np.int64)

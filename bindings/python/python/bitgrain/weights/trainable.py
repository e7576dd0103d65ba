"""Training of a network, and how well it does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bitgrain import _native
from bitgrain.errors import DTypeError, InputError, TrainingInterrupted
from bitgrain.progress import Progress
from bitgrain.weights.array import Floats, as_array, as_count, as_floats, as_mask, as_number
from bitgrain.weights.history import Epoch, History, Score

__all__ = ["Trainable"]


class Trainable:
    """What takes samples and learns from them."""

    _native: _native.WeightNetwork

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """The shape of a sample."""
        return tuple(self._native.input)

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

        Ctrl-C ends the training after the batch at hand, with the weights so far, or those of the best epoch on samples
        held back, and a :class:`TrainingInterrupted` warning. The same seed gives the same network, whatever the number
        of threads.

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
        samples = self._samples(X)
        loss = _loss(loss, y)
        targets = self._targets(y, len(samples), loss)
        settings = {
            "epochs": as_count(epochs, "epochs"),
            "batch": as_count(batch_size, "batch_size"),
            "loss": loss,
            "optimizer": _word("optimizer", optimizer),
            "rate": as_number(learning_rate, "learning_rate"),
            "momentum": as_number(momentum, "momentum"),
            "decay": as_number(weight_decay, "weight_decay"),
            "schedule": _word("schedule", schedule),
            "patience": None if patience is None else as_count(patience, "patience"),
            "clip": None if clip is None else as_number(clip, "clip"),
            "seed": as_count(seed, "seed"),
        }
        held_back = None
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
                raise InputError("validation_data must be a pair (X, y)")
            others = self._samples(validation_data[0])
            held_back = (others, self._targets(validation_data[1], len(others), loss), None)
        with Progress(total=epochs, label="epochs", show=progress) as bar:

            def watch(row: dict[str, Any]) -> bool:
                epoch = Epoch(**row)
                bar.update(epoch.number, note=f"loss {epoch.loss:.4g}")
                return bool(callback(epoch)) if callback is not None else False

            done = self._native.train(samples, targets, held_back, settings, watch, as_mask(mask, samples))
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
        samples, loss = self._samples(X), _loss(loss, y)
        targets = self._targets(y, len(samples), loss)
        return Score(*self._native.evaluate(samples, targets, loss, as_mask(mask, samples)))

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

    def _targets(self, y: npt.ArrayLike, count: int, loss: str) -> npt.NDArray[Any]:
        """Give targets one after the other, if they are as many and of the shape that comes out."""
        array, out = as_array(y, "y"), tuple(self._native.output)
        if loss == "cross_entropy":
            if array.dtype.kind not in "iub":
                raise DTypeError(
                    "y holds no whole numbers, which cross_entropy needs; convert classes with .astype(int)"
                )
            # A class for each vector that comes out.
            wanted, what = out[:-1], "classes"
            if out[-1] == 1:
                raise InputError(
                    "the network has one output, and whole numbers in y are classes: for regression give "
                    "y.astype(float) or loss='mean_square', for classes an output for each"
                )
        else:
            wanted, what = out, "numbers"
        # One number for each sample may lie in one axis or in two.
        fits = [(count, *wanted), (count, *wanted, 1), (count, *(dim for dim in wanted if dim != 1))]
        if not any(_fits(array.shape, shape) for shape in fits):
            shape = ", ".join("any" if dim is None else str(dim) for dim in (count, *wanted))
            raise InputError(f"y has shape {array.shape}; {what} of shape ({shape}) are needed for {count} samples")
        flat = array.reshape(-1)
        return as_floats(flat, "y") if loss != "cross_entropy" else np.ascontiguousarray(flat, dtype=np.int64)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (None, have) for have, want in zip(shape, wanted, strict=True))


def _loss(loss: str | None, y: npt.ArrayLike) -> str:
    """Give the loss that suits the targets, unless one is given."""
    if loss is not None:
        return _word("loss", loss)
    return "cross_entropy" if as_array(y, "y").dtype.kind in "iub" else "mean_square"


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise DTypeError(f"{name} = {value!r}: it must be a text")
    return value

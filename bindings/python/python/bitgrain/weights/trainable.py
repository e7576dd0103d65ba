"""Training and evaluation of a network."""

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
    """Base class of :class:`Network`: training and evaluation."""

    _native: _native.WeightNetwork

    @property
    def input_shape(self) -> tuple[int | None, ...]:
        """Shape of a sample."""
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
        """Train the network. Quantized versions are updated when they are next used.

        Ctrl-C stops the training after the current batch with a :class:`TrainingInterrupted` warning; the network has
        the current weights, or those of the best epoch on the validation data. The same seed gives the same network,
        regardless of the number of threads.

        Parameters
        ----------
        X : array_like
            Samples along the first axis.
        y : array_like
            Class indices from 0, or the numbers to predict.
        epochs, batch_size : int, optional
            Number of passes over the samples, and number of samples per step.
        learning_rate : float, optional
            Learning rate.
        loss : {"cross_entropy", "mean_square"}, optional
            Loss function. Default: ``"cross_entropy"`` if ``y`` holds integers, otherwise ``"mean_square"``.
        optimizer : {"adamw", "sgd"}, optional
            Optimizer; ``"sgd"`` uses ``momentum``, ``"adamw"`` uses ``weight_decay``.
        momentum, weight_decay : float, optional
            Parameters of the optimizer.
        schedule : {"constant", "cosine"}, optional
            Learning rate schedule.
        validation_data : tuple of array_like, optional
            Validation samples and targets. The network ends with the weights of its best epoch on them.
        patience : int, optional
            Number of epochs without a smaller loss after which training stops.
        clip : float, optional
            Maximum norm of the gradients of all parameters together.
        seed : int, optional
            Seed of the sample order.
        mask : array_like of bool, optional
            Valid positions of the sequences in ``X``.
        callback : callable, optional
            Function called with each :class:`Epoch`; returning True stops the training. An exception stops the training
            and leaves the network unchanged.
        progress : bool, optional
            Whether to show a progress bar; by default only in terminals and notebooks.

        Returns
        -------
        History

        Raises
        ------
        InputError
            If shapes, targets or settings do not fit, or the loss is no longer finite; then the network is unchanged.
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
                f"interrupted after {len(history.epochs)} of {epochs} epochs; the network keeps its trained weights",
                TrainingInterrupted,
                stacklevel=2,
            )
        return history

    def evaluate(
        self, X: npt.ArrayLike, y: npt.ArrayLike, *, loss: str | None = None, mask: npt.ArrayLike | None = None
    ) -> Score:
        """Compute loss and accuracy, with each parameter in its current format.

        Parameters
        ----------
        X, y : array_like
            Samples and their targets, as for :meth:`fit`.
        loss : {"cross_entropy", "mean_square"}, optional
            As for :meth:`fit`.
        mask : array_like of bool, optional
            Valid positions of the sequences.

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
                f"X has shape {samples.shape}; expected samples of shape ({shape}) along the first axis, that is "
                f"{len(wanted) + 1} axes; reshape it"
            )
        return samples

    def _targets(self, y: npt.ArrayLike, count: int, loss: str) -> npt.NDArray[Any]:
        """Return the targets as a flat array after checking their number and shape."""
        array, out = as_array(y, "y"), tuple(self._native.output)
        if loss == "cross_entropy":
            if array.dtype.kind not in "iub":
                raise DTypeError(
                    "y does not hold integers, which cross_entropy requires; convert class labels with .astype(int)"
                )
            # One class index per output vector.
            wanted, what = out[:-1], "classes"
            if out[-1] == 1:
                raise InputError(
                    "the network has one output, but integers in y are class labels; for regression pass "
                    "y.astype(float) or loss='mean_square', for classification add an output per class"
                )
        else:
            wanted, what = out, "numbers"
        # A single output per sample may omit its axis.
        fits = [(count, *wanted), (count, *wanted, 1), (count, *(dim for dim in wanted if dim != 1))]
        if not any(_fits(array.shape, shape) for shape in fits):
            shape = ", ".join("any" if dim is None else str(dim) for dim in (count, *wanted))
            raise InputError(f"y has shape {array.shape}; {what} of shape ({shape}) are required for {count} samples")
        flat = array.reshape(-1)
        return as_floats(flat, "y") if loss != "cross_entropy" else np.ascontiguousarray(flat, dtype=np.int64)


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (None, have) for have, want in zip(shape, wanted, strict=True))


def _loss(loss: str | None, y: npt.ArrayLike) -> str:
    """Return the given loss, or the default loss for the targets."""
    if loss is not None:
        return _word("loss", loss)
    return "cross_entropy" if as_array(y, "y").dtype.kind in "iub" else "mean_square"


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise DTypeError(f"{name} = {value!r}: it must be a string")
    return value

"""Training history of a network."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Epoch", "History", "Score"]


@dataclass(frozen=True)
class Epoch:
    """Result of a training epoch.

    Attributes
    ----------
    number : int
        1-based number of the epoch.
    loss : float
        Mean loss over the batches.
    held_back_loss, held_back_accuracy : float or None
        Loss and accuracy on the validation data, if given.
    rate : float
        Learning rate of the last step.
    """

    number: int
    loss: float
    held_back_loss: float | None
    held_back_accuracy: float | None
    rate: float


@dataclass(frozen=True)
class History:
    """Result of a training run.

    Attributes
    ----------
    epochs : list of Epoch
        All epochs.
    chosen : int
        Epoch whose weights the network has: the best on the validation data, or the last.
    stopped_early : bool
        Whether training stopped because the loss no longer improved.
    interrupted : bool
        Whether Ctrl-C stopped the training.
    """

    epochs: list[Epoch]
    chosen: int
    stopped_early: bool
    interrupted: bool


@dataclass(frozen=True)
class Score:
    """Mean loss and, for classification, accuracy of a network."""

    loss: float
    accuracy: float | None

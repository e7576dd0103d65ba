"""What a training came to."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Epoch", "History", "Score"]


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

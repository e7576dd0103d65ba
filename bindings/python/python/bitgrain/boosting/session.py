"""Training round by round."""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from bitgrain import _native
from bitgrain.boosting.callables import Metric, Objective, in_context, measures
from bitgrain.boosting.dataset import Dataset
from bitgrain.boosting.model import Model
from bitgrain.boosting.params import Params, chosen
from bitgrain.boosting.rounds import Round
from bitgrain.boosting.training import prepared
from bitgrain.boosting.valid import Valid, named
from bitgrain.errors import InputError

__all__ = ["Session"]

#: Maximum number of rounds of a session.
_ROUNDS = 1_000_000


class Session:
    """A training run that advances one round at a time, until it is closed.

    The run waits on a separate thread between rounds, so its trees are bit-identical to those of :func:`train`, and a
    round takes the same time. Close a session, or use it in a ``with`` statement, to release its memory.

    Parameters
    ----------
    data, params, objective, valid, metric, watch_train, link, outputs, n_jobs, **settings
        See :func:`train`. `n_estimators` and early stopping have no effect: the caller decides when to stop.

    Examples
    --------
    >>> import numpy as np, bitgrain
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> data = bitgrain.Dataset(X, X[:, 0])
    >>> with bitgrain.boosting.Session(data, valid=data, learning_rate=0.5) as session:
    ...     while session.update().metrics["valid"]["rmse"] > 0.02:
    ...         session.change(learning_rate=0.2)
    ...     model = session.model()
    >>> model.n_rounds == session.n_rounds
    True

    """

    def __init__(
        self,
        data: Dataset,
        params: Params | Mapping[str, Any] | None = None,
        *,
        objective: Objective | None = None,
        valid: Valid | None = None,
        metric: Metric | list[Metric] | None = None,
        watch_train: bool | str = False,
        link: str = "identity",
        outputs: int = 1,
        n_jobs: int | None = None,
        **settings: Any,
    ) -> None:
        given = chosen(params, settings, objective)
        loss, own = prepared(data, given.own("objective", objective), link, outputs)
        name = watch_train if isinstance(watch_train, str) else "train" if watch_train else None
        self._params = given.params.replace(n_estimators=_ROUNDS, early_stopping_rounds=None)
        self._turn = _Turn()
        self._round: Round | None = None
        self._arguments = {
            "data": data._native,
            "objective": loss,
            "metrics": measures(given.own("metric", metric), own),
            "valid": [(label, each._native) for label, each in named(valid)],
            "watch_train": name,
            "n_jobs": given.own("n_jobs", n_jobs),
        }
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def n_rounds(self) -> int:
        """Number of completed rounds."""
        return 0 if self._round is None else self._round.index + 1

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._closed

    @property
    def params(self) -> Params:
        """Parameters of the next round."""
        return self._params

    def update(self) -> Round:
        """Train one round and return its metrics.

        Raises
        ------
        InputError
            If the session is closed, or the parameters, data or gradients are invalid.

        """
        if self._closed:
            raise InputError("the session is closed; start another one from its model")
        if self._thread is None:
            arguments = {"settings": self._params.native(), **self._arguments}
            self._thread = threading.Thread(target=in_context(_run), args=(self._turn, arguments), daemon=True)
            self._closing = weakref.finalize(self, _close, self._turn, self._thread)
            _OPEN.add(self)
            self._thread.start()
        else:
            self._turn.commands.put(("go", None))
        self._round = self._answer()
        return self._round

    def change(self, **settings: Any) -> None:
        """Change parameters of the following rounds: learning rate, sizes and penalties of trees, fractions of samples.

        Raises
        ------
        InputError
            If a name is unknown or a value is out of range. Parameters that cannot change raise in :meth:`update`.

        """
        changed = self._params.replace(**settings)
        changed.check()
        if self._thread is not None and not self._closed:
            self._turn.commands.put(("change", changed.native()))
            self._answer()
        self._params = changed

    def model(self) -> Model:
        """Return the model of the rounds so far."""
        return self._ask("model")

    def checkpoint(self) -> Model:
        """Return the model of the rounds so far as a checkpoint, from which ``train(..., resume=True)`` continues."""
        return self._ask("checkpoint")

    def _ask(self, what: str) -> Model:
        if self._closed or self._round is None:
            raise InputError("the session has no model; call update first, and model before close")
        self._turn.commands.put((what, None))
        model: Model = self._answer()
        return model

    def _answer(self) -> Any:
        try:
            answer = self._turn.answers.get()
        except BaseException:
            # Ctrl-C while the thread works: its next answer would be that to an earlier question.
            self.close()
            raise
        if isinstance(answer, BaseException):
            self.close()
            raise answer
        return answer

    def close(self) -> None:
        """End the training and release its memory."""
        self._closed = True
        self._arguments = {}
        if self._thread is not None:
            self._closing()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Turn:
    """Hand-over between the caller and the thread of a training."""

    def __init__(self) -> None:
        self.commands: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def __call__(self, index: int, total: int, values: list[tuple[str, str, float]]) -> Any:
        """Report a round, and wait for the next command."""
        metrics: dict[str, dict[str, float]] = {}
        for data, name, value in values:
            metrics.setdefault(data, {})[name] = value
        self.answers.put(Round(index, total, metrics))
        return self._next()

    def model(self, native: _native.Booster) -> Any:
        """Report the requested model, and wait for the next command."""
        self.answers.put(Model(native))
        return self._next()

    def _next(self) -> Any:
        changed: Any = False
        while True:
            command, value = self.commands.get()
            if command == "change":
                changed = value
                self.answers.put(None)
            elif command == "go":
                return changed
            elif command == "stop":
                return True
            else:
                return command


def _run(turn: _Turn, arguments: dict[str, Any]) -> None:
    try:
        _native.train(**arguments, on_round=turn)
        turn.answers.put(InputError("the session is closed; start another one from its model"))
    except BaseException as error:
        turn.answers.put(error)


def _close(turn: _Turn, thread: threading.Thread) -> None:
    if thread.is_alive():
        turn.commands.put(("stop", None))
        # The last reference may be dropped on the thread itself.
        if thread is not threading.current_thread():
            thread.join()


#: Sessions that are not closed: their threads must not outlive the interpreter.
_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


def _close_all() -> None:
    for session in list(_OPEN):
        with contextlib.suppress(Exception):
            session.close()


atexit.register(_close_all)

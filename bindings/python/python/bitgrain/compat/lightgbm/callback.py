"""LightGBM's callbacks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bitgrain.errors import DTypeError, InputError

__all__ = [
    "CallbackEnv",
    "EarlyStopException",
    "early_stopping",
    "log_evaluation",
    "logged",
    "record_evaluation",
    "register_logger",
    "reset_parameter",
]


class CallbackEnv(NamedTuple):
    """Arguments of a callback before or after a round."""

    model: Any
    params: dict[str, Any]
    iteration: int
    begin_iteration: int
    end_iteration: int
    evaluation_result_list: list[tuple[Any, ...]] | None


class EarlyStopException(Exception):  # noqa: N818, LightGBM's name
    """Raised by a callback to end the training."""

    def __init__(self, best_iteration: int, best_score: Any) -> None:
        super().__init__()
        self.best_iteration = best_iteration
        self.best_score = best_score


_WRITE: list[Callable[[str], Any]] = []

#: Names of the kind of boosting.
_MODE = ("boosting", "boosting_type", "boost")


def register_logger(logger: Any, info_method_name: str = "info", warning_method_name: str = "warning") -> None:
    """Send messages to a logger instead of standard output."""
    for name in (info_method_name, warning_method_name):
        if not callable(getattr(logger, name, None)):
            raise DTypeError(f"logger has no method {name!r}")
    _WRITE[:] = [getattr(logger, info_method_name)]


def logged(message: str) -> None:
    """Write a message."""
    if _WRITE:
        _WRITE[0](message)
    else:
        print(message, flush=True)


def formatted(value: tuple[Any, ...], show_stdv: bool = True) -> str:
    """Return a line for a metric of a dataset, with its deviation over folds if there is one."""
    deviation = f" + {value[4]:g}" if len(value) == 5 and show_stdv else ""
    return f"{value[0]}'s {value[1]}: {value[2]:g}{deviation}"


def log_evaluation(period: int = 1, show_stdv: bool = True) -> Callable[[CallbackEnv], None]:
    """Return a callback that prints the metrics every `period` rounds; 0 prints nothing."""

    def callback(env: CallbackEnv) -> None:
        if period > 0 and env.evaluation_result_list and (env.iteration + 1) % period == 0:
            line = "\t".join(formatted(each, show_stdv) for each in env.evaluation_result_list)
            logged(f"[{env.iteration + 1}]\t{line}")

    callback.order = 10  # type: ignore[attr-defined]
    return callback


def record_evaluation(eval_result: dict[str, dict[str, list[Any]]]) -> Callable[[CallbackEnv], None]:
    """Return a callback that stores the metrics of every round in a dict, by dataset and metric."""
    if not isinstance(eval_result, dict):
        raise DTypeError("eval_result must be a dict")

    def callback(env: CallbackEnv) -> None:
        if env.iteration == env.begin_iteration:
            eval_result.clear()
        for data, name, value, _, *deviation in env.evaluation_result_list or []:
            own = eval_result.setdefault(data, {})
            if deviation:
                own.setdefault(f"{name}-mean", []).append(value)
                own.setdefault(f"{name}-stdv", []).append(deviation[0])
            else:
                own.setdefault(name, []).append(value)

    callback.order = 20  # type: ignore[attr-defined]
    return callback


def reset_parameter(**kwargs: Sequence[Any] | Callable[[int], Any]) -> Callable[[CallbackEnv], None]:
    """Return a callback that changes parameters before each round: a list of values, or a function of the round."""

    def callback(env: CallbackEnv) -> None:
        changed: dict[str, Any] = {}
        index = env.iteration - env.begin_iteration
        for name, values in kwargs.items():
            if callable(values):
                changed[name] = values(index)
            elif isinstance(values, list):
                if len(values) != env.end_iteration - env.begin_iteration:
                    rounds = env.end_iteration - env.begin_iteration
                    raise InputError(f"{len(values)} values of {name} for {rounds} rounds; pass one per round")
                changed[name] = values[index]
            else:
                raise DTypeError(f"{name} must be a list of values or a function of the round")
        changed = {name: value for name, value in changed.items() if env.params.get(name) != value}
        if changed:
            env.model.reset_parameter(changed)
            env.params.update(changed)

    callback.before_iteration = True  # type: ignore[attr-defined]
    callback.order = 10  # type: ignore[attr-defined]
    return callback


class _EarlyStopping:
    """Ends the training when metrics of the validation data no longer improve."""

    order = 30
    before_iteration = False

    def __init__(self, patience: int, first_metric_only: bool, verbose: bool, min_delta: Any) -> None:
        if not isinstance(patience, int) or patience <= 0:
            raise InputError(f"stopping_rounds = {patience!r}: it must be an integer of at least 1")
        self.patience = patience
        self.first_metric_only = first_metric_only
        self.verbose = verbose
        self.min_delta = min_delta
        self._best: list[tuple[float, int, list[Any]]] = []
        self._deltas: list[float] = []
        self._first = ""
        self._enabled = True

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list
        if env.iteration == env.begin_iteration:
            self._enabled = "dart" not in {str(env.params.get(name)).lower() for name in _MODE}
            if not self._enabled:
                warnings.warn("Early stopping is not available in dart mode", UserWarning, stacklevel=2)
        if not self._enabled:
            return
        if env.iteration == env.begin_iteration:
            self._start(results)
        if not results:
            return
        for at, result in enumerate(results):
            data, name, value, higher = result[:4]
            least = self._deltas[at]
            best = self._best[at][0]
            if math.isnan(best) or (value > best + least if higher else value < best - least):
                self._best[at] = (value, env.iteration, results)
            if self.first_metric_only and name != self._first:
                continue
            if data == getattr(env.model, "_train_data_name", "training") or (data == "train" and len(result) == 5):
                continue
            if env.iteration - self._best[at][1] >= self.patience:
                self._end(at, "Early stopping, best iteration is:")
            if env.iteration == env.end_iteration - 1:
                self._end(at, "Did not meet early stopping. Best iteration is:")

    def _start(self, results: list[tuple[Any, ...]] | None) -> None:
        if not results:
            raise InputError("early stopping needs at least one validation dataset and a metric; pass valid_sets")
        self._first = results[0][1]
        self._best = [(math.nan, 0, results) for _ in results]
        names = list(dict.fromkeys(result[1] for result in results))
        deltas = self.min_delta
        if isinstance(deltas, list):
            if len(deltas) != len(names):
                raise InputError(f"{len(deltas)} values of min_delta for {len(names)} metrics; pass one per metric")
        else:
            deltas = [deltas] * len(names)
        if any(each < 0 for each in deltas):
            raise InputError("min_delta must be at least 0")
        by_name = dict(zip(names, deltas, strict=True))
        self._deltas = [float(by_name[result[1]]) for result in results]
        if self.verbose:
            logged(f"Training until validation scores don't improve for {self.patience} rounds")

    def _end(self, at: int, why: str) -> None:
        _, iteration, results = self._best[at]
        if self.verbose:
            line = "\t".join(formatted(each) for each in results)
            logged(f"{why}\n[{iteration + 1}]\t{line}")
            if self.first_metric_only:
                logged(f"Evaluated only: {self._first}")
        raise EarlyStopException(iteration, results)


def early_stopping(
    stopping_rounds: int, first_metric_only: bool = False, verbose: bool = True, min_delta: float | list[float] = 0.0
) -> Callable[[CallbackEnv], None]:
    """Return a callback that ends training when a metric of a validation dataset no longer improves.

    Parameters
    ----------
    stopping_rounds : int
        Number of rounds without improvement.
    first_metric_only : bool
        Whether only the first metric counts.
    verbose : bool
        Whether to print the best round.
    min_delta : float or list of float
        Minimum improvement, for all metrics or for each.

    """
    return _EarlyStopping(stopping_rounds, first_metric_only, verbose, min_delta)


def ordered(
    callbacks: Sequence[Callable[[CallbackEnv], Any]] | None, extra: Sequence[Callable[[CallbackEnv], Any]]
) -> tuple[list[Callable[[CallbackEnv], Any]], list[Callable[[CallbackEnv], Any]]]:
    """Return the callbacks to call before and after each round."""
    given = [*(callbacks or ()), *extra]
    for callback in given:
        if not callable(callback):
            raise DTypeError(f"callback {callback!r} is not callable")
    place = {id(callback): getattr(callback, "order", at - len(given)) for at, callback in enumerate(given)}
    given.sort(key=lambda callback: place[id(callback)])
    before = [callback for callback in given if getattr(callback, "before_iteration", False)]
    return before, [callback for callback in given if not getattr(callback, "before_iteration", False)]

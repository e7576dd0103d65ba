"""Invariants of every model: history, batches, threads, files, imported models."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np

import bitgrain
from differential.case import Case, Rows, Table
from differential.rivals import Trained, train_ours
from differential.task import Array

__all__ = ["check_imported", "check_model"]

#: Batch sizes around the thresholds at which prediction changes its code path: 24 rows, blocks of 512.
_BATCHES = (7, 23, 24, 511, 512, 513)

#: Tolerance between history and predictions, relative to the loss of the best constant: both sum many terms.
_HISTORY = 1e-6


def check_model(case: Case, table: Table, model: bitgrain.boosting.Model) -> Iterator[tuple[str, str]]:
    """Yield each violated invariant with its details."""
    X = table.held_out.X
    whole = model.predict(X, n_jobs=1)
    if not np.isfinite(whole).all():
        yield "finite", f"{int((~np.isfinite(whole)).sum())} of {whole.size} predictions are not finite"
    yield from _batches(model, X, whole)
    yield from _threads(case, table, model)
    yield from _files(model, X, whole)
    yield from _history(case, table, model)


def _same(one: Array, other: Array) -> bool:
    """Return whether two arrays are bitwise equal."""
    return one.tobytes() == other.tobytes()


def _batches(model: bitgrain.boosting.Model, X: Array, whole: Array) -> Iterator[tuple[str, str]]:
    for size in (*_BATCHES, 1):
        # Single rows are checked for the first hundred rows only, since they all take the same code path.
        rows = X[:100] if size == 1 else X
        parts = [model.predict(rows[at : at + size]) for at in range(0, len(rows), size)]
        if not _same(np.concatenate(parts), whole[: len(rows)]):
            yield "batches", f"predictions of batches of {size} rows differ from those of {len(X)} rows"
    for other in (np.asfortranarray(X), np.repeat(X, 5, axis=0)):
        found = model.predict(other, n_jobs=2)
        if not _same(found[:: len(other) // len(X)], whole):
            yield "batches", f"predictions of {len(other)} rows in another memory order differ"


def _threads(case: Case, table: Table, model: bitgrain.boosting.Model) -> Iterator[tuple[str, str]]:
    two = train_ours(case, table, n_jobs=2, history=True)
    if two.to_bytes() != model.to_bytes():
        yield "threads", "models of 1 and 2 threads differ"
    if repr(two.history) != repr(model.history):
        yield "threads", "histories of 1 and 2 threads differ"
    # Evaluating metrics must not change the training. The metadata names the metrics, so only trees are compared.
    if train_ours(case, table).trees != model.trees:
        yield "threads", "the trees depend on whether metrics are watched"


def _files(model: bitgrain.boosting.Model, X: Array, whole: Array) -> Iterator[tuple[str, str]]:
    data = model.to_bytes()
    for again, how in (
        (bitgrain.boosting.Model.from_bytes(data), "from_bytes"),
        (pickle.loads(pickle.dumps(model)), "pickle"),
    ):
        if not _same(again.predict(X), whole):
            yield "files", f"predictions differ after {how}"
        if again.to_bytes() != data:
            yield "files", f"bytes differ after {how}"


def _history(case: Case, table: Table, model: bitgrain.boosting.Model) -> Iterator[tuple[str, str]]:
    task, done = case.task, model.n_rounds
    for name, rows in (("train", table.train), ("valid", table.held_out)):
        values = model.history[name][task.metric]
        if len(values) != case.settings["n_estimators"]:
            yield "history", f"{name} has {len(values)} values for {case.settings['n_estimators']} rounds"
            continue
        unit = task.loss(rows.y, task.constant(rows.y, rows.weight, len(rows.y)), rows.weight)
        for rounds in sorted({1, (done + 1) // 2, done} - {0}):
            expected = _loss_after(case, model, rows, rounds)
            found = values[rounds - 1]
            # Losses that overflow cannot be compared digit by digit.
            if not np.isfinite(expected):
                continue
            if not abs(found - expected) <= _HISTORY * max(abs(expected), unit):
                yield (
                    "history",
                    f"{name} {task.metric} after {rounds} rounds: history {found:.9g}, predictions {expected:.9g}",
                )


def _loss_after(case: Case, model: bitgrain.boosting.Model, rows: Rows, rounds: int) -> float:
    return case.task.loss(rows.y, model.predict(rows.X, rounds=rounds), rows.weight)


def check_imported(table: Table, lightgbm: Trained | None, xgboost: Trained | None) -> Iterator[tuple[str, str]]:
    """Yield each rival whose imported model has different scores."""
    X = table.held_out.X
    # XGBoost sums its trees in float32.
    for take, theirs, digits in (
        (bitgrain.boosting.from_lightgbm, lightgbm, 1e-12),
        (bitgrain.boosting.from_xgboost, xgboost, 1e-5),
    ):
        if theirs is None:
            continue
        want = theirs.raw(X)
        if not np.isfinite(want).all():
            # Models with non-finite leaves are rejected.
            continue
        model = take(theirs.booster)
        found = model.predict_raw(X)
        # Large leaves that cancel each other leave rounding errors. The log-odds of a share near one half are near
        # zero, but have the rounding error of the share.
        unit = _largest_sum(model) + np.abs(want).max() + (1.0 if model.classes else 0.0)
        wrong = ~(np.abs(found - want) <= digits * unit)
        if wrong.any():
            at = tuple(int(each) for each in np.argwhere(wrong)[0])
            first = f"the first at {at}: {found[at]:.9g}, theirs {want[at]:.9g}"
            yield take.__name__, f"{int(wrong.sum())} scores differ, {first}"


def _largest_sum(model: bitgrain.boosting.Model) -> float:
    """Return the sum over all trees of the largest absolute leaf value."""
    return sum(max(abs(leaf["value"]) for leaf in tree["leaves"]) for tree in model.trees)

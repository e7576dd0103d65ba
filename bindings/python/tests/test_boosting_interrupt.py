"""Ctrl-C stops a training and keeps the model so far. The tests send real signals."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import bitgrain

PROGRAM = """
import os, signal, sys, threading, time, warnings
import numpy as np
import bitgrain

# A process in the background of a shell ignores the signal otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.random((20_000, 20), dtype=np.float32)
y = X.sum(axis=1)
started = threading.Event()

def interrupt():
    started.wait()
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
model = bitgrain.BitgrainRegressor(n_estimators=100_000, **{settings})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    start = time.time()
    {call}
seconds = time.time() - start
assert isinstance(fitted, bitgrain.BitgrainRegressor)
rounds = fitted.booster_.n_rounds
assert 0 < rounds < 100_000, rounds
assert seconds < 60, seconds
[warning] = [w for w in caught if w.category is bitgrain.errors.TrainingInterrupted]
assert str(rounds) in str(warning.message), str(warning.message)
assert warning.filename == "<string>", warning.filename
assert len(fitted.predict(X)) == 20_000
assert issubclass(bitgrain.errors.TrainingInterrupted, UserWarning)
# The process is still usable: another training runs to completion.
bitgrain.BitgrainRegressor(n_estimators=3).fit(X, y)
print("done", rounds)
"""


@pytest.fixture(autouse=True)
def _handled():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("settings", "call"),
    [
        ({}, "started.set(); fitted = model.fit(X, y)"),
        ({}, "fitted = model.fit(X, y, callbacks=[lambda round: started.set()])"),
        ({"n_jobs": 1}, "started.set(); fitted = model.fit(X, y, eval_set=(X[:100], y[:100]))"),
    ],
)
def test_ctrl_c_returns_the_model_trained_so_far(settings, call):
    program = PROGRAM.replace("{settings}", repr(settings)).replace("{call}", call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("done")


def test_ctrl_c_within_a_custom_loss():
    call = """
def loss(t, s):
    started.set()
    time.sleep(0.01)
    return s - t, np.ones_like(s)
    # The signal arrives while the loss runs, and stops the training nevertheless.
""".strip().replace("\n", "\n    ")
    program = PROGRAM.replace("{settings}", "{}").replace(
        "{call}", call + "\n    model.objective = loss\n    fitted = model.fit(X, y)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_second_ctrl_c_raises_keyboard_interrupt(table):
    X, y = table

    def slow(round):
        if round.index == 3:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)

    with pytest.raises(KeyboardInterrupt):
        bitgrain.BitgrainRegressor(n_estimators=1000).fit(X, y, callbacks=[slow])


def test_a_cross_validation_raises_keyboard_interrupt(table):
    X, y = table
    data = bitgrain.Dataset(X, y)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        bitgrain.boosting.cross_validate(data, n_estimators=1_000_000)


def test_exceptions_of_other_signal_handlers_propagate_unchanged(table):
    X, y = table

    class LateError(Exception):
        pass

    def late(*_):
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        start = time.time()
        with pytest.raises(LateError):
            bitgrain.train(bitgrain.Dataset(X, y), n_estimators=1_000_000)
        assert time.time() - start < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_keep_running(table):
    X = np.tile(table[0], (10, 1))
    y = np.tile(table[1], 10)
    done = threading.Event()
    counted = []

    def count():
        ticks = 0
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)
        counted.append(ticks)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    bitgrain.BitgrainRegressor(n_estimators=200).fit(X, y)
    seconds = time.perf_counter() - start
    done.set()
    thread.join()
    assert counted[0] > 20 * seconds

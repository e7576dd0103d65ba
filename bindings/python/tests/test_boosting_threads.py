"""Concurrent threads and forked processes."""

import contextvars
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import bitgrain
from bitgrain import BitgrainRegressor, Dataset, train


def test_threads_share_a_dataset_and_a_model(table):
    X, y = table
    data = Dataset(X, y)
    valid = data.like(X[:200], y[:200])
    want = train(data, valid=valid, n_estimators=10)
    found = []

    def work(jobs):
        model = train(data, valid=valid, n_estimators=10, n_jobs=jobs)
        found.append((model.to_bytes(), want.predict(X, n_jobs=jobs).tobytes()))

    threads = [threading.Thread(target=work, args=(1 + at % 2,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(want.to_bytes(), want.predict(X).tobytes())] * 8


def test_python_losses_on_many_threads_do_not_deadlock(table):
    X, y = table
    found = []

    def loss(t, s):
        return s - t, np.ones_like(s)

    def work():
        model = BitgrainRegressor(objective=loss, n_estimators=10).fit(X, y, callbacks=[lambda round: None])
        found.append(model.predict(X).tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(found) == 4
    assert len(set(found)) == 1


def _in_child(X, y, queue):
    model = BitgrainRegressor(n_estimators=10).fit(X, y)
    queue.put(model.predict(X).tobytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_trains_and_predicts(table):
    X, y = table
    want = BitgrainRegressor(n_estimators=10).fit(X, y).predict(X).tobytes()  # starts threads in the parent
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_in_child, args=(X, y, queue)) for _ in range(2)]
    for child in children:
        child.start()
    assert [queue.get(timeout=60) for _ in children] == [want, want]
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0


def test_n_jobs_counts_as_joblib_does(table):
    X, y = table
    want = BitgrainRegressor(n_estimators=5).fit(X, y).predict(X)
    for jobs in (1, 2, 7, -1, -2, -100, 10**9):
        np.testing.assert_array_equal(BitgrainRegressor(n_estimators=5, n_jobs=jobs).fit(X, y).predict(X), want)
    with pytest.raises(bitgrain.errors.InputError, match="n_jobs = 0"):
        BitgrainRegressor(n_jobs=0).fit(X, y)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="requires /proc")
def test_threads_of_earlier_n_jobs_values_end():
    program = """
import os, time, numpy as np
from bitgrain import BitgrainRegressor
X = np.random.default_rng(0).random((2000, 4)); y = X[:, 0]
def count():
    return len(os.listdir("/proc/self/task"))
before = count()
for jobs in (12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
    BitgrainRegressor(n_estimators=2, n_jobs=jobs).fit(X, y).predict(X)
until = time.monotonic() + 20
# Two exclusive pools and two shared pools are kept: 1 + 2 and 2 + 3 threads.
while count() > before + 8 and time.monotonic() < until:
    time.sleep(0.05)
print(count() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert int(done.stdout) <= 8, done.stderr


def test_a_callback_may_wait_for_a_thread_that_predicts():
    program = """
import concurrent.futures, numpy as np
from bitgrain import BitgrainRegressor
X = np.random.default_rng(0).random((2000, 4)); y = X[:, 0]
for jobs in (1, 2):
    model = BitgrainRegressor(n_estimators=3, n_jobs=jobs).fit(X, y)
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        waits = [lambda round: executor.submit(model.predict, X).result() is None]
        fits = [lambda: BitgrainRegressor(n_estimators=3, n_jobs=jobs).fit(X, y, callbacks=waits) for _ in range(2)]
        with concurrent.futures.ThreadPoolExecutor(2) as others:
            [each.result() for each in [others.submit(fit) for fit in fits]]
        # A callback that trains.
        BitgrainRegressor(n_estimators=2, n_jobs=jobs).fit(X, y, callbacks=[lambda round: fits[0]() is None])
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "done\n", done.stderr


def test_callables_see_the_context_of_the_caller(table):
    X, y = table
    variable = contextvars.ContextVar("variable", default="other")
    variable.set("the caller's")
    seen = []

    def note():
        seen.append((variable.get(), np.geterr()["over"]))

    def loss(t, s):
        note()
        return s - t, np.ones_like(s)

    def metric(t, p):
        note()
        return 0.0

    with np.errstate(over="raise"):
        BitgrainRegressor(n_estimators=2, objective=loss).fit(
            X, y, eval_set=(X, y), eval_metric=metric, callbacks=[lambda round: note()]
        )
    assert set(seen) == {("the caller's", "raise")}
    assert len(seen) >= 6


def _fitted(X, y, jobs):
    return BitgrainRegressor(n_estimators=10, n_jobs=jobs).fit(X, y).predict(X)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_train(table, backend):
    joblib = pytest.importorskip("joblib")
    X, y = table
    want = _fitted(X, y, 1).tobytes()
    work = joblib.delayed(_fitted)
    found = joblib.Parallel(n_jobs=3, backend=backend)(work(X, y, jobs) for jobs in (None, 1, 2, -1))
    assert [each.tobytes() for each in found] == [want] * 4


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="requires /proc")
def test_training_takes_little_memory_beside_its_data():
    program = """
import gc, pathlib, numpy as np, bitgrain
rng = np.random.default_rng(0)
X = rng.random((1_000_000, 8), dtype=np.float32); y = X[:, 0] > 0.5
def memory(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))
def peak(work):
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    work()
    return memory("VmHWM") - before
settings = dict(n_estimators=3, num_leaves=31, n_jobs=2)
bitgrain.train(bitgrain.Dataset(X[:5000], y[:5000]), **settings)
data = bitgrain.Dataset(X, y)
print(peak(lambda: bitgrain.train(data, **settings)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    # Per row: 8 bytes of scores, 8 of gradients and 4 of the order; bins and targets are not copied.
    assert int(done.stdout) <= 20 * 1_000_000 // 1024 + 8000, done.stdout + done.stderr


def test_a_dataset_is_unchanged_by_training_in_place(table):
    X, y = table
    data = Dataset(X, y)
    first = train(data, n_estimators=10)
    assert train(data, n_estimators=10).to_bytes() == first.to_bytes()
    np.testing.assert_array_equal(data.target.values, Dataset(X, y).target.values)
    # The training data is also the validation data, and Python code runs during the training.
    assert train(data, n_estimators=10, valid=data).trees == first.trees
    assert train(data, n_estimators=10, callbacks=[lambda round: len(data) == 0]).to_bytes() == first.to_bytes()

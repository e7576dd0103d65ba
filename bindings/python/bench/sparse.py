"""Training on a one-hot table in CSR form, compared with LightGBM and XGBoost.

    python bindings/python/bench/sparse.py bitgrain --rows 1000000 --variables 100 --levels 100 --rounds 20

Each library needs its own process, because the peak of memory is that of the process. Requires a release build and an
idle machine. Prints measurements; it is not a test.
"""

import argparse
import json
import pathlib
import resource
import time
from typing import Any

import numpy as np
import scipy.sparse


def made(rows: int, variables: int, levels: int) -> tuple[Any, np.ndarray]:
    """Return one-hot encoded variables, and classes that depend on a third of them."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, levels, (rows, variables), dtype=np.int32)
    effect = rng.standard_normal((variables, levels), dtype=np.float32) * (rng.random((variables, 1)) < 1 / 3)
    score = rng.standard_normal(rows, dtype=np.float32)
    for variable in range(variables):
        score += effect[variable, codes[:, variable]]
    codes += np.arange(variables, dtype=np.int32) * levels
    ends = np.arange(0, rows * variables + 1, variables)
    ones = np.ones(rows * variables, dtype=np.float32)
    X = scipy.sparse.csr_matrix((ones, codes.reshape(-1), ends), shape=(rows, variables * levels))
    return X, (score > 0).astype(np.float32)


def memory(key: str) -> float:
    """Return a line of the process status in MB."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def cpu() -> float:
    """Return the CPU seconds of the process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run(library: str, X: Any, y: np.ndarray, rounds: int, threads: int) -> float:
    """Bin and train; return the CPU seconds after binning."""
    if library == "lightgbm":
        import lightgbm

        params = {"objective": "binary", "num_leaves": 63, "max_bin": 255, "num_threads": threads, "verbose": -1}
        data = lightgbm.Dataset(X, y, params=params).construct()
        binned = cpu()
        lightgbm.train(params, data, rounds)
    elif library == "xgboost":
        import xgboost

        params = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 63}
        data = xgboost.QuantileDMatrix(X, y, nthread=threads)
        binned = cpu()
        xgboost.train({**params, "max_depth": 0, "eta": 0.1, "nthread": threads}, data, rounds)
    else:
        import bitgrain

        data = bitgrain.Dataset(X, y, n_jobs=threads)
        binned = cpu()
        bitgrain.train(data, objective="binary", n_estimators=rounds, num_leaves=63, n_jobs=threads)
    return binned


def main() -> None:
    """Measure one library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["bitgrain", "lightgbm", "xgboost"])
    for name, default in (("rows", 1_000_000), ("variables", 100), ("levels", 100), ("rounds", 20), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    args = parser.parse_args()
    X, y = made(args.rows, args.variables, args.levels)
    run(args.library, X[:1000], y[:1000], 1, args.threads)  # imports
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, start, clock = memory("VmRSS"), cpu(), time.perf_counter()
    binned = run(args.library, X, y, args.rounds, args.threads)
    wall = time.perf_counter() - clock
    if args.json:
        found = {"bin": binned - start, "train": cpu() - binned, "wall": wall, "peak": memory("VmHWM") - before}
        print(json.dumps(found))
        return
    print(
        f"{args.library}: bin {binned - start:.2f} CPU s, train {cpu() - binned:.2f} CPU s, {wall:.2f} s in all, "
        f"peak {memory('VmHWM') - before:.0f} MB above the input of {before:.0f} MB"
    )


if __name__ == "__main__":
    main()

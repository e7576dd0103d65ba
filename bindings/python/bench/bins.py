"""Training on a table whose bins exceed a limit on memory, compared with XGBoost and LightGBM.

    python bindings/python/bench/bins.py prepare folder --rows 2000000 --features 200
    python bindings/python/bench/bins.py bitgrain folder --limit 100MB     # bins in the file
    python bindings/python/bench/bins.py bitgrain folder                   # bins in memory
    python bindings/python/bench/bins.py xgboost folder --limit 100MB      # ExtMemQuantileDMatrix
    python bindings/python/bench/bins.py lightgbm folder                   # binary file

`--limit` starts the training in a memory cgroup with this limit (as root), after this process has read the binned
files, so that the page cache that holds them is not charged to the training. Requires a release build and an idle
machine. Prints measurements; it is not a test.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

ROUNDS, LEAVES = 10, 63


def prepare(folder: pathlib.Path, rows: int, features: int, part: int = 100_000) -> None:
    """Write Parquet files, and the binned files of each library."""
    import polars as pl

    import bitgrain

    folder.mkdir(parents=True, exist_ok=True)
    weights = np.random.default_rng(0).standard_normal(features).astype(np.float32)
    for at, start in enumerate(range(0, rows, part)):
        rng = np.random.default_rng(at + 1)
        X = rng.standard_normal((min(part, rows - start), features), dtype=np.float32)
        y = (np.abs(X) @ weights + rng.standard_normal(len(X), dtype=np.float32)).astype(np.float32)
        columns: dict[str, Any] = {f"f{feature}": X[:, feature] for feature in range(features)}
        pl.DataFrame({**columns, "y": y}).write_parquet(folder / f"part-{at:05}.parquet")
    start_time = time.perf_counter()
    bitgrain.Dataset.from_files(folder / "part-*.parquet", folder / "table.bins", target="y", memory=1 << 40)
    print(json.dumps({"bitgrain bin, s": time.perf_counter() - start_time, "MB": megabytes(folder / "table.bins")}))


def megabytes(path: pathlib.Path) -> float:
    """Return the size of a file."""
    return path.stat().st_size / 1e6


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the Parquet files."""
    return sorted(folder.glob("part-*.parquet"))


def train_bitgrain(folder: pathlib.Path, limit: int | None, precision: str) -> tuple[float, float]:
    """Train on the binned table; return the seconds of opening and of training."""
    import bitgrain

    start = time.perf_counter()
    # Some room for pages that other threads map at the same time.
    data = bitgrain.Dataset.from_bins(folder / "table.bins", memory=None if limit is None else limit * 9 // 10)
    opened = time.perf_counter()
    settings = {"num_leaves": LEAVES, "gradient_precision": precision}
    bitgrain.train(data, n_estimators=ROUNDS, objective="squared", n_jobs=2, **settings)
    return opened - start, time.perf_counter() - opened


def train_xgboost(folder: pathlib.Path) -> tuple[float, float]:
    """Train on a quantized matrix in external memory."""
    import polars as pl
    import xgboost

    class Parts(xgboost.DataIter):
        def __init__(self) -> None:
            self.at = 0
            super().__init__(cache_prefix=str(folder / "xgboost"))

        def next(self, input_data: Any) -> bool:
            if self.at == len(parts(folder)):
                return False
            table = pl.read_parquet(parts(folder)[self.at])
            self.at += 1
            input_data(data=table.drop("y").to_numpy(), label=table["y"].to_numpy())
            return True

        def reset(self) -> None:
            self.at = 0

    start = time.perf_counter()
    data = xgboost.ExtMemQuantileDMatrix(Parts(), max_bin=256, nthread=2)
    opened = time.perf_counter()
    params = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0, "nthread": 2}
    xgboost.train({**params, "max_bin": 256}, data, ROUNDS)
    return opened - start, time.perf_counter() - opened


def train_lightgbm(folder: pathlib.Path) -> tuple[float, float]:
    """Train on LightGBM's binary file, which is written at the first call."""
    import lightgbm
    import polars as pl

    params = {"objective": "regression", "num_leaves": LEAVES, "max_bin": 255, "num_threads": 2, "verbose": -1}
    binary = folder / "lightgbm.bin"
    if not binary.exists():
        table = pl.concat([pl.read_parquet(part) for part in parts(folder)])
        dataset = lightgbm.Dataset(table.drop("y").to_numpy(), table["y"].to_numpy(), params=params)
        dataset.construct().save_binary(binary)
    start = time.perf_counter()
    data = lightgbm.Dataset(str(binary), params=params).construct()
    opened = time.perf_counter()
    lightgbm.train(params, data, ROUNDS)
    return opened - start, time.perf_counter() - opened


def limited(limit: int) -> list[str]:
    """Start this command again in a memory cgroup; return its output."""
    # Version 2 has one hierarchy, version 1 one per controller.
    version_1 = pathlib.Path("/sys/fs/cgroup/memory")
    group = (version_1 if version_1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / f"bitgrain-{os.getpid()}"
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if version_1.is_dir() else "memory.max")).write_text(str(limit))
        join = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))  # noqa: E731
        command = [sys.executable, *sys.argv, "--inside"]
        done = subprocess.run(command, preexec_fn=join, stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.splitlines() or [json.dumps({"exit code": done.returncode})]
    finally:
        group.rmdir()


def size(text: str) -> int:
    """Parse a size such as 100MB."""
    return int(float(text.removesuffix("MB")) * 1e6)


def main() -> None:
    """Run one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["prepare", "bitgrain", "xgboost", "lightgbm"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--limit", type=size)
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.action == "prepare":
        return prepare(given.folder, given.rows, given.features)
    if given.limit is not None and not given.inside:
        # The page cache then belongs to this process.
        for file in [*given.folder.glob("*.bins"), *given.folder.glob("xgboost*")]:
            with file.open("rb") as opened:
                while opened.read(1 << 24):
                    pass
        print("\n".join(limited(given.limit)))
        return None
    if given.action == "bitgrain":
        opening, training = train_bitgrain(given.folder, given.limit, given.precision)
    else:
        opening, training = {"xgboost": train_xgboost, "lightgbm": train_lightgbm}[given.action](given.folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    measured = {"library": given.action, "precision": given.precision, "limit, MB": (given.limit or 0) / 1e6}
    print(json.dumps({**measured, "open, s": opening, "train, s": training, "peak, MB": peak}))
    return None


if __name__ == "__main__":
    main()

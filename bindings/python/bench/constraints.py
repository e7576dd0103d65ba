"""Training under constraints, compared with LightGBM and XGBoost at the same settings: time and quality.

    python bindings/python/bench/constraints.py [--rows 100000] [--threads 1 2] [--json]

Prints the best time of several runs on binned data, alternating between the libraries, and the error on other rows.
Requires a release build and an idle machine. Prints measurements; it is not a test.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost
from numpy.typing import NDArray

import bitgrain

#: Features of the tables; scores rise with the first three, and fall with the next three.
FEATURES = 20
DIRECTIONS = [1, 1, 1, -1, -1, -1] + [0] * (FEATURES - 6)
GROUPS = [[0, 1, 2, 6, 7], [3, 4, 5, 8, 9], list(range(10, FEATURES))]

#: Settings of each comparison, by LightGBM's names, and the same for XGBoost if it has them.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "no constraints": ({}, {}),
    "monotone, basic": (
        {"monotone_constraints": DIRECTIONS},
        {"monotone_constraints": f"({','.join(map(str, DIRECTIONS))})"},
    ),
    "monotone, intermediate": (
        {"monotone_constraints": DIRECTIONS, "monotone_constraints_method": "intermediate"},
        None,
    ),
    "monotone, advanced": ({"monotone_constraints": DIRECTIONS, "monotone_constraints_method": "advanced"}, None),
    "interaction constraints": ({"interaction_constraints": GROUPS}, {"interaction_constraints": json.dumps(GROUPS)}),
    "path_smooth": ({"path_smooth": 10.0}, None),
    "extra_trees": ({"extra_trees": True}, None),
    "max_delta_step": ({"max_delta_step": 0.5}, {"max_delta_step": 0.5}),
    "cegb_penalty_split": ({"cegb_penalty_split": 1e-4}, None),
}


def table(rows: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return rows with missing values, and a target that follows the directions, with interactions and noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, FEATURES), dtype=np.float32)
    rising = 3 * X[:, 0] ** 2 + 2 * X[:, 1] * (1 + X[:, 6]) + np.sqrt(X[:, 2])
    falling = 2 * X[:, 3] + X[:, 4] * (1 + X[:, 8]) + X[:, 5] ** 3
    free = np.sin(9 * X[:, 10]) * X[:, 11] + np.cos(5 * X[:, 12])
    y = (rising - falling + free + 0.5 * rng.standard_normal(rows)).astype(np.float64)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


def best(runs: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the shortest time of each library, and its model."""
    seconds, models = dict.fromkeys(runs, float("inf")), {}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            models[name] = run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, models


class Bench:
    """Binned tables of all libraries."""

    def __init__(self, rows: int, threads: int) -> None:
        self.X, y = table(rows, 1)
        self.X_test, self.y_test = table(rows // 4, 2)
        self.threads = threads
        self.ours = bitgrain.Dataset(self.X, y, n_jobs=threads)
        params = {"verbose": -1, "num_threads": threads}
        self.light = lightgbm.Dataset(self.X, y, params=params, free_raw_data=False).construct()
        self.extreme = xgboost.QuantileDMatrix(self.X, y, nthread=threads)

    def measured(self, case: str, rounds: int, leaves: int, repeats: int) -> list[dict[str, Any]]:
        """Return a comparison with each other library that has the settings."""
        settings, of_xgboost = CASES[case]
        common = {"num_leaves": leaves, "learning_rate": 0.1, "min_child_samples": 20, **settings}
        light = {**common, "verbose": -1, "num_threads": self.threads, "objective": "regression"}
        runs: dict[str, Callable[[], Any]] = {
            "bitgrain": lambda: bitgrain.train(
                self.ours, objective="squared", n_estimators=rounds, n_jobs=self.threads, **common
            ),
            "LightGBM": lambda: lightgbm.train(light, self.light, rounds),
        }
        if of_xgboost is not None:
            extreme = {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide", "eta": 0.1, "lambda": 0}
            extreme |= {"nthread": self.threads, "max_bin": 256, **of_xgboost}
            runs["XGBoost"] = lambda: xgboost.train(extreme, self.extreme, rounds)
        seconds, models = best(runs, repeats)
        inputs = {name: xgboost.DMatrix(self.X_test) if name == "XGBoost" else self.X_test for name in runs}
        error = {
            name: float(np.sqrt(np.mean((models[name].predict(inputs[name]) - self.y_test) ** 2))) for name in runs
        }
        return [
            {
                "case": case,
                "competitor": name,
                "threads": self.threads,
                "ours": seconds["bitgrain"],
                "theirs": seconds[name],
                "quality": [error["bitgrain"], error[name]],
            }
            for name in runs
            if name != "bitgrain"
        ]


def main() -> None:
    """Compare the libraries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 100_000), ("rounds", 50), ("leaves", 31), ("repeats", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", action="store_true", help="machine-readable")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for threads in args.threads:
        bench = Bench(args.rows, threads)
        for case in CASES:
            rows += bench.measured(case, args.rounds, args.leaves, args.repeats)
            for row in rows[-2:] if not args.json else []:
                print(row, flush=True)
    note = (
        f"{args.rows:,} generated rows with {FEATURES} features, 2 % of the values missing; {args.rounds} rounds of"
        f" {args.leaves} leaves, squared error, binned data. Six features have a direction, and interaction constraints"
        " have three groups. RMSE is that of other rows."
    )
    if args.json:
        print(json.dumps({"note": note, "measure": "RMSE", "rows": rows}))


if __name__ == "__main__":
    main()

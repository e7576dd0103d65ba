"""SHAP values of the same model: Bitgrain, LightGBM and XGBoost, at equal numbers of threads.

Run: python bench/contributions.py [--rows 10000] [--threads 1]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from bitgrain.boosting import from_lightgbm, from_xgboost


def best(run: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Return the shortest time of several runs, and the result."""
    seconds, result = float("inf"), None
    for _ in range(repetitions):
        start = time.perf_counter()
        result = run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, result


def main() -> None:
    """Measure and print one line per library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(max(args.rows, 50_000), 28)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:10].sum(axis=1) * 0.2 + rng.normal(size=len(X)) * 0.1
    rows, threads, n = X[: args.rows], args.threads, args.repetitions
    settings = {"num_leaves": 63, "verbose": -1, "num_threads": threads}
    light = lgb.train(settings, lgb.Dataset(X, y), 100)
    extreme = xgb.train(
        {"max_leaves": 63, "grow_policy": "lossguide", "max_depth": 0, "nthread": threads}, xgb.DMatrix(X, y), 100
    )
    matrix = xgb.DMatrix(rows, nthread=threads)
    for name, theirs, convert, explain in [
        ("LightGBM", light, from_lightgbm, lambda: light.predict(rows, pred_contrib=True)),
        ("XGBoost", extreme, from_xgboost, lambda: extreme.predict(matrix, pred_contribs=True)),
    ]:
        ours = convert(theirs)
        seconds, values = best(lambda ours=ours: ours.predict_contributions(rows, n_jobs=threads), n)
        their_seconds, their_values = best(explain, min(n, 2))
        difference = np.abs(values - their_values).max()
        print(
            f"{name} model, {args.rows} rows, {threads} threads: Bitgrain {seconds:.3f} s,"
            f" {name} {their_seconds:.3f} s, ratio {their_seconds / seconds:.1f}, largest difference {difference:.1e}"
        )


if __name__ == "__main__":
    main()

"""SHAP values of the same model: Bitgrain, LightGBM, XGBoost and shap, at equal numbers of threads.

Run: python bench/contributions.py [--rows 10000] [--threads 1 2] [--json]

Times are from NumPy arrays to a NumPy array, without training and import.
"""

import argparse
import dataclasses
import importlib.util
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from bitgrain.boosting import Model, from_lightgbm, from_xgboost

#: Rows of the background table of interventional values.
BACKGROUND = 100


@dataclasses.dataclass
class Result:
    """Times of one comparison."""

    what: str
    library: str
    rows: int
    threads: int
    ours: float
    theirs: float
    difference: float

    def cells(self) -> list[str]:
        """Return the cells of a table row."""
        return [
            self.what,
            self.library,
            f"{self.rows:,}",
            str(self.threads),
            f"{self.ours:.4f}",
            f"{self.theirs:.3f}",
            f"{self.theirs / self.ours:.1f}x",
            f"{self.difference:.0e}",
        ]


def best(run: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Return the shortest time of several runs, and the result."""
    seconds, result = float("inf"), None
    for _ in range(repetitions):
        start = time.perf_counter()
        result = run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, result


class Bench:
    """Models of 100 trees with 63 leaves and 28 features, and the rows to explain."""

    def __init__(self, train_rows: int, repetitions: int) -> None:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(train_rows, 28)).astype(np.float32)
        noise = rng.normal(size=train_rows) * 0.1
        y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:10].sum(axis=1) * 0.2 + noise
        self.X = X
        self.repetitions = repetitions
        self.light = lgb.train({"num_leaves": 63, "verbose": -1}, lgb.Dataset(X, y), 100)
        tree = {"max_leaves": 63, "grow_policy": "lossguide", "max_depth": 0}
        self.extreme = xgb.train(tree, xgb.DMatrix(X, y), 100)

    def _compare(
        self, what: str, library: str, rows: int, threads: int, ours: Callable[[], Any], theirs: Callable[[], Any]
    ) -> Result:
        seconds, values = best(ours, self.repetitions)
        their_seconds, their_values = best(theirs, min(self.repetitions, 2))
        difference = float(np.abs(values - their_values).max())
        result = Result(what, library, rows, threads, seconds, their_seconds, difference)
        print(" | ".join(result.cells()), flush=True)
        return result

    def _extreme(self, rows: NDArray[np.float32], threads: int, **kind: bool) -> Callable[[], Any]:
        self.extreme.set_param({"nthread": threads})
        matrix = xgb.DMatrix(rows, nthread=threads)
        return lambda: self.extreme.predict(matrix, **kind)

    def run(self, n_rows: int, threads: int) -> list[Result]:
        """Measure values of `n_rows` rows, and interactions and interventional values of fewer."""
        light: Model = from_lightgbm(self.light)
        extreme: Model = from_xgboost(self.extreme)
        rows, few, background = self.X[:n_rows], self.X[: min(n_rows, 200)], self.X[-BACKGROUND:]
        results = [
            self._compare(
                "values",
                "LightGBM",
                n_rows,
                threads,
                lambda: light.predict_contributions(rows, n_jobs=threads),
                lambda: self.light.predict(rows, pred_contrib=True, num_threads=threads),
            ),
            self._compare(
                "values",
                "XGBoost",
                n_rows,
                threads,
                lambda: extreme.predict_contributions(rows, n_jobs=threads),
                self._extreme(rows, threads, pred_contribs=True),
            ),
            self._compare(
                "interactions",
                "XGBoost",
                len(few),
                threads,
                lambda: extreme.predict_contributions(few, interactions=True, n_jobs=threads),
                self._extreme(few, threads, pred_interactions=True),
            ),
        ]
        # shap computes interventional values on one thread.
        if threads == 1 and importlib.util.find_spec("shap") is not None:
            import shap

            explainer = shap.TreeExplainer(self.light, background, feature_perturbation="interventional")
            results.append(
                self._compare(
                    "interventional values",
                    "shap",
                    len(few),
                    threads,
                    lambda: light.predict_contributions(few, background=background, n_jobs=threads)[:, :-1],
                    lambda: explainer.shap_values(few, check_additivity=False),
                )
            )
        return results


def document(results: Sequence[Result], train_rows: int) -> dict[str, object]:
    """Return the results for other programs."""
    note = (
        "SHAP values of the same model: the library trains 100 trees with 63 leaves on"
        f" {train_rows:,} generated rows with 28 features, Bitgrain imports them, and both explain the same rows, from"
        " NumPy arrays to a NumPy array, without training and import. XGBoost adds in float32. Interventional values"
        f" have {BACKGROUND} background rows."
    )
    rows = [
        {
            "case": f"{result.what}, {result.rows:,} rows",
            "competitor": result.library,
            "threads": result.threads,
            "ours": result.ours,
            "theirs": result.theirs,
            "difference": result.difference,
        }
        for result in results
    ]
    return {"note": note, "measure": None, "rows": rows}


def main() -> None:
    """Measure, print one line per comparison, and write a page if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--train-rows", type=int, default=200_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    args = parser.parse_args()
    bench = Bench(max(args.train_rows, args.rows), args.repetitions)
    results = [result for threads in args.threads for result in bench.run(args.rows, threads)]
    if args.json:
        print(json.dumps(document(results, len(bench.X))))


if __name__ == "__main__":
    main()

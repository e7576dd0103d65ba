"""Ranking with lambdarank, compared with LightGBM: quality and speed at the same settings.

    python bindings/python/bench/ranking.py [--data FOLDER] [--repeats 3] [--json]

Trains on generated queries and, with `--data`, on `rank.train` and `rank.test` of LightGBM's examples: libsvm files and
group sizes in `.query` files. Prints the best time of several runs, alternating between the libraries. Requires a
release build and an idle machine. Prints measurements; it is not a test.
"""

import argparse
import json
import pathlib
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
from sklearn.datasets import load_svmlight_file

import bitgrain
from bitgrain.boosting import query_metric


class Queries:
    """Features, labels and group sizes."""

    def __init__(self, X: np.ndarray, y: np.ndarray, group: np.ndarray) -> None:
        self.X, self.y, self.group = np.ascontiguousarray(X, dtype=np.float32), y, group


def generated(queries: int, features: int, seed: int) -> Queries:
    """Return queries of 20 to 180 rows with five grades, of which low ones are frequent, as in web search."""
    rng = np.random.default_rng(seed)
    group = rng.integers(20, 180, queries)
    rows = int(group.sum())
    X = rng.standard_normal((rows, features), dtype=np.float32)
    effects = np.random.default_rng(0).standard_normal(features) * (np.arange(features) < features // 2)
    score = X @ effects + 2 * X[:, 0] * X[:, 1] + 2 * np.sin(2 * X[:, 2]) + np.repeat(rng.normal(size=queries), group)
    score += 3 * rng.standard_normal(rows)
    return Queries(X, np.searchsorted(np.quantile(score, [0.52, 0.75, 0.9, 0.97]), score).astype(np.float32), group)


def examples(folder: pathlib.Path, part: str) -> Queries:
    """Return a table of LightGBM's examples."""
    X, y = load_svmlight_file(str(folder / f"rank.{part}"), n_features=300)
    return Queries(X.toarray(), y, np.loadtxt(folder / f"rank.{part}.query", dtype=int))


def of_lightgbm(train: Queries, rounds: int, leaves: int, threads: int) -> tuple[Callable[[], Any], Any]:
    """Return a function that trains on binned data, and one that predicts."""
    params = {"objective": "lambdarank", "num_leaves": leaves, "num_threads": threads, "verbose": -1}
    data = lightgbm.Dataset(train.X, train.y, group=train.group, params=params).construct()
    return lambda: lightgbm.train(params, data, rounds), lambda model, X: model.predict(X)


def of_bitgrain(train: Queries, rounds: int, leaves: int, threads: int) -> tuple[Callable[[], Any], Any]:
    """Return a function that trains on binned data, and one that predicts."""
    data = bitgrain.Dataset(train.X, train.y, group=train.group, n_jobs=threads)
    settings = {"objective": "lambdarank", "n_estimators": rounds, "num_leaves": leaves, "n_jobs": threads}
    return lambda: bitgrain.train(data, **settings), lambda model, X: model.predict(X)


def measured(train: Queries, test: Queries, rounds: int, leaves: int, threads: int, repeats: int) -> dict[str, Any]:
    """Return the best seconds, also of CPU time, and the NDCG of both libraries."""
    libraries = {"bitgrain": of_bitgrain, "lightgbm": of_lightgbm}
    prepared = {name: made(train, rounds, leaves, threads) for name, made in libraries.items()}
    seconds, cpu = ({name: float("inf") for name in libraries} for _ in range(2))
    models = {}
    for _ in range(repeats):
        for name, (grow, _) in prepared.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            models[name] = grow()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
            cpu[name] = min(cpu[name], time.process_time() - cpu_start)
    ndcg = {
        name: query_metric("ndcg@10", test.y, predict(models[name], test.X), group=test.group)
        for name, (_, predict) in prepared.items()
    }
    return {
        "rows": len(train.y), "features": train.X.shape[1], "rounds": rounds, "leaves": leaves, "threads": threads,
        "seconds": seconds, "cpu_seconds": cpu, "ratio": seconds["lightgbm"] / seconds["bitgrain"], "ndcg@10": ndcg,
    }  # fmt: skip


def main() -> None:
    """Compare the libraries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="folder of rank.train, rank.test and their .query files")
    for name, default in (("queries", 1000), ("features", 50), ("rounds", 50), ("leaves", 31), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", action="store_true", help="machine-readable")
    args = parser.parse_args()
    tables = {"generated": (generated(args.queries, args.features, 1), generated(args.queries // 4, args.features, 2))}
    if args.data is not None:
        tables["LightGBM's example"] = (examples(args.data, "train"), examples(args.data, "test"))
    found = []
    for name, (train, test) in tables.items():
        for threads in args.threads:
            result = measured(train, test, args.rounds, args.leaves, threads, args.repeats)
            found.append({"table": name, **result})
    if args.json:
        note = (
            f"Training: {args.rounds} rounds of {args.leaves} leaves with lambdarank at equal settings on binned data;"
            " queries of 20 to 180 rows with five grades. NDCG@10 is that of other queries."
        )
        rows = [
            {
                "case": f"{each['table']}, {each['rows']:,} x {each['features']}",
                "competitor": "LightGBM",
                "threads": each["threads"],
                "ours": each["seconds"]["bitgrain"],
                "theirs": each["seconds"]["lightgbm"],
                "quality": [each["ndcg@10"]["bitgrain"], each["ndcg@10"]["lightgbm"]],
            }
            for each in found
        ]
        print(json.dumps({"note": note, "measure": "NDCG@10", "rows": rows}))
        return
    print("| table | rows x features | threads | Bitgrain s (CPU) | LightGBM s (CPU) | ratio | NDCG@10 | LightGBM's |")
    print("|---|---|---|---|---|---|---|---|")
    for each in found:
        ours, theirs = (
            f"{each['seconds'][name]:.3f} ({each['cpu_seconds'][name]:.3f})" for name in ("bitgrain", "lightgbm")
        )
        ndcg = [each["ndcg@10"][name] for name in ("bitgrain", "lightgbm")]
        print(
            f"| {each['table']} | {each['rows']} x {each['features']} | {each['threads']} | {ours} | {theirs} "
            f"| {each['ratio']:.2f} | {ndcg[0]:.4f} | {ndcg[1]:.4f} |"
        )


if __name__ == "__main__":
    main()

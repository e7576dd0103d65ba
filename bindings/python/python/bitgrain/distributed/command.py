"""``bitgrain train`` under ``mpiexec``: the files are divided among the processes.

The native command does not link MPI, because the MPI library must match that of the cluster; mpi4py takes care of this.
Only the options below and hyperparameters are supported here.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bitgrain.distributed.communicator import Communicator, agreed, exchange
from bitgrain.distributed.training import train
from bitgrain.errors import InputError, WorkerError

__all__ = ["is_started_by_mpi", "main"]

#: Variables in which the launchers of Open MPI, MPICH and Slurm tell the number of processes.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE")


def is_started_by_mpi() -> bool:
    """Return whether this is one of several processes of an MPI job."""
    return any(os.environ.get(name, "1") not in ("", "1") for name in _SIZES)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mpiexec bitgrain train", description="Train on Parquet or CSV files that are divided among processes."
    )
    parser.add_argument("files", nargs="+", type=Path, help="files with the same columns")
    parser.add_argument("--target", required=True, help="column to predict")
    parser.add_argument("--weight", help="column of row weights")
    parser.add_argument("--group", help="column of queries; the rows of a query must be in files of one process")
    parser.add_argument("--ignore", action="append", default=[], help="column to leave out; may be repeated")
    parser.add_argument("--model", required=True, type=Path, help="model file to write")
    parser.add_argument("--valid", nargs="+", type=Path, default=[], help="files of validation data")
    parser.add_argument("--objective", help="loss to minimize")
    parser.add_argument("--metric", help="comma-separated metrics")
    parser.add_argument("--checkpoint", type=Path, help="file from which the same command continues after a failure")
    parser.add_argument("--threads", type=int, help="threads per process; all cores by default")
    parser.add_argument("--force", action="store_true", help="replace an existing model file")
    return parser


def _settings(words: Sequence[str]) -> dict[str, Any]:
    """Return hyperparameters given as ``--name value`` or ``--name=value``."""
    flat = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(flat) % 2 or any(not name.startswith("--") for name in flat[::2]):
        raise InputError(f"invalid arguments {' '.join(words)!r}; write hyperparameters as --name value")
    names = {name[2:].replace("-", "_"): value for name, value in zip(flat[::2], flat[1::2], strict=True)}
    kinds: dict[str, Any] = {"true": True, "false": False}

    def parsed(value: str) -> Any:
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        return kinds.get(value, value)

    return {name: parsed(value) for name, value in names.items()}


def _read(files: Sequence[Path]) -> Any:
    """Return the rows of files as an Arrow table, or ``None`` without files."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    def table(path: Path) -> Any:
        return parquet.read_table(path) if path.suffix in (".parquet", ".pq") else csv.read_csv(path)

    return pa.concat_tables([table(path) for path in files], promote_options="permissive") if files else None


def _own(group: Communicator, files: Sequence[Path]) -> Sequence[Path]:
    """Return the adjacent files of this process."""
    count = len(files)
    return files[count * group.rank // group.size : count * (group.rank + 1) // group.size]


def main(group: Communicator, arguments: Sequence[str]) -> int:
    """Train on this process's share of the files; process 0 writes the model. Returns the exit code."""
    given, others = _parser().parse_known_args(arguments)

    def part(files: Sequence[Path]) -> tuple[Any, Any, Any, Any]:
        table = _read(_own(group, files))
        if table is None:
            return None, None, None, None
        roles = [given.target, given.weight, given.group]
        for name in (*(role for role in roles if role), *given.ignore):
            if name not in table.column_names:
                raise InputError(f"unknown column {name!r}; the files have {', '.join(table.column_names)}")
        named = [None if role is None else table.column(role).to_numpy(zero_copy_only=False) for role in roles]
        return table.drop_columns([*(role for role in roles if role), *given.ignore]), *named

    try:
        if given.model.exists() and not given.force:
            raise InputError(f"{given.model} exists; pass --force to replace it")
        settings = _settings(others)
        X, y, weight, qid = agreed(group, lambda: part(given.files))
        valid = [agreed(group, lambda: part(given.valid))[:3]] if given.valid else []
        model = train(
            group,
            X,
            y,
            weight=weight,
            qid=qid,
            valid=valid,
            objective=given.objective,
            metric=given.metric.split(",") if given.metric else None,
            checkpoint=given.checkpoint,
            n_jobs=given.threads,
            **settings,
        )
        if group.rank == 0:
            model.save(given.model)
            print(f"{given.model}: {model.n_trees} trees, {model.n_features} features, {group.size} processes")
        exchange(group, b"")
    except (WorkerError, InputError) as error:
        if group.rank == 0:
            print(f"error: {error}", flush=True)
        return 2
    return 0

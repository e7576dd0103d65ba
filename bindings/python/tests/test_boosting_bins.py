"""Binned tables: datasets from files and batches, in memory and in place."""

import os
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bitgrain import Dataset, train
from bitgrain.errors import DamagedError, DTypeError, FileError, FormatError, InputError, NotFoundError

Folder = pathlib.Path


def frame(rows: int = 3000, seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    a = random.normal(size=rows).astype(np.float32)
    b = np.where(random.random(rows) < 0.2, np.nan, random.integers(0, 50, rows)).astype(np.float32)
    city = random.choice(["Oslo", "Rome", "Bern", None], rows)
    y = (a + np.nan_to_num(b) / 10 + (city == "Rome")).astype(np.float32)
    return pl.DataFrame({"a": a, "b": pl.Series(b, nan_to_null=True), "city": pl.Series(city, dtype=pl.String), "y": y})


def model_of(data: Dataset, **settings: object) -> bytes:
    return train(data, n_estimators=10, min_child_samples=5, **settings).to_bytes()


def test_files_batches_and_memory_give_one_model(tmp_path: Folder) -> None:
    table = frame()
    wanted = model_of(Dataset(table.drop("y"), table["y"].to_numpy()))
    parts = [table[:700], table[700:701], table[701:]]
    for at, part in enumerate(parts):
        part.write_parquet(tmp_path / f"part-{at}.parquet")
    path = tmp_path / "table.bins"
    data = Dataset.from_files(tmp_path / "part-*.parquet", path, target="y")
    assert (data.n_rows, data.feature_names, data.init_model) == (3000, ["a", "b", "city"], None)
    assert data.target.values.tolist() == table["y"].to_list()
    assert model_of(data) == wanted
    files = [str(tmp_path / f"part-{at}.parquet") for at in range(3)]
    for data in (
        Dataset.from_files(files, path, target="y", memory=4 << 30),
        Dataset.from_batches(parts, path, target="y"),
        Dataset.from_batches(lambda: iter(parts), path, target="y", memory=4 << 30),
        Dataset.from_batches([part.to_arrow() for part in parts], path, target="y"),
        Dataset.from_bins(path, memory=4 << 30),
        Dataset.from_bins(path, n_jobs=1),
    ):
        assert model_of(data) == wanted
        assert model_of(data) == wanted  # The order of the rows is restored.


def test_validation_classes_and_weights(tmp_path: Folder) -> None:
    kind = pl.when(pl.col("y") > 2).then(pl.lit("high")).otherwise(pl.lit("low"))
    table = frame().with_columns(kind=kind, w=pl.lit(2.0))
    path = tmp_path / "table.bins"
    data = Dataset.from_batches(
        [table], path, target="kind", weight="w", ignore=["y"], max_bin=64, class_weight="balanced", memory=4 << 30
    )
    assert data.classes is not None
    assert data.classes.tolist() == ["high", "low"]
    valid = data.like(table[:500].select("a", "b", "city"), table["kind"][:500].to_numpy())
    model = train(data, valid=valid, n_estimators=50, early_stopping_rounds=5, metric="auc")
    assert model.history["valid"]["auc"][-1] > 0.9
    seen: list[tuple[str, int, int | None]] = []
    more = Dataset.from_batches(
        [table],
        path,
        target="kind",
        weight="w",
        ignore=["y"],
        append=True,
        on_progress=lambda *progress: seen.append(progress),
    )
    assert more.n_rows == 6000
    assert seen == [("targets", 3000, None), ("codes", 3000, 3000)]


def test_pandas_batches(tmp_path: Folder) -> None:
    batch = pd.DataFrame({"x": np.arange(100.0), "y": np.arange(100) % 2 + 0.5})
    data = Dataset.from_batches([batch, batch], tmp_path / "t.bins", target="y")
    assert data.n_rows == 200


def test_unusable_sources_are_refused(tmp_path: Folder) -> None:
    table, path = frame(100), tmp_path / "table.bins"
    with pytest.raises(InputError, match="only once"):
        Dataset.from_batches(iter([table]), path, target="y")
    with pytest.raises(InputError, match="no batches"):
        Dataset.from_batches([], path, target="y")
    with pytest.raises(DTypeError, match="type int"):
        Dataset.from_batches([1], path, target="y")
    with pytest.raises(DTypeError, match="contains strings in a later batch"):
        Dataset.from_batches([table, table.with_columns(a=pl.lit("x"))], path, target="y")
    with pytest.raises(InputError, match="missing column: `z`"):
        Dataset.from_batches([table], path, target="z")
    with pytest.raises(NotFoundError, match="no file matches"):
        Dataset.from_files(tmp_path / "none-*.csv", path, target="y")
    with pytest.raises(FileError):
        Dataset.from_files(tmp_path / "none.csv", path, target="y")
    with pytest.raises(TypeError, match="unexpected keyword 'wieght'"):
        Dataset.from_batches([table], path, target="y", wieght="w")
    with pytest.raises(InputError, match="class_weight"):
        Dataset.from_batches([table], path, target="y", class_weight={0: 1.0})
    calls = iter(range(10))
    with pytest.raises(InputError, match="later pass"):
        Dataset.from_batches(lambda: [table[: 50 + next(calls)]], path, target="y")

    def failing() -> object:
        yield table
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        Dataset.from_batches(failing, path, target="y")

    def stop(*progress: object) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        Dataset.from_batches([table], path, target="y", on_progress=stop)
    assert os.listdir(tmp_path) == []


def test_damaged_files_and_small_limits_are_refused(tmp_path: Folder) -> None:
    path = tmp_path / "table.bins"
    Dataset.from_batches([pa.table({"x": [1.0, 2.0] * 50, "y": [0.5, 1.5] * 50})], path, target="y")
    with pytest.raises(InputError, match="raise the limit"):
        train(Dataset.from_bins(path, memory=1 << 20))
    with pytest.raises(InputError, match="memory"):
        Dataset.from_bins(path, memory=0)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError, match="checksum"):
        Dataset.from_bins(path)
    path.write_bytes(data[:-1])
    with pytest.raises(DamagedError, match="length mismatch"):
        Dataset.from_bins(path)
    path.write_text("x,y\n1,2\n" * 20)
    with pytest.raises(FormatError, match="not a binned table"):
        Dataset.from_bins(path)
    with pytest.raises(FileError):
        Dataset.from_bins(tmp_path / "none.bins")

"""Tables written by pandas and pyarrow, as `bitgrain inspect` interprets them."""

import datetime
import decimal
import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def inspected(bitgrain, path):
    """Returns columns by name, and the number of rows."""
    report = json.loads(bitgrain.run("inspect", path, "--json"))
    return {column["name"]: column for column in report["columns"]}, report


def frame(random, rows=3000):
    """A table with every kind of column that both formats support, with missing values in each."""
    table = pd.DataFrame(
        {
            "short": random.standard_normal(rows).astype(np.float32),
            "long": random.standard_normal(rows),
            "whole": random.integers(-1000, 1000, rows).astype(float),
            "large": random.integers(2**40, 2**50, rows).astype(float),
            "city": random.choice(["Oslo", "Rome", "São Paulo", 'a "b", c', "two\nlines"], rows),
        }
    )
    for name in table:
        table.loc[random.random(rows) < 0.1, name] = None
    return table


def check(table, columns, rows):
    assert rows == len(table)
    for name in table:
        expected, found = table[name], columns[name]
        assert found["missing"] == expected.isna().sum(), name
        if found["kind"] == "string":
            assert found["strings"] == expected.value_counts().to_dict(), name
        else:
            values = expected.dropna().to_numpy(np.float64)
            assert (found["min"], found["max"]) == (values.min(), values.max()), name
            assert math.isclose(found["sum"], values.sum(), rel_tol=1e-9, abs_tol=1e-9), name
    assert [columns[name]["kind"] for name in table] == ["f32", "f64", "f32", "f64", "string"]


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "lz4", "none"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pyarrow_parquet_is_read(bitgrain, random, compression, version):
    table, path = frame(random), bitgrain.path(".parquet")
    pq.write_table(pa.Table.from_pandas(table), path, compression=compression, data_page_version=version, row_group_size=700)
    columns, report = inspected(bitgrain, path)
    check(table, columns, report["rows"])


@pytest.mark.parametrize(
    "encoding", ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]
)
def test_every_encoding_is_read(bitgrain, random, encoding):
    rows = 1000
    values = {
        "DELTA_BINARY_PACKED": pa.array(random.integers(-(2**40), 2**40, rows)),
        "BYTE_STREAM_SPLIT": pa.array(random.standard_normal(rows).astype(np.float32)),
        "PLAIN": pa.array(random.standard_normal(rows)),
    }.get(encoding, pa.array([f"name {i % 17}" for i in range(rows)]))
    path = bitgrain.path(".parquet")
    pq.write_table(pa.table({"x": values}), path, use_dictionary=False, column_encoding={"x": encoding})
    found = inspected(bitgrain, path)[0]["x"]
    if found["kind"] == "string":
        assert found["strings"] == {f"name {i}": len(range(i, rows, 17)) for i in range(17)}
    else:
        assert math.isclose(found["sum"], float(np.sum(values.to_numpy(), dtype=np.float64)), rel_tol=1e-9, abs_tol=1e-9)


def test_every_numeric_type_is_read(bitgrain):
    day = datetime.date(2026, 11, 16)
    columns = {
        "bool": pa.array([True, None, False]),
        "int8": pa.array([-128, None, 127], pa.int8()),
        "uint8": pa.array([0, None, 255], pa.uint8()),
        "uint32": pa.array([0, None, 2**32 - 1], pa.uint32()),
        "uint64": pa.array([0, None, 2**64 - 1], pa.uint64()),
        "int64": pa.array([-(2**53), None, 2**53], pa.int64()),
        "half": pa.array(np.array([1.5, 65504, 6e-8], np.float16)),
        "decimal": pa.array([decimal.Decimal("-12.34"), None, decimal.Decimal("99999.99")], pa.decimal128(9, 2)),
        "wide": pa.array([decimal.Decimal("-1e20"), None, decimal.Decimal("2e20")], pa.decimal128(38, 3)),
        "date": pa.array([datetime.date(1970, 1, 2), None, day]),
        "moment": pa.array([datetime.datetime(1970, 1, 1, 0, 0, 1), None, None], pa.timestamp("ms")),
        "dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
        "large": pa.array(["b", None, "a"], pa.large_string()),
    }
    path = bitgrain.path(".parquet")
    pq.write_table(pa.table(columns), path)
    found, _ = inspected(bitgrain, path)
    ranges = {name: (column.get("min"), column.get("max")) for name, column in found.items()}
    assert ranges["bool"] == (0, 1)
    assert ranges["int8"] == (-128, 127)
    assert ranges["uint8"] == (0, 255)
    assert ranges["uint32"] == (0, 2**32 - 1)
    assert ranges["uint64"] == (0, float(2**64 - 1))
    assert ranges["int64"] == (-(2**53), 2**53)
    assert ranges["half"] == (float(np.float16(6e-8)), 65504)
    assert ranges["decimal"] == (-12.34, 99999.99)
    assert ranges["wide"] == (-1e20, 2e20)
    assert ranges["date"] == (1, (day - datetime.date(1970, 1, 1)).days)
    assert ranges["moment"] == (1000, 1000)
    assert found["dictionary"]["strings"] == found["large"]["strings"] == {"a": 1, "b": 1}
    assert all(column["missing"] == (2 if name == "moment" else 0 if name == "half" else 1) for name, column in found.items())


def test_a_pandas_index_is_not_a_column(bitgrain):
    path = bitgrain.path(".parquet")
    pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 9]).to_parquet(path)
    assert "__index_level_0__" in pq.read_schema(path).names
    assert list(inspected(bitgrain, path)[0]) == ["a"]


def test_lists_are_rejected_by_name(bitgrain):
    path = bitgrain.path(".parquet")
    pq.write_table(pa.table({"a": [1.0], "tags": [["x", "y"]]}), path)
    with pytest.raises(AssertionError, match=r"tags.* has unsupported type list"):
        bitgrain.run("inspect", path)


@pytest.mark.parametrize("options", [{}, {"sep": ";"}, {"sep": "\t"}, {"quoting": 1}, {"na_rep": "NA"}, {"lineterminator": "\r\n"}])
def test_pandas_csv_is_read(bitgrain, random, options):
    table, path = frame(random), bitgrain.path(".csv")
    # float32 is written with the shortest digits that identify it among float32; read as f64 they are other numbers.
    table["short"] = table["short"].round(3).mul(8).round().div(8).astype(np.float32)
    table.to_csv(path, index=False, **options)
    columns, report = inspected(bitgrain, path)
    check(table, columns, report["rows"])


def test_gzipped_csv_is_read(bitgrain, random):
    table, path = frame(random), bitgrain.path(".csv.gz")
    table["short"] = table["short"].mul(8).round().div(8)
    table.to_csv(path, index=False)
    columns, report = inspected(bitgrain, path)
    check(table, columns, report["rows"])

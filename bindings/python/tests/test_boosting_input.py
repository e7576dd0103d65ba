"""The same table gives the same model in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import bitgrain
from bitgrain import BitgrainRegressor, _native
from bitgrain.boosting.frame import matrix
from bitgrain.boosting.pandas import is_sparse_pandas


@pytest.fixture(scope="module")
def mixed():
    """Return numbers with gaps, small and large integers, booleans, and a city."""
    rng = np.random.default_rng(5)
    n = 800
    number = rng.random(n)
    number[::7] = np.nan
    columns = {
        "number": number,
        "small": rng.integers(-50, 50, n).astype(np.int8),
        "large": rng.integers(0, 10**6, n),
        "flag": rng.random(n) < 0.5,
        "city": np.array(["Rome", "Oslo", "Lima", "Cairo"])[rng.integers(0, 4, n)],
    }
    effect = np.select([columns["city"] == "Oslo", columns["city"] == "Lima"], [3.0, -2.0], 0.0)
    y = effect + np.nan_to_num(number, nan=4.0) + columns["flag"] + columns["large"] / 10**6
    return columns, y


def fitted(X, y):
    return BitgrainRegressor(n_estimators=15, min_child_samples=5).fit(X, y)


def frames(columns):
    city = pd.Categorical(columns["city"], categories=["Cairo", "Lima", "Oslo", "Rome"])
    pandas = pd.DataFrame({**columns, "city": city})
    nullable = pandas.astype({"number": "Float64", "small": "Int16", "large": "Int64", "flag": "boolean"})
    nullable["number"] = nullable["number"].where(pandas["number"].notna(), pd.NA)
    polars = pl.DataFrame(columns).with_columns(pl.col("number").fill_nan(None))
    arrow = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    enum = pl.Enum(["Oslo", "Rome", "Cairo", "Lima"])
    return {
        "pandas": pandas,
        "pandas, nullable": nullable,
        "pandas, Arrow": pandas.astype({name: pd.ArrowDtype(pa.float64()) for name in ("number", "large")}),
        "Polars, text": polars,
        "Polars, categories": polars.with_columns(pl.col("city").cast(pl.Categorical)),
        "Polars, enum": polars.with_columns(pl.col("city").cast(enum)),
        "Polars, chunks": pl.concat([polars[:300], polars[300:]], rechunk=False),
        "Arrow": arrow,
        "Arrow, dictionary": arrow.set_column(4, "city", arrow["city"].dictionary_encode()),
        "Arrow, batches": pa.Table.from_batches(arrow.to_batches(max_chunksize=100)),
        "Arrow, one batch": arrow.combine_chunks().to_batches()[0],
        "Arrow, large text": arrow.set_column(4, "city", arrow["city"].cast(pa.large_string())),
    }


def test_every_frame_gives_the_same_predictions(mixed):
    columns, y = mixed
    every = frames(columns)
    models = {name: fitted(frame, y) for name, frame in every.items()}
    want = models["pandas"].predict(every["pandas"])
    assert np.corrcoef(want, y)[0, 1] > 0.95
    for name, model in models.items():
        assert model.booster_.categories == {"city": ["Cairo", "Lima", "Oslo", "Rome"]} or "enum" in name
        np.testing.assert_array_equal(model.predict(every[name]), want, err_msg=name)
        # Categories are matched by string, regardless of the container used in training.
        for other, frame in every.items():
            np.testing.assert_array_equal(model.predict(frame), want, err_msg=f"{name}, then {other}")


def test_codes_are_matched_by_category_name(mixed):
    columns, y = mixed
    frame = frames(columns)["pandas"]
    model = fitted(frame, y)
    want = model.predict(frame)
    turned = frame.assign(city=frame["city"].cat.reorder_categories(["Rome", "Oslo", "Lima", "Cairo"]))
    assert not (turned["city"].cat.codes == frame["city"].cat.codes).all()
    np.testing.assert_array_equal(model.predict(turned), want)
    fewer = frame[frame["city"] == "Oslo"].assign(city=lambda f: f["city"].cat.remove_unused_categories())
    np.testing.assert_array_equal(model.predict(fewer), want[frame["city"] == "Oslo"])
    plain = frame.astype({"city": object})
    np.testing.assert_array_equal(model.predict(plain), want)
    unseen = frame.assign(city=pd.Categorical(["Paris"] * len(frame)))
    missing = frame.assign(city=pd.Categorical([None] * len(frame), categories=["Oslo"]))
    np.testing.assert_array_equal(model.predict(unseen), model.predict(missing))
    assert not (model.predict(unseen) == want).all()
    # The model itself accepts columns in any order and ignores unknown ones.
    np.testing.assert_array_equal(model.booster_.predict(turned[turned.columns[::-1]].assign(more=1)), want)
    arrow = frames(columns)["Arrow"]
    np.testing.assert_array_equal(model.booster_.predict(arrow.select(arrow.column_names[::-1])), want)


def test_numeric_categories_are_codes_or_strings():
    rng = np.random.default_rng(2)
    code = rng.integers(0, 9, 500)
    y = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, -6.0, 5.0])[code]
    by_code = BitgrainRegressor(categorical_features=[0], min_child_samples=1, n_estimators=30).fit(code[:, None], y)
    assert by_code.booster_.categories == {"f0": []}
    frame = pd.DataFrame({"code": pd.Categorical(code)})
    by_text = BitgrainRegressor(min_child_samples=1, n_estimators=30).fit(frame, y)
    assert by_text.booster_.categories == {"code": [str(n) for n in range(9)]}
    np.testing.assert_array_equal(by_code.predict(code[:, None]), by_text.predict(frame))
    # Plain numbers, integer or float, are matched with the categories by their string form.
    for plain in (
        pd.DataFrame({"code": code}),
        pd.DataFrame({"code": code.astype(float)}),
        pl.DataFrame({"code": code * 1.0}),
    ):
        np.testing.assert_array_equal(by_text.booster_.predict(plain), by_text.predict(frame))
    named = BitgrainRegressor(categorical_features=["code"]).fit(pd.DataFrame({"code": code}), y)
    flagged = BitgrainRegressor(categorical_features=[True]).fit(code[:, None], y)
    assert named.booster_.categories == {"code": []}
    assert flagged.booster_.categories == {"f0": []}


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int64, np.int32, np.int8, np.uint8, np.uint64, bool, np.float16]
)
@pytest.mark.parametrize("layout", ["C", "F", "view", "rows", "read-only"])
def test_every_dtype_and_layout(dtype, layout):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 3)) * (2 if dtype is bool else 100)).astype(int).astype(dtype)
    want = fitted(X.astype(np.float64), X[:, 0])
    given = {
        "C": X,
        "F": np.asfortranarray(X),
        "view": np.repeat(X, 2, axis=1)[:, ::2],
        "rows": X[::-1][::-1],
        "read-only": X.copy(),
    }[layout]
    given.flags.writeable = layout != "read-only"
    np.testing.assert_array_equal(given, X)
    model = fitted(given, X[:, 0])
    np.testing.assert_array_equal(model.predict(given), want.predict(X.astype(np.float64)))
    assert model.booster_.to_bytes() != b""


def test_sparse_frames_equal_dense_frames():
    rng = np.random.default_rng(3)
    colors = pd.Series(rng.integers(0, 30, 500)).astype("category")
    dense = pd.get_dummies(colors, prefix="color").assign(
        number=rng.normal(size=500), count=rng.integers(0, 3, 500), city=pd.Categorical(rng.choice(list("ab"), 500))
    )
    dense.loc[3, "number"] = np.nan
    y = dense["number"].fillna(1.0) + colors.cat.codes % 5
    sparse = dense.astype(dict.fromkeys([name for name in dense if name.startswith("color")], "Sparse[bool]"))
    sparse = sparse.astype({"count": pd.SparseDtype("int64", 0)})
    assert is_sparse_pandas(sparse)
    assert not is_sparse_pandas(dense)
    want = fitted(dense, y).predict(dense)
    model = fitted(sparse, y)
    np.testing.assert_array_equal(model.predict(sparse), want)
    np.testing.assert_array_equal(model.predict(dense), want)
    # Without an entry, a value is missing in a column that is filled with NaN.
    filled = dense.astype({"number": pd.SparseDtype("float64", np.nan)})
    np.testing.assert_array_equal(fitted(filled, y).predict(filled), want)


def test_sparse_rows_equal_dense_rows():
    rng = np.random.default_rng(1)
    X = rng.random((500, 20)) * (rng.random((500, 20)) < 0.2)
    y = X[:, 0] - X[:, 1]
    model = fitted(X, y)
    want = model.predict(X)
    for kind in ("csr_array", "csc_array", "coo_array", "csr_matrix", "lil_matrix"):
        sparse = getattr(scipy.sparse, kind)(X)
        np.testing.assert_array_equal(model.predict(sparse), want, err_msg=kind)
        np.testing.assert_array_equal(fitted(sparse, y).predict(sparse), want, err_msg=kind)
    wide = scipy.sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(model.predict(wide), want)
    twice = scipy.sparse.coo_array((np.ones(4), ([0, 0, 1, 1], [0, 0, 1, 2])), shape=(2, 20))
    np.testing.assert_array_equal(model.predict(twice), model.predict(twice.toarray()))


def test_floats_in_either_order_are_read_without_a_copy():
    for dtype in (np.float32, np.float64):
        for order in "CF":
            X = np.ones((10, 3), dtype=dtype, order=order)
            assert matrix(X) is X
    frame = pd.DataFrame(np.ones((10, 3), dtype=np.float32))
    values, _, _ = __import__("bitgrain.boosting.pandas", fromlist=["read_pandas"]).read_pandas(frame)
    assert np.shares_memory(values, frame.to_numpy())


def test_binning_makes_no_copy_of_a_large_array():
    """Measure the peak of a separate process, which counts every touched page."""
    import subprocess
    import sys

    program = """
import resource, sys
import numpy as np
from bitgrain import _native
from sklearn.base import BaseEstimator
import bitgrain
order = sys.argv[1]
X = np.empty((2_000_000, 28), dtype=np.float32, order=order)
X[:] = np.random.default_rng(0).random((1, 28), dtype=np.float32)
y = np.zeros(2_000_000, dtype=np.float32)
small = np.ones((100, 28), dtype=np.float32)
bitgrain.BitgrainRegressor(n_estimators=1).fit(small, np.arange(100.0))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = bitgrain.Dataset(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / X.nbytes)
"""
    for order in "CF":
        done = subprocess.run([sys.executable, "-c", program, order], capture_output=True, text=True, check=True)
        # Bins take a quarter of the array (1 byte instead of 4), and there are targets.
        assert float(done.stdout) < 0.6, order


def test_a_single_row_is_predicted_as_in_a_batch(table):
    X, y = table
    for model in (fitted(X, y), bitgrain.BitgrainClassifier(n_estimators=5).fit(X, (y * 2).astype(int))):
        for dtype in (np.float32, np.float64):
            many = model.predict(X.astype(dtype))
            one = [model.predict(X[row : row + 1].astype(dtype))[0] for row in range(100)]
            np.testing.assert_array_equal(one, many[:100])


def test_wide_models_keep_all_digits():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = 1.0 + rng.random((400, 2)) * 1e-9  # all equal in f32
    theirs = lightgbm.LGBMRegressor(verbose=-1, min_child_samples=5, n_estimators=20).fit(X, X[:, 0] > 1 + 5e-10)
    ours = bitgrain.boosting.from_lightgbm(theirs)
    want = theirs.predict(X)
    assert np.ptp(want) > 0.5
    frame = pd.DataFrame(X, columns=["Column_0", "Column_1"])
    for given in (X, frame, pl.from_pandas(frame), pa.table(dict(frame)), scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(ours.predict(given), want, rtol=1e-12)


def test_columns_define_their_type():
    columns = _native.Columns.read(pl.DataFrame({"a": [1, None], "b": ["x", "y"]}))
    assert (columns.shape, columns.names, columns.categories) == ((2, 2), ["a", "b"], [None, ["x", "y"]])
    assert repr(columns) == "<Columns: 2 rows, 2 columns>"


def test_an_empty_column_is_missing_in_every_row():
    X = np.full((100, 2), np.nan)
    X[:, 1] = np.arange(100)
    model = fitted(X, X[:, 1])
    assert np.corrcoef(model.predict(X), X[:, 1])[0, 1] > 0.9
    frame = pl.DataFrame({"none": [None] * 100, "some": np.arange(100.0)})
    np.testing.assert_array_equal(fitted(frame, X[:, 1]).predict(frame), model.predict(X))

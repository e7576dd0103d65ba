"""Bad input raises the expected exception, with a message that says what to change."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor

X = np.random.default_rng(0).random((60, 3))
Y = X[:, 0]
CLASSES = (Y > 0.5).astype(int)
MODEL = BitgrainRegressor(n_estimators=3).fit(X, Y)
NAMED = BitgrainRegressor(n_estimators=3).fit(pd.DataFrame(X, columns=list("abc")), Y)


def objects(value):
    made = X.astype(object)
    made[3, 1] = value
    return made


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (X[0], ValueError, r"Expected 2D array, got 1D array instead. Reshape your data"),
        (X[None], ValueError, "got 3D array"),
        (5.0, ValueError, "got 0D array"),
        (X[:0], ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (X[:, :0], ValueError, r"0 feature\(s\) \(shape=\(60, 0\)\)"),
        (X + 1j, ValueError, "Complex data not supported"),
        (objects("abc"), TypeError, r"must be numeric.*astype\('category'\)"),
        (objects({}), TypeError, "argument must be a string or a real number"),
        (X.astype(str), TypeError, r"astype\('category'\)"),
        (np.full((60, 3), np.datetime64("2026-01-01")), TypeError, "datetime64.*must be numeric"),
        (scipy.sparse.csr_array(X + 1j), ValueError, "Complex data not supported"),
        (pd.DataFrame(X).iloc[:0], ValueError, r"0 sample\(s\)"),
        (pd.DataFrame(index=range(60)), ValueError, r"0 feature\(s\)"),
        (pd.DataFrame({"a": ["x"] * 60}), TypeError, "column 'a'.*category"),
        (pd.DataFrame({"a": ["x"] * 60}, dtype="string"), TypeError, "column 'a'.*category"),
        (
            pd.DataFrame({"when": [datetime.datetime.now()] * 60}),
            TypeError,
            "column 'when' is of dtype datetime64.*numbers",
        ),
        (pd.DataFrame({"z": X[:, 0] + 1j}), ValueError, "Complex data not supported: column 'z'"),
        (pd.DataFrame({"a": [[1]] * 60}), TypeError, "column 'a'"),
        (
            pl.DataFrame({"when": [datetime.date.today()] * 60}),
            TypeError,
            'column "when" is of type Date32.*convert it to numbers',
        ),
        (pl.DataFrame({"list": [[1.0]] * 60}), TypeError, 'column "list" is of type'),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pl.LazyFrame({"a": [1.0] * 60}), TypeError, r"collect\(\)"),
        (pl.Series([1.0] * 60), ValueError, "got 1D array"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(type(value).__name__),
)
def test_unusable_features_are_rejected(given, kind, message):
    for fit in (BitgrainRegressor().fit, BitgrainClassifier().fit, bitgrain.Dataset):
        with pytest.raises(kind, match=message) as caught:
            fit(given, CLASSES)
        assert isinstance(caught.value, bitgrain.Error)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (X[0], ValueError, "Reshape your data"),
        (X[:, :2], ValueError, "X has 2 features, but BitgrainRegressor is expecting 3 features as input"),
        (X[:0], ValueError, r"0 sample\(s\)"),
        (X + 1j, ValueError, "Complex data not supported"),
        (objects("abc"), TypeError, "must be numeric"),
        (scipy.sparse.csr_array(X[:, :2]), ValueError, "X has 2 features"),
    ],
)
def test_invalid_rows_are_rejected_by_predict(given, kind, message):
    with pytest.raises(kind, match=message):
        MODEL.predict(given)
    with pytest.raises(kind):
        MODEL.booster_.predict(given)


def test_frames_with_other_columns():
    frame = pd.DataFrame(X, columns=list("abd"))
    for given in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- d.*now missing:\n- c"):
            NAMED.predict(given)
        with pytest.raises(bitgrain.errors.InputError, match="Missing: 'c'; unknown: 'd'"):
            NAMED.booster_.predict(given)
    text = pd.DataFrame(X, columns=list("abc")).assign(c=pd.Categorical(["x"] * 60))
    with pytest.raises(bitgrain.errors.DTypeError, match="'c' holds strings, but the model was trained on numbers"):
        NAMED.predict(text)
    with pytest.raises(bitgrain.errors.DTypeError, match='"c" holds strings'):
        NAMED.predict(pl.from_pandas(text))
    with pytest.raises(bitgrain.errors.InputError, match=r'two columns are named "a"|two features are named `a`'):
        bitgrain.Dataset(pd.DataFrame(X, columns=list("aab")), Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:-1], "inconsistent numbers of samples"),
        (X, r"1d array|shape \(60, 3\)"),
        (np.where(Y > 0.5, np.nan, Y), "NaN"),
        (np.where(Y > 0.5, np.inf, Y), "infinity|inf"),
        (None, "y"),
    ],
)
def test_invalid_targets_are_rejected(y, message):
    with pytest.raises(ValueError, match=message):
        BitgrainRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r".+"):
        BitgrainClassifier().fit(X, y)
    with pytest.raises(bitgrain.errors.InputError):
        bitgrain.train(bitgrain.Dataset(X, y))


def test_invalid_classes_are_rejected():
    with pytest.raises(ValueError, match=r"y has only one class, `1\.0`; a classifier needs at least two"):
        BitgrainClassifier().fit(X, np.ones(60))
    with pytest.raises(ValueError, match="Unknown label type"):
        BitgrainClassifier().fit(X, Y)
    with pytest.raises(bitgrain.errors.InputError, match="class 'c' of eval_set is not among the 2 classes"):
        BitgrainClassifier().fit(X, np.where(Y > 0.5, "a", "b"), eval_set=(X[:1], ["c"]))
    with pytest.raises(bitgrain.errors.InputError, match="class 'c' in y is not among the 2 classes"):
        bitgrain.Dataset(X, np.where(Y > 0.5, "a", "b")).like(X[:1], ["c"])
    with pytest.raises(ValueError, match="could not convert string to float"):
        BitgrainRegressor().fit(X, np.where(Y > 0.5, "a", "b"))


def test_a_constant_target_is_predicted():
    np.testing.assert_array_equal(BitgrainRegressor().fit(X, np.full(60, 7.0)).predict(X), 7.0)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(59), "inconsistent numbers"),
        (np.ones((60, 2)), "1d array"),
        (np.zeros(60), "zero"),
        (-np.ones(60), "weight -1 of row 0"),
        (np.full(60, np.nan), "weight NaN of row 0"),
    ],
)
def test_invalid_weights_are_rejected(weight, message):
    with pytest.raises(bitgrain.errors.InputError, match=message):
        BitgrainRegressor().fit(X, Y, sample_weight=weight)
    with pytest.raises(bitgrain.errors.InputError, match=message):
        bitgrain.Dataset(X, Y, weight=weight)


@pytest.mark.parametrize(
    ("setting", "kind", "message"),
    [
        ({"n_estimators": 0}, ValueError, "invalid n_estimators: `0`; use an integer of at least 1"),
        ({"n_estimators": 2.5}, TypeError, "invalid n_estimators: `2.5`; use an integer"),
        ({"learning_rate": 0}, ValueError, "invalid learning_rate: `0`; use a number above 0"),
        ({"learning_rate": "fast"}, TypeError, "invalid learning_rate: `fast`; use a number above 0"),
        ({"num_leaves": 1}, ValueError, "invalid num_leaves: `1`; use an integer from 2 to 131072"),
        ({"subsample": 1.5}, ValueError, "invalid subsample: `1.5`; use a number above 0 and at most 1"),
        ({"growth": "up"}, ValueError, "invalid growth: `up`; use `leaf`, `depth` or `symmetric`"),
        ({"gradient_precision": "pair2"}, ValueError, "invalid gradient_precision: `pair2`"),
        ({"objective": "yetirank"}, ValueError, "unknown objective `yetirank`; known objectives: squared"),
        ({"objective": "binary"}, ValueError, "use BitgrainClassifier"),
        ({"max_bin": 1}, ValueError, "invalid max_bin: `1`"),
        ({"n_jobs": 0}, ValueError, "n_jobs = 0"),
        ({"early_stopping_rounds": 5}, ValueError, "early_stopping_rounds needs validation data.*eval_set"),
        ({"categorical_features": [7]}, ValueError, "categorical column 7 is out of range"),
        ({"categorical_features": ["a"]}, ValueError, "columns have no names"),
        ({"categorical_features": [0]}, ValueError, "is not a category code; codes are integers"),
        ({"categorical_features": [True]}, ValueError, "1 flags, X has 3 features"),
        ({"reg_lambda": -1}, ValueError, "invalid reg_lambda: `-1`"),
        (
            {"data_sample_strategy": "goss", "top_rate": 0.8, "other_rate": 0.8},
            ValueError,
            "`other_rate = 0.8`; their sum must be",
        ),
    ],
)
def test_settings_out_of_range(setting, kind, message):
    with pytest.raises(kind, match=message):
        BitgrainRegressor(**setting).fit(X, Y)


def test_invalid_eval_sets_are_rejected():
    fit = BitgrainRegressor(n_estimators=2).fit
    with pytest.raises(ValueError, match="X has 2 features, but 3 features are expected"):
        fit(X, Y, eval_set=(X[:, :2], Y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        fit(X, Y, eval_set=(X.copy(), Y[:5]))
    with pytest.raises(ValueError, match="must be a pair"):
        fit(X, Y, eval_set=[X])
    with pytest.raises(ValueError, match="must be a pair"):
        fit(X, Y, eval_set=5)
    with pytest.raises(TypeError, match="metric 5 must be a name, a callable"):
        fit(X, Y, eval_set=(X.copy(), Y), eval_metric=5)
    with pytest.raises(ValueError, match="unknown metric `err`; known metrics: rmse"):
        fit(X, Y, eval_set=(X.copy(), Y), eval_metric="err")
    with pytest.raises(ValueError, match="is not callable"):
        fit(X, Y, callbacks=[5])
    with pytest.raises(ValueError, match="init_model must be a Model"):
        fit(X, Y, init_model=5)
    with pytest.raises(ValueError, match=r"unknown parameter: `leaves`; did you mean `num_leaves`\?"):
        bitgrain.train(bitgrain.Dataset(X, Y), leaves=5)
    with pytest.raises(ValueError, match=r"binned differently from the training data; use data\.like"):
        bitgrain.train(bitgrain.Dataset(X, Y), valid=bitgrain.Dataset(X[:30], Y[:30]))


def test_files_other_than_models_are_rejected(tmp_path):
    path = tmp_path / "model.bitgrain"
    with pytest.raises(OSError, match="No such file") as caught:
        bitgrain.load_model(path)
    assert caught.value.errno == 2
    assert str(caught.value.filename) == str(path)
    MODEL.save(path)
    whole = path.read_bytes()
    for bytes_, kind in (
        (b"no model at all", bitgrain.errors.FormatError),
        (whole[:-5], bitgrain.errors.DamagedError),
        (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], bitgrain.errors.DamagedError),
    ):
        path.write_bytes(bytes_)
        with pytest.raises(kind):
            bitgrain.load_model(path)
        with pytest.raises(kind):
            bitgrain.boosting.Model.from_bytes(bytes_)
    with pytest.raises(bitgrain.errors.FileError):
        MODEL.save(tmp_path / "no" / "such" / "folder.bitgrain")


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"class_weight": {"c": 1.0}}, ValueError, "names class 'c', which is not in y"),
        ({"class_weight": [1, 2, 3]}, ValueError, "3 weights, but y has 2 classes"),
        ({"class_weight": 5}, TypeError, "class_weight = 5"),
        ({"class_weight": ["x", "y"]}, TypeError, "class_weight contains 'x'"),
        ({"init_model": "x"}, ValueError, "init_model must be a Model or a fitted bitgrain estimator"),
        ({"sample_rows": -1}, ValueError, "invalid sample_rows: `-1`"),
        ({"seed": -1}, ValueError, "invalid seed: `-1`"),
        ({"seed": 2**64}, ValueError, f"invalid seed: `{2**64}`"),
        ({"n_jobs": 10**30}, ValueError, f"n_jobs = {10**30}"),
        ({"n_jobs": "two"}, TypeError, "n_jobs = 'two'"),
        ({"max_bin": "256"}, TypeError, "invalid max_bin: `256`"),
        ({"max_bin": 1}, ValueError, "invalid max_bin: `1`"),
        ({"categorical": [None]}, TypeError, "invalid categorical column None"),
        ({"categorical": [0.5]}, TypeError, "invalid categorical column 0.5"),
        ({"categorical": 0}, TypeError, "categorical = 0"),
    ],
)
def test_a_dataset_names_the_invalid_setting(settings, kind, message):
    with pytest.raises(kind, match=message) as caught:
        bitgrain.Dataset(X, np.where(Y > 0.5, "a", "b"), **settings)
    assert isinstance(caught.value, bitgrain.Error)


def test_the_error_of_a_function_names_its_argument():
    data = bitgrain.Dataset(X, Y)
    for arguments, keywords, kind, message in (
        ((X,), {}, TypeError, "data must be a Dataset, not ndarray"),
        ((data, 5), {}, TypeError, "params must be Params or a dict"),
        ((data, {"leaves": 3}), {}, ValueError, "unknown parameter: `leaves`"),
        ((data,), {"objective": 5}, TypeError, "objective = 5"),
        ((data,), {"objective": lambda t, s: (s, s), "outputs": 10**12}, ValueError, "outputs = 10"),
        ((data,), {"callbacks": print}, TypeError, "callbacks = "),
        ((bitgrain.Dataset(X, np.full(len(X), np.nan)),), {"objective": "multiclass"}, ValueError, "target NaN of row"),
    ):
        with pytest.raises(kind, match=message) as caught:
            bitgrain.train(*arguments, n_estimators=1, **keywords)
        assert isinstance(caught.value, bitgrain.Error), message
    assert bitgrain.train(data, {"n_estimators": 3}, num_leaves=3).n_rounds == 3
    for rounds in (-1, "x"):
        with pytest.raises(bitgrain.Error):
            MODEL.booster_.truncated(rounds)
        with pytest.raises(bitgrain.Error):
            MODEL.booster_.predict(X, rounds=rounds)
    with pytest.raises(bitgrain.Error, match="feature = -1"):
        data.cuts(-1)
    with pytest.raises(ValueError, match="X must not be None"):
        bitgrain.Dataset(None, Y)
    with pytest.raises(TypeError, match="structured_to_unstructured"):
        bitgrain.Dataset(np.zeros(5, dtype=[("a", "f4")]), np.zeros(5))
    with pytest.raises(TypeError, match="objective = 5"):
        BitgrainRegressor(objective=5).fit(X, Y)
    with pytest.raises(ValueError, match="is for classification"):
        BitgrainRegressor(objective="logistic").fit(X, Y > 0.5)


def test_targets_that_are_neither_numbers_nor_classes():
    for y in (["a", None] * 30, ["a", float("nan")] * 30, pd.Series(["a", None] * 30), pl.Series(["a", None] * 30)):
        for call in (lambda y: bitgrain.Dataset(X, y), lambda y: BitgrainClassifier().fit(X, y)):
            with pytest.raises(bitgrain.errors.InputError, match="missing value in y, row 1"):
                call(y)
    dates = np.full(60, np.datetime64("2026-01-01"))
    for y in (dates, dates - dates, np.zeros(60, dtype="V4")):
        with pytest.raises(bitgrain.errors.DTypeError, match="y is of dtype"):
            bitgrain.Dataset(X, y)
    with pytest.raises(bitgrain.errors.DTypeError, match="y holds times"):
        BitgrainRegressor().fit(X, dates)
    exact = bitgrain.Dataset(X, [Decimal(at) / 4 for at in range(60)])
    assert exact.classes is None
    assert exact.target.values[3] == 0.75


def test_too_many_features_are_rejected():
    wide = scipy.sparse.csr_array(([1.0], ([0], [0])), shape=(2, 2**60))
    with pytest.raises(bitgrain.errors.InputError, match="features, at most 16777216 are supported"):
        bitgrain.Dataset(wide, [1.0, 2.0])


def test_a_dataset_cannot_be_pickled():
    with pytest.raises(bitgrain.errors.DTypeError, match="share it among threads"):
        pickle.dumps(bitgrain.Dataset(X, Y))


def test_strings_are_rejected_as_regression_targets():
    with pytest.raises(TypeError, match="the training data has a numeric target"):
        bitgrain.Dataset(X, Y).like(X, np.where(Y > 0.5, "a", "b"))


def test_two_columns_of_one_name_are_rejected():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = bitgrain.train(bitgrain.Dataset(frame, Y), n_estimators=2)
    twice = pd.concat([frame["b"], frame["a"], frame["a"]], axis=1)
    with pytest.raises(ValueError, match="two columns are named `a`"):
        model.predict(twice)


def test_numbers_in_a_string_column_are_rejected():
    strings = np.array(["x", "y"])[np.arange(len(Y)) % 2]
    codes = np.arange(len(Y)) % 2.0
    frame = pd.DataFrame({"c": pd.Categorical(strings), "a": X[:, 0]})
    model = bitgrain.train(bitgrain.Dataset(frame, Y), n_estimators=2)
    for other in (frame.assign(c=codes), pl.DataFrame({"c": codes, "a": X[:, 0]})):
        with pytest.raises(TypeError, match=r"holds numbers, but the model was trained on strings, such as .x"):
            model.predict(other)
    # A category of numbers is accepted where the model has a numeric feature.
    plain = bitgrain.train(bitgrain.Dataset(frame.assign(c=codes), Y), n_estimators=2)
    assert np.array_equal(plain.predict(frame.assign(c=pd.Categorical(codes))), plain.predict(frame.assign(c=codes)))
    # Numeric categories match plain numbers, and an empty column is missing.
    numbered = pd.DataFrame({"c": pd.Categorical(codes), "a": X[:, 0]})
    model = bitgrain.train(bitgrain.Dataset(numbered, Y), n_estimators=2)
    assert np.array_equal(model.predict(numbered), model.predict(numbered.assign(c=codes)))


def test_unsupported_column_types_are_rejected_with_a_fix():
    day = pd.Timestamp("2024-01-01")
    for values, message in (
        ([day] * 3, r"dt\.month"),
        ([day - day] * 3, "total_seconds"),
        ([[1], [2], [3]], "convert it to numbers or a category"),
        (["a", "b", "c"], "category"),
    ):
        with pytest.raises(TypeError, match=message):
            bitgrain.Dataset(pd.DataFrame({"d": values}), [1.0, 2.0, 3.0])


def test_a_broken_sparse_matrix_is_rejected():
    for attribute, at, value in (("indptr", 5, 10**6), ("indices", 3, -1), ("indices", 3, 10**6)):
        broken = scipy.sparse.csr_array(np.nan_to_num(X))
        parts = getattr(broken, attribute).copy()
        parts[at] = value
        setattr(broken, attribute, parts)
        with pytest.raises(ValueError, match="invalid sparse matrix"):
            bitgrain.Dataset(broken, Y)

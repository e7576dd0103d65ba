"""Weight stores: masters and versions."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bitgrain


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(2).normal(0, 0.1, (16, 96)).astype(np.float32)


def test_a_version_equals_quantize_until_the_master_changes(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    assert store.active("int8") is None
    store.morph("int8")
    version = store.active("int8")
    assert version == bitgrain.quantize(weights, "int8")
    np.testing.assert_array_equal(store.values("int8"), version.dequantize())
    store.apply_gradients(np.ones_like(weights), 0.25)
    np.testing.assert_array_equal(store.master, weights - np.float32(0.25))
    assert store.active("int8") is None
    assert store.values("int8").shape == weights.shape


def test_unpacking_decodes_the_master_from_the_codes(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    store.unpack("int4")  # does not exist: no effect
    np.testing.assert_array_equal(store.master, weights)
    store.morph("int4")
    store.morph("int8")
    store.unpack("int4")
    np.testing.assert_array_equal(store.master, bitgrain.quantize(weights, "int4").dequantize())
    assert store.versions == ["int4"]


def test_memory_counts_every_copy(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    store.morph("int8")
    store.morph("q4_0")
    assert store.memory() == {"float32": 16 * 96 * 4, "int8": 16 * 96 + 64, "q4_0": 16 * 3 * 18}
    store.clear("int8")
    assert store.versions == ["q4_0"]
    store.morph("q4_k")  # rows of 96 are not a multiple of 256
    assert store.active("q4_k").dtype == "iq4_nl"
    assert repr(store) == "WeightStore(shape=(16, 96), versions: q4_0, q4_k)"


def test_products_are_computed_on_the_codes(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    x = np.random.default_rng(3).normal(size=(5, 96)).astype(np.float32)
    np.testing.assert_allclose(store.multiply(x), x @ weights.T, rtol=1e-4, atol=1e-4)
    near = x @ store.values("int8").T
    assert np.abs(store.multiply(x, "int8") - near).max() < 0.05 * np.abs(near).max()
    assert store.multiply(x[0], "int8").shape == (16,)
    with pytest.raises(bitgrain.errors.InputError, match="rows of 95"):
        store.multiply(x[:, :95])


def test_importances_apply_to_later_versions(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    store.morph("q4_0")
    plain = store.active("q4_0")
    store.importance = np.linspace(0, 100, 96)
    assert store.active("q4_0") is None
    store.morph("q4_0")
    assert store.active("q4_0") != plain
    assert store.importance.shape == (96,)
    with pytest.raises(bitgrain.errors.InputError):
        store.importance = np.ones(95)
    store.importance = None
    store.morph("q4_0")
    assert store.active("q4_0") == plain


def test_a_store_can_be_pickled(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    store.importance = np.ones(96)
    store.morph("int4/32")
    again = pickle.loads(pickle.dumps(store))
    np.testing.assert_array_equal(again.master, weights)
    assert again.versions == ["int4/32"]
    assert again.active("int4/32") == store.active("int4/32")


def test_bad_input_changes_nothing(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(weights)
    for bad, message in [(np.ones((16, 95)), "shape"), (np.full_like(weights, np.nan), "finite")]:
        with pytest.raises(bitgrain.errors.InputError, match=message):
            store.apply_gradients(bad, 1.0)
        with pytest.raises(bitgrain.errors.InputError, match=message):
            store.master = bad
    np.testing.assert_array_equal(store.master, weights)
    with pytest.raises(bitgrain.errors.InputError, match="weight format"):
        store.morph("int3")
    with pytest.raises(bitgrain.errors.InputError, match="empty"):
        bitgrain.weights.WeightStore(np.empty((0, 4)))
    with pytest.raises(bitgrain.errors.InputError, match="index 5"):
        bitgrain.weights.WeightStore([0, 1, 2, 3, 4, np.inf])
    with pytest.raises(bitgrain.errors.DTypeError):
        bitgrain.weights.WeightStore(["a"])


def test_threads_that_morph_read_and_step_see_no_stale_version(weights: np.ndarray) -> None:
    store = bitgrain.weights.WeightStore(np.zeros_like(weights))

    def work(number: int) -> bool:
        if number % 5 == 0:
            store.apply_gradients(np.ones_like(weights), -1.0)
        store.morph("int8")
        values = store.values("int8")
        # All weights are always equal, so a version of half a step would be visible.
        return bool((values == values.flat[0]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
    np.testing.assert_array_equal(store.master, np.full_like(weights, 40))

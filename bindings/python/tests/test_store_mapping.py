"""A store is a context manager and a mapping."""

import copy
import pathlib
import pickle
from collections.abc import MutableMapping

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore


@pytest.fixture
def store(tmp_path: pathlib.Path) -> TensorStore:
    return TensorStore(tmp_path / "store", sync="on_seal")


def test_a_store_maps_ids_to_arrays(store: TensorStore) -> None:
    assert isinstance(store, MutableMapping)
    assert len(store) == 0
    assert list(store) == []
    store["b"] = np.arange(6).reshape(2, 3)
    store["a"] = 1.5
    store[7] = [1, 2, 3]
    assert list(store) == ["a", "b", 7]
    assert len(store) == 3
    assert store["b"].shape == (2, 3)
    assert store["a"].shape == ()
    assert np.allclose(store["b"], np.arange(6).reshape(2, 3), atol=0.02)
    del store["a"]
    assert list(store.keys()) == ["b", 7]
    assert [(id, array.shape) for id, array in store.items()] == [("b", (2, 3)), (7, (3,))]
    assert [array.size for array in store.values()] == [6, 3]
    assert store.pop("b").shape == (2, 3)
    assert "b" not in store
    assert store.pop("b", None) is None
    store.update({"x": np.ones(2), "y": np.zeros(2)})
    assert store.setdefault("x", np.zeros(9)).shape == (2,)
    store.clear()
    assert len(store) == 0


def test_items_are_read_one_after_another(store: TensorStore) -> None:
    for number in range(5):
        store[number] = np.full(4, number)
    items = iter(store.items())
    assert next(items)[0] == 0
    assert store.stat(1).accesses == 1  # put, not read yet


def test_a_string_of_digits_is_not_a_number(store: TensorStore) -> None:
    store["7"] = [1.0]
    assert 7 not in store
    assert "7" in store
    store[7] = [1.0, 2.0]
    assert store["7"].shape == (1,)
    assert store[7].shape == (2,)
    store[2**128 - 1] = [3.0]
    assert list(store) == ["7", 7, 2**128 - 1]
    assert np.uint8(7) in store
    assert store[np.int64(7)].shape == (2,)


@pytest.mark.parametrize("odd", [None, 1.5, (1, 2), b"7", True, -1, 2**128])
def test_an_invalid_id_is_never_found_and_cannot_be_put(store: TensorStore, odd: object) -> None:
    assert odd not in store
    with pytest.raises((TypeError, ValueError)) as caught:
        store[odd] = [1.0]  # type: ignore[index]
    assert isinstance(caught.value, bitgrain.Error)
    assert "id" in str(caught.value)
    with pytest.raises(bitgrain.errors.InputError):
        store[""] = [1.0]
    with pytest.raises(bitgrain.errors.InputError):
        store["\ud800"] = [1.0]


def test_a_missing_id_is_a_key_error_and_get_has_a_default(store: TensorStore) -> None:
    with pytest.raises(KeyError, match="unknown tensor id `nothing`") as caught:
        store["nothing"]
    assert isinstance(caught.value, bitgrain.errors.NotFoundError)
    with pytest.raises(KeyError):
        del store["nothing"]
    with pytest.raises(KeyError):
        store.stat("nothing")
    assert store.get("nothing") is None
    assert store.get("nothing", 3) == 3
    for asked in ({"out": np.empty(3, np.float32)}, {"rows": slice(1)}, {"with_provenance": True}):
        with pytest.raises(KeyError):
            store.get("nothing", **asked)  # type: ignore[call-overload]


def test_leaving_a_with_block_closes_the_store_and_releases_the_lock(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path) as store:
        store["a"] = [1.0]
        with pytest.raises(bitgrain.errors.LockedError, match="locked by process"):
            TensorStore(tmp_path)
    assert store.closed
    with TensorStore(tmp_path, mode="r+") as again:
        assert again.recovery.tensors == 1
        assert again.recovery.is_clean
        with pytest.raises(RuntimeError), again:
            raise RuntimeError
        assert again.closed
    TensorStore(tmp_path).close()


def test_a_closed_store_raises(tmp_path: pathlib.Path) -> None:
    store = TensorStore(tmp_path)
    batch, snapshot = store.batch(), store.snapshot()
    store.close()
    store.close()
    uses = [
        lambda: store["a"],
        lambda: store.put("a", [1.0]),
        lambda: "a" in store,
        lambda: len(store),
        lambda: list(store),
        lambda: store.stats(),
        lambda: store.tick(),
        lambda: store.recovery,
        lambda: store.__enter__(),
        lambda: batch.put("a", [1.0]),
        lambda: batch.commit(),
    ]
    for use in uses:
        with pytest.raises(ValueError, match="closed") as caught:
            use()
        assert isinstance(caught.value, bitgrain.errors.InputError)
    assert "closed" in repr(store)
    assert len(snapshot) == 0  # it holds its own files, so it outlives the store
    snapshot.close()
    with pytest.raises(bitgrain.errors.InputError, match="the snapshot is closed"):
        len(snapshot)


def test_a_forgotten_store_is_closed_when_it_is_collected(tmp_path: pathlib.Path) -> None:
    store = TensorStore(tmp_path)
    store["a"] = [1.0]
    del store
    with TensorStore(tmp_path) as again:
        assert again.recovery.is_clean
        assert "a" in again


def test_pickling_and_copying_raise_with_a_fix(store: TensorStore) -> None:
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="hand over the path"):
            refuse(store)
    with pytest.raises(TypeError, match="batch"):
        pickle.dumps(store.batch())


def test_metadata_can_be_pickled(store: TensorStore) -> None:
    store.put("a", [1.0], user={"unit": "m"})
    for known in (
        store.stat("a"),
        store.stats(),
        store.recovery,
        store.plan(),
        store.tick(),
        bitgrain.store.TierPolicy(),
    ):
        assert pickle.loads(pickle.dumps(known)) == known


def test_stores_are_compared_by_identity(store: TensorStore, tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path / "other") as other:
        assert store == store
        assert store != other
        assert len({store, other}) == 2
        assert str(tmp_path) in repr(store)
        assert "0 tensors" in repr(store)

"""Arrays in and out of the store."""

import contextlib
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bitgrain
from bitgrain import TensorStore
from bitgrain.store import Tier


@pytest.fixture
def store(tmp_path: pathlib.Path) -> TensorStore:
    return TensorStore(tmp_path / "store", sync="on_seal")


def wave(*shape: int) -> npt.NDArray[np.float32]:
    return np.sin(np.arange(np.prod(shape, dtype=int)) * 0.1, dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 0, 3), (1000,), (10, 20), (3, 1, 4, 1, 5), (1,) * 32])
def test_every_shape_round_trips(store: TensorStore, shape: tuple[int, ...]) -> None:
    array = wave(*shape)
    cost = store.put("a", array)
    back, provenance = store.get("a", with_provenance=True)
    assert back.shape == shape
    assert back.dtype == np.float32
    assert back.flags.writeable
    assert cost == provenance
    assert np.all(np.abs(back - array) <= provenance.measured)
    assert provenance.measured <= provenance.bound
    assert store.stat("a").shape == shape


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "i1", "i4", "i8", "u1", "u8", "?"])
def test_real_numbers_of_every_type_are_converted(store: TensorStore, dtype: str) -> None:
    array = (np.arange(24) % 2).astype(dtype).reshape(4, 6)
    store["a"] = array
    assert np.allclose(store["a"], array.astype(np.float32), atol=0.005)


def test_views_of_every_order_are_read_as_numpy_reads_them(store: TensorStore) -> None:
    array = wave(16, 16)
    unaligned = np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(np.float32)
    views = [array.T, array[::2, 1::3], array[::-1], np.asfortranarray(array), unaligned, array[3], array[:, None]]
    frozen = array.copy()
    frozen.flags.writeable = False
    for view in [*views, frozen, array.tolist(), np.asmatrix(array)]:
        store.put("a", view, lossless=isinstance(view, np.ndarray))
        assert np.allclose(store["a"], view, atol=0.01)
        assert store["a"].shape == np.shape(view)


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([1j]),
        np.array(["1"]),
        np.array([b"1"]),
        np.array([object()]),
        np.array([None, 1.0], dtype=object),
        np.array(["2026-01-01"], dtype="M8[D]"),
        np.array([1], dtype="m8[s]"),
        np.zeros(2, dtype=[("x", "f4")]),
        None,
        "text",
    ],
    ids=lambda wrong: str(getattr(wrong, "dtype", wrong)),
)
def test_values_that_are_not_real_numbers_are_rejected(store: TensorStore, wrong: Any) -> None:
    for refuse in (store.put, store.append, store.batch().put):
        with pytest.raises(bitgrain.errors.DTypeError, match="astype"):
            refuse("a", wrong)
    assert len(store) == 0


def test_masked_and_ragged_arrays_are_rejected(store: TensorStore) -> None:
    with pytest.raises(bitgrain.errors.InputError, match="filled"):
        store["a"] = np.ma.array([1.0, 2.0], mask=[True, False])
    store["a"] = np.ma.array([1.0, 2.0], mask=False)
    with pytest.raises(bitgrain.errors.InputError, match="cannot convert to an array"):
        store["a"] = [[1.0], [1.0, 2.0]]


def test_non_finite_values_are_rejected_or_replaced(store: TensorStore) -> None:
    array = np.array([1.0, np.nan, np.inf, -np.inf, 2.0])
    with pytest.raises(ValueError, match="index 1"):
        store["a"] = array
    store.put("a", array, non_finite="zero")
    assert np.allclose(store["a"], [1, 0, 0, 0, 2], atol=0.02)
    store.put("a", array, non_finite="clamp")
    assert np.allclose(store["a"], [1, 0, 2, -2, 2], atol=0.02)
    with pytest.raises(bitgrain.errors.InputError, match='"reject", "zero", "clamp"'):
        store.put("a", array, non_finite="keep")  # type: ignore[arg-type]


def test_lossless_is_exact_or_rejected(store: TensorStore) -> None:
    array = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    assert store.put("a", array, lossless=True) == (Tier.LOSSLESS, 32, 0.0, 0.0, 0)
    assert np.array_equal(store["a"], array)
    with pytest.raises(bitgrain.errors.DTypeError, match="not be lossless"):
        store.put("a", array.astype(np.float64) + 1e-12, lossless=True)
    for wide in ([2**24 + 1], [2**53 + 1], [2**63 - 1], [0.1], [1e300]):
        with pytest.raises(bitgrain.errors.DTypeError), np.errstate(all="ignore"):
            store.put("a", wide, lossless=True)
    store.put("a", [0.5, 2.0**100], lossless=True)
    assert store["a"].tolist() == [0.5, 2.0**100]
    store.put("a", np.arange(-128, 128, dtype=np.int16), lossless=True)
    assert np.array_equal(store["a"], np.arange(-128, 128))


def test_float32_is_read_without_a_copy() -> None:
    from bitgrain.store.array import float32

    array = wave(3, 4)
    assert float32(array) is array
    assert float32(array.T) is not array


def test_an_out_array_is_filled(store: TensorStore) -> None:
    array = wave(30, 40)
    store["a"] = array
    out = np.empty((30, 40), np.float32)
    assert store.get("a", out=out) is out
    assert np.array_equal(out, store["a"])
    part = np.zeros((3, 30, 40), np.float32)
    filled, provenance = store.get("a", out=part[1], with_provenance=True)
    assert np.array_equal(part[1], out)
    assert not part[0].any()
    assert not part[2].any()
    assert provenance.bits == 8
    assert np.shares_memory(filled, part)
    with store.snapshot() as snapshot:
        assert np.array_equal(snapshot.get("a", out=np.empty_like(out)), out)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.empty((4, 6)), bitgrain.errors.DTypeError),
        (np.empty((4, 6), ">f4"), bitgrain.errors.DTypeError),
        ([0.0] * 24, bitgrain.errors.DTypeError),
        (np.empty((6, 4), np.float32), bitgrain.errors.InputError),
        (np.empty(24, np.float32), bitgrain.errors.InputError),
        (np.empty((6, 4), np.float32).T, bitgrain.errors.InputError),
        (np.empty((4, 12), np.float32)[:, ::2], bitgrain.errors.InputError),
        (np.broadcast_to(np.float32(0), (4, 6)), bitgrain.errors.InputError),
    ],
)
def test_an_array_that_cannot_be_filled_is_rejected(store: TensorStore, out: Any, error: type[Exception]) -> None:
    store["a"] = wave(4, 6)
    with pytest.raises(error, match="out"):
        store.get("a", out=out)


def test_rows_are_those_of_the_whole(store: TensorStore) -> None:
    store["a"] = wave(100, 7)
    whole = store["a"]
    for rows in (slice(10, 20), slice(None), slice(-3, None), slice(90, 1000), slice(5, 2), range(4, 6), range(0)):
        assert np.array_equal(store.get("a", rows=rows), whole[rows.start : rows.stop])
    assert np.array_equal(store.get_rows("a", 10, 12), whole[10:12])
    rows, provenance = store.get_rows("a", 10, 12, with_provenance=True)
    assert provenance == store.get("a", with_provenance=True)[1]
    for wrong in (slice(0, 10, 2), range(90, 110), range(5, 2)):
        with pytest.raises(bitgrain.errors.InputError, match="rows"):
            store.get("a", rows=wrong)
    with pytest.raises(bitgrain.errors.DTypeError, match="slice"):
        store.get("a", rows=[1, 2])  # type: ignore[call-overload]
    with pytest.raises(bitgrain.errors.InputError):
        store.get_rows("a", -1, 2)
    with pytest.raises(bitgrain.errors.InputError, match="either out or rows"):
        store.get("a", rows=slice(1), out=np.empty((1, 7), np.float32))  # type: ignore[call-overload]


def test_an_error_limit_is_kept_or_rejected(store: TensorStore) -> None:
    array = wave(1000) * 100
    bound = store.put("a", array).bound
    cost = store.put("a", array, max_error=bound)
    assert cost.bound <= bound
    assert store.stat("a").max_error == pytest.approx(bound)
    with pytest.raises(ValueError, match="use more bits or lossless"):
        store.put("a", array, tier="cold")
    with pytest.raises(ValueError, match="above the limit"):
        store.put("a", array, max_error=bound / 100)
    store.set_max_error("a", None)
    assert store.put("a", array, tier=Tier.COLD).bits == 3
    with pytest.raises(bitgrain.errors.InputError):
        store.set_max_error("a", bound)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(bitgrain.errors.InputError, match="max_error"):
            store.put("a", array, max_error=wrong)


def test_user_metadata_of_a_tensor_is_kept(store: TensorStore) -> None:
    store.put("a", [1.0], pin="warm", user={"unit": "m", "from": "Löwe"})
    store["a"] = [2.0]
    info = store.stat("a")
    assert info.user == {"unit": "m", "from": "Löwe"}
    assert list(info.user) == ["unit", "from"]
    assert info.pinned is Tier.WARM
    assert info.tier is Tier.WARM
    assert info.provenance.bits == 7
    store.pin("a", None)
    store.set_user("a", {})
    assert store.stat("a").pinned is None
    assert store.stat("a").user == {}
    with pytest.raises(bitgrain.errors.DTypeError, match="json"):
        store.put("a", [1.0], user={"n": 1})  # type: ignore[dict-item]
    with pytest.raises(bitgrain.errors.InputError, match='"lossless", "f16", "hot"'):
        store.pin("a", "tepid")


def test_frames_are_returned_as_one_array(store: TensorStore) -> None:
    frames = np.stack([290 + np.sin(np.arange(100) + hour / 10) for hour in range(48)]).astype(np.float32)
    for hour, frame in enumerate(frames):
        info = store.append("room", frame.reshape(10, 10), time=hour * 3600)
        assert info.index == hour
        assert info.time == hour * 3600
        assert info.nbytes
    back, infos = store.frames("room", with_provenance=True)
    assert back.shape == (48, 10, 10)
    assert len(infos) == 48
    for frame, read, info in zip(frames, back, infos, strict=True):
        assert np.abs(frame - read.ravel()).max() <= info.provenance.bound
    assert infos[0].role == "key"
    assert {info.role for info in infos} > {"key"}
    assert np.array_equal(store.frames("room", 24, 26), back[24:26])
    assert store.frames("room", 5, 5).shape == (0, 10, 10)
    assert np.array_equal(store["room"], back[-1])
    assert store.stat("room").frames == 48
    assert store.stat("room").shape == (10, 10)
    with store.snapshot() as snapshot:
        store.append("room", frames[0].reshape(10, 10))
        assert snapshot.frames("room").shape[0] == 48
        assert store.frames("room").shape[0] == 49
    assert store.frames("room", 48, with_provenance=True)[1][0].time > 1_700_000_000_000  # now, in milliseconds
    for wrong in ((40, 60), (3, 2), (-1, 2)):
        with pytest.raises(bitgrain.errors.InputError):
            store.frames("room", *wrong)
    with pytest.raises(bitgrain.errors.InputError, match=r"shape \(3,\), but earlier frames have \(10, 10\)"):
        store.append("room", [1.0, 2.0, 3.0])
    with pytest.raises(bitgrain.errors.InputError, match="cycle"):
        store.attach("room", bitgrain.store.Factor("room"))
    store.append("twice", 2 * frames[0].reshape(10, 10))
    store.attach("twice", bitgrain.store.Factor("room", scale=2.0))
    assert store.stat("twice").reconstructable
    with pytest.raises(bitgrain.errors.InputError, match="its frames differ"):
        store.attach("twice", bitgrain.store.Delta("room", wanted=frames[0].reshape(10, 10)))
    store.attach("twice", None)
    store["whole"] = [1.0]
    with pytest.raises(bitgrain.errors.InputError, match="not temporal"):
        store.append("whole", [1.0])
    with pytest.raises(bitgrain.errors.InputError):
        store.append("room", frames[0], time=-1)
    store.put("room", [1.0], replace=True)  # replaces all frames
    assert store.stat("room").frames is None


def test_a_batch_is_atomic(store: TensorStore) -> None:
    store["old"] = [1.0]
    with store.batch() as batch:
        batch["new"] = wave(3, 4)
        assert batch.put("exact", np.ones(1, np.float32), lossless=True).bits == 32
        batch.append("frames", [1.0, 2.0], time=1)
        batch.append("frames", [2.0, 3.0], time=2)
        del batch["old"]
        assert len(batch) == 5
        assert list(store) == ["old"]
    assert list(store) == ["exact", "frames", "new"]
    assert store.frames("frames").shape == (2, 2)
    with contextlib.suppress(RuntimeError), store.batch() as batch:
        batch["never"] = [1.0]
        raise RuntimeError
    assert "never" not in store
    batch = store.batch()
    batch["never"] = [1.0]
    batch.delete("nothing")
    with pytest.raises(KeyError), batch:
        pass
    assert "never" not in store
    with pytest.raises(bitgrain.errors.InputError, match="the batch is closed"):
        batch.put("late", [1.0])
    with store.batch() as batch:
        with pytest.raises(ValueError, match="not finite"):
            batch["bad"] = [np.nan]
        batch["good"] = [1.0]
    assert "good" in store
    assert "bad" not in store


def test_a_snapshot_stays_as_it_is(store: TensorStore) -> None:
    store["a"], store["b"] = wave(100), wave(10)
    with store.snapshot() as snapshot:
        before = store["a"]
        store["a"] = wave(100) * 2
        del store["b"]
        store["c"] = [1.0]
        store.compact(all=True)
        store.close()
        assert list(snapshot) == ["a", "b"]
        assert "c" not in snapshot
        assert len(snapshot) == 2
        assert np.array_equal(snapshot["a"], before)
        assert snapshot.get("b", rows=slice(2)).shape == (2,)
        assert [info.id for info in snapshot.scan("b")] == ["b"]
        assert "2 tensors" in repr(snapshot)
        assert not hasattr(snapshot, "put")


def test_absent_tensors_are_reconstructed(store: TensorStore) -> None:
    base = wave(8, 8)
    store["base"] = base
    store.put_absent("tuned", bitgrain.store.Delta("base", wanted=base + 0.1))
    store.put_absent("more", bitgrain.store.Delta("base", delta=np.full((8, 8), 0.5)))
    order = np.arange(8)[::-1]
    store.put_absent("turned", bitgrain.store.Factor("base", scale=2.0, permutation=order))
    store.put_absent("summed", bitgrain.store.Factor("base", projection=np.ones((1, 8))))
    values, provenance = store.get("tuned", with_provenance=True)
    assert np.abs(values - (base + 0.1)).max() <= provenance.bound
    assert provenance.depth == 1
    assert store.stat("tuned").tier is Tier.ABSENT
    assert store.stat("tuned").reconstructable
    assert np.allclose(store["more"], base + 0.5, atol=0.02)
    assert np.allclose(store["turned"], 2 * base[::-1], atol=0.02)
    assert store["summed"].shape == (1, 8)
    assert np.allclose(store["summed"], base.sum(0, keepdims=True), atol=0.1)
    with pytest.raises(bitgrain.errors.InputError, match="`base` is in use"):
        del store["base"]
    store.delete("base", dependents="materialize")
    assert np.allclose(store["turned"], 2 * base[::-1], atol=0.04)
    store.delete("more", dependents="materialise")
    assert "more" not in store
    assert store.stat("turned").tier is Tier.HOT
    store.attach("turned", bitgrain.store.Delta("tuned", wanted=2 * base[::-1]))
    assert store.stat("turned").reconstructable
    store.attach("turned", None)
    assert not store.stat("turned").reconstructable


def test_tensors_that_cannot_be_reconstructed_are_rejected(store: TensorStore) -> None:
    store["base"] = wave(4, 2)
    wrong: list[Any] = [
        bitgrain.store.Delta("base", wanted=wave(3, 2)),
        bitgrain.store.Delta("a", wanted=wave(4, 2)),
        bitgrain.store.Factor("base", permutation=[0, 1, 2, 2]),
        bitgrain.store.Factor("base", permutation=[0, 1, 2, -1]),
        bitgrain.store.Factor("base", projection=np.ones((2, 3))),
        bitgrain.store.Factor("base", projection=np.ones(4)),
        bitgrain.store.Factor("base", scale=np.nan),
        "base",
    ]
    for recipe in wrong:
        with pytest.raises((bitgrain.errors.InputError, bitgrain.errors.NotFoundError)):
            store.put_absent("a", recipe)
    with pytest.raises(bitgrain.errors.DTypeError):
        store.put_absent("a", bitgrain.store.Factor("base", permutation=[0.5, 1, 2, 3]))  # type: ignore[list-item]
    for arrays in ({}, {"wanted": [1.0], "delta": [1.0]}):
        with pytest.raises(bitgrain.errors.InputError, match="either"):
            bitgrain.store.Delta("base", **arrays)
    assert list(store) == ["base"]


def test_lossless_excludes_tiers_with_fewer_bits(tmp_path: pathlib.Path) -> None:
    values = np.linspace(-9, 9, 100, dtype=np.float32)
    with bitgrain.TensorStore(tmp_path) as store:
        for setting in ({"tier": "cold"}, {"pin": bitgrain.store.Tier.HOT}):
            with pytest.raises(bitgrain.errors.InputError, match="lossless=True keeps 32 bits"):
                store.put("a", values, lossless=True, **setting)
            with store.batch() as batch, pytest.raises(bitgrain.errors.InputError, match="lossless"):
                batch.put("a", values, lossless=True, **setting)
        store.put("a", values, lossless=True, tier="lossless")
        assert np.array_equal(store["a"], values)


def test_messages_use_the_names_of_this_package(tmp_path: pathlib.Path) -> None:
    with bitgrain.TensorStore(tmp_path / "store") as store:
        for call, kind, message in (
            (lambda: store.put("a", [np.nan]), bitgrain.errors.InputError, 'non_finite="zero" or "clamp"'),
            (lambda: store.put("a", [1e300]), bitgrain.errors.InputError, "beyond float32"),
            (lambda: store.put("a", [1.0], max_error="x"), bitgrain.errors.DTypeError, "max_error is 'x'"),
            (lambda: store.put("a", [1.0], max_error=1e300), bitgrain.errors.InputError, "beyond float32"),
            (lambda: store.put("a", [1.0], user="x"), bitgrain.errors.DTypeError, "user is 'x'"),
            (lambda: store.plan("x"), bitgrain.errors.DTypeError, "now is 'x'; pass a datetime"),
            (lambda: store.plan(np.datetime64("now")), bitgrain.errors.DTypeError, "pass a datetime"),
            (lambda: store.compact(garbage=np.nan), bitgrain.errors.InputError, "garbage is nan"),
            (lambda: store.compact(garbage=5), bitgrain.errors.InputError, "garbage is 5"),
        ):
            with pytest.raises(kind, match=message):
                call()
        store.append("frames", np.zeros((3, 4)))
        with pytest.raises(bitgrain.errors.InputError, match=r"shape \(4, 3\), but earlier frames have \(3, 4\)"):
            store.append("frames", np.zeros((4, 3)))
        store["number"] = 3.0
        for rows in (slice(0, 0), range(1)):
            with pytest.raises(bitgrain.errors.InputError, match="no rows"):
                store.get("number", rows=rows)
    with pytest.raises(bitgrain.errors.InputError, match="path is empty"):
        bitgrain.TensorStore("")
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(OSError, match="the path is a file; a store is a folder"):
        bitgrain.TensorStore(file)
    with pytest.raises(FileNotFoundError) as caught:
        bitgrain.load_model(tmp_path / "none")
    assert "os error" not in str(caught.value)
    assert caught.value.filename == str(tmp_path / "none")
    assert issubclass(type(bitgrain.errors.FileError(13, "no")), PermissionError)

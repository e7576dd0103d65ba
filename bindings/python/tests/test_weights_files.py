"""Model files, compared with the packages that define them."""

import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gguf
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import bitgrain


@pytest.fixture
def state() -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    return {
        "blk.0.weight": random.normal(0, 0.1, (32, 256)).astype(np.float32),
        "blk.1.weight": random.normal(0, 0.1, (16, 512)).astype(np.float32),
        "norm": np.ones(32, np.float32),
        "half": random.normal(size=(4, 8)).astype(np.float16),
        "ids": np.arange(5),
    }


@pytest.fixture
def model(state: dict[str, np.ndarray], tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    safetensors.numpy.save_file(state, path, metadata={"format": "np"})
    return path


def test_safetensors_files_are_read_as_by_the_safetensors_package(model: Path, state: dict[str, np.ndarray]) -> None:
    opened = bitgrain.open_model(model)
    assert set(opened) == set(state)
    assert len(opened) == 5
    assert "norm" in opened
    assert "nothing" not in opened
    for name, array in state.items():
        found = opened[name].numpy()
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found, array)
        np.testing.assert_array_equal(np.asarray(opened[name]), array)
    assert opened["half"].dequantize().dtype == np.float32
    assert opened.metadata == {"format": "np"}
    assert (opened.container, opened.size) == ("safetensors", sum(array.size for array in state.values()))
    assert opened.nbytes == sum(array.nbytes for array in state.values())
    assert opened["norm"].stats()["mean"] == 1.0
    assert pickle.loads(pickle.dumps(opened))["ids"].numpy().sum() == 10
    assert repr(opened["norm"]) == "FileTensor('norm', float32, shape=(32,), 128 bytes)"


def test_gguf_files_are_read_as_by_the_gguf_package(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    weights = np.random.default_rng(8).normal(size=(8, 256)).astype(np.float32)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 3)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_bool("flag", True)
    writer.add_array("tokens", ["a", "ß", "→"])
    writer.add_array("scores", [0.5, -1.5])
    writer.add_tensor("plain", weights)
    writer.add_tensor("half", weights.astype(np.float16))
    kind = gguf.GGMLQuantizationType.Q4_0
    blocks = gguf.quants.quantize(weights, kind)
    writer.add_tensor("blocks", blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    opened = bitgrain.open_model(path)
    assert opened.container == "GGUF"
    assert opened.metadata["llama.block_count"] == 3
    assert opened.metadata["flag"] is True
    assert opened.metadata["tokens"] == ["a", "ß", "→"]
    assert opened.metadata["scores"] == [0.5, -1.5]
    np.testing.assert_array_equal(opened["plain"].numpy(), weights)
    assert opened["half"].numpy().dtype == np.float16
    assert opened["blocks"].dtype == "q4_0"
    np.testing.assert_array_equal(opened["blocks"].quantized().codes, blocks)
    np.testing.assert_array_equal(opened["blocks"].numpy(), gguf.quants.dequantize(blocks, kind))
    assert opened["blocks"].quantized().error is None


def test_saved_files_are_read_by_the_reference_packages(state: dict[str, np.ndarray], tmp_path: Path) -> None:
    state["flags"] = np.array([True, False])
    state["short"] = state["norm"].astype(ml_dtypes.bfloat16)
    state["view"] = state["half"].T
    path = tmp_path / "out.safetensors"
    bitgrain.weights.save_tensors(path, state, metadata={"who": "me"})
    back = safetensors.numpy.load_file(path)
    for name, array in state.items():
        if name != "short":
            np.testing.assert_array_equal(back[name], array)
    assert bitgrain.open_model(path)["short"].dtype == "bfloat16"
    assert bitgrain.open_model(path).metadata == {"who": "me"}
    path = tmp_path / "out.gguf"
    blocks = bitgrain.quantize(state["blk.0.weight"], "q4_k")
    keys = {
        "general.architecture": "llama",
        "n": 3,
        "deep": -(2**40),
        "x": 0.5,
        "on": True,
        "list": ["a", "b"],
        "m": [1, 2],
    }
    bitgrain.weights.save_tensors(path, {"w": blocks, "ids": state["ids"]}, metadata=keys)
    reader = gguf.GGUFReader(path)
    assert [tensor.name for tensor in reader.tensors] == ["w", "ids"]
    np.testing.assert_array_equal(reader.tensors[0].data, blocks.codes)
    metadata = bitgrain.open_model(path).metadata
    assert {key: metadata[key] for key in keys} == keys


def test_quantized_tensors_round_trip_through_files(state: dict[str, np.ndarray], tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    small = bitgrain.weights.quantize_state_dict(state, "uint4", group=32, calibrate="mse", keep={"blk.1.*": "q4_k"})
    bitgrain.weights.save_tensors(path, small)
    opened = bitgrain.open_model(path)
    for name, tensor in small.items():
        if isinstance(tensor, bitgrain.weights.QuantizedTensor):
            assert opened[name].quantized() == tensor
        else:
            np.testing.assert_array_equal(opened[name].numpy(), tensor)
    again = tmp_path / "again.safetensors"
    bitgrain.weights.save_tensors(again, opened)
    assert bitgrain.open_model(again)["blk.0.weight"].quantized() == small["blk.0.weight"]
    with pytest.warns(UserWarning, match="becomes float32"):
        bitgrain.weights.save_tensors(tmp_path / "small.gguf", {"w": small["blk.0.weight"]})


def test_a_file_is_quantized_as_its_arrays_are(model: Path, state: dict[str, np.ndarray], tmp_path: Path) -> None:
    target = tmp_path / "small.gguf"
    done = bitgrain.quantize_file(model, target, "q4_k", keep={"blk.1*": "q8_0", "half": "keep"})
    opened = bitgrain.open_model(target)
    assert {name: tensor.dtype for name, tensor in opened.items()} == {
        "blk.0.weight": "q4_k",
        "blk.1.weight": "q8_0",
        "norm": "float32",
        "half": "float16",
        "ids": "i64",
    }
    assert opened["blk.0.weight"].quantized() == bitgrain.quantize(state["blk.0.weight"], "q4_k")
    rows = {row.name: row for row in done.tensors}
    wanted = bitgrain.quantize(state["blk.0.weight"], "q4_k").error
    assert rows["blk.0.weight"].error.relative_rmse == pytest.approx(wanted.relative_rmse)
    assert rows["norm"].error is None
    assert done.file_bytes == target.stat().st_size
    assert done.bytes_after < done.bytes_before
    other = tmp_path / "int4.safetensors"
    bitgrain.quantize_file(bitgrain.open_model(model), other, "int4", group=32, calibrate="mse", keep=["half"])
    wanted = bitgrain.quantize(state["blk.0.weight"], "int4", group=32, calibrate="mse")
    assert bitgrain.open_model(other)["blk.0.weight"].quantized() == wanted


def test_a_budget_is_kept_and_a_plan_can_be_applied(model: Path, tmp_path: Path) -> None:
    budget = 16_000
    first = tmp_path / "fit.safetensors"
    done = bitgrain.quantize_file(model, first, budget=budget, plan=tmp_path / "plan.json", candidates=["int4", "int8"])
    assert done.bytes_after <= budget
    assert done.plan.bytes == done.bytes_after
    assert set(done.plan.formats) >= {"blk.0.weight", "blk.1.weight"}
    assert done.plan.curve[0][0] < done.plan.curve[-1][0]
    second = tmp_path / "again.safetensors"
    bitgrain.quantize_file(model, second, plan=tmp_path / "plan.json")
    assert first.read_bytes() == second.read_bytes()
    good = bitgrain.quantize_file(model, tmp_path / "good.gguf", max_rmse=0.03)
    assert good.plan.relative_rmse <= 0.03
    with pytest.raises(bitgrain.errors.InputError, match="too small"):
        bitgrain.quantize_file(model, first, budget="1kB")
    with pytest.raises(bitgrain.errors.InputError, match="cannot reach"):
        bitgrain.quantize_file(model, first, max_rmse=1e-12, candidates=["int4"])


def test_importances_and_shards(model: Path, state: dict[str, np.ndarray], tmp_path: Path) -> None:
    importance = tmp_path / "importance.npz"
    np.savez(importance, **{"blk.0.weight": np.linspace(1, 100, 256, dtype=np.float32)})
    bitgrain.quantize_file(model, tmp_path / "a.gguf", "q4_0", importance=importance)
    found = bitgrain.open_model(tmp_path / "a.gguf")["blk.0.weight"].quantized()
    wanted = bitgrain.quantize(state["blk.0.weight"], "q4_0", importance=np.linspace(1, 100, 256, dtype=np.float32))
    assert found == wanted
    for to, also in (("int8", {}), ("float16", {}), ("int4", {"keep": {"norm": "int8"}}), ("q8_0", {})):
        with pytest.raises(bitgrain.errors.InputError, match=f"importance has no effect on {to}"):
            bitgrain.quantize_file(model, tmp_path / "b.gguf", to, importance=importance, **also)
    with pytest.raises(bitgrain.errors.InputError, match="importance has no effect on"):
        bitgrain.quantize_file(
            model, tmp_path / "b.gguf", budget="100kB", candidates=["int8", "q8_0"], importance=importance
        )
    assert not (tmp_path / "b.gguf").exists()
    bitgrain.quantize_file(model, tmp_path / "b.safetensors", "int4", calibrate="mse", importance=importance)
    index = tmp_path / "shards" / "model.safetensors.index.json"
    index.parent.mkdir()
    bitgrain.quantize_file(model, index, "int8", shard_size="10kB")
    assert len(bitgrain.open_model(index).files) > 1
    assert len(bitgrain.open_model(index.parent)) == 5


def test_a_comparison_reports_the_error(model: Path, state: dict[str, np.ndarray], tmp_path: Path) -> None:
    small = tmp_path / "small.gguf"
    bitgrain.quantize_file(model, small, "q4_0", keep=["half"])
    compared = bitgrain.compare_files(model, small)
    rows = {row.name: row for row in compared.tensors}
    wanted = bitgrain.quantize(state["blk.0.weight"], "q4_0").error
    assert rows["blk.0.weight"].error.relative_rmse == pytest.approx(wanted.relative_rmse)
    assert (rows["blk.0.weight"].first, rows["blk.0.weight"].second) == ("float32", "q4_0")
    assert rows["norm"].error.exact
    assert compared.worst(1)[0].name.startswith("blk")
    assert compared.second_bytes < compared.first_bytes
    assert compared.to_dict()["overall"]["cosine"] == compared.overall.cosine
    page = compared.to_html(tmp_path / "page.html")
    assert page.startswith("<!DOCTYPE html>")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert len(compared.to_html(trade_off=True)) > len(page)
    assert "iframe" in compared._repr_html_()
    same = bitgrain.compare_files(bitgrain.open_model(model), model)
    assert same.overall.exact
    other = tmp_path / "other.safetensors"
    bitgrain.weights.save_tensors(other, {"else": np.ones(3)})
    with pytest.raises(bitgrain.errors.InputError, match="no tensor"):
        bitgrain.compare_files(model, other)


def test_missing_files_raise_file_not_found_error(tmp_path: Path, model: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        bitgrain.open_model(tmp_path / "nothing.gguf")
    assert isinstance(caught.value, bitgrain.errors.FileError)
    assert caught.value.errno == 2
    assert caught.value.filename == str(tmp_path / "nothing.gguf")
    with pytest.raises(FileNotFoundError):
        bitgrain.quantize_file(tmp_path / "nothing.gguf", tmp_path / "out.gguf", "q8_0")
    with pytest.raises(bitgrain.errors.FileError):
        bitgrain.quantize_file(model, tmp_path / "no" / "folder.gguf", "q8_0")
    (tmp_path / "empty").mkdir()
    with pytest.raises(bitgrain.errors.FormatError, match="no weights found"):
        bitgrain.open_model(tmp_path / "empty")


def test_foreign_and_truncated_files_are_rejected(model: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.bin"
    foreign.write_bytes(b"something else entirely")
    with pytest.raises(bitgrain.errors.FormatError, match="unknown model format"):
        bitgrain.open_model(foreign)
    whole = model.read_bytes()
    cut = tmp_path / "cut.safetensors"
    for end in (4, 100, len(whole) - 1):
        cut.write_bytes(whole[:end])
        with pytest.raises(bitgrain.errors.FormatError):
            bitgrain.open_model(cut)
    gguf_path = tmp_path / "model.gguf"
    bitgrain.quantize_file(model, gguf_path, "q8_0")
    whole = gguf_path.read_bytes()
    for end in (10, 200, len(whole) - 64):
        cut.write_bytes(whole[:end])
        with pytest.raises(bitgrain.errors.FormatError):
            bitgrain.open_model(cut)


def test_bad_requests_are_rejected_and_write_nothing(model: Path, state: dict[str, np.ndarray], tmp_path: Path) -> None:
    out = tmp_path / "out.gguf"
    cases: list[tuple[dict[str, object], str]] = [
        ({}, "no format given"),
        ({"to": "int3"}, "weight format"),
        ({"to": "int4"}, "cannot hold"),
        ({"to": "q8_0", "budget": 5}, "cannot be combined"),
        ({"budget": 5, "max_rmse": 0.1}, "cannot be combined"),
        ({"budget": "many"}, "60MB"),
        ({"budget": -5}, "-5"),
        ({"to": "q8_0", "non_finite": "drop"}, "clamp"),
    ]
    for settings, message in cases:
        with pytest.raises(bitgrain.errors.InputError, match=message):
            bitgrain.quantize_file(model, out, **settings)
    with pytest.raises(bitgrain.errors.NotFoundError, match=r"blk\.9"):
        bitgrain.quantize_file(model, out, "q8_0", keep={"blk.9*": "keep"})
    with pytest.raises(KeyError, match=r"blk\.0\.weight"):
        bitgrain.open_model(model)["blk.0.weigth"]
    with pytest.raises(bitgrain.errors.InputError, match="unknown output extension"):
        bitgrain.quantize_file(model, tmp_path / "out.bin", "q8_0")
    with pytest.raises(bitgrain.errors.InputError, match="is the input"):
        bitgrain.quantize_file(model, model, "int8")
    broken = {**state, "blk.0.weight": np.full((4, 256), np.nan, np.float32)}
    with pytest.raises(bitgrain.errors.InputError, match=r"blk\.0\.weight"):
        bitgrain.quantize_file(broken, out, "q8_0")
    assert not out.exists()
    for tensors in ({"a": np.array(["x"])}, {"a": np.array([1j])}, {"a": np.zeros(3, "m8[s]")}):
        with pytest.raises(bitgrain.errors.DTypeError):
            bitgrain.weights.save_tensors(tmp_path / "o.safetensors", tensors)
    with pytest.raises(bitgrain.errors.DTypeError, match="is not a string"):
        bitgrain.weights.save_tensors(tmp_path / "o.safetensors", {"a": np.ones(1)}, metadata={"n": 3})
    with pytest.raises(bitgrain.errors.DTypeError, match="list of one"):
        bitgrain.weights.save_tensors(out, {"a": np.ones(1)}, metadata={"n": object()})
    with pytest.raises(bitgrain.errors.DTypeError, match="i64"):
        bitgrain.open_model(model)["ids"].quantized()
    assert sorted(os.listdir(tmp_path)) == ["model.safetensors"]


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="requires the main thread")
def test_ctrl_c_leaves_no_files(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    state = {f"w{i}": random.normal(size=(1024, 1024)).astype(np.float32) for i in range(12)}
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bitgrain.quantize_file(state, tmp_path / "out.safetensors", max_rmse=0.0001)
    timer.join()
    assert os.listdir(tmp_path) == []


def test_threads_read_one_model(model: Path, state: dict[str, np.ndarray]) -> None:
    opened = bitgrain.open_model(model)
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda number: opened[["blk.0.weight", "norm"][number % 2]].numpy(), range(64))
        for number, array in enumerate(found):
            np.testing.assert_array_equal(array, state[["blk.0.weight", "norm"][number % 2]])


def test_progress_is_reported(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bitgrain.quantize_file(model, tmp_path / "a.gguf", "q8_0", progress=True)
    assert "quantizing" in capsys.readouterr().err
    bitgrain.quantize_file(model, tmp_path / "b.gguf", "q8_0", progress=False)
    assert capsys.readouterr().err == ""

"""Stores written by Python are readable by the reference reader of the specification and by the command line."""

import importlib
import json
import pathlib
import struct
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bitgrain import TensorStore
from bitgrain.store import Factor, Tier

SPEC = pathlib.Path(__file__).parents[3] / "spec"


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SPEC)
    return importlib.import_module("segment_file")


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "tensors.store"
    with TensorStore(path, sync="on_seal") as store:
        store["layer/0"] = np.linspace(-1, 1, 600).reshape(20, 30)
        store.put("exact", np.arange(5, dtype=np.float32), lossless=True, user={"unit": "m"})
        store.put(7, np.ones(300), pin="warm", max_error=0.5)
        store.put_absent("half", Factor("layer/0", scale=0.5))
        for hour in range(3):
            store.append("room", np.full(4, 290 + hour), time=hour)
    return path


def values_of(record: dict[str, Any]) -> npt.NDArray[np.float32]:
    """Decode the values of an 8-bit record, as in spec/blocks.md: a scale, then signed codes."""
    body, length = bytes.fromhex(record["body"]), record["content"]["block_len"]
    blocks = []
    while body:
        scale, codes = np.frombuffer(body[:4], "<f4"), np.frombuffer(body[4 : 4 + length], np.int8)
        blocks.append(scale * codes.astype(np.float32))
        body = body[4 + length :]
    return np.concatenate(blocks).reshape(record["content"]["shape"])


def test_the_reader_of_the_specification_reads_the_file(folder: pathlib.Path, reader: ModuleType) -> None:
    files = sorted(folder.iterdir())
    segments = [reader.read(file.read_bytes()) for file in files if "segment" in file.name]
    assert segments
    assert all(segment["sealed"] and segment["torn"] == 0 for segment in segments)
    records = [record for segment in segments for record in segment["records"]]
    tensors = {
        record["id"] if isinstance(record["id"], str) else int(record["id"]["number"], 16): record
        for record in records
        if record["kind"] == "tensor"
    }
    assert set(tensors) == {"layer/0", "exact", 7, "half", "room"}
    with TensorStore(folder, mode="r") as store:
        assert np.array_equal(values_of(tensors["layer/0"]), store["layer/0"])
        assert tensors["exact"]["content"]["user"] == [["unit", "m"]]
        assert bytes.fromhex(tensors["exact"]["body"]) == np.arange(5, dtype="<f4").tobytes()
        assert tensors[7]["content"]["pinned"] == 2  # the number of the warm tier in records
        assert tensors["half"]["content"]["reconstruct"]["source"] == "layer/0"
        for id, record in tensors.items():
            bound = struct.unpack(">f", bytes.fromhex(record["content"]["bound"]))[0]
            if id not in ("half", "room"):
                assert bound == store.stat(id).provenance.bound
    assert [record["content"]["time"] for record in records if record["kind"] == "frame"] == [0, 1, 2]
    manifests = [reader.read_manifest(file.read_bytes()) for file in files if "manifest" in file.name]
    assert len(manifests) == 1


def command(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "bitgrain", "store", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_lists_the_store(folder: pathlib.Path) -> None:
    done = command("ls", folder, "--json")
    assert done.returncode == 0, done.stderr
    listed = {entry["id"]: entry for entry in json.loads(done.stdout)}
    with TensorStore(folder, mode="r") as store:
        known = {str(info.id): info for info in store.scan()}
    kinds = {id: "number" if isinstance(info.id, int) else "name" for id, info in known.items()}
    assert {id: entry["id_kind"] for id, entry in listed.items()} == kinds
    assert listed.keys() == known.keys()
    for id, info in known.items():
        assert tuple(listed[id]["shape"]) == info.shape
        assert listed[id]["bytes"] == info.stored_bytes
        assert listed[id]["provenance"]["tier"] == info.tier
        assert listed[id]["user"] == info.user
    assert command("verify", folder).returncode == 0
    assert "layer/0" in command("ls", folder, "layer/").stdout


def test_python_reads_files_of_the_command(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    array = np.random.default_rng(3).standard_normal((7, 9)).astype(np.float32)
    np.save(tmp_path / "array.npy", array)
    assert command("put", folder, "from/command", tmp_path / "array.npy", "--max-error", "0.1").returncode == 0
    assert command("get", folder, "layer/0", "-o", tmp_path / "out.npy").returncode == 0
    with TensorStore(folder) as store:
        values, provenance = store.get("from/command", with_provenance=True)
        assert np.abs(values - array).max() <= provenance.bound <= 0.1
        assert store.stat("from/command").tier is Tier.HOT
        assert np.array_equal(np.load(tmp_path / "out.npy"), store["layer/0"])
        busy = command("rm", folder, "layer/0")
        assert busy.returncode == 2
        assert "locked by process" in busy.stderr

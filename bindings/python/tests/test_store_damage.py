"""Errors of the store: damage, permissions and invalid settings."""

import errno
import importlib
import os
import pathlib
import struct

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore


def filled(path: pathlib.Path) -> pathlib.Path:
    """Return the only segment of a closed store with a few tensors."""
    with TensorStore(path) as store:
        for number in range(8):
            store[f"tensor/{number}"] = np.random.default_rng(number).standard_normal(5000)
    segments = [file for file in path.iterdir() if "segment" in file.name]
    assert len(segments) == 1
    return segments[0]


def flip(file: pathlib.Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def test_damage_is_detected_on_reading_and_located(tmp_path: pathlib.Path) -> None:
    segment = filled(tmp_path)
    flip(segment, segment.stat().st_size // 2)
    with TensorStore(tmp_path, mode="r") as store:
        damaged = {}
        for id in store:
            try:
                store[id]
            except bitgrain.errors.DamagedError as error:
                damaged[id] = error
        ((id, error),) = damaged.items()
        assert str(error).startswith(f"{segment.name} is damaged at byte")
        assert str(id) in str(error)
        assert isinstance(error, ValueError)
        report = store.verify()
        assert not report.is_clean
        assert len(report.damages) == 1
        assert report.damages[0].segment == segment.name
        assert report.damages[0].id == id


def test_damage_detected_on_opening_is_rejected_or_salvaged(tmp_path: pathlib.Path) -> None:
    segment = filled(tmp_path)
    data = segment.read_bytes()
    flip(segment, 200)
    flip(segment, len(data) - 40)  # in the index, so that all records are scanned
    for mode in ("r", "r+", "a"):
        with pytest.raises(bitgrain.errors.DamagedError, match=segment.name):
            TensorStore(tmp_path, mode=mode)  # type: ignore[arg-type]
    with TensorStore(tmp_path, mode="r", on_damage="salvage") as store:
        assert len(store) == 7
        assert len(store.recovery.damages) >= 1
        assert not store.recovery.is_clean
        assert store.recovery.damages[0].segment == segment.name
    with TensorStore(tmp_path, on_damage="salvage") as store:
        assert len(store) == 7


def test_a_store_of_a_later_version_is_rejected(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[3] / "spec")
    sum_of = importlib.import_module("segment_file").sum_of
    filled(tmp_path)
    manifest = next(file for file in tmp_path.iterdir() if "manifest" in file.name)
    data = bytearray(manifest.read_bytes())
    data[8] = 99
    data[-4:] = struct.pack("<I", sum_of(data[:-4]))
    manifest.write_bytes(data)
    with pytest.raises(bitgrain.errors.FormatError, match="version 99") as caught:
        TensorStore(tmp_path)
    assert not isinstance(caught.value, bitgrain.errors.DamagedError)


def test_a_reader_does_not_write(tmp_path: pathlib.Path) -> None:
    filled(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with TensorStore(tmp_path, mode="r") as store:
        writes = [
            lambda: store.put("a", [1.0]),
            lambda: store.delete("tensor/0"),
            lambda: store.append("a", [1.0]),
            lambda: store.pin("tensor/0", "hot"),
            lambda: store.tick(),
            lambda: store.compact(),
            lambda: store.flush(),
            lambda: store.put_absent("a", bitgrain.store.Factor("tensor/0")),
        ]
        for write in writes:
            with pytest.raises(OSError, match="read-only") as caught:
                write()
            assert isinstance(caught.value, bitgrain.errors.FileError)
            assert caught.value.errno == errno.EROFS
        with pytest.raises(bitgrain.errors.FileError), store.batch() as batch:
            batch["a"] = [1.0]
        assert store["tensor/0"].shape == (5000,)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_missing_store_is_an_error(tmp_path: pathlib.Path, mode: str) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(OSError, match="no store found") as caught:
            TensorStore(path, mode=mode)  # type: ignore[arg-type]
        assert isinstance(caught.value, bitgrain.errors.FileError)
        assert caught.value.errno == errno.ENOENT
        assert caught.value.filename == str(path)
    assert not (tmp_path / "none").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_file_at_the_path_of_the_store_is_an_error(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file"
    file.write_text("no store")
    with pytest.raises(bitgrain.errors.FileError):
        TensorStore(file)
    with pytest.raises(TypeError):
        TensorStore(3)  # type: ignore[arg-type]
    with pytest.raises(bitgrain.errors.FileError):
        TensorStore("nul\0byte")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can write everywhere")
def test_a_read_only_folder_is_an_error(tmp_path: pathlib.Path) -> None:
    filled(tmp_path)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(OSError, match='mode="r"'):
            TensorStore(tmp_path)
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"mode": "w"}, '"r", "r\\+", "a"'),
        ({"sync": "never"}, '"always", "on_seal"'),
        ({"on_damage": "ignore"}, '"refuse", "salvage"'),
        ({"absent_reads": "ones"}, '"zeros", "refuse"'),
        ({"block_len": 7}, "7"),
        ({"block_len": -8}, "block_len"),
        ({"segment_bytes": -1}, "segment_bytes"),
        ({"segment_bytes": 1e6}, "segment_bytes"),
        ({"policy": {"absent": "never"}}, "TierPolicy"),
    ],
)
def test_invalid_settings_are_rejected(tmp_path: pathlib.Path, setting: dict[str, object], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        TensorStore(tmp_path / "store", **setting)  # type: ignore[arg-type]
    assert isinstance(caught.value, bitgrain.Error)
    assert not (tmp_path / "store").exists()


def test_limits_of_the_format_are_errors(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path, sync="on_seal") as store:
        store["x" * 65_536] = [1.0]
        with pytest.raises(ValueError, match="65537 bytes; at most"):
            store["x" * 65_537] = [1.0]
        with pytest.raises(ValueError, match="user metadata"):
            store.put("a", [1.0], user={"k": "v" * 300_000})
        with pytest.raises(ValueError, match="absent tier"):
            store.put("a", [1.0], tier="absent")
        with pytest.raises(bitgrain.errors.NotFoundError):
            store.pin("nothing", "hot")
        assert len(store) == 1

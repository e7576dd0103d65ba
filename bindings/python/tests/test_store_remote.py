"""Stores at addresses: in memory here, on servers in oracles/test_remote.py."""

import pathlib

import numpy as np
import pytest

import bitgrain
from bitgrain import TensorStore


def test_an_address_is_kept_as_it_is() -> None:
    with TensorStore("memory://python/kept") as store:
        store["a"] = np.arange(10.0)
        assert store.path == "memory://python/kept"
    with TensorStore("memory://python/kept", mode="r") as store:
        assert list(store) == ["a"]


def test_a_replica_receives_only_what_is_missing(tmp_path: pathlib.Path) -> None:
    with TensorStore(tmp_path / "store") as store:
        store["a"] = np.arange(1000.0)
        assert store.sync_to(tmp_path / "copy").segments_copied == 1
        store["b"] = np.arange(10.0)
        report = store.sync_to(tmp_path / "copy")
        assert (report.segments_copied, report.segments_kept, report.segments_removed) == (1, 1, 0)
    with TensorStore(tmp_path / "copy", mode="r") as copy:
        assert set(copy) == {"a", "b"}
    with TensorStore(tmp_path / "copy") as copy:
        copy["own"] = [1.0]
    with (
        TensorStore(tmp_path / "store") as store,
        pytest.raises(bitgrain.errors.FileError, match="not a replica"),
    ):
        store.sync_to(tmp_path / "copy")


def test_the_last_writer_can_write() -> None:
    first = TensorStore("memory://python/rivals")
    first["a"] = [1.0]
    second = TensorStore("memory://python/rivals")
    second["b"] = [1.0]
    with pytest.raises(bitgrain.errors.LockedError, match="another writer since epoch 2"):
        first["c"] = [1.0]
    assert list(first) == ["a"]
    with pytest.raises(bitgrain.errors.LockedError):
        first.close()
    assert list(second) == ["a", "b"]
    second.close()


@pytest.mark.parametrize("address", ["ftp://host/x", "s3://", "s3://key:hunter2@bucket/x", "s3://bucket/x?sig=hunter2"])
def test_bad_addresses_are_errors_without_secrets(address: str) -> None:
    with pytest.raises(bitgrain.errors.InputError, match="invalid store address") as raised:
        TensorStore(address)
    assert "hunter2" not in str(raised.value)

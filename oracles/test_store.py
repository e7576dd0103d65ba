"""Import and export of the store's files, compared with NumPy, safetensors and pyarrow."""

import json

import numpy as np
import pyarrow.parquet
import pytest
from safetensors.numpy import load_file, save_file


@pytest.fixture
def tensors():
    random = np.random.default_rng(5)
    shapes = {"vector": (1000,), "matrix": (40, 96), "cube": (3, 5, 7), "empty": (0, 4), "ü/odd name": (17,)}
    return {name: random.standard_normal(shape).astype("f4") for name, shape in shapes.items()}


@pytest.fixture
def store(bitgrain, tensors):
    path = bitgrain.path(".store")
    bitgrain.run("store", "init", path)
    source = bitgrain.path(".safetensors")
    save_file(tensors, source)
    bitgrain.run("store", "import", path, source)
    return path


def bounds(bitgrain, store):
    listed = json.loads(bitgrain.run("store", "ls", store, "--json"))
    return {tensor["id"]: tensor["provenance"]["bound"] for tensor in listed}


def hold(read, tensors, bounds):
    assert set(read) == set(tensors)
    for name, values in tensors.items():
        assert read[name].shape == values.shape and read[name].dtype == np.float32
        assert np.abs(read[name] - values).max(initial=0) <= bounds[name], name


def test_numpy_reads_an_exported_archive(bitgrain, store, tensors):
    path = bitgrain.path(".npz")
    bitgrain.run("store", "export", store, path)
    with np.load(path) as read:
        hold({name: read[name] for name in read.files}, tensors, bounds(bitgrain, store))


def test_safetensors_reads_an_exported_file(bitgrain, store, tensors):
    path = bitgrain.path(".safetensors")
    bitgrain.run("store", "export", store, path)
    hold(load_file(path), tensors, bounds(bitgrain, store))


@pytest.mark.parametrize("name", ["vector", "matrix", "cube", "empty"])
def test_numpy_reads_one_tensor(bitgrain, store, tensors, name):
    path = bitgrain.path(".npy")
    bitgrain.run("store", "get", store, name, "-o", path)
    hold({name: np.load(path)}, {name: tensors[name]}, bounds(bitgrain, store))


def test_pyarrow_reads_vectors_as_columns(bitgrain, store, tensors):
    path = bitgrain.path(".parquet")
    bitgrain.run("store", "get", store, "vector", "-o", path)
    column = pyarrow.parquet.read_table(path)["vector"].to_numpy().astype("f4")
    hold({"vector": column}, {"vector": tensors["vector"]}, bounds(bitgrain, store))


def test_lossless_tensors_come_back_bit_for_bit(bitgrain, tensors):
    store, source, path = bitgrain.path(".store"), bitgrain.save({"x": tensors["matrix"]}), bitgrain.path(".npy")
    bitgrain.run("store", "init", store)
    bitgrain.run("store", "import", store, source, "--lossless")
    bitgrain.run("store", "get", store, "x", "-o", path)
    assert np.load(path).tobytes() == tensors["matrix"].tobytes()

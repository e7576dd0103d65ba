"""Shared by the oracles: the `bitgrain` command under test, called as a user would."""

import csv
import os
import pathlib
import subprocess

import gguf
import numpy as np
import pytest
import stored
from safetensors.numpy import load_file


class Bitgrain:
    """The command, with a temporary folder for its output."""

    def __init__(self, folder):
        self.program = os.environ["BITGRAIN"]
        self.folder = pathlib.Path(folder)
        self.written = 0

    def run(self, *arguments):
        """Runs the command and returns its output. A failure is an assertion that shows the output."""
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
        return done.stdout

    def path(self, ending):
        """Returns an unused path."""
        self.written += 1
        return self.folder / f"{self.written}{ending}"

    def save(self, tensors):
        """Writes tensors by name to an npz file."""
        path = self.path(".npz")
        np.savez(path, **tensors)
        return path

    def quantize(self, source, to, ending, *options):
        """Converts a file and returns the new one."""
        path = self.path(ending)
        self.run("quantize", source, path, "--to", to, *options)
        return path

    def gguf(self, tensors, to, *options):
        """Quantizes tensors into a GGUF file and reads it with llama.cpp's reader: rows of bytes by name."""
        return blocks(self.quantize(self.save(tensors), to, ".gguf", *options))

    def safetensors(self, tensors, to, *options):
        """Quantizes tensors into a safetensors file; returns flat arrays, float32 or bytes, and its path."""
        path = self.quantize(self.save(tensors), to, ".safetensors", *options)
        arrays = stored.load(path).items()
        return {k: np.frombuffer(data, "<f4" if dtype == "F32" else "u1") for k, (dtype, _, data) in arrays}, path

    def values(self, path):
        """Reads a file of any kind as float32 arrays."""
        return load_file(self.quantize(path, "float32", ".safetensors"))

    def predict(self, model, columns, *options):
        """Returns the predictions of a tree model for rows given as columns by name: a row of numbers per row."""
        table, found = self.path(".csv"), self.path(".csv")
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(map(cell, column) for column in columns.values()), strict=True))
        self.run("predict", model, table, "-o", found, *options)
        return np.loadtxt(found, delimiter=",", skiprows=1, ndmin=2)


def cell(value):
    """A value as written to a CSV file: the shortest string that is the same number, empty if missing."""
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else repr(float(value))


def blocks(path):
    """Returns the tensors of a GGUF file: their types and raw bytes, a row of bytes per row of weights."""
    return {t.name: (t.tensor_type, raw(t)) for t in gguf.GGUFReader(path).tensors}


def raw(tensor):
    rows = int(np.prod(tensor.shape[1:]))
    return np.ascontiguousarray(tensor.data).view(np.uint8).reshape(rows, -1)


@pytest.fixture
def bitgrain(tmp_path):
    return Bitgrain(tmp_path)


@pytest.fixture
def random():
    return np.random.default_rng(20261117)

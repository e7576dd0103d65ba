"""One library in the suite `store`: puts and gets tensors of one shape, and prints the times as a line of JSON.

    python arrays.py '{"library": "zarr", "folder": …}'

Every tensor is an uncompressed f32 array in a separate folder. Values are checked before they are timed. The arrays of the
last round are kept, so that the caller can measure their size.
"""

import json
import os
import random
import shutil
import sys
import time

import numpy as np


class TensorStore:
    def __init__(self, job):
        import importlib.metadata

        import tensorstore

        self.library, self.version = tensorstore, importlib.metadata.version("tensorstore")
        self.shape, self.chunk = job["shape"], job["chunk"]

    def spec(self, path):
        return {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}

    def put(self, path, values):
        grid = {"name": "regular", "configuration": {"chunk_shape": self.chunk}}
        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
        metadata = {"data_type": "float32", "shape": self.shape, "chunk_grid": grid, "codecs": codecs}
        array = self.library.open(self.spec(path) | {"metadata": metadata}, create=True).result()
        array.write(values).result()

    def get(self, path):
        return self.library.open(self.spec(path)).result().read().result()

    def rows(self, path, first, last):
        return self.library.open(self.spec(path)).result()[first:last].read().result()


class Zarr:
    def __init__(self, job):
        import zarr

        self.library, self.version = zarr, zarr.__version__
        self.shape, self.chunk = tuple(job["shape"]), tuple(job["chunk"])

    def put(self, path, values):
        array = self.library.create_array(path, shape=self.shape, chunks=self.chunk, dtype="float32", compressors=None)
        array[...] = values

    def get(self, path):
        return self.library.open_array(path, mode="r")[...]

    def rows(self, path, first, last):
        return self.library.open_array(path, mode="r")[first:last]


LIBRARIES = {
    "tensorstore": TensorStore,
    "zarr": Zarr,
}


def main(job):
    library = LIBRARIES[job["library"]](job)
    chance = np.random.default_rng(1)
    tensors = [chance.standard_normal(job["shape"], dtype=np.float32) for _ in range(job["count"])]
    paths = [os.path.join(job["folder"], str(i)) for i in range(job["count"])]
    order = random.Random(1)

    put, get, rows = [], [], {str(part): [] for part in job["rows"]}
    # The first round is a warm-up, and its data is checked.
    for number in range(job["rounds"] + 1):
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
        start = time.perf_counter()
        for path, values in zip(paths, tensors):
            library.put(path, values)
        put.append((time.perf_counter() - start) / len(paths))
        if number == 0:
            for path, values in zip(paths, tensors):
                assert np.array_equal(np.asarray(library.get(path)), values), path
                if job["rows"]:
                    assert np.array_equal(np.asarray(library.rows(path, 3, 7)), values[3:7]), path
    for _ in range(job["rounds"] + 1):
        order.shuffle(paths)
        start = time.perf_counter()
        for path in paths:
            library.get(path)
        get.append((time.perf_counter() - start) / len(paths))
        for part in job["rows"]:
            starts = [order.randrange(job["shape"][0] - part) for _ in paths]
            start = time.perf_counter()
            for path, first in zip(paths, starts):
                library.rows(path, first, first + part)
            rows[str(part)].append((time.perf_counter() - start) / len(paths))
    later = {part: samples[1:] for part, samples in rows.items()}
    print(json.dumps({"version": library.version, "put": put[1:], "get": get[1:], "rows": later}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""Weights of the tiny models in `language_models`, by name: the same on every machine, so that files hold only hashes."""

import json
import zlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

DTYPES = {"BF16": ml_dtypes.bfloat16, "F16": np.float16, "F32": np.float32}


def weights(name, shape):
    """Returns small multiples of 1/256, which every dtype holds exactly."""
    rng = np.random.RandomState(zlib.crc32(name.encode()))
    return (rng.randint(-64, 64, shape) / 256).astype(np.float32)


def write(folder):
    """Writes the weights that `tensors.json` lists: one file, or shards with an index."""
    shards = json.loads((folder / "tensors.json").read_text())
    index = {}
    for number, tensors in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors" if len(shards) > 1 else "model.safetensors"
        arrays = {one: weights(one, shape).astype(DTYPES[dtype]) for one, dtype, shape in tensors}
        save_file(arrays, folder / name, metadata={"format": "pt"})
        index.update(dict.fromkeys(arrays, name))
    if len(shards) > 1:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))

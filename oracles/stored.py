"""safetensors files with dtypes that NumPy does not have: written and read through the reference package."""

import numpy as np
import safetensors


def save(path, tensors, metadata=None):
    """Writes arrays given by name as (safetensors dtype, array); the bytes of an array are written unchanged."""
    arrays = {name: (dtype, np.asarray(array, order="C")) for name, (dtype, array) in tensors.items()}
    specs = {
        name: safetensors.TensorSpec(dtype=dtype, shape=list(a.shape), data_ptr=a.ctypes.data, data_len=a.nbytes)
        for name, (dtype, a) in arrays.items()
    }
    path.write_bytes(safetensors.serialize(specs, metadata=metadata))
    return path


def load(path):
    """Returns each array as (dtype, shape, bytes)."""
    found = safetensors.deserialize(path.read_bytes())
    return {name: (a["dtype"], list(a["shape"]), bytes(a["data"])) for name, a in found}


def metadata(path):
    with safetensors.safe_open(path, framework="np") as file:
        return file.metadata()

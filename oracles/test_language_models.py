"""Hugging Face folders of language models: tensors and metadata are those of llama.cpp's converter (v0.5.0).

`language_models` holds a tiny model of each architecture, with a tokenizer of a real kind, and what
`convert_hf_to_gguf.py` made of it (`expected.json`). Hashes stand for tensors and long lists. Pre-tokenizers that
`convert_hf_to_gguf.py` does not recognize, because the vocabularies are made up, were given their name by hand.
"""

import hashlib
import json
import pathlib
import shutil

import language_weights
import numpy as np
import pytest
from gguf import GGUFReader

FOLDERS = sorted((pathlib.Path(__file__).parent / "language_models").iterdir())
FORMATS = {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def described(path):
    """Returns keys with types and values, and tensors with types, shapes and hashes."""
    reader = GGUFReader(path)
    keys = {}
    for key, field in reader.fields.items():
        if not key.startswith("GGUF."):
            value = field.contents()
            if isinstance(value, list) and len(value) > 8:
                value = [len(value), digest(json.dumps(value).encode())]
            keys[key] = [[kind.name for kind in field.types], value]
    tensors = {
        one.name: [one.tensor_type.name, [int(n) for n in one.shape], digest(np.ascontiguousarray(one.data).tobytes())]
        for one in reader.tensors
    }
    return {"keys": keys, "tensors": tensors}


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request, tmp_path):
    copy = tmp_path / request.param.name
    shutil.copytree(request.param, copy)
    language_weights.write(copy)
    return copy


def test_a_folder_becomes_the_file_of_llama_cpps_converter(bitgrain, folder, tmp_path):
    expected = json.loads((folder / "expected.json").read_text())
    out = tmp_path / "out.gguf"
    bitgrain.run("quantize", folder, out)
    found = json.loads(json.dumps(described(out)))
    assert found["keys"] == expected["keys"]
    assert found["tensors"] == expected["tensors"]
    if found["keys"]["tokenizer.ggml.model"][1] == "bert":
        return
    # A folder made from the file gives the same tensors again, unless the file cannot express the configuration.
    if "rope_freqs.weight" in found["tensors"]:
        return
    again = tmp_path / "again" / folder.name
    dtype = next(kind for name, (kind, *_) in found["tensors"].items() if name == "token_embd.weight")
    bitgrain.run("quantize", out, f"{again}/", "--to", FORMATS[dtype])
    second = tmp_path / "second.gguf"
    bitgrain.run("quantize", again, second)
    back = described(second)
    assert back["tensors"] == expected["tensors"]
    lost = {"general.", "tokenizer.ggml.token_type", "tokenizer.ggml.scores", "tokenizer.ggml.add_"}
    for key, value in expected["keys"].items():
        if not any(key.startswith(start) for start in lost) and not key.endswith(".vocab_size"):
            assert json.loads(json.dumps(back["keys"].get(key))) == value, key

#!/usr/bin/env python3
"""Decompress folders in the schemes of `bitgrain quantize --scheme` with the package compressed-tensors.

    pip install torch compressed-tensors
    make_scheme_vectors.py input                     # writes spec/vectors/checkpoints/written/input
    bitgrain quantize spec/vectors/checkpoints/written/input OUT/W4A16 --scheme W4A16      # and the other schemes
    make_scheme_vectors.py OUT/*                     # writes expected.safetensors into each folder

expected.safetensors holds the weights that the package gives, as f32. The folders with it are in
spec/vectors/checkpoints/written; the test suite writes them again, byte for byte, and compares its own values.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

INPUT = pathlib.Path(__file__).parent / "vectors" / "checkpoints" / "written" / "input"


def make_input():
    random = torch.Generator().manual_seed(7)
    wide = torch.randn(24, 256, generator=random) * 0.05
    wide[1] = 0
    wide[2, 5] = 3.0
    tensors = {
        "lm_head.weight": torch.randn(4, 256, generator=random),
        "model.embed_tokens.weight": torch.randn(4, 256, generator=random),
        "model.layers.0.mlp.up_proj.weight": wide,
        "model.layers.0.odd.weight": torch.randn(2, 36, generator=random),
        "model.norm.weight": torch.ones(256),
    }
    INPUT.mkdir(parents=True)
    save_file(tensors, INPUT / "model.safetensors")
    (INPUT / "config.json").write_text('{"model_type": "test", "hidden_size": 256}\n')
    (INPUT / "tokenizer.json").write_text("{}\n")


def decompressed(folder):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationConfig

    config = json.loads((folder / "config.json").read_text())["quantization_config"]
    parsed = QuantizationConfig.model_validate(config)
    (scheme,) = parsed.config_groups.values()
    compressor = BaseCompressor.get_value_from_registry(parsed.format)
    index = folder / "model.safetensors.index.json"
    files = set(json.loads(index.read_text())["weight_map"].values()) if index.exists() else {"model.safetensors"}
    tensors = {}
    for file in files:
        tensors |= load_file(folder / file)
    values = {}
    for name in tensors:
        if name.endswith(".weight_scale"):
            module = name.removesuffix(".weight_scale")
            assert module not in parsed.ignore
            state = {key.removeprefix(module + "."): value for key, value in tensors.items() if key.startswith(module + ".")}
            values[f"{module}.weight"] = compressor.decompress(state, scheme)["weight"].float().contiguous()
    return values


def main():
    if sys.argv[1:] == ["input"]:
        return make_input()
    for folder in map(pathlib.Path, sys.argv[1:]):
        values = decompressed(folder)
        assert values, folder
        save_file(values, folder / "expected.safetensors")
        print(folder, len(values), "weights")


if __name__ == "__main__":
    main()

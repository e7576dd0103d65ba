#!/usr/bin/env python3
"""Create spec/vectors/adapters with PEFT, which defines the format of LoRA adapters. Run once per case.

    pip install torch transformers accelerate peft

Each case is a folder with model.safetensors, the adapter as PEFT saves it, and expected.safetensors: the weights after
`merge_and_unload`. Existing cases are never overwritten. PyTorch is too large for the test suite, which therefore reads these
files.
"""

import json
import pathlib
import tempfile

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers.pytorch_utils import Conv1D

FOLDER = pathlib.Path(__file__).parent / "vectors" / "adapters"


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(10, 16)
        self.q_proj = torch.nn.Linear(16, 24, bias=False)
        self.v_proj = torch.nn.Linear(16, 8)
        self.c_attn = Conv1D(12, 16)
        self.lm_head = torch.nn.Linear(16, 10, bias=False)


CASES = {
    "lora": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]),
    "patterns": dict(
        r=4,
        lora_alpha=6,
        use_rslora=True,
        rank_pattern={"v_proj": 2},
        alpha_pattern={"^q_proj": 3},
        target_modules=["q_proj", "v_proj"],
    ),
    "dora": dict(r=4, lora_alpha=8, use_dora=True, target_modules=["q_proj", "v_proj"]),
    "embedding": dict(r=3, lora_alpha=8, target_modules=["embed_tokens", "q_proj"]),
    "transposed": dict(r=4, lora_alpha=8, fan_in_fan_out=True, target_modules=["c_attn"]),
    "modules_to_save": dict(r=4, lora_alpha=8, target_modules=["q_proj"], modules_to_save=["lm_head"]),
    # Refused: it needs the lengths of columns.
    "dora_transposed": dict(r=4, lora_alpha=8, use_dora=True, fan_in_fan_out=True, target_modules=["c_attn"]),
    "dora_embedding": dict(r=4, lora_alpha=8, use_dora=True, target_modules=["embed_tokens"]),
}


def main():
    for number, (name, settings) in enumerate(CASES.items()):
        folder = FOLDER / name
        if folder.exists():
            continue
        torch.manual_seed(number)
        model = Model()
        before = {key: value.clone() for key, value in model.state_dict().items()}
        adapted = get_peft_model(model, LoraConfig(**settings))
        with torch.no_grad():
            for key, value in adapted.named_parameters():
                if value.requires_grad:
                    # The factor B starts with zeros, and magnitudes with the lengths of the rows.
                    scale = 0.3 if "magnitude" in key else 0.5
                    value.add_(torch.randn_like(value) * scale)
        with tempfile.TemporaryDirectory() as temporary:
            adapted.save_pretrained(temporary)
            adapter = load_file(pathlib.Path(temporary) / "adapter_model.safetensors")
            config = json.loads((pathlib.Path(temporary) / "adapter_config.json").read_text())
        after = adapted.merge_and_unload().state_dict()
        assert sorted(after) == sorted(before) and any(not torch.equal(after[key], before[key]) for key in before)
        folder.mkdir(parents=True)
        save_file(before, folder / "model.safetensors")
        save_file(adapter, folder / "adapter_model.safetensors")
        save_file({key: value.contiguous() for key, value in after.items()}, folder / "expected.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps(config, indent=1) + "\n")
        print(name, sorted(adapter))


if __name__ == "__main__":
    main()

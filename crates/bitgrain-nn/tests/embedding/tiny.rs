//! A BERT of a few thousand random weights, in a folder laid out like Hugging Face's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const HIDDEN: usize = 32;
pub(crate) const HEADS: usize = 4;
pub(crate) const INNER: usize = 64;
pub(crate) const LAYERS: usize = 2;
pub(crate) const POSITIONS: usize = 16;

pub(crate) const VOCABULARY: [&str; 14] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "##s", "run", "##ning", ".", "cat", "the", "house"];

/// Sentences of several lengths, one with an unknown word and one that is truncated.
pub(crate) const SENTENCES: [&str; 5] = [
    "A dog.",
    "The cats running",
    "zebra",
    "",
    "a dog the cat a dog the cat a dog the cat a dog the cat a dog the cat",
];

/// Shape and values of a tensor.
pub(crate) type ModelTensor = (Vec<usize>, Vec<f32>);

/// Content of the folder, which tests can change before it is written.
pub(crate) struct Tiny {
    pub(crate) tensors: BTreeMap<String, ModelTensor>,
    pub(crate) config: Value,
    pub(crate) vocabulary: Vec<&'static str>,
}

impl Tiny {
    pub(crate) fn new() -> Self {
        let mut tiny = Self {
            tensors: BTreeMap::new(),
            config: json!({
                "model_type": "bert", "hidden_size": HIDDEN, "intermediate_size": INNER,
                "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "max_position_embeddings": POSITIONS,
                "vocab_size": VOCABULARY.len(), "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
            }),
            vocabulary: VOCABULARY.to_vec(),
        };
        for (name, rows) in [("word", VOCABULARY.len()), ("position", POSITIONS), ("token_type", 2)] {
            tiny.add(&format!("embeddings.{name}_embeddings.weight"), &[rows, HIDDEN], 1.0, 0.0);
        }
        tiny.norm("embeddings.LayerNorm");
        for layer in 0..LAYERS {
            let at = format!("encoder.layer.{layer}");
            for part in ["self.query", "self.key", "self.value", "output.dense"] {
                tiny.linear(&format!("{at}.attention.{part}"), HIDDEN, HIDDEN);
            }
            tiny.norm(&format!("{at}.attention.output.LayerNorm"));
            tiny.linear(&format!("{at}.intermediate.dense"), INNER, HIDDEN);
            tiny.linear(&format!("{at}.output.dense"), HIDDEN, INNER);
            tiny.norm(&format!("{at}.output.LayerNorm"));
        }
        tiny
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.add(&format!("{name}.weight"), &[outputs, inputs], 0.4, 0.0);
        self.add(&format!("{name}.bias"), &[outputs], 0.2, 0.0);
    }

    fn norm(&mut self, name: &str) {
        self.add(&format!("{name}.weight"), &[HIDDEN], 0.5, 1.0);
        self.add(&format!("{name}.bias"), &[HIDDEN], 0.3, 0.0);
    }

    /// Adds a tensor of deterministic random values around `middle`.
    fn add(&mut self, name: &str, shape: &[usize], spread: f32, middle: f32) {
        let mut state = name.bytes().fold(7_u32, |state, byte| state.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            #[expect(clippy::cast_precision_loss, reason = "24 bits")]
            let unit = (state >> 8) as f32 / 16_777_216.0;
            middle + spread * (2.0 * unit - 1.0)
        };
        let values = (0..shape.iter().product()).map(|_| next()).collect();
        self.tensors.insert(name.to_owned(), (shape.to_vec(), values));
    }

    /// Writes the folder, with `vocab.txt`.
    pub(crate) fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("temporary directory");
        fs::write(folder.path().join("config.json"), self.config.to_string()).expect("writable");
        fs::write(folder.path().join("vocab.txt"), self.vocabulary.join("\n")).expect("writable");
        fs::write(folder.path().join("model.safetensors"), self.safetensors()).expect("writable");
        folder
    }

    fn safetensors(&self) -> Vec<u8> {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        for (name, (shape, values)) in &self.tensors {
            let start = data.len();
            data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            header.insert(name.clone(), json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}));
        }
        let header = Value::Object(header).to_string();
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
    }
}

/// Writes a `tokenizer.json` with the same vocabulary.
pub(crate) fn write_tokenizer(folder: &Path, change: impl FnOnce(&mut Value)) {
    let vocabulary: BTreeMap<&str, usize> = VOCABULARY.iter().enumerate().map(|(id, piece)| (*piece, id)).collect();
    let mut tokenizer = json!({
        "added_tokens": [{"id": 4, "content": "[MASK]", "special": true}],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    change(&mut tokenizer);
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).expect("writable");
}

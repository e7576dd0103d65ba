//! Small random language models in GGUF files, one for each architecture and feature.

use bitgrain_formats::gguf::{Array, Metadata, TensorSpec, TensorType, Value, Writer};
use bitgrain_nn::ModelFile;
use bitgrain_nn::network::language::LanguageModel;

/// Scaling of the rotations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scaling {
    None,
    /// Angles divided by a factor.
    Linear(f32),
    /// Factor and trained context.
    Yarn(f32, u32),
    /// A tensor of factors per frequency.
    Factors,
    /// Two tensors of factors, for up to this many tokens and for more; and a factor of the magnitude.
    Long(u32, f32),
}

/// Architecture and size of a small model.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) arch: &'static str,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) kv: usize,
    pub(crate) head: usize,
    pub(crate) inner: usize,
    pub(crate) layers: usize,
    pub(crate) base: f32,
    /// Number of elements of a head that rotate.
    pub(crate) rotated: usize,
    /// Pairs of one element of each half instead of neighbors.
    pub(crate) halves: bool,
    pub(crate) bias: bool,
    pub(crate) head_norms: bool,
    /// Gemma's norms after attention and feed-forward layers, scaled embeddings and GELU.
    pub(crate) gemma: bool,
    /// Queries, keys and values in one tensor, and gate and up in one.
    pub(crate) fused: bool,
    /// Number of experts, and of those that each token uses.
    pub(crate) experts: Option<(usize, usize)>,
    /// Window, layers per group of which the last sees everything, and base of the others.
    pub(crate) window: Option<(usize, usize, f32)>,
    /// Layers per group of which the last does not rotate.
    pub(crate) still: Option<usize>,
    pub(crate) tied: bool,
    pub(crate) cap: Option<f32>,
    pub(crate) scaling: Scaling,
}

/// Context of all models.
pub(crate) const CONTEXT: u32 = 256;

pub(crate) const EPSILON: f32 = 1e-5;

impl Spec {
    pub(crate) fn llama() -> Self {
        Self {
            arch: "llama",
            width: 96,
            heads: 6,
            kv: 2,
            head: 16,
            inner: 128,
            layers: 2,
            base: 10_000.0,
            rotated: 16,
            halves: false,
            bias: false,
            head_norms: false,
            gemma: false,
            fused: false,
            experts: None,
            window: None,
            still: None,
            tied: false,
            cap: None,
            scaling: Scaling::None,
        }
    }

    /// One model for each architecture and for each feature that some have.
    pub(crate) fn all() -> Vec<(&'static str, Self)> {
        let llama = Self::llama();
        let qwen2 = Self { arch: "qwen2", halves: true, bias: true, base: 1e6, tied: true, ..llama.clone() };
        let qwen3 = Self { arch: "qwen3", halves: true, head_norms: true, head: 32, rotated: 32, ..llama.clone() };
        vec![
            ("llama", llama.clone()),
            ("llama with factors", Self { scaling: Scaling::Factors, tied: true, ..llama.clone() }),
            ("llama with experts", Self { experts: Some((4, 2)), ..llama.clone() }),
            ("llama, scaled", Self { scaling: Scaling::Linear(4.0), bias: true, ..llama.clone() }),
            ("qwen2", qwen2.clone()),
            ("qwen2 with yarn", Self { scaling: Scaling::Yarn(4.0, 32), ..qwen2 }),
            ("qwen3", qwen3.clone()),
            ("qwen3moe", Self { arch: "qwen3moe", experts: Some((6, 3)), inner: 64, ..qwen3 }),
            ("smollm3", Self { arch: "smollm3", layers: 4, still: Some(4), tied: true, ..llama.clone() }),
            ("phi3", Self { arch: "phi3", halves: true, fused: true, rotated: 12, ..llama.clone() }),
            (
                "phi3, long",
                Self { arch: "phi3", halves: true, fused: true, scaling: Scaling::Long(16, 1.2), ..llama.clone() },
            ),
            (
                "gemma3",
                Self {
                    arch: "gemma3",
                    heads: 4,
                    kv: 1,
                    head: 32,
                    rotated: 32,
                    layers: 3,
                    base: 1e6,
                    halves: true,
                    head_norms: true,
                    gemma: true,
                    window: Some((8, 3, 10_000.0)),
                    tied: true,
                    cap: Some(3.0),
                    scaling: Scaling::Linear(8.0),
                    ..llama
                },
            ),
        ]
    }

    /// Writes the model.
    pub(crate) fn file(&self) -> Vec<u8> {
        let (mut metadata, tokens) = vocabulary(self.gemma);
        self.describe(&mut metadata);
        write(&metadata, &self.tensors(tokens))
    }

    pub(crate) fn open(&self) -> ModelFile {
        ModelFile::from_bytes("tiny.gguf", self.file()).expect("a valid file")
    }

    pub(crate) fn model(&self) -> LanguageModel {
        LanguageModel::load(&self.open(), None).expect("a valid model")
    }

    fn describe(&self, metadata: &mut Metadata) {
        let number = |value: usize| u32::try_from(value).expect("small");
        metadata.set("general.architecture", self.arch);
        let mut set = |key: &str, value: Value| drop(metadata.set(format!("{}.{key}", self.arch), value));
        for (key, value) in [
            ("block_count", self.layers),
            ("context_length", CONTEXT as usize),
            ("embedding_length", self.width),
            ("attention.head_count", self.heads),
            ("attention.head_count_kv", self.kv),
            ("attention.key_length", self.head),
            ("attention.value_length", self.head),
            ("rope.dimension_count", self.rotated),
        ] {
            set(key, Value::U32(number(value)));
        }
        set("attention.layer_norm_rms_epsilon", Value::F32(EPSILON));
        set("rope.freq_base", Value::F32(self.base));
        let inner = if self.arch == "qwen3moe" { "expert_feed_forward_length" } else { "feed_forward_length" };
        set(inner, Value::U32(number(self.inner)));
        if let Some((count, used)) = self.experts {
            set("expert_count", Value::U32(number(count)));
            set("expert_used_count", Value::U32(number(used)));
        }
        if let Some((length, group, _)) = self.window {
            set("attention.sliding_window", Value::U32(number(length)));
            set("attention.sliding_window_pattern", Value::U32(number(group)));
        }
        if let Some(cap) = self.cap {
            set("final_logit_softcapping", Value::F32(cap));
        }
        match self.scaling {
            Scaling::None | Scaling::Factors => {}
            Scaling::Linear(factor) => {
                set("rope.scaling.type", "linear".into());
                set("rope.scaling.factor", Value::F32(factor));
            }
            Scaling::Yarn(factor, trained) => {
                set("rope.scaling.type", "yarn".into());
                set("rope.scaling.factor", Value::F32(factor));
                set("rope.scaling.original_context_length", Value::U32(trained));
            }
            Scaling::Long(trained, magnitude) => {
                set("rope.scaling.type", "longrope".into());
                set("rope.scaling.original_context_length", Value::U32(trained));
                set("rope.scaling.attn_factor", Value::F32(magnitude));
            }
        }
    }

    fn tensors(&self, tokens: usize) -> Vec<(String, Vec<usize>, Vec<f32>)> {
        let mut random = Random(7);
        let mut all = Vec::new();
        let (q, kv) = (self.heads * self.head, self.kv * self.head);
        // Shapes with the outermost dimension first.
        let mut add = |name: String, shape: &[usize]| {
            let count = shape.iter().product();
            let values: Vec<f32> = if name.contains("norm") {
                (0..count).map(|_| 1.0 + 0.3 * random.next()).collect()
            } else if name.starts_with("rope") {
                (0..count).map(|_| 1.5 + random.next()).collect()
            } else {
                let cols = *shape.last().expect("not a scalar") as f32;
                let scale = if name.contains("bias") { 0.3 } else { 1.7 / cols.sqrt() };
                (0..count).map(|_| scale * random.next()).collect()
            };
            all.push((name, shape.to_vec(), values));
        };
        add("token_embd.weight".into(), &[tokens, self.width]);
        for at in 0..self.layers {
            let name = |part: &str| format!("blk.{at}.{part}");
            add(name("attn_norm.weight"), &[self.width]);
            if self.fused {
                add(name("attn_qkv.weight"), &[q + 2 * kv, self.width]);
            } else {
                for (part, rows) in [("attn_q", q), ("attn_k", kv), ("attn_v", kv)] {
                    add(name(&format!("{part}.weight")), &[rows, self.width]);
                    // Only some of the matrices that are joined have a bias.
                    if self.bias && part != "attn_k" {
                        add(name(&format!("{part}.bias")), &[rows]);
                    }
                }
            }
            if self.head_norms {
                add(name("attn_q_norm.weight"), &[self.head]);
                add(name("attn_k_norm.weight"), &[self.head]);
            }
            add(name("attn_output.weight"), &[self.width, q]);
            add(name("ffn_norm.weight"), &[self.width]);
            if self.gemma {
                add(name("post_attention_norm.weight"), &[self.width]);
                add(name("post_ffw_norm.weight"), &[self.width]);
            }
            if let Some((count, _)) = self.experts {
                add(name("ffn_gate_inp.weight"), &[count, self.width]);
                add(name("ffn_gate_exps.weight"), &[count, self.inner, self.width]);
                add(name("ffn_up_exps.weight"), &[count, self.inner, self.width]);
                add(name("ffn_down_exps.weight"), &[count, self.width, self.inner]);
            } else {
                let both = if self.fused { 2 } else { 1 };
                if !self.fused {
                    add(name("ffn_gate.weight"), &[self.inner, self.width]);
                }
                add(name("ffn_up.weight"), &[both * self.inner, self.width]);
                add(name("ffn_down.weight"), &[self.width, self.inner]);
            }
        }
        add("output_norm.weight".into(), &[self.width]);
        if !self.tied {
            add("output.weight".into(), &[tokens, self.width]);
        }
        match self.scaling {
            Scaling::Factors => add("rope_freqs.weight".into(), &[self.rotated / 2]),
            Scaling::Long(..) => {
                add("rope_factors_short.weight".into(), &[self.rotated / 2]);
                add("rope_factors_long.weight".into(), &[self.rotated / 2]);
            }
            _ => {}
        }
        all
    }
}

/// Uniform numbers in -1..1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Returns the metadata of a small vocabulary and the number of tokens: byte pairs, or pieces for Gemma.
pub(crate) fn vocabulary(pieces: bool) -> (Metadata, usize) {
    let mut metadata = Metadata::default();
    let mut set = |key: &str, value: Value| drop(metadata.set(format!("tokenizer.ggml.{key}"), value));
    let mut tokens: Vec<(String, i32)> = Vec::new();
    if pieces {
        tokens.extend(["<pad>", "<eos>", "<bos>"].map(|name| (name.to_owned(), 3)));
        tokens.push(("<unk>".to_owned(), 2));
        tokens.extend((0..256).map(|byte| (format!("<0x{byte:02X}>"), 6)));
        tokens.extend(["<end_of_turn>", "<start_of_turn>"].map(|name| (name.to_owned(), 3)));
        tokens.push(("\n\n".to_owned(), 4));
        // Merges of the longest pieces have the lowest scores, as in vocabularies that were trained.
        let words = [
            "\u{2581}",
            "t",
            "h",
            "e",
            "a",
            "n",
            "d",
            "\n",
            "th",
            "he",
            "\u{2581}t",
            "\u{2581}th",
            "\u{2581}the",
            "an",
            "and",
            "\u{2581}a",
        ];
        tokens.extend(words.map(|word| (word.to_owned(), 1)));
        set("model", "llama".into());
        set("add_space_prefix", Value::Bool(false));
        set("bos_token_id", Value::U32(2));
        set("eos_token_id", Value::U32(1));
        let first = tokens.len() - words.len();
        set(
            "scores",
            Value::Array(Array::F32((0..tokens.len()).map(|id| -(id.saturating_sub(first) as f32)).collect())),
        );
    } else {
        let alphabet = |byte: u8| match byte {
            0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte),
            0..=0x20 => char::from_u32(0x100 + u32::from(byte)).expect("valid"),
            0x7F..=0xA0 => char::from_u32(0x121 + u32::from(byte) - 0x7F).expect("valid"),
            0xAD => '\u{143}',
        };
        tokens.extend(["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(|name| (name.to_owned(), 3)));
        tokens.extend((0..=255).map(|byte| (alphabet(byte).to_string(), 1)));
        let merges =
            ["\u{120} t", "h e", "\u{120}t he", "i n", "e r", "\u{120} a", "a n", "\u{120}t h", "\u{c3} \u{a9}"];
        tokens.extend(merges.map(|merge| (merge.replace(' ', ""), 1)));
        tokens.push(("<tool>".to_owned(), 4));
        set("model", "gpt2".into());
        set("pre", "smollm".into());
        set("merges", Value::Array(Array::String(merges.iter().collect())));
        set("bos_token_id", Value::U32(1));
        set("eos_token_id", Value::U32(2));
        set("add_bos_token", Value::Bool(false));
    }
    let count = tokens.len();
    set("token_type", Value::Array(Array::I32(tokens.iter().map(|(_, kind)| *kind).collect())));
    set("tokens", Value::Array(Array::String(tokens.iter().map(|(name, _)| name).collect())));
    let template = if pieces { "<start_of_turn>user" } else { "{{'<|im_start|>' + message['role']}}" };
    metadata.set("tokenizer.chat_template", template);
    (metadata, count)
}

/// Writes a GGUF file of f32 tensors.
pub(crate) fn write(metadata: &Metadata, tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<u8> {
    let spec = |(name, shape, _): &(String, Vec<usize>, Vec<f32>)| TensorSpec {
        name: name.clone(),
        dims: shape.iter().rev().map(|dim| *dim as u64).collect(),
        kind: TensorType::F32,
    };
    let specs: Vec<TensorSpec> = tensors.iter().map(spec).collect();
    let mut writer = Writer::new(Vec::new(), metadata, &specs).expect("valid");
    for (_, _, values) in tensors {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        writer.write(&bytes).expect("in memory");
    }
    writer.finish().expect("complete")
}

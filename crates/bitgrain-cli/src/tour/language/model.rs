//! A language model of letter pairs, counted in a text, as a GGUF file of the architecture `llama`.
//!
//! Token `t` is a direction in a space of 256 dimensions, and row `u` of the output matrix is the sum of all directions, each
//! times the logarithm of the probability that `u` follows. All directions are turned at random, so that the matrices
//! look like trained ones; the normalization of a vector does not change when it is turned.

use std::path::{Path, PathBuf};

use bitgrain::formats::gguf::{Array, Metadata, TensorSpec, TensorType, Value, Writer};

use crate::error::CliError;

/// Length of the vectors, which K-quants divide into blocks.
const WIDTH: usize = 256;
/// Bytes that are tokens: printable ASCII; the line feed and the end of the text follow.
const FIRST: u8 = 0x20;
const TOKENS: usize = 97;

/// Returns sentences of a few words, always the same.
pub(super) fn text() -> String {
    let mut random = fastrand::Rng::with_seed(3);
    let mut word = |words: &[&str]| words[random.usize(..words.len())].to_owned();
    let mut text = String::new();
    for _ in 0..1500 {
        let subject = word(&["The old man", "A small dog", "The river", "My sister", "Nobody", "The quiet village"]);
        let verb = word(&["sees", "likes", "remembers", "crosses", "follows", "has painted"]);
        let object = word(&["the red house", "a narrow bridge", "the winter", "three birds", "an empty boat", "music"]);
        let end = word(&["", " in the morning", " again", " without a word", " near the harbor"]);
        text.push_str(&format!("{subject} {verb} {object}{end}. "));
    }
    text
}

/// Writes the model and returns its path.
pub(super) fn write(path: &Path, text: &str) -> Result<PathBuf, CliError> {
    let turned = turns();
    let output = output(text, &turned);
    let mut random = fastrand::Rng::with_seed(5);
    // The layer adds a little noise to the vectors, so that its matrices matter, but less than the others.
    let mut small = |count: usize| (0..count).map(|_| 0.02 * (random.f32() - 0.5)).collect::<Vec<f32>>();
    let square = [WIDTH, WIDTH];
    let tensors = [
        ("token_embd", vec![TOKENS, WIDTH], turned[..TOKENS * WIDTH].to_vec()),
        ("blk.0.attn_norm", vec![WIDTH], vec![1.0; WIDTH]),
        ("blk.0.attn_q", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.attn_k", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.attn_v", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.attn_output", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.ffn_norm", vec![WIDTH], vec![1.0; WIDTH]),
        ("blk.0.ffn_gate", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.ffn_up", square.to_vec(), small(WIDTH * WIDTH)),
        ("blk.0.ffn_down", square.to_vec(), small(WIDTH * WIDTH)),
        ("output_norm", vec![WIDTH], vec![1.0; WIDTH]),
        ("output", vec![TOKENS, WIDTH], output),
    ];
    let spec = |(name, shape, _): &(&str, Vec<usize>, Vec<f32>)| TensorSpec {
        name: format!("{name}.weight"),
        dims: shape.iter().rev().map(|dim| *dim as u64).collect(),
        kind: TensorType::F32,
    };
    let specs: Vec<TensorSpec> = tensors.iter().map(spec).collect();
    let mut writer = Writer::new(std::fs::File::create(path)?, &metadata(), &specs)?;
    for (_, _, values) in &tensors {
        writer.write(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    writer.finish()?;
    Ok(path.to_owned())
}

fn metadata() -> Metadata {
    let mut metadata = Metadata::default();
    metadata.set("general.architecture", "llama");
    metadata.set("general.name", "letter pairs");
    for (key, value) in [
        ("block_count", 1_u32),
        ("context_length", 256),
        ("embedding_length", 256),
        ("feed_forward_length", 256),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 4),
    ] {
        metadata.set(format!("llama.{key}"), value);
    }
    metadata.set("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5));
    // Byte pairs without merges: every byte is a token, and GPT-2's alphabet shows a space as U+0120.
    let shown = |byte: u8| if byte == b' ' { '\u{120}' } else { char::from(byte) };
    let names = (FIRST..0x7F).map(|byte| shown(byte).to_string());
    let tokens: Vec<String> = names.chain(["\u{10a}", "<|endoftext|>"].map(str::to_owned)).collect();
    let kinds = (0..TOKENS).map(|id| if id + 1 < TOKENS { 1 } else { 3 }).collect();
    metadata.set("tokenizer.ggml.model", "gpt2");
    metadata.set("tokenizer.ggml.pre", "gpt-2");
    metadata.set("tokenizer.ggml.tokens", Value::Array(Array::String(tokens.iter().collect())));
    metadata.set("tokenizer.ggml.token_type", Value::Array(Array::I32(kinds)));
    metadata.set("tokenizer.ggml.merges", Value::Array(Array::String(Vec::<String>::new().iter().collect())));
    metadata.set("tokenizer.ggml.eos_token_id", u32::try_from(TOKENS - 1).unwrap_or(0));
    metadata
}

/// Returns orthogonal directions of length 1, one per row: random vectors, made orthogonal one after the other.
fn turns() -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(4);
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(TOKENS);
    for _ in 0..TOKENS {
        let mut row: Vec<f64> = (0..WIDTH).map(|_| (0..4).map(|_| random.f64() - 0.5).sum()).collect();
        for other in &rows {
            let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
        rows.push(row);
    }
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    let row = |row: Vec<f64>| row.into_iter().map(|x| x as f32);
    rows.into_iter().flat_map(row).collect()
}

/// Counts which token follows which, and returns the output matrix.
fn output(text: &str, turned: &[f32]) -> Vec<f32> {
    // Every pair is possible, only unlikely.
    let mut counts = vec![0.02_f32; TOKENS * TOKENS];
    let token =
        |byte: u8| if byte == b'\n' { TOKENS - 2 } else { usize::from(byte.saturating_sub(FIRST)).min(TOKENS - 3) };
    for pair in text.as_bytes().windows(2) {
        counts[token(pair[0]) * TOKENS + token(pair[1])] += 1.0;
    }
    let mut output = vec![0.0; TOKENS * WIDTH];
    for (counts, direction) in counts.chunks_exact(TOKENS).zip(turned.chunks_exact(WIDTH)) {
        let sum: f32 = counts.iter().sum();
        for (count, row) in counts.iter().zip(output.chunks_exact_mut(WIDTH)) {
            // Normalized vectors have the length 16.
            let weight = (count / sum).ln() / 16.0;
            row.iter_mut().zip(direction).for_each(|(out, x)| *out += weight * x);
        }
    }
    output
}

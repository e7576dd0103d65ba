//! Perplexity, divergence and importances against their definitions.

use bitgrain_nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain_nn::network::language::{CacheFormat, LanguageError, LanguageModel, PerplexityOptions};
use bitgrain_nn::{ImportanceMatrix, ModelFile};

use crate::formula;
use crate::tiny::Spec;

const TEXT: &str = "There was the inner thing, and then another one. In the end, they were the same in 2026: \
    an error in the theory. \u{c9}t\u{e9}, \u{4f60}\u{597d}!";

fn options(chunk: usize) -> PerplexityOptions {
    PerplexityOptions { chunk, chunks: None, cache: CacheFormat::F32 }
}

/// Logarithms of the probabilities of all tokens, from the formula.
fn predictions(spec: &Spec, model: &ModelFile, tokens: &[u32]) -> Vec<Vec<f64>> {
    let logits = formula::logits(spec, model, tokens);
    let normalize = |logits: Vec<f64>| {
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        logits.into_iter().map(|logit| logit - sum.ln()).collect()
    };
    logits.into_iter().map(normalize).collect()
}

fn best(predictions: &[f64]) -> usize {
    (0..predictions.len()).max_by(|a, b| predictions[*a].total_cmp(&predictions[*b])).expect("not empty")
}

#[test]
fn perplexity_and_divergence_are_those_of_the_definition() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let path = folder.path().join("small.gguf");
    let spec = Spec { gemma: true, arch: "gemma3", head_norms: true, halves: true, tied: true, ..Spec::llama() };
    let original = spec.open();
    quantize(&original, &path, &Recipe::new(FormatChoice::To("bfloat16".parse().expect("known"))), &())
        .expect("writable");
    let changed = ModelFile::open(&path).expect("just written");
    let (model, reference) = (LanguageModel::open(&path).expect("valid"), spec.model());
    let (chunk, mut seen) = (16, Vec::new());
    let found = model
        .perplexity(TEXT, Some(&reference), options(chunk), |done, all, _| seen.push((done, all)))
        .expect("long enough");
    let tokens = model.tokenizer().encode(TEXT, false);
    let (mut losses, mut divergences, mut same) = (Vec::new(), Vec::new(), 0.0);
    for part in tokens.chunks_exact(chunk) {
        let mut part = part.to_vec();
        part[0] = 2; // <bos>
        let (ours, theirs) = (predictions(&spec, &changed, &part), predictions(&spec, &original, &part));
        for at in chunk / 2..chunk - 1 {
            losses.push(-ours[at][part[at + 1] as usize]);
            divergences.push(theirs[at].iter().zip(&ours[at]).map(|(p, q)| p.exp() * (p - q)).sum::<f64>());
            same += f64::from(u8::from(best(&ours[at]) == best(&theirs[at])));
        }
    }
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let deviation = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (count - 1.0);
    assert_eq!((found.predictions, found.chunks), (losses.len(), tokens.len() / chunk));
    assert_eq!(seen.last(), Some(&(found.chunks, found.chunks)));
    assert!((found.loss.mean - mean).abs() < 1e-5, "{} {mean}", found.loss.mean);
    assert!((found.loss.error - (deviation / count).sqrt()).abs() < 1e-5);
    assert!((found.perplexity().mean - mean.exp()).abs() < 1e-2);
    let divergence = found.divergence.expect("a reference");
    let wanted = divergences.iter().sum::<f64>() / count;
    // The reference's cache has half precision, the weights have less.
    let far = (divergence.divergence.mean - wanted).abs();
    assert!(wanted > 1e-7 && far < 0.1 * wanted + 1e-7, "{far} of {wanted}");
    assert!((divergence.same_top.mean - same / count).abs() < 1e-9);
    assert!((divergence.loss.mean - (found.loss.mean - divergence.reference.mean)).abs() < 1e-9);
}

#[test]
fn a_model_does_not_diverge_from_itself() {
    let model = Spec::llama().model();
    let options = PerplexityOptions { chunk: 16, chunks: Some(2), cache: CacheFormat::F16 };
    let found = model.perplexity(TEXT, Some(&model), options, |_, _, _| {}).expect("long enough");
    let divergence = found.divergence.expect("a reference");
    assert!(divergence.divergence.mean.abs() < 1e-9 && divergence.loss.mean == 0.0);
    assert_eq!((divergence.same_top.mean, found.chunks, found.predictions), (1.0, 2, 14));
}

#[test]
fn importances_are_mean_squares_of_the_inputs() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let path = folder.path().join("imatrix.gguf");
    let spec = Spec { experts: Some((4, 2)), ..Spec::llama() };
    let model = spec.model();
    let found = model.importances(TEXT, 16, None, true, |_, _| {}).expect("long enough");
    // The input of the first matrix is the normalized embedding.
    let (file, tokens) = (spec.open(), model.tokenizer().encode(TEXT, false));
    let values = |name: &str| file.tensor(name).expect("there").values().expect("readable");
    let (table, norm) = (values("token_embd.weight"), values("blk.0.attn_norm.weight"));
    let (read, mut squares) = (tokens.len() / 16 * 16, vec![0.0; spec.width]);
    for id in &tokens[..read] {
        let row = &table[*id as usize * spec.width..][..spec.width];
        let mean = row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / spec.width as f64;
        for (sum, (x, weight)) in squares.iter_mut().zip(row.iter().zip(&norm)) {
            *sum += (f64::from(*x) * f64::from(*weight)).powi(2) / (mean + 1e-5);
        }
    }
    for name in ["attn_q", "attn_k", "attn_v"] {
        let seen = found.of(&format!("blk.0.{name}.weight")).expect("seen");
        for (seen, sum) in seen.iter().zip(&squares) {
            assert!((f64::from(*seen) - sum / read as f64).abs() < 1e-4 * sum / read as f64);
        }
    }
    assert_eq!(found.of("blk.1.ffn_down_exps.weight").expect("seen").len(), 4 * spec.inner);
    assert!(found.of("output.weight").is_some() && found.of("token_embd.weight").is_none());
    // The quantizer reads the file and finds every tensor of the layers.
    found.save(&path, "text.txt").expect("writable");
    let read = ImportanceMatrix::open(&path).expect("just written");
    assert_eq!((read.len(), read.covers(&file)), (found.len(), found.len()));
    let tensor = file.tensor("blk.0.attn_q.weight").expect("there");
    let saved = read.of(tensor).expect("matches").expect("covered").to_vec();
    let seen = found.of("blk.0.attn_q.weight").expect("seen");
    assert!(saved.iter().zip(&seen).all(|(a, b)| (a - b).abs() <= 1e-5 * b));
}

#[test]
fn texts_and_references_that_do_not_fit_are_rejected() {
    let model = Spec::llama().model();
    let measure = |text: &str, chunk: usize| model.perplexity(text, None, options(chunk), |_, _, _| {});
    assert!(matches!(measure("short", 64), Err(LanguageError::ShortText { tokens: 5, chunk: 64 })));
    assert!(matches!(measure("", 64), Err(LanguageError::ShortText { tokens: 0, .. })));
    assert!(matches!(measure(TEXT, 3), Err(LanguageError::Setting { name: "chunk", .. })));
    assert!(matches!(measure(TEXT, 300), Err(LanguageError::TooLong { longest: 256, .. })));
    assert!(matches!(model.importances("short", 64, None, false, |_, _| {}), Err(LanguageError::ShortText { .. })));
    let other = Spec { gemma: true, arch: "gemma3", head_norms: true, ..Spec::llama() }.model();
    let refused = model.perplexity(TEXT, Some(&other), options(16), |_, _, _| {});
    assert!(matches!(refused, Err(LanguageError::Vocabularies { .. })));
}

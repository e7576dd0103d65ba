//! Agreement of the predictions of both libraries: logits, perplexity, divergence and importances.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain::nn::network::language::{CacheFormat, LanguageModel};
use rayon::prelude::*;
use serde_json::json;

use crate::measure::Pace;
use crate::report::Sheet;
use crate::rival::ggml::Llama;

/// Tokens per chunk, of which the second half is scored.
const CHUNK: usize = 512;
/// Tokens that both libraries generate greedily.
const GREEDY: usize = 48;

/// Sums over the predictions of one library.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    loss: f64,
    divergence: f64,
    count: f64,
}

impl Sums {
    fn perplexity(self) -> f64 {
        (self.loss / self.count).exp()
    }

    fn divergence(self) -> f64 {
        self.divergence / self.count
    }
}

/// Compares the predictions for a text. Quantized formats are compared with f16, the last of `files`.
///
/// # Errors
/// Returns an error if a model cannot be loaded, or if the text is too short.
pub(super) fn sheet(
    pace: Pace,
    llama: &Llama,
    files: &[(&str, PathBuf)],
    floats: &Path,
    text: &str,
) -> io::Result<Sheet> {
    let most = if pace == Pace::Full { 10 } else { 2 };
    let model = LanguageModel::open(floats).map_err(io::Error::other)?;
    let tokens = model.tokenizer().encode(text, false);
    let chunks: Vec<&[u32]> = tokens.chunks_exact(CHUNK).take(most).collect();
    if chunks.is_empty() {
        return Err(io::Error::other("the text is shorter than a chunk of 512 tokens"));
    }
    let mut cells = vec![["measure", "bitgrain", "llama.cpp", "difference"].map(str::to_owned).to_vec()];
    let mut value = Vec::new();
    let mut row = |name: String, ours: String, theirs: String, difference: f64| {
        value.push(json!({"measure": name, "difference": difference}));
        cells.push(vec![name, ours, theirs, format!("{:.4} %", 100.0 * difference)]);
    };
    of_floats(llama, &model, floats, &chunks, text, &mut row)?;
    drop(model);
    let (_, reference) = files.last().ok_or_else(|| io::Error::other("no formats"))?;
    let wanted = predictions(llama, reference, &chunks)?;
    for (format, path) in files {
        let found = if path == reference { wanted.clone() } else { predictions(llama, path, &chunks)? };
        let mut sums = [Sums::default(); 2];
        for (library, sums) in sums.iter_mut().enumerate() {
            for ((chunk, found), wanted) in chunks.iter().zip(&found[library]).zip(&wanted[library]) {
                *sums = add(*sums, chunk, found, wanted);
            }
        }
        let [ours, theirs] = sums;
        let relative = |a: f64, b: f64| (a - b).abs() / b;
        let [a, b] = [ours, theirs].map(Sums::perplexity);
        row(format!("perplexity, {format}"), format!("{a:.4}"), format!("{b:.4}"), relative(a, b));
        if path != reference {
            let [a, b] = [ours, theirs].map(Sums::divergence);
            row(format!("KL divergence from f16, {format}"), format!("{a:.5}"), format!("{b:.5}"), relative(a, b));
        }
    }
    let note = format!(
        "{} predictions for {} chunks of 512 tokens of a text. Logits, the greedy continuation and importances are those of \
         the model in f32, with keys and values in f32: their differences are the root mean square of the difference relative \
         to that of llama.cpp's values, for importances the largest of all matrices. Formats run as usual; the two \
         libraries round activations to 8 bits over different lengths.",
        chunks.len() * (CHUNK / 2 - 1),
        chunks.len()
    );
    Ok(Sheet { title: "Agreement with llama.cpp".to_owned(), note, cells, value: json!(value) })
}

/// Compares the model in f32, which neither library rounds.
fn of_floats(
    llama: &Llama,
    model: &LanguageModel,
    path: &Path,
    chunks: &[&[u32]],
    text: &str,
    row: &mut impl FnMut(String, String, String, f64),
) -> io::Result<()> {
    eprintln!("comparing the predictions in f32");
    let missing = || io::Error::other("llama.cpp cannot load the model");
    let mut theirs = llama.model(path, CHUNK, rayon::current_num_threads(), true).ok_or_else(missing)?;
    let part = &text[..text.floor_char_boundary(100_000)];
    let [a, b] = [model.tokenizer().encode(part, false), theirs.encode(part)];
    let unequal = a.iter().zip(&b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len());
    row("tokens of 100,000 bytes".to_owned(), a.len().to_string(), b.len().to_string(), ratio(unequal, b.len()));
    let read = chunks[0];
    let ours = forward(model, read, 0, CacheFormat::F32)?;
    theirs.read(read, 0, 0);
    let vocabulary = model.decoder().tokens();
    let pairs = || (0..read.len()).map(|at| (&ours[at * vocabulary..][..vocabulary], theirs.logits(at)));
    let [errors, squares] = pairs().fold([0.0; 2], |sums, (ours, theirs)| {
        let mean = theirs.iter().map(|x| f64::from(*x)).sum::<f64>() / theirs.len() as f64;
        let offset = ours.iter().map(|x| f64::from(*x)).sum::<f64>() / ours.len() as f64 - mean;
        ours.iter().zip(theirs).fold(sums, |[errors, squares], (ours, theirs)| {
            let error = f64::from(*ours) - f64::from(*theirs) - offset;
            [errors + error * error, squares + (f64::from(*theirs) - mean).powi(2)]
        })
    });
    row("logits, f32".to_owned(), "–".to_owned(), "–".to_owned(), (errors / squares).sqrt());
    let found = model.importances(text, CHUNK, Some(1), false, |_, _| {}).map_err(io::Error::other)?;
    let mut worst: f64 = 0.0;
    for (name, (sums, count)) in theirs.watched() {
        let ours = found.of(name).ok_or_else(|| io::Error::other(format!("no importances of `{name}`")))?;
        let [errors, squares] = ours.iter().zip(sums).fold([0.0; 2], |[errors, squares], (ours, sum)| {
            let theirs = sum / *count as f64;
            [errors + (f64::from(*ours) - theirs).powi(2), squares + theirs * theirs]
        });
        worst = worst.max((errors / squares).sqrt());
    }
    let (a, b) = (found.len().to_string(), theirs.watched().len().to_string());
    row("importances of matrices, f32".to_owned(), a, b, worst);
    let [a, b] = greedy(model, &mut theirs, &read[..32])?;
    let unequal = a.iter().zip(&b).filter(|(a, b)| a != b).count();
    row(format!("greedy continuation by {GREEDY} tokens, f32"), "–".to_owned(), "–".to_owned(), ratio(unequal, GREEDY));
    Ok(())
}

/// Continues a prompt with the most likely tokens in both libraries.
fn greedy(
    model: &LanguageModel,
    theirs: &mut crate::rival::ggml::Model<'_>,
    prompt: &[u32],
) -> io::Result<[Vec<u32>; 2]> {
    let decoder = model.decoder();
    let mut cache = decoder.cache(CacheFormat::F32).map_err(io::Error::other)?;
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    let (mut ours, mut next) = (prompt.to_vec(), prompt.to_vec());
    theirs.clear();
    for _ in 0..GREEDY {
        let logits = decoder.forward(&ours, &mut cache, ours.len() - 1).map_err(io::Error::other)?;
        a.push(best(&logits));
        ours = a[a.len() - 1..].to_vec();
        let before = if b.is_empty() { 0 } else { prompt.len() + b.len() - 1 };
        theirs.read(&next, before, next.len() - 1);
        b.push(best(theirs.logits(next.len() - 1)));
        next = b[b.len() - 1..].to_vec();
    }
    Ok([a, b])
}

fn best(logits: &[f32]) -> u32 {
    let at = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b]).then(b.cmp(a)));
    at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens")]
fn ratio(count: usize, all: usize) -> f64 {
    count as f64 / all.max(1) as f64
}

/// Logits of the second half of each chunk, in Bitgrain and in llama.cpp.
type Predictions = [Vec<Vec<f32>>; 2];

fn predictions(llama: &Llama, path: &Path, chunks: &[&[u32]]) -> io::Result<Predictions> {
    eprintln!("comparing the predictions of {}", path.display());
    let model = LanguageModel::open(path).map_err(io::Error::other)?;
    let ours = chunks.iter().map(|chunk| forward(&model, &chunk[..CHUNK - 1], CHUNK / 2, CacheFormat::F16));
    let ours = ours.collect::<io::Result<Vec<_>>>()?;
    let missing = || io::Error::other("llama.cpp cannot load the model");
    let mut theirs = llama.model(path, CHUNK, rayon::current_num_threads(), false).ok_or_else(missing)?;
    let read = |chunk: &&[u32]| {
        theirs.clear();
        theirs.read(&chunk[..CHUNK - 1], 0, CHUNK / 2);
        (CHUNK / 2..CHUNK - 1).flat_map(|at| theirs.logits(at).to_vec()).collect()
    };
    Ok([ours, chunks.iter().map(read).collect()])
}

fn forward(model: &LanguageModel, tokens: &[u32], from: usize, cache: CacheFormat) -> io::Result<Vec<f32>> {
    let mut cache = model.cache(cache).map_err(io::Error::other)?;
    model.decoder().forward(tokens, &mut cache, from).map_err(io::Error::other)
}

/// Adds the scores of a chunk.
fn add(sums: Sums, chunk: &[u32], found: &[f32], wanted: &[f32]) -> Sums {
    let scored = &chunk[CHUNK / 2 + 1..];
    let vocabulary = found.len() / scored.len();
    let scores: Vec<[f64; 2]> = (0..scored.len())
        .into_par_iter()
        .map(|at| {
            let [found, wanted] = [found, wanted].map(|all| &all[at * vocabulary..][..vocabulary]);
            let [a, b] = [found, wanted].map(log_sum);
            let term = |(found, wanted): (&f32, &f32)| {
                let wanted = f64::from(*wanted) - b;
                if wanted < -30.0 { 0.0 } else { wanted.exp() * (wanted - (f64::from(*found) - a)) }
            };
            [a - f64::from(found[scored[at] as usize]), found.iter().zip(wanted).map(term).sum()]
        })
        .collect();
    scores.into_iter().fold(sums, |sums, [loss, divergence]| Sums {
        loss: sums.loss + loss,
        divergence: sums.divergence + divergence,
        count: sums.count + 1.0,
    })
}

/// Returns the logarithm of the sum of exponentials.
fn log_sum(logits: &[f32]) -> f64 {
    let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    top + logits.iter().map(|logit| (f64::from(*logit) - top).exp()).sum::<f64>().ln()
}

//! Tokens per second: reading a prompt, and generating.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain::nn::network::language::{CacheFormat, LanguageModel};

use crate::measure::{Contestant, Pace, Timing, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::ggml::{Llama, Model};

/// Tokens of a prompt.
const PROMPT: usize = 128;
/// Tokens generated per call.
const GENERATED: usize = 32;
/// Numbers of threads.
const THREADS: [usize; 2] = [1, 2];

/// Measures every file with every number of threads.
///
/// # Errors
/// Returns an error if a model cannot be loaded.
pub(super) fn tables(pace: Pace, llama: &Llama, files: &[(&str, PathBuf)]) -> io::Result<Vec<Table>> {
    let [mut prompts, mut generations] = [Vec::new(), Vec::new()];
    for (format, path) in files {
        for threads in THREADS {
            let label = format!("{format}, {threads} thread{}", if threads == 1 { "" } else { "s" });
            eprintln!("measuring {label}");
            let [prompt, generation] = compete(pace, llama, path, threads)?;
            // An interrupted run is not lost.
            for (what, timings) in [("prompt", &prompt), ("generation", &generation)] {
                let shown = timings.iter().map(|t| format!("{} {:.3} ms", t.contestant, 1e3 * t.median_seconds));
                eprintln!("  {what}: {}", shown.collect::<Vec<_>>().join(", "));
            }
            prompts.push(Row::judged(label.clone(), prompt));
            generations.push(Row::judged(label, generation));
        }
    }
    let table = |title, note: String, rows| Table {
        title,
        note,
        unit: Unit::Milliseconds,
        axis: "format",
        figures: vec![Figure::ratio("bitgrain", "llama.cpp").at_least(1.0)],
        rows,
    };
    Ok(vec![
        table("Prompt", format!("Per token of a prompt of {PROMPT} tokens."), prompts),
        table("Generation", format!("Per generated token, over {GENERATED} tokens."), generations),
    ])
}

/// Models of both libraries and the tokens that they read.
struct Both<'a> {
    tokens: Vec<u32>,
    theirs: Model<'a>,
}

fn compete(pace: Pace, llama: &Llama, path: &Path, threads: usize) -> io::Result<[Vec<Timing>; 2]> {
    let ours = LanguageModel::open(path).map_err(io::Error::other)?;
    let theirs = llama.model(path, PROMPT + GENERATED, threads, false);
    let theirs = theirs.ok_or_else(|| io::Error::other(format!("llama.cpp cannot load {}", path.display())))?;
    let vocabulary = u32::try_from(ours.decoder().tokens()).unwrap_or(u32::MAX);
    // Any tokens do; control tokens come first in most vocabularies.
    let tokens = (0..128_u32).map(|at| 200 + at * 7919 % (vocabulary - 300)).collect();
    let mut both = Both { tokens, theirs };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let (decoder, effort) = (ours.decoder(), pace.seconds_a_call().apart());
    let read = |both: &mut Both<'_>, one_by_one: bool| {
        pool.install(|| {
            let mut cache = decoder.cache(CacheFormat::F16).expect("any head length");
            if one_by_one {
                for token in &both.tokens[..GENERATED] {
                    decoder.forward(&[*token], &mut cache, 0).expect("finite");
                }
            } else {
                decoder.forward(&both.tokens, &mut cache, PROMPT - 1).expect("finite");
            }
        });
    };
    let prompt = vec![
        Contestant::new("bitgrain", |both: &mut Both<'_>| read(both, false)),
        Contestant::new("llama.cpp", |both: &mut Both<'_>| {
            both.theirs.clear();
            both.theirs.read(&both.tokens, 0, PROMPT - 1);
        }),
    ];
    let prompt = race(effort, &mut both, 1, prompt);
    let generation = vec![
        Contestant::new("bitgrain", |both: &mut Both<'_>| read(both, true)),
        Contestant::new("llama.cpp", |both: &mut Both<'_>| {
            both.theirs.clear();
            for at in 0..GENERATED {
                both.theirs.read(&both.tokens[at..=at], at, 0);
            }
        }),
    ];
    let generation = race(effort, &mut both, 1, generation);
    Ok([per_token(prompt, PROMPT), per_token(generation, GENERATED)])
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred tokens")]
fn per_token(timings: Vec<Timing>, tokens: usize) -> Vec<Timing> {
    let divide = |timing: Timing| Timing {
        median_seconds: timing.median_seconds / tokens as f64,
        best_seconds: timing.best_seconds / tokens as f64,
        ..timing
    };
    timings.into_iter().map(divide).collect()
}

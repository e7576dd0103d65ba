//! Rotary position embeddings from any position on, with the scalings of long-context models.

use bitgrain_formats::gguf::Value;

use super::LanguageError;
use super::config::Config;
use super::keys::Keys;
use crate::ModelFile;
use crate::network::layer::Pairs;

/// Scaling of the angles beyond the context that a model was trained on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scaling {
    /// Unchanged angles; factors per frequency, as of Llama 3, come as a tensor.
    None,
    /// Angles divided by a factor.
    Linear { factor: f32 },
    /// `YaRN` (Peng et al. 2023): low frequencies are divided, high ones are not.
    Yarn { factor: f32, trained: f32, fast: f32, slow: f32, magnitude: f32 },
    /// `LongRoPE` (Ding et al. 2024): factors per frequency for short and for long contexts, as tensors.
    Long { trained: usize, magnitude: f32 },
}

impl Scaling {
    /// Reads the scaling of a model with this context length.
    #[expect(clippy::cast_precision_loss, reason = "context lengths")]
    pub(super) fn read(keys: Keys<'_>, context: usize) -> Result<Self, LanguageError> {
        const KIND: &str = "rope.scaling.type";
        let magnitude = keys.positive("rope.scaling.attn_factor")?.unwrap_or(1.0);
        let trained = keys.size("rope.scaling.original_context_length")?.unwrap_or(context);
        let number = |name: &str| match keys.get(name) {
            // Zero means unscaled.
            Some(Value::F32(0.0)) => Ok(None),
            _ => keys.positive(name),
        };
        let factor = match number("rope.scaling.factor")? {
            Some(factor) => factor,
            // The name of the key in files of 2023.
            None => number("rope.scale_linear")?.unwrap_or(1.0),
        };
        match keys.text(KIND).unwrap_or("linear") {
            "none" => Ok(Self::None),
            "linear" if factor == 1.0 => Ok(Self::None),
            "linear" => Ok(Self::Linear { factor }),
            "yarn" => {
                let logs = keys.float("rope.scaling.yarn_log_multiplier")?.filter(|logs| *logs != 0.0);
                let grown = |by: f32| if factor > 1.0 { 0.1 * by * factor.ln() + 1.0 } else { 1.0 };
                let scale = if let Some(logs) = logs { grown(1.0) / grown(logs) } else { grown(1.0) };
                Ok(Self::Yarn {
                    factor,
                    trained: trained as f32,
                    fast: keys.positive("rope.scaling.yarn_beta_fast")?.unwrap_or(32.0),
                    slow: keys.positive("rope.scaling.yarn_beta_slow")?.unwrap_or(1.0),
                    magnitude: magnitude * scale,
                })
            }
            "longrope" => Ok(Self::Long { trained, magnitude }),
            other => Err(keys.wrong(KIND, other, "none, linear, yarn or longrope")),
        }
    }
}

/// Angles per position of each pair of elements of a head.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    pairs: Pairs,
    speeds: Vec<f64>,
    /// Factor of the rotated elements.
    magnitude: f32,
}

/// Cosines and sines of some positions.
#[derive(Debug)]
pub(super) struct Angles<'a> {
    rotation: &'a Rotation,
    /// For each position, the cosine and the sine for each pair.
    turns: Vec<[f32; 2]>,
}

impl Rotation {
    /// Creates the rotation of a model for layers with this base; `longest` is the number of positions in use.
    pub(super) fn new(config: &Config, model: &ModelFile, local: bool, longest: usize) -> Result<Self, LanguageError> {
        let local = config.window.as_ref().filter(|_| local).map(|window| window.base);
        let base = f64::from(local.unwrap_or(config.base));
        let half = config.rotated / 2;
        #[expect(clippy::cast_precision_loss, reason = "head lengths")]
        let mut speeds: Vec<f64> = (0..half).map(|i| base.powf(-2.0 * i as f64 / config.rotated as f64)).collect();
        let mut magnitude = 1.0;
        // Layers with a window do not see far, so that their angles stay as they were trained.
        if local.is_none() {
            if let Some(factors) = factors(config, model, longest)? {
                speeds.iter_mut().zip(factors).for_each(|(speed, factor)| *speed /= f64::from(factor));
            }
            match config.scaling {
                Scaling::None => {}
                Scaling::Linear { factor } => speeds.iter_mut().for_each(|speed| *speed /= f64::from(factor)),
                Scaling::Long { magnitude: scale, .. } => magnitude = scale,
                Scaling::Yarn { factor, trained, fast, slow, magnitude: scale } => {
                    magnitude = scale;
                    interpolate(&mut speeds, base, [factor, trained, fast, slow].map(f64::from));
                }
            }
        }
        Ok(Self { pairs: config.pairs, speeds, magnitude })
    }

    /// Computes the angles of `count` positions from `first` on.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "positions; f32 is the result")]
    pub(super) fn angles(&self, first: usize, count: usize) -> Angles<'_> {
        let turn = |position: usize, speed: f64| {
            let (sin, cos) = (position as f64 * speed).sin_cos();
            [cos as f32 * self.magnitude, sin as f32 * self.magnitude]
        };
        let positions = first..first + count;
        let turns =
            positions.flat_map(|position| self.speeds.iter().map(move |speed| turn(position, *speed))).collect();
        Angles { rotation: self, turns }
    }
}

impl Angles<'_> {
    /// Rotates all heads of the vector at the position `row`, counted from the first.
    pub(super) fn rotate(&self, row: usize, values: &mut [f32], head: usize) {
        let half = self.rotation.speeds.len();
        let turns = &self.turns[row * half..][..half];
        for head in values.chunks_exact_mut(head) {
            match self.rotation.pairs {
                Pairs::Neighbors => {
                    for (pair, [cos, sin]) in head.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                        let [a, b] = *pair;
                        *pair = [a * cos - b * sin, a * sin + b * cos];
                    }
                }
                Pairs::Halves => {
                    let (front, back) = head.split_at_mut(half);
                    for ((a, b), [cos, sin]) in front.iter_mut().zip(back).zip(turns) {
                        (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
                    }
                }
            }
        }
    }
}

/// Returns the factors of the frequencies, if the model has any.
fn factors(config: &Config, model: &ModelFile, longest: usize) -> Result<Option<Vec<f32>>, LanguageError> {
    let name = match config.scaling {
        Scaling::Long { trained, .. } if longest > trained => "rope_factors_long.weight",
        Scaling::Long { .. } => "rope_factors_short.weight",
        _ => "rope_freqs.weight",
    };
    let Ok(tensor) = model.tensor(name) else { return Ok(None) };
    let (wanted, path) = (vec![(config.rotated / 2) as u64], model.path());
    if tensor.shape != wanted {
        let (path, found) = (path.to_owned(), tensor.shape.clone());
        return Err(LanguageError::TensorShape { path, tensor: name.to_owned(), wanted, found });
    }
    let factors = tensor.values()?;
    if let Some(wrong) = factors.iter().find(|factor| !(factor.is_finite() && **factor > 0.0)) {
        let (path, found) = (path.to_owned(), wrong.to_string());
        return Err(LanguageError::Key { path, key: name.to_owned(), found, wanted: "positive numbers".to_owned() });
    }
    Ok(Some(factors))
}

/// Divides the speeds of pairs that turn less than `slow` times within the trained context by the factor, leaves those
/// that turn more than `fast` times, and interpolates between them.
#[expect(clippy::cast_precision_loss, reason = "head lengths")]
fn interpolate(speeds: &mut [f64], base: f64, [factor, trained, fast, slow]: [f64; 4]) {
    let rotated = 2.0 * speeds.len() as f64;
    let pair = |turns: f64| rotated * (trained / (turns * std::f64::consts::TAU)).ln() / (2.0 * base.ln());
    let (low, high) = (pair(fast).floor().max(0.0), pair(slow).ceil().min(rotated - 1.0));
    for (at, speed) in speeds.iter_mut().enumerate() {
        let kept = 1.0 - ((at as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
        *speed = *speed / factor * (1.0 - kept) + *speed * kept;
    }
}

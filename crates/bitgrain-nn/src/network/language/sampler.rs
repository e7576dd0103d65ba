//! `Sampler`: chooses the next token from logits.

use super::LanguageError;
use super::attention::softmax;
use crate::network::random::Random;

/// Settings of sampling. The filters apply in the order of the fields.
///
/// ```
/// use bitgrain_nn::network::language::{Sampler, Sampling};
/// let mut greedy = Sampler::new(Sampling::GREEDY)?;
/// assert_eq!(greedy.sample(&[0.1, 2.0, -1.0], &[]), 1);
/// # Ok::<(), bitgrain_nn::network::language::LanguageError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Divides positive logits of recent tokens, and multiplies negative ones; 1 changes nothing.
    pub repeat_penalty: f32,
    /// Number of recent tokens that the penalty applies to.
    pub repeat_last: usize,
    /// Number of most likely tokens that remain; 0 keeps all.
    pub top_k: usize,
    /// Share of probability that the most likely tokens must reach; 1 keeps all.
    pub top_p: f32,
    /// Minimum probability relative to that of the most likely token; 0 keeps all.
    pub min_p: f32,
    /// Divides the logits; 0 always chooses the most likely token.
    pub temperature: f32,
    /// Seed of the random choices.
    pub seed: u64,
}

impl Sampling {
    /// Always the most likely token.
    pub const GREEDY: Self =
        Self { repeat_penalty: 1.0, repeat_last: 64, top_k: 0, top_p: 1.0, min_p: 0.0, temperature: 0.0, seed: 0 };
}

impl Default for Sampling {
    /// llama.cpp's defaults.
    fn default() -> Self {
        Self { top_k: 40, top_p: 0.95, min_p: 0.05, temperature: 0.8, ..Self::GREEDY }
    }
}

/// Chooses tokens, deterministically for a seed.
#[derive(Debug, Clone)]
pub struct Sampler {
    settings: Sampling,
    random: Random,
}

/// Distinguishes these random numbers from others of the same seed.
const PURPOSE: u64 = 0x746F_6B65;

impl Sampler {
    /// Creates a sampler.
    ///
    /// # Errors
    /// Returns [`LanguageError::Setting`] for a setting out of range.
    pub fn new(settings: Sampling) -> Result<Self, LanguageError> {
        let Sampling { repeat_penalty, top_p, min_p, temperature, .. } = settings;
        let check = |name, value: f32, valid: bool, wanted| {
            if valid { Ok(()) } else { Err(LanguageError::Setting { name, value: value.to_string(), wanted }) }
        };
        check("temperature", temperature, temperature >= 0.0 && temperature.is_finite(), "a number of at least 0")?;
        check("top-p", top_p, top_p > 0.0 && top_p <= 1.0, "a number above 0 and at most 1")?;
        check("min-p", min_p, (0.0..=1.0).contains(&min_p), "a number from 0 to 1")?;
        let valid = repeat_penalty > 0.0 && repeat_penalty.is_finite();
        check("repeat penalty", repeat_penalty, valid, "a positive number")?;
        Ok(Self { settings, random: Random::new(settings.seed, PURPOSE) })
    }

    /// Chooses a token; `recent` are the tokens so far. Of equal logits, the first wins.
    pub fn sample(&mut self, logits: &[f32], recent: &[u32]) -> u32 {
        let Sampling { repeat_penalty, repeat_last, top_k, top_p, min_p, temperature, .. } = self.settings;
        let mut logits = logits.to_vec();
        if repeat_penalty != 1.0 {
            let mut recent = recent[recent.len().saturating_sub(repeat_last)..].to_vec();
            recent.sort_unstable();
            recent.dedup();
            for id in recent {
                if let Some(logit) = logits.get_mut(id as usize) {
                    *logit = if *logit > 0.0 { *logit / repeat_penalty } else { *logit * repeat_penalty };
                }
            }
        }
        if temperature == 0.0 {
            return most_likely(&logits);
        }
        let mut order: Vec<u32> = (0..).zip(&logits).map(|(id, _)| id).collect();
        let at = |id: &u32| logits[*id as usize];
        let before = |a: &u32, b: &u32| at(b).total_cmp(&at(a)).then(a.cmp(b));
        if top_k > 0 && top_k < order.len() {
            order.select_nth_unstable_by(top_k - 1, before);
            order.truncate(top_k);
        }
        order.sort_unstable_by(before);
        let mut shares: Vec<f32> = order.iter().map(at).collect();
        softmax(&mut shares);
        if top_p < 1.0 {
            let mut sum = 0.0;
            let reached = shares.iter().position(|share| {
                sum += share;
                sum >= top_p
            });
            order.truncate(reached.map_or(order.len(), |at| at + 1));
        }
        let least = shares.first().copied().unwrap_or(0.0) * min_p;
        let likely = shares[..order.len()].iter().take_while(|share| **share >= least).count();
        order.truncate(likely.max(1));
        let mut shares: Vec<f32> = order.iter().map(|id| at(id) / temperature).collect();
        softmax(&mut shares);
        let mut left = self.random.share();
        for (id, share) in order.iter().zip(&shares) {
            left -= share;
            if left < 0.0 {
                return *id;
            }
        }
        order.last().copied().unwrap_or(0)
    }
}

/// Returns the token with the largest logit, the first of equal ones.
pub(super) fn most_likely(logits: &[f32]) -> u32 {
    let best = (0..)
        .zip(logits)
        .fold((0, f32::NEG_INFINITY), |best, (id, logit)| if *logit > best.1 { (id, *logit) } else { best });
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [0.0, 3.0, 1.0, 2.0, -5.0];

    fn counts(settings: Sampling) -> [usize; 5] {
        let mut sampler = Sampler::new(settings).expect("valid");
        let mut counts = [0; 5];
        (0..20_000).for_each(|_| counts[sampler.sample(&LOGITS, &[]) as usize] += 1);
        counts
    }

    #[test]
    fn tokens_are_as_frequent_as_their_probability() {
        let all = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let sum: f64 = LOGITS.iter().map(|logit| f64::from(*logit).exp()).sum();
        for (count, logit) in counts(all).into_iter().zip(LOGITS) {
            let wanted = 20_000.0 * f64::from(logit).exp() / sum;
            // Five standard deviations.
            assert!((count as f64 - wanted).abs() < 5.0 * wanted.sqrt() + 5.0, "{count} {wanted}");
        }
        assert_eq!(counts(all), counts(all));
        assert_ne!(counts(all), counts(Sampling { seed: 1, ..all }));
    }

    #[test]
    fn filters_remove_unlikely_tokens() {
        let all = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let used = |settings| counts(settings).map(|count| count > 0);
        assert_eq!(used(Sampling { top_k: 2, ..all }), [false, true, false, true, false]);
        // Shares: 0.643, 0.237, 0.087, 0.032, 0.0002.
        assert_eq!(used(Sampling { top_p: 0.9, ..all }), [false, true, true, true, false]);
        assert_eq!(used(Sampling { min_p: 0.3, ..all }), [false, true, false, true, false]);
        assert_eq!(used(Sampling { temperature: 0.05, ..all }), [false, true, false, false, false]);
    }

    #[test]
    fn repeated_tokens_are_less_likely() {
        let mut sampler = Sampler::new(Sampling { repeat_penalty: 4.0, ..Sampling::GREEDY }).expect("valid");
        assert_eq!(sampler.sample(&LOGITS, &[1, 1]), 3);
        assert_eq!(sampler.sample(&[-1.0, -3.0], &[0]), 1);
        let mut short =
            Sampler::new(Sampling { repeat_penalty: 4.0, repeat_last: 1, ..Sampling::GREEDY }).expect("valid");
        assert_eq!(short.sample(&LOGITS, &[1, 9]), 1);
    }

    #[test]
    fn settings_out_of_range_are_rejected() {
        let ok = Sampling::default();
        for wrong in [
            Sampling { temperature: -1.0, ..ok },
            Sampling { temperature: f32::NAN, ..ok },
            Sampling { top_p: 0.0, ..ok },
            Sampling { top_p: 1.1, ..ok },
            Sampling { min_p: -0.1, ..ok },
            Sampling { repeat_penalty: 0.0, ..ok },
        ] {
            assert!(matches!(Sampler::new(wrong), Err(LanguageError::Setting { .. })), "{wrong:?}");
        }
    }
}

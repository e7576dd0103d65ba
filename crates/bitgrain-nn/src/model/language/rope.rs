//! `Rope`: rotary positions of a configuration, in the layouts of old and new versions of transformers.

use serde_json::Value;

use super::LanguageConversionError;
use super::architecture::Architecture;
use super::config::Config;
use super::parameters::Sizes;

/// Rotary positions of a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Rope {
    /// Frequency base, of global layers if layers differ.
    pub(super) base: Option<f64>,
    /// Frequency base of layers with a sliding window.
    pub(super) local_base: Option<f64>,
    pub(super) scaling: Option<Scaling>,
    /// Context that the model was trained with, before scaling.
    pub(super) original_context: u32,
    /// Rotated values per head.
    pub(super) dimensions: u32,
    /// Tensors of frequency factors: GGUF name and values.
    pub(super) factors: Vec<(&'static str, Vec<f32>)>,
}

/// Keys that describe how positions beyond the original context are scaled.
#[derive(Debug, Clone)]
pub(super) struct Scaling {
    pub(super) name: &'static str,
    pub(super) factor: Option<f64>,
    pub(super) original_context: Option<u32>,
    pub(super) numbers: Vec<(&'static str, f64)>,
}

impl Rope {
    pub(super) fn read(
        architecture: Architecture,
        config: &Config,
        sizes: &Sizes,
    ) -> Result<Self, LanguageConversionError> {
        if architecture == Architecture::Bert {
            return Ok(Self::default());
        }
        let all = config.object("rope_parameters").or_else(|| config.object("rope_scaling"));
        // Layers of two kinds have an entry each.
        let global = all.as_ref().and_then(|all| all.object("full_attention"));
        let local = all.as_ref().and_then(|all| all.object("sliding_attention"));
        let parameters = global.or(all);
        let nested = |keys: &[&str]| parameters.as_ref().map_or(Ok(None), |own| own.number(keys));
        let base = match nested(&["rope_theta"])? {
            Some(base) => Some(base),
            None => config.number(&["rope_theta", "rotary_emb_base"])?,
        };
        let local_base = match local.map_or(Ok(None), |own| own.number(&["rope_theta"]))? {
            Some(base) => Some(base),
            None => config.number(&["rope_local_base_freq"])?,
        };
        let fraction = match nested(&["partial_rotary_factor"])? {
            Some(fraction) => fraction,
            None => config.number(&["partial_rotary_factor"])?.unwrap_or(1.0),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "truncated as by the reference")]
        let dimensions = (fraction.clamp(0.0, 1.0) * f64::from(sizes.width)) as u32 / sizes.heads;
        let own_context =
            parameters.as_ref().map_or(Ok(None), |own| own.count(&["original_max_position_embeddings"]))?;
        let original_context = match own_context {
            Some(context) => context,
            None => config.count(&["original_max_position_embeddings"])?.unwrap_or(4096),
        };
        let mut rope = Self {
            base: Some(base.unwrap_or(default_base(architecture))),
            local_base: match architecture {
                Architecture::Gemma3 => Some(local_base.unwrap_or(10_000.0)),
                _ => None,
            },
            original_context,
            dimensions,
            ..Self::default()
        };
        if let Some(parameters) = parameters {
            rope.scale(architecture, &parameters, config, sizes)?;
        }
        Ok(rope)
    }

    /// Reads the kind of scaling and its numbers.
    fn scale(
        &mut self,
        architecture: Architecture,
        own: &Config,
        config: &Config,
        sizes: &Sizes,
    ) -> Result<(), LanguageConversionError> {
        let Some(kind) = own.text("rope_type").or_else(|| own.text("type")) else { return Ok(()) };
        if architecture == Architecture::Phi3 {
            return self.read_long_factors(own);
        }
        let factor = own.number(&["factor"])?;
        match kind {
            "default" => {}
            "linear" => {
                self.scaling = Some(Scaling { name: "linear", factor, original_context: None, numbers: Vec::new() });
            }
            "yarn" => {
                let context = own.count(&["original_max_position_embeddings"])?;
                let context = match context {
                    Some(context) => context,
                    None => config.required(&["original_max_position_embeddings", "max_position_embeddings"])?,
                };
                let mut numbers = Vec::new();
                for (key, names) in [
                    ("rope.scaling.yarn_ext_factor", &["extrapolation_factor"][..]),
                    ("rope.scaling.yarn_attn_factor", &["attention_factor", "attn_factor"]),
                    ("rope.scaling.yarn_beta_fast", &["beta_fast"]),
                    ("rope.scaling.yarn_beta_slow", &["beta_slow"]),
                ] {
                    numbers.extend(own.number(names)?.map(|value| (key, value)));
                }
                self.scaling = Some(Scaling { name: "yarn", factor, original_context: Some(context), numbers });
            }
            "llama3" if architecture.interleaves() => {
                self.factors.push(("rope_freqs.weight", llama3_factors(own, self.base.unwrap_or(10_000.0), sizes)?));
            }
            other => {
                return Err(own.wrong(
                    "rope_type",
                    &Value::String(other.to_owned()),
                    "default, linear, yarn or llama3",
                ));
            }
        }
        Ok(())
    }

    /// Reads the factors that extend Phi-3's context.
    fn read_long_factors(&mut self, own: &Config) -> Result<(), LanguageConversionError> {
        for (key, name) in [("long_factor", "rope_factors_long.weight"), ("short_factor", "rope_factors_short.weight")]
        {
            let Some(list) = own.get(key) else { continue };
            #[expect(clippy::cast_possible_truncation, reason = "GGUF stores factors as f32")]
            let numbers = list.as_array().and_then(|list| list.iter().map(|v| Some(v.as_f64()? as f32)).collect());
            let numbers: Vec<f32> = numbers.ok_or_else(|| own.wrong(key, list, "a list of numbers"))?;
            if numbers.len() as u64 != u64::from(self.dimensions / 2) {
                let problem =
                    format!("`{key}` has {} numbers, but {} rotary pairs", numbers.len(), self.dimensions / 2);
                return Err(own.contradiction(problem));
            }
            self.factors.push((name, numbers));
        }
        match self.factors.len() {
            0 | 2 => Ok(()),
            _ => Err(own.contradiction("`long_factor` and `short_factor` must be given together".to_owned())),
        }
    }

    /// Returns the factor of attention scores that compensates a longer context, if factors are given.
    pub(super) fn attention_factor(&self, context: u32) -> Option<f64> {
        let (scale, original) =
            (f64::from(context) / f64::from(self.original_context), f64::from(self.original_context));
        let factor = if scale > 1.0 { (1.0 + scale.ln() / original.ln()).sqrt() } else { 1.0 };
        (!self.factors.is_empty()).then_some(factor)
    }
}

const fn default_base(architecture: Architecture) -> f64 {
    match architecture {
        Architecture::SmolLm3 => 2_000_000.0,
        Architecture::Gemma3 => 1_000_000.0,
        Architecture::NomicBert => 1000.0,
        _ => 10_000.0,
    }
}

/// Returns the divisor of each rotary frequency for Llama 3's scaling: 1 for short waves, `factor` for long ones.
#[expect(clippy::cast_possible_truncation, reason = "computed in f32 and f64 as by the reference")]
fn llama3_factors(own: &Config, base: f64, sizes: &Sizes) -> Result<Vec<f32>, LanguageConversionError> {
    let number = |key: &str, default| Ok::<f64, LanguageConversionError>(own.number(&[key])?.unwrap_or(default));
    let factor = number("factor", 8.0)?;
    let (low, high) = (number("low_freq_factor", 1.0)?, number("high_freq_factor", 4.0)?);
    let context = number("original_max_position_embeddings", 8192.0)?;
    if factor <= 0.0 || low <= 0.0 || high <= low {
        let problem =
            format!("impossible factors: `factor` {factor}, `low_freq_factor` {low}, `high_freq_factor` {high}");
        return Err(own.contradiction(problem));
    }
    let width = sizes.head_width as f32;
    let frequencies = (0..sizes.head_width).step_by(2).map(|i| 1.0 / (base as f32).powf(i as f32 / width));
    Ok(frequencies
        .map(|frequency| {
            // The wave length is computed in f32: the reference divides a number by a tensor of f32.
            let wave = f64::from((2.0 * std::f64::consts::PI) as f32 / frequency);
            if wave < context / high {
                1.0
            } else if wave > context / low {
                factor as f32
            } else {
                let smooth = ((context / wave) as f32 - low as f32) / (high - low) as f32;
                1.0 / ((1.0 - smooth) / factor as f32 + smooth)
            }
        })
        .collect())
}

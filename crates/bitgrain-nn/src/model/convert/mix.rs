//! `Mix`: llama.cpp's named mixes, such as `Q4_K_M`. The rules are those of `llama-quant.cpp` of llama.cpp v0.5.0, so that
//! files are identical: more bits for attention values, the first and last layers and the output, fixed fallbacks for
//! rows that are not multiples of 256.

use std::cmp::Ordering;

use bitgrain_codec::weight::{DType, GgmlBlock, ScaledFormat, WeightFormat};

use super::FormatChoice;
use crate::model::language::LanguageConversionError;
use crate::model::{ImportanceMatrix, ModelFile, ModelFileError, ModelTensor};

/// A named assignment of formats to the tensors of a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    name: &'static str,
    /// llama.cpp's number (`LLAMA_FTYPE_*`).
    number: u32,
    default: GgmlBlock,
}

const fn mix(name: &'static str, number: u32, default: GgmlBlock) -> Mix {
    Mix { name, number, default }
}

const ALL: [Mix; 18] = [
    mix("Q4_0", 2, GgmlBlock::Q4_0),
    mix("Q4_1", 3, GgmlBlock::Q4_1),
    mix("Q8_0", 7, GgmlBlock::Q8_0),
    mix("Q5_0", 8, GgmlBlock::Q5_0),
    mix("Q5_1", 9, GgmlBlock::Q5_1),
    mix("Q2_K", 10, GgmlBlock::Q2_K),
    mix("Q3_K_S", 11, GgmlBlock::Q3_K),
    mix("Q3_K_M", 12, GgmlBlock::Q3_K),
    mix("Q3_K_L", 13, GgmlBlock::Q3_K),
    mix("Q4_K_S", 14, GgmlBlock::Q4_K),
    mix("Q4_K_M", 15, GgmlBlock::Q4_K),
    mix("Q5_K_S", 16, GgmlBlock::Q5_K),
    mix("Q5_K_M", 17, GgmlBlock::Q5_K),
    mix("Q6_K", 18, GgmlBlock::Q6_K),
    mix("Q2_K_S", 21, GgmlBlock::Q2_K),
    mix("IQ4_NL", 25, GgmlBlock::IQ4_NL),
    mix("TQ1_0", 36, GgmlBlock::TQ1_0),
    mix("TQ2_0", 37, GgmlBlock::TQ2_0),
];

/// Prefix that distinguishes a mix from the format of the same name.
const PREFIX: &str = "mix:";

/// Role of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Embedding,
    Output,
    Query,
    Key,
    /// Values, also as part of a fused matrix.
    Value,
    AttentionOutput,
    Down,
    Other,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "output.weight" => return Self::Output,
            "token_embd.weight" | "per_layer_token_embd.weight" => return Self::Embedding,
            _ => {}
        }
        let parts = [
            ("attn_qkv.weight", Self::Value),
            ("attn_kv_b.weight", Self::Value),
            ("attn_v.weight", Self::Value),
            ("attn_k.weight", Self::Key),
            ("attn_q.weight", Self::Query),
            ("attn_output.weight", Self::AttentionOutput),
            ("ffn_up", Self::Other),
            ("ffn_gate", Self::Other),
            ("ffn_down", Self::Down),
        ];
        parts.into_iter().find(|(part, _)| name.contains(part)).map_or(Self::Other, |(_, role)| role)
    }
}

/// Sizes of a model that the rules depend on.
#[derive(Debug)]
struct Shape {
    falcon: bool,
    /// Query heads per key and value head.
    sharing: u64,
    experts: u64,
    layers: u64,
    /// Whether llama.cpp calls the model "70B".
    large: bool,
    tied: bool,
    values: u64,
}

impl Mix {
    /// Returns the mix called `name`: one that no format is called, such as `Q4_K_M`, or any with the prefix `mix:`, such as
    /// `mix:Q2_K`.
    ///
    /// ```
    /// use bitgrain_nn::model::convert::Mix;
    /// assert_eq!(Mix::from_name("q4_k_m").map(Mix::name), Some("Q4_K_M"));
    /// assert_eq!(Mix::from_name("Q6_K"), None); // a format
    /// assert_eq!(Mix::from_name("mix:Q6_K").map(Mix::name), Some("Q6_K"));
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (bare, prefixed) = match name.get(..PREFIX.len()) {
            Some(start) if start.eq_ignore_ascii_case(PREFIX) => (&name[PREFIX.len()..], true),
            _ => (name, false),
        };
        let found = ALL.into_iter().find(|mix| mix.name.eq_ignore_ascii_case(bare))?;
        (prefixed || name.to_ascii_lowercase().parse::<WeightFormat>().is_err()).then_some(found)
    }

    /// Returns the names of all mixes as `--to` accepts them.
    #[must_use]
    pub fn names() -> Vec<String> {
        let name = |mix: Self| match Self::from_name(mix.name) {
            Some(_) => mix.name.to_owned(),
            None => format!("{PREFIX}{}", mix.name),
        };
        ALL.map(name).to_vec()
    }

    /// Returns llama.cpp's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns llama.cpp's number of the file type.
    pub(super) const fn number(self) -> u32 {
        self.number
    }

    /// Chooses the format of every tensor of a GGUF language model.
    ///
    /// # Errors
    /// Returns [`LanguageConversionError::Mix`] for a model without GGUF metadata, [`LanguageConversionError::MixImportance`] if the
    /// mix needs importances that are missing.
    pub fn choices(
        self,
        model: &ModelFile,
        importance: Option<&ImportanceMatrix>,
    ) -> Result<Vec<(String, FormatChoice)>, ModelFileError> {
        let shape = self.shape(model).map_err(|source| ModelFileError::Language(Box::new(source)))?;
        let mut tensors: Vec<&ModelTensor> = model.tensors().iter().collect();
        // Some rules count tensors in the order of llama.cpp's loader: by layer, then by name.
        tensors.sort_by(|a, b| by_layer(&a.name, &b.name));
        let (mut values, mut downs) = (0, 0);
        let mut choices = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            let choice = if is_quantized(tensor) {
                let role = Role::of(&tensor.name);
                let layer = match role {
                    Role::Value => values,
                    Role::Down if shape.experts > 1 => layer_of(&tensor.name).unwrap_or(downs),
                    _ => downs,
                };
                let block = self.block(&shape, role, layer, tensor, importance.is_some());
                values += u64::from(role == Role::Value);
                downs += u64::from(role == Role::Down);
                let format = fitting(block, tensor.cols());
                let weighted = !matches!(role, Role::Embedding | Role::Output) && format == GgmlBlock::Q2_K.into();
                if self.name == "Q2_K_S" && weighted && importance.map_or(Ok(None), |all| all.of(tensor))?.is_none() {
                    let (mix, tensor) = (self.name, tensor.name.clone());
                    return Err(ModelFileError::Language(Box::new(LanguageConversionError::MixImportance {
                        mix,
                        tensor,
                    })));
                }
                FormatChoice::To(format)
            } else {
                FormatChoice::Keep
            };
            choices.push((tensor.name.clone(), choice));
        }
        Ok(choices)
    }

    /// Reads the sizes that the rules depend on.
    fn shape(self, model: &ModelFile) -> Result<Shape, LanguageConversionError> {
        let metadata = &model.metadata().gguf;
        let wrong = |reason: String| LanguageConversionError::Mix { mix: self.name, reason };
        let name = metadata.get("general.architecture").and_then(|value| value.as_str());
        let name = name.ok_or_else(|| wrong("`general.architecture` is missing".to_owned()))?;
        let number = |key: &str| {
            use bitgrain_formats::gguf::Array;
            let value = metadata.get(&format!("{name}.{key}"))?;
            // Models with layers of different widths list a number per layer.
            match value.as_array() {
                Some(Array::I32(list)) => u64::try_from(*list.first()?).ok(),
                Some(Array::U32(list)) => list.first().map(|first| u64::from(*first)),
                _ => value.as_u64(),
            }
        };
        let needed = |key: &str| number(key).ok_or_else(|| wrong(format!("`{name}.{key}` is missing")));
        let layers = needed("block_count")?;
        let heads = needed("attention.head_count")?;
        let kv_heads = number("attention.head_count_kv").unwrap_or(heads);
        let large = match name {
            "llama" => layers == 80 && heads != kv_heads,
            "qwen2" | "deci" | "olmo" => layers == 80,
            "jais2" => layers == 68,
            _ => false,
        };
        let tensors = model.tensors();
        Ok(Shape {
            falcon: name == "falcon",
            sharing: heads.checked_div(kv_heads).unwrap_or(0),
            experts: number("expert_count").unwrap_or(0),
            layers,
            large,
            tied: tensors.iter().all(|tensor| Role::of(&tensor.name) != Role::Output),
            values: tensors.iter().filter(|tensor| Role::of(&tensor.name) == Role::Value).count() as u64,
        })
    }

    /// Chooses the format of a tensor, before fallbacks. `layer` counts the tensors of its role.
    fn block(self, shape: &Shape, role: Role, layer: u64, tensor: &ModelTensor, importance: bool) -> GgmlBlock {
        use GgmlBlock::{Q3_K, Q4_1, Q4_K, Q5_1, Q5_K, Q6_K, Q8_0};
        let default = self.default;
        let eight_experts = shape.experts == 8;
        match role {
            Role::Output | Role::Embedding if role == Role::Output || shape.tied => {
                let ragged = !tensor.cols().is_multiple_of(default.weights() as u64);
                if shape.falcon || ragged || default == Q8_0 { Q8_0 } else { Q6_K }
            }
            Role::Embedding => match default {
                GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => Q4_K,
                other => other,
            },
            Role::Value => {
                let shared = shape.sharing >= 4;
                let mut block = match self.name {
                    "Q2_K" if shared => Q4_K,
                    "Q2_K" => Q3_K,
                    "Q2_K_S" if shared => Q4_K,
                    "Q3_K_M" if layer < 2 => Q5_K,
                    "Q3_K_M" => Q4_K,
                    "Q3_K_L" => Q5_K,
                    "IQ4_NL" if shared => Q5_K,
                    "Q4_K_M" | "Q5_K_M" if has_more_bits(layer, shape.values) => Q6_K,
                    "Q4_K_S" if layer < 4 => Q5_K,
                    _ => default,
                };
                if shape.large && matches!(block, Q3_K | Q4_K) {
                    block = Q5_K;
                }
                if eight_experts { Q8_0 } else { block }
            }
            Role::Key if eight_experts => Q8_0,
            Role::Down => {
                let layers = shape.layers;
                match self.name {
                    "Q2_K" => Q3_K,
                    "Q2_K_S" if layer < layers / 8 => Q4_K,
                    "Q3_K_M" if layer < layers / 16 => Q5_K,
                    "Q3_K_M" if !shape.falcon || has_more_bits(layer, layers) => Q4_K,
                    "Q3_K_L" if shape.falcon => Q4_K,
                    "Q3_K_L" => Q5_K,
                    "Q4_K_M" if shape.falcon && layer < layers / 16 => Q6_K,
                    "Q4_K_M" if shape.falcon && has_more_bits(layer, layers) => Q5_K,
                    "Q4_K_M" if !shape.falcon && has_more_bits(layer, layers) => Q6_K,
                    "IQ4_NL" if !importance && layer < layers / 8 => Q5_K,
                    "Q5_K_M" if has_more_bits(layer, layers) => Q6_K,
                    "Q4_K_S" if !shape.falcon && layer < layers / 8 => Q5_K,
                    "Q4_0" if importance && layer < layers / 8 => Q4_1,
                    "Q5_0" if importance && layer < layers / 8 => Q5_1,
                    _ => default,
                }
            }
            Role::AttentionOutput if shape.falcon => match self.name {
                "Q3_K_L" => Q4_K,
                _ => default,
            },
            Role::AttentionOutput if eight_experts => match self.name {
                "Q2_K" | "Q3_K_S" | "Q3_K_M" | "IQ4_NL" | "Q4_K_S" | "Q4_K_M" => Q5_K,
                _ => default,
            },
            Role::AttentionOutput => match self.name {
                "Q2_K" => Q3_K,
                "Q3_K_M" => Q4_K,
                "Q3_K_L" => Q5_K,
                _ => default,
            },
            Role::Key | Role::Query | Role::Output | Role::Other => default,
        }
    }
}

/// Returns whether llama.cpp gives a layer more bits: the first and last eighth, and every third in between.
const fn has_more_bits(layer: u64, layers: u64) -> bool {
    layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2
}

/// Returns the format for rows of `cols` weights: `block`, or llama.cpp's substitute.
fn fitting(block: GgmlBlock, cols: u64) -> WeightFormat {
    use GgmlBlock::{Q2_K, Q3_K, Q4_0, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0, TQ1_0, TQ2_0};
    let fits = |block: GgmlBlock| cols.is_multiple_of(block.weights() as u64);
    if fits(block) {
        return WeightFormat::Ggml(block);
    }
    let instead = match block {
        Q2_K | Q3_K | TQ1_0 | TQ2_0 => Q4_0,
        Q4_K => Q5_0,
        Q5_K => Q5_1,
        Q6_K => Q8_0,
        other => other,
    };
    if fits(instead) { WeightFormat::Ggml(instead) } else { ScaledFormat::new(DType::Float16).into() }
}

/// Returns whether llama.cpp quantizes a tensor at all.
fn is_quantized(tensor: &ModelTensor) -> bool {
    const KEPT: [&str; 12] = [
        "_norm.weight",
        "ffn_gate_inp.weight",
        "altup",
        "laurel",
        "per_layer_model_proj",
        "ssm_conv1d",
        "shortconv.conv.weight",
        "time_mix_",
        "attn_rel_b.weight",
        ".position_embd",
        ".patch_embd",
        "indexer.",
    ];
    let name = tensor.name.as_str();
    // Trailing dimensions of 1 do not count.
    let dimensions = tensor.shape.iter().skip_while(|dim| **dim == 1).count();
    tensor.storage.format().is_some()
        && dimensions > 1
        && name.ends_with("weight")
        && !matches!(name, "position_embd.weight" | "token_types.weight")
        && !KEPT.iter().any(|part| name.contains(part))
}

/// Returns the number in `blk.N.`.
fn layer_of(name: &str) -> Option<u64> {
    name.strip_prefix("blk.")?.split_once('.')?.0.parse().ok()
}

fn by_layer(a: &str, b: &str) -> Ordering {
    layer_of(a).cmp(&layer_of(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_formats_need_the_prefix() {
        for mix in ALL {
            assert_eq!(Mix::from_name(&format!("mix:{}", mix.name.to_lowercase())), Some(mix));
        }
        for name in ["q4_k", "Q8_0", "mix:", "mix:q4_k", "Q4_K_XL", "é"] {
            assert_eq!(Mix::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn short_rows_take_smaller_blocks() {
        let name = |block, cols| fitting(block, cols).name();
        assert_eq!([name(GgmlBlock::Q4_K, 512), name(GgmlBlock::Q4_K, 576)], ["q4_k", "q5_0"]);
        assert_eq!(
            [name(GgmlBlock::Q6_K, 96), name(GgmlBlock::Q3_K, 96), name(GgmlBlock::Q5_K, 40)],
            ["q8_0", "q4_0", "float16"]
        );
    }
}

//! Tensors of a Hugging Face model as tensors of a GGUF file: names, order of rows, stacked experts, f32 for norms.

use std::collections::BTreeMap;

use bitgrain_codec::weight::{DType, PartsBuf};
use bitgrain_formats::gguf::MAX_DIMS;

use super::LanguageConversionError;
use super::architecture::Architecture;
use super::card::Weights;
use super::parameters::Sizes;
use super::rope::Rope;
use crate::model::{ModelFile, ModelFileError, ModelTensor, RowOrder, TensorEncoding, View};

/// Parts of a tensor's name: without `.weight` or `.bias`, and that ending.
fn split_name(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if matches!(&name[dot..], ".weight" | ".bias") => name.split_at(dot),
        _ => (name, ""),
    }
}

/// Tensors that are not converted: buffers, and heads that llama.cpp computes without.
fn is_dropped(architecture: Architecture, name: &str) -> bool {
    let buffer = [".attention.masked_bias", ".attention.bias", ".rotary_emb.inv_freq"];
    if buffer.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    match architecture {
        Architecture::Bert | Architecture::NomicBert => {
            matches!(name, "embeddings.position_ids" | "pooler.dense.weight" | "pooler.dense.bias")
                || name.starts_with("cls.predictions")
                || name.starts_with("cls.seq_relationship")
        }
        // Image encoders of multimodal models become separate files in llama.cpp.
        Architecture::Gemma3 => ["vision", "projector.", "audio_"].iter().any(|part| name.contains(part)),
        _ => false,
    }
}

/// Returns the usual name of a tensor: without prefixes that depend on the class of the model, and with `weight` and
/// `bias` for the names of TensorFlow checkpoints.
fn usual_name(architecture: Architecture, name: &str) -> String {
    if architecture.is_encoder() {
        let name = name.strip_prefix("bert.").unwrap_or(name);
        return match (name.strip_suffix(".gamma"), name.strip_suffix(".beta")) {
            (Some(stem), _) => format!("{stem}.weight"),
            (_, Some(stem)) => format!("{stem}.bias"),
            _ => name.to_owned(),
        };
    }
    let name = name.replace("language_model.", "");
    // Classes without a head store their tensors without the prefix.
    let bare = ["embed_tokens.", "layers.", "norm."].iter().any(|start| name.starts_with(start));
    if bare { format!("model.{name}") } else { name }
}

/// Experts of one layer and one matrix, by number.
type Experts<'a> = BTreeMap<u32, &'a ModelTensor>;

/// Converted tensors.
pub(super) struct Converted<'a> {
    architecture: Architecture,
    sizes: &'a Sizes,
    /// Rows of the embedding that are kept.
    tokens: u64,
    tensors: Vec<ModelTensor>,
    experts: BTreeMap<(u32, &'static str), Experts<'a>>,
}

/// Converts all tensors of a model with `tokens` tokens.
pub(super) fn convert(
    architecture: Architecture,
    model: &ModelFile,
    sizes: &Sizes,
    rope: &Rope,
    tokens: usize,
) -> Result<Vec<ModelTensor>, ModelFileError> {
    let wrong = |source| ModelFileError::Language(Box::new(source));
    let mut converted = Converted {
        architecture,
        sizes,
        tokens: tokens as u64,
        tensors: Vec::with_capacity(model.tensors().len()),
        experts: BTreeMap::new(),
    };
    for (name, factors) in &rope.factors {
        let codes = factors.iter().flat_map(|factor| factor.to_le_bytes()).collect();
        let parts = PartsBuf { codes, scales: Vec::new(), zeros: Vec::new() };
        let float32 = TensorEncoding::plain(DType::Float32);
        converted.tensors.push(ModelTensor::new(*name, vec![factors.len() as u64], float32, parts)?);
    }
    for tensor in model.tensors() {
        let name = usual_name(architecture, &tensor.name);
        if !is_dropped(architecture, &name) {
            converted.add(&name, tensor).map_err(wrong)?;
        }
    }
    converted.finish().map_err(wrong)
}

impl<'a> Converted<'a> {
    fn add(&mut self, name: &str, tensor: &'a ModelTensor) -> Result<(), LanguageConversionError> {
        let packed = matches!(tensor.storage, TensorEncoding::Packed { .. });
        if !packed && !tensor.storage.is_float() || tensor.storage.to_string() == "float64" {
            return Err(LanguageConversionError::NotFloat {
                tensor: tensor.name.clone(),
                kind: tensor.storage.to_string(),
            });
        }
        if let Some((block, part, expert)) = expert_of(name) {
            return self.add_expert(block, part, expert, tensor);
        }
        if let Some(base) = name.strip_suffix(".weight").unwrap_or(name).strip_suffix(".mlp.experts.gate_up_proj") {
            return self.add_fused_experts(base, tensor);
        }
        if let Some(base) = name.strip_suffix(".weight").unwrap_or(name).strip_suffix(".mlp.experts.down_proj")
            && let Some(number) = base.strip_prefix("model.layers.")
        {
            return self.push(&format!("blk.{number}.ffn_down_exps"), ".weight", vec![tensor.clone()], RowOrder::Same);
        }
        let (stem, ending) = split_name(name);
        let unexpected = || LanguageConversionError::UnexpectedTensor {
            tensor: tensor.name.clone(),
            architecture: self.architecture.name(),
        };
        let target = self.architecture.gguf_name(stem).filter(|_| !ending.is_empty()).ok_or_else(unexpected)?;
        let part = target.rsplit('.').next().unwrap_or_default();
        let head = self.sizes.head_width as usize;
        let order = match part {
            "attn_q" | "attn_k" if self.architecture.interleaves() => RowOrder::Interleaved { head },
            _ => RowOrder::Same,
        };
        self.push(&target, ending, vec![tensor.clone()], order)
    }

    fn add_expert(
        &mut self,
        block: u32,
        part: &'static str,
        expert: u32,
        tensor: &'a ModelTensor,
    ) -> Result<(), LanguageConversionError> {
        let wanted = self.sizes.experts;
        if expert >= wanted {
            return Err(LanguageConversionError::UnexpectedTensor {
                tensor: tensor.name.clone(),
                architecture: self.architecture.name(),
            });
        }
        let experts = self.experts.entry((block, part)).or_default();
        experts.insert(expert, tensor);
        if u32::try_from(experts.len()) != Ok(wanted) {
            return Ok(());
        }
        let parts: Vec<ModelTensor> = experts.values().map(|tensor| (*tensor).clone()).collect();
        self.experts.remove(&(block, part));
        if let Some(other) =
            parts.iter().find(|other| other.shape != parts[0].shape || other.storage != parts[0].storage)
        {
            return Err(LanguageConversionError::Shape {
                tensor: other.name.clone(),
                found: other.shape.clone(),
                expected: format!("{:?} {}", parts[0].shape, parts[0].storage),
                key: "the layer's first expert",
            });
        }
        self.push(&format!("blk.{block}.{part}"), ".weight", parts, RowOrder::Same)
    }

    /// Splits experts whose gate and up matrices are stored above each other.
    fn add_fused_experts(&mut self, base: &str, tensor: &ModelTensor) -> Result<(), LanguageConversionError> {
        let number = base.strip_prefix("model.layers.").unwrap_or_default();
        let take = self.sizes.expert_width as usize;
        for (part, skip) in [("ffn_gate_exps", 0), ("ffn_up_exps", take)] {
            let order = RowOrder::Slice { take, of: 2 * take, skip };
            self.push(&format!("blk.{number}.{part}"), ".weight", vec![tensor.clone()], order)?;
        }
        Ok(())
    }

    /// Adds a tensor made of `parts`, after checking its shape.
    fn push(
        &mut self,
        stem: &str,
        ending: &str,
        parts: Vec<ModelTensor>,
        order: RowOrder,
    ) -> Result<(), LanguageConversionError> {
        let first = &parts[0];
        let part = stem.rsplit('.').next().unwrap_or_default();
        let mut shape = first.shape.clone();
        if parts.len() > 1 {
            shape.insert(0, parts.len() as u64);
        }
        if let (RowOrder::Slice { take, of, .. }, [experts, rows, cols]) = (order, &shape[..])
            && *rows == of as u64
        {
            shape = vec![*experts, take as u64, *cols];
        }
        if let Some((expected, key)) = self.expected(part, ending) {
            // Gemma's embedding has rows for tokens that do not exist.
            if part == "token_embd" && self.architecture == Architecture::Gemma3 && shape.len() == 2 {
                shape[0] = shape[0].min(expected[0]);
            }
            if shape != expected || shape.len() > MAX_DIMS {
                return Err(LanguageConversionError::Shape {
                    tensor: first.name.clone(),
                    found: first.shape.clone(),
                    expected: format!("{expected:?}"),
                    key,
                });
            }
        }
        let name = format!("{stem}{ending}");
        let matrix = shape.len() > 1;
        let float = matches!(part, "ffn_gate_inp" | "position_embd" | "token_types");
        let fixed = matrix && (float || ending != ".weight" || stem.ends_with("_norm"));
        let storage = if matrix && !fixed { first.storage.clone() } else { TensorEncoding::plain(DType::Float32) };
        let norm = self.architecture == Architecture::Gemma3 && stem.ends_with("norm") && ending == ".weight";
        let plus = if norm { 1.0 } else { 0.0 };
        if order == RowOrder::Same && plus == 0.0 && storage == first.storage && shape == first.shape && !fixed {
            let tensor = ModelTensor { name, ..first.clone() };
            self.tensors.push(tensor);
        } else {
            let view = View { parts, order, plus, fixed, update: None };
            self.tensors.push(ModelTensor::of_view(name, shape, storage, view));
        }
        Ok(())
    }

    /// Returns the shape of a tensor, and the entries of the configuration that determine it.
    fn expected(&self, part: &str, ending: &str) -> Option<(Vec<u64>, &'static str)> {
        let s = self.sizes;
        let [width, hidden, heads, kv_heads, head] =
            [s.width, s.feed_forward, s.heads, s.kv_heads, s.head_width].map(u64::from);
        let (experts, expert) = (u64::from(s.experts), u64::from(s.expert_width));
        let attention = "`hidden_size`, `num_attention_heads`, `num_key_value_heads` and `head_dim`";
        let feed_forward = "`hidden_size` and `intermediate_size`";
        let moe = "the number and size of the experts";
        let (shape, key) = match part {
            "token_embd" | "output" => (vec![self.tokens, width], "the number of tokens and `hidden_size`"),
            "attn_q" => (vec![heads * head, width], attention),
            "attn_k" | "attn_v" => (vec![kv_heads * head, width], attention),
            "attn_output" => (vec![width, heads * head], attention),
            "attn_qkv" => (vec![(heads + 2 * kv_heads) * head, width], attention),
            "attn_q_norm" | "attn_k_norm" => (vec![head], attention),
            "ffn_up" if self.architecture == Architecture::Phi3 => (vec![2 * hidden, width], feed_forward),
            "ffn_gate" | "ffn_up" => (vec![hidden, width], feed_forward),
            "ffn_down" => (vec![width, hidden], feed_forward),
            "ffn_gate_inp" => (vec![experts, width], moe),
            "ffn_gate_exps" | "ffn_up_exps" => (vec![experts, expert, width], moe),
            "ffn_down_exps" => (vec![experts, width, expert], moe),
            _ if part.ends_with("norm") => (vec![width], "`hidden_size`"),
            _ => return None,
        };
        // A bias has one value per row.
        Some(if ending == ".bias" { (vec![shape[0]], key) } else { (shape, key) })
    }

    fn finish(self) -> Result<Vec<ModelTensor>, LanguageConversionError> {
        if let Some(((block, part), experts)) = self.experts.first_key_value() {
            let missing = (0..self.sizes.experts).find(|expert| !experts.contains_key(expert)).unwrap_or(0);
            return Err(LanguageConversionError::MissingTensor {
                tensor: format!("{part} of expert {missing} in layer {block}"),
            });
        }
        for wanted in self.required() {
            if !self.tensors.iter().any(|tensor| tensor.name == wanted) {
                let hf = wanted.strip_suffix(".weight").and_then(|stem| self.architecture.hf_name(stem));
                let tensor = hf.map_or(wanted.clone(), |stem| format!("{stem}.weight"));
                return Err(LanguageConversionError::MissingTensor { tensor });
            }
        }
        Ok(self.tensors)
    }

    /// Returns the names of tensors without which llama.cpp does not load a model.
    fn required(&self) -> Vec<String> {
        let attention: &[&str] = match self.architecture {
            Architecture::Phi3 | Architecture::NomicBert => &["attn_qkv", "attn_output", "ffn_up", "ffn_down"],
            Architecture::Bert => &["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"],
            _ if self.sizes.experts > 0 => &["attn_q", "attn_k", "attn_v", "attn_output"],
            _ => &["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"],
        };
        let norms: &[&str] = match self.architecture {
            Architecture::Bert | Architecture::NomicBert => &["attn_output_norm", "layer_output_norm"],
            _ => &["attn_norm", "ffn_norm"],
        };
        let top: &[&str] = if self.architecture.is_encoder() { &["token_embd_norm"] } else { &["output_norm"] };
        let blocks = (0..self.sizes.blocks)
            .flat_map(|block| attention.iter().chain(norms).map(move |part| format!("blk.{block}.{part}.weight")));
        let top = top.iter().map(|part| format!("{part}.weight"));
        ["token_embd.weight".to_owned()].into_iter().chain(top).chain(blocks).collect()
    }
}

/// Returns block, part and number of an expert's matrix.
fn expert_of(name: &str) -> Option<(u32, &'static str, u32)> {
    let (block, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let rest = rest.strip_prefix("mlp.experts.").or_else(|| rest.strip_prefix("block_sparse_moe.experts."))?;
    let (expert, part) = rest.split_once('.')?;
    let part = match part.strip_suffix(".weight")? {
        "gate_proj" | "w1" => "ffn_gate_exps",
        "down_proj" | "w2" => "ffn_down_exps",
        "up_proj" | "w3" => "ffn_up_exps",
        _ => return None,
    };
    Some((block.parse().ok()?, part, expert.parse().ok()?))
}

/// Counts the weights for the size label.
pub(super) fn count(tensors: &[ModelTensor]) -> Weights {
    let mut weights = Weights::default();
    let (mut experts, mut stacks) = (0, 0);
    for tensor in tensors {
        let elements = tensor.elements();
        match (&tensor.shape[..], tensor.name.contains("_exps.")) {
            ([count, _, _], true) if *count > 0 => {
                weights.per_expert += elements / count;
                (experts, stacks) = (experts + count, stacks + 1);
            }
            _ => weights.shared += elements,
        }
        weights.all += elements;
    }
    weights.experts = experts.checked_div(stacks).unwrap_or(0);
    weights
}

//! A GGUF language model as a Hugging Face folder: `config.json`, the tokenizer and weights under their original names.

use std::fs;
use std::path::Path;

use bitgrain_codec::weight::{DType, ScaledFormat, WeightFormat};
use bitgrain_files::PartFile;
use serde_json::Value as Json;

use super::LanguageConversionError;
use super::architecture::Architecture;
use super::export_config::{self, Keys};
use super::export_tokenizer;
use crate::model::convert::{Conversion, FormatChoice, Recipe, bytes_kept, quantize};
use crate::model::{
    Container, ModelFile, ModelFileError, ModelMetadata, ModelTensor, Progress, RowOrder, TensorEncoding, View,
};

/// Converts a GGUF language model to a Hugging Face folder, with matrices and vectors in `recipe`'s format.
///
/// Weights of at most 5 GB (the recipe's `shard_bytes`) become `model.safetensors`, larger ones shards with an index. The
/// files of the folder that the command does not write remain unchanged.
///
/// # Errors
/// Returns [`ModelFileError::Language`] for an architecture or tokenizer that cannot be converted, and the errors of
/// [`quantize`].
pub fn export(
    model: ModelFile,
    folder: &Path,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Conversion, ModelFileError> {
    let wrong = |source| ModelFileError::Language(Box::new(source));
    let path = model.path().to_owned();
    let keys = Keys::new(&path, &model.metadata().gguf);
    let architecture = architecture(&path, &keys).map_err(wrong)?;
    let shape = export_config::Shape::read(architecture, &keys).map_err(wrong)?;
    let config = export_config::config(architecture, &keys, &shape, &model).map_err(wrong)?;
    let mut files = export_tokenizer::files(&keys).map_err(wrong)?;
    files.push(("config.json", text(&config)));
    files.push(("generation_config.json", text(&export_config::generation(&keys))));
    let tensors = tensors(architecture, &model, &shape).map_err(wrong)?;
    let model =
        model.renamed(tensors, ModelMetadata { strings: vec![("format".into(), "pt".into())], ..Default::default() });
    fs::create_dir_all(folder).map_err(ModelFileError::io(folder))?;
    let sizes = model.tensors().iter().map(|tensor| bytes_kept(tensor, Container::Safetensors, recipe));
    let single = sizes.sum::<Result<u64, _>>()? <= recipe.shard_bytes;
    let weights = folder.join(if single { "model.safetensors" } else { "model.safetensors.index.json" });
    let report = quantize(&model, &weights, recipe, progress)?;
    for (name, text) in files {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(report)
}

/// Returns the recipe of an export: every tensor in a plain float format, by default bfloat16.
#[must_use]
pub fn export_recipe(format: Option<WeightFormat>) -> Recipe {
    let format = format.unwrap_or_else(|| ScaledFormat::new(DType::BFloat16).into());
    // A rule applies to vectors as well, which Hugging Face's files store in the dtype of the matrices.
    Recipe::new(FormatChoice::To(format)).rule("*", FormatChoice::To(format))
}

fn architecture(path: &Path, keys: &Keys<'_>) -> Result<Architecture, LanguageConversionError> {
    let name = keys.text("general.architecture").unwrap_or("unknown");
    let found = Architecture::ALL.into_iter().find(|architecture| architecture.name() == name);
    found.filter(|own| !own.is_encoder()).ok_or_else(|| LanguageConversionError::Architecture {
        path: path.to_owned(),
        architecture: name.to_owned(),
        supported: Architecture::ALL
            .iter()
            .filter(|own| !own.is_encoder())
            .map(|own| own.name())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// Renames the tensors, restores the order of rotary rows and splits stacks of experts.
fn tensors(
    architecture: Architecture,
    model: &ModelFile,
    shape: &export_config::Shape,
) -> Result<Vec<ModelTensor>, LanguageConversionError> {
    let float32 = || TensorEncoding::plain(DType::Float32);
    let mut out = Vec::with_capacity(model.tensors().len());
    for tensor in model.tensors() {
        let (stem, ending) = match tensor.name.rfind('.') {
            Some(dot) => tensor.name.split_at(dot),
            None => (tensor.name.as_str(), ""),
        };
        // Factors of rotary frequencies are part of the configuration.
        if matches!(stem, "rope_freqs" | "rope_factors_long" | "rope_factors_short") {
            continue;
        }
        if let Some((block, part)) = stem.strip_prefix("blk.").and_then(|rest| rest.split_once('.'))
            && let Some(part) = expert_part(part)
        {
            let [experts, rows, cols] = tensor.shape[..] else { return Err(unexpected(architecture, tensor)) };
            for expert in 0..experts {
                let take = usize::try_from(rows).unwrap_or(usize::MAX);
                let skip = usize::try_from(expert).unwrap_or(usize::MAX).saturating_mul(take);
                // One slice of the stack: no row is beyond the first `take`.
                let order = RowOrder::Slice { take, of: take, skip };
                let mut whole = tensor.clone();
                whole.shape = vec![experts * rows, cols];
                let view = View { parts: vec![whole], order, plus: 0.0, fixed: false, update: None };
                let name = shape.expert_name(block, expert, part);
                out.push(ModelTensor::of_view(name, vec![rows, cols], float32(), view));
            }
            continue;
        }
        let hf = architecture.hf_name(stem).filter(|_| matches!(ending, ".weight" | ".bias"));
        let hf = hf.ok_or_else(|| unexpected(architecture, tensor))?;
        let hf = if shape.is_mixtral() { hf.replace(".mlp.gate", ".block_sparse_moe.gate") } else { hf };
        let part = stem.rsplit('.').next().unwrap_or_default();
        let rotary = architecture.interleaves() && matches!(part, "attn_q" | "attn_k");
        let head = usize::try_from(shape.head_width).unwrap_or(usize::MAX);
        let order = if rotary { RowOrder::Halved { head } } else { RowOrder::Same };
        let norm = architecture == Architecture::Gemma3 && part.ends_with("norm");
        let view = View {
            parts: vec![tensor.clone()],
            order,
            plus: if norm { -1.0 } else { 0.0 },
            fixed: false,
            update: None,
        };
        out.push(ModelTensor::of_view(format!("{hf}{ending}"), tensor.shape.clone(), float32(), view));
    }
    Ok(out)
}

fn unexpected(architecture: Architecture, tensor: &ModelTensor) -> LanguageConversionError {
    LanguageConversionError::UnexpectedTensor { tensor: tensor.name.clone(), architecture: architecture.name() }
}

fn expert_part(part: &str) -> Option<&'static str> {
    match part {
        "ffn_gate_exps" => Some("gate"),
        "ffn_up_exps" => Some("up"),
        "ffn_down_exps" => Some("down"),
        _ => None,
    }
}

fn text(json: &Json) -> String {
    format!("{json:#}\n")
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ModelFileError> {
    let mut file = PartFile::create(path).map_err(ModelFileError::io(path))?;
    file.write_at(0, bytes).map_err(ModelFileError::io(path))?;
    file.seal(bytes.len() as u64).map_err(ModelFileError::io(path))?;
    file.publish().map_err(ModelFileError::io(path))
}

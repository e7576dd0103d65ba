//! Language models: a Hugging Face folder as the GGUF file that llama.cpp runs, and back.
//!
//! [`open`] reads a folder and presents it as a model in GGUF's naming: tensors are renamed, rows of rotary projections
//! reordered, experts stacked and norms widened to f32 while they are read, so that memory stays small at any size.
//! The metadata is that of llama.cpp's converter: hyperparameters, tokenizer, special tokens and chat template. [`export()`]
//! writes a folder from a GGUF file.

mod architecture;
mod card;
mod config;
mod error;
mod export;
mod export_config;
mod export_tokenizer;
mod front_matter;
mod model_name;
mod parameters;
mod pooling;
mod rope;
mod tensors;
mod tokenizer;

use std::path::Path;

use bitgrain_formats::gguf::Metadata;

use architecture::Architecture;
use config::Config;
pub use error::LanguageConversionError;
pub use export::{export, export_recipe};
use parameters::Sizes;
use rope::Rope;

use crate::model::{Container, ModelFile, ModelFileError, ModelMetadata, merge_adapter};

/// Opens a model for a conversion to `container`.
///
/// A folder with a `config.json` is converted to GGUF's names and metadata if the output is GGUF. Everything else,
/// including the weight file of such a folder, is opened unchanged.
///
/// # Errors
/// Returns [`ModelFileError::Language`] for a folder that cannot be converted, and the errors of [`ModelFile::open`].
pub fn open(path: impl AsRef<Path>, container: Container) -> Result<ModelFile, ModelFileError> {
    open_merged(path, container, None)
}

/// Like [`open`], with the LoRA adapter in a folder merged into the weights.
///
/// # Errors
/// Returns the errors of [`open`] and of [`merge_adapter`].
pub fn open_merged(
    path: impl AsRef<Path>,
    container: Container,
    adapter: Option<&Path>,
) -> Result<ModelFile, ModelFileError> {
    let path = path.as_ref();
    let mut model = ModelFile::open(path)?;
    if let Some(adapter) = adapter {
        model = merge_adapter(&model, adapter)?;
    }
    let from_folder = path.is_dir() && model.container() == Container::Safetensors;
    if container == Container::Gguf && from_folder && path.join("config.json").is_file() {
        to_gguf(path, model)
    } else {
        Ok(model)
    }
}

/// Converts the model of a folder to GGUF's names and metadata.
fn to_gguf(folder: &Path, model: ModelFile) -> Result<ModelFile, ModelFileError> {
    let wrong = |source| ModelFileError::Language(Box::new(source));
    let path = folder.join("config.json");
    let config = Config::read(&path).map_err(wrong)?;
    let mut config =
        config.ok_or_else(|| wrong(LanguageConversionError::MissingKey { path, key: "architectures".into() }))?;
    let architecture = Architecture::of_config(&config).map_err(wrong)?;
    config.flatten("text_config");
    let (metadata, tensors) = converted(architecture, folder, &config, &model)?;
    Ok(model.renamed(tensors, ModelMetadata { gguf: metadata, ..ModelMetadata::default() }))
}

fn converted(
    architecture: Architecture,
    folder: &Path,
    config: &Config,
    model: &ModelFile,
) -> Result<(Metadata, Vec<crate::model::ModelTensor>), ModelFileError> {
    let wrong = |source| ModelFileError::Language(Box::new(source));
    let sizes = Sizes::read(architecture, config).map_err(wrong)?;
    let rope = Rope::read(architecture, config, &sizes).map_err(wrong)?;
    let mut tokenizer = Metadata::default();
    let tokens = tokenizer::add(architecture, folder, config, &mut tokenizer).map_err(wrong)?;
    let tensors = tensors::convert(architecture, model, &sizes, &rope, tokens)?;
    let mut metadata = Metadata::default();
    metadata.set("general.architecture", architecture.name());
    card::add(folder, config, tensors::count(&tensors), &mut metadata).map_err(wrong)?;
    parameters::add(architecture, config, &sizes, &rope, &mut metadata).map_err(wrong)?;
    for (key, value) in tokenizer.iter() {
        metadata.set(key, value.clone());
    }
    Ok((metadata, tensors))
}

//! `quantize_checkpoint`: a Hugging Face folder in a scheme of compressed-tensors.

use std::fs;
use std::path::{Path, PathBuf};

use bitgrain_codec::weight::WeightFormat;
use bitgrain_files::{PartFile, same_file};
use serde_json::Value;

use super::scheme::is_linear;
use super::target::target;
use super::{Conversion, FormatOption, FormatOptions, FormatOptionsError, Recipe, Scheme, quantize};
use crate::model::{CheckpointError, Container, ModelFile, ModelFileError, ModelTensor, Progress};

const CONFIG: &str = "config.json";

/// Endings of the files that belong to a model besides its weights.
const COPIED: [&str; 5] = ["json", "txt", "model", "jinja", "py"];

/// Files that describe the weights of the input, and so are not copied.
const REPLACED: [&str; 4] = [CONFIG, "quantize_config.json", "hf_quant_config.json", "model.safetensors.index.json"];

/// Returns the format of a scheme's weights with other groups or another calibration.
///
/// # Errors
/// Returns [`FormatOptionsError`] for options that do not suit the scheme: only W4A16 has groups to choose.
pub fn scheme_format(scheme: Scheme, options: &FormatOptions) -> Result<WeightFormat, FormatOptionsError> {
    let format = scheme.format();
    let name = WeightFormat::from(format).to_string();
    if let Some(group) = options.group.filter(|_| scheme != Scheme::W4A16) {
        let (setting, value, format) = (FormatOption::Group, group.to_string(), scheme.name().to_owned());
        return Err(FormatOptionsError::Contradiction { setting, value, format });
    }
    if options.group.is_none() {
        return Ok(options.resolve(&name)?.format);
    }
    // The default length is part of the scheme and not a choice of the caller, so another length does not contradict it.
    Ok(options.resolve(format.dtype.name())?.format)
}

/// Quantizes the linear layers of a model and writes a folder that programs with compressed-tensors load. The model is that
/// of a Hugging Face folder, with a `config.json` beside its weights. `format` is that of [`scheme_format`].
///
/// Layers whose row length is not a multiple of the group length stay floats, as do the tensors that a rule of the recipe
/// matches, embeddings and the output layer. The tokenizer and other small files are copied.
///
/// # Errors
/// Returns [`ModelFileError::Checkpoint`] if there is no `config.json`, if no layer can be quantized or if a rule requests
/// another quantized format, and the errors of [`quantize`].
pub fn quantize_checkpoint(
    model: &ModelFile,
    folder: &Path,
    (scheme, format): (Scheme, WeightFormat),
    mut recipe: Recipe,
    progress: &dyn Progress,
) -> Result<Conversion, ModelFileError> {
    let source = model.path().parent().unwrap_or(Path::new(""));
    let wrong = |error| ModelFileError::Checkpoint(Box::new(error));
    let path = source.join(CONFIG);
    let missing = || wrong(CheckpointError::NoModelConfig { path: path.clone() });
    if model.container() != Container::Safetensors || !path.is_file() {
        return Err(missing());
    }
    let text = fs::read(&path).map_err(ModelFileError::io(&path))?;
    let json = |reason| wrong(CheckpointError::Json { path: path.clone(), reason });
    let mut config: Value = serde_json::from_slice(&text).map_err(|error| json(error.to_string()))?;
    let entries = config.as_object_mut().ok_or_else(|| json("expected an object".to_owned()))?;
    if same_file(source, folder) {
        return Err(ModelFileError::SameFile { path: folder.to_owned() });
    }
    recipe.set_scheme(scheme, format);
    let (mut ignore, mut bytes, mut quantized) = (vec!["lm_head".to_owned()], 0_u64, 0);
    for tensor in model.tensors() {
        let target = target(tensor, Container::Safetensors, &recipe)?;
        bytes = bytes.saturating_add(target.bytes(tensor)?);
        quantized += usize::from(target.scheme.is_some());
        let float = target.scheme.is_none() && target.storage.is_float() || target.encode.is_none();
        if target.scheme.is_none() && target.storage.format().is_some() && !float {
            let (tensor, format) = (tensor.name.clone(), target.storage.to_string());
            return Err(wrong(CheckpointError::NotInScheme { tensor, format, scheme: scheme.name() }));
        }
        if target.scheme.is_none()
            && let Some(module) = module(tensor)
            && !ignore.contains(&module)
        {
            ignore.push(module);
        }
    }
    if quantized == 0 {
        return Err(wrong(CheckpointError::NoLayer { path: model.path().to_owned(), scheme: scheme.name() }));
    }
    entries.insert("quantization_config".to_owned(), scheme.config(format, &ignore));
    if let Some(inner) = entries.get_mut("text_config").and_then(Value::as_object_mut) {
        inner.remove("quantization_config");
    }
    fs::create_dir_all(folder).map_err(ModelFileError::io(folder))?;
    let single = bytes <= recipe.shard_bytes;
    let weights = folder.join(if single { "model.safetensors" } else { "model.safetensors.index.json" });
    let report = quantize(model, &weights, &recipe, progress)?;
    for file in others(source)? {
        let text = fs::read(&file).map_err(ModelFileError::io(&file))?;
        write(&folder.join(file.file_name().unwrap_or_default()), &text)?;
    }
    write(&folder.join(CONFIG), format!("{config:#}\n").as_bytes())?;
    Ok(report)
}

/// Returns the layer of a matrix, if it is a linear one or may be used as one.
fn module(tensor: &ModelTensor) -> Option<String> {
    let router =
        tensor.shape.len() == 2 && (tensor.name.ends_with("gate.weight") || tensor.name.ends_with("router.weight"));
    let named = is_linear(tensor) || router;
    named.then(|| tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name).to_owned())
}

/// Returns the small files of a model.
fn others(folder: &Path) -> Result<Vec<PathBuf>, ModelFileError> {
    let entries = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let mut files = Vec::new();
    for entry in entries.map_err(ModelFileError::io(folder))? {
        let path = entry.map_err(ModelFileError::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let described = REPLACED.contains(&name.as_str()) || name.ends_with(".index.json");
        if path.is_file() && COPIED.contains(&&*ending) && !described {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ModelFileError> {
    let mut file = PartFile::create(path).map_err(ModelFileError::io(path))?;
    file.write_at(0, bytes).map_err(ModelFileError::io(path))?;
    file.seal(bytes.len() as u64).map_err(ModelFileError::io(path))?;
    file.publish().map_err(ModelFileError::io(path))
}

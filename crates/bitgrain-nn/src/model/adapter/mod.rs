//! LoRA adapters: low-rank updates of a model's matrices in a folder of PEFT, merged into the weights as they are read.

mod config;
mod error;
mod low_rank;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bitgrain_codec::weight::DType;

use config::Config;
pub use error::AdapterError;
pub(crate) use low_rank::{LowRank, LowRankRows};

use super::{ModelFile, ModelFileError, ModelTensor, RowOrder, TensorEncoding, View};

/// Prefix of the names of an adapter's tensors.
const PREFIX: &str = "base_model.model.";

/// Weights of an adapter.
const WEIGHTS: &str = "adapter_model.safetensors";

/// Part of an update.
#[derive(Clone, Copy)]
enum Part {
    A,
    B,
    EmbeddingA,
    EmbeddingB,
    Magnitudes,
}

/// Endings of the names of parts.
const ENDINGS: [(&str, Part); 5] = [
    (".lora_A", Part::A),
    (".lora_B", Part::B),
    (".lora_embedding_A", Part::EmbeddingA),
    (".lora_embedding_B", Part::EmbeddingB),
    (".lora_magnitude_vector", Part::Magnitudes),
];

/// The two factors of an update, and the lengths of its rows.
#[derive(Default)]
struct Factors {
    a: Option<ModelTensor>,
    b: Option<ModelTensor>,
    magnitudes: Option<ModelTensor>,
    embedding: bool,
}

/// Returns `model` with the adapter in `folder` merged: every matrix `W` with factors becomes `W + scale B A`, computed in
/// f32 row by row and, for DoRA, scaled to the length that the adapter holds for each row; tensors that the adapter holds
/// completely replace those of the model.
///
/// # Errors
/// Returns [`ModelFileError::Adapter`] for an adapter of another kind, for one of another model, or if its files cannot be
/// read.
pub fn merge(model: &ModelFile, folder: &Path) -> Result<ModelFile, ModelFileError> {
    let wrong = |error| ModelFileError::Adapter(Box::new(error));
    let config = Config::read(folder).map_err(wrong)?;
    let adapter = ModelFile::open(folder.join(WEIGHTS))?;
    let (mut factors, mut whole) = (BTreeMap::<String, Factors>::new(), HashMap::new());
    for tensor in adapter.tensors() {
        let name = tensor.name.strip_prefix(PREFIX).unwrap_or(&tensor.name);
        let unknown =
            || wrong(AdapterError::UnknownTensor { path: adapter.path().to_owned(), tensor: tensor.name.clone() });
        // PEFT strips the name of the adapter when it saves; other programs leave `default`.
        let name = name.replace(".default.", ".");
        let module =
            |ending: &str| name.strip_suffix(".weight").unwrap_or(&name).strip_suffix(ending).map(str::to_owned);
        let found = ENDINGS.into_iter().find_map(|(ending, part)| Some((module(ending)?, part)));
        if let Some((module, part)) = found {
            let own = factors.entry(module).or_default();
            own.embedding |= matches!(part, Part::EmbeddingA | Part::EmbeddingB);
            let slot = match part {
                Part::A | Part::EmbeddingA => &mut own.a,
                Part::B | Part::EmbeddingB => &mut own.b,
                Part::Magnitudes => &mut own.magnitudes,
            };
            *slot = Some(tensor.clone());
        } else {
            let known = model.tensor(&name).map_err(|_| unknown())?;
            if known.shape != tensor.shape {
                return Err(wrong(shape(tensor, format!("{:?}", known.shape))));
            }
            whole.insert(name, tensor.clone());
        }
    }
    if factors.is_empty() && whole.is_empty() {
        return Err(wrong(AdapterError::Empty { path: adapter.path().to_owned() }));
    }
    let mut updates = HashMap::new();
    for (module, Factors { a, b, magnitudes, embedding }) in factors {
        let (Some(a), Some(b)) = (a, b) else { return Err(wrong(AdapterError::Unpaired { module })) };
        let name = format!("{module}.weight");
        let base = model.tensor(&name).map_err(|_| {
            wrong(AdapterError::UnknownTensor { path: adapter.path().to_owned(), tensor: a.name.clone() })
        })?;
        let update = LowRank::new(base, a, b, &config, &module, embedding).map_err(wrong)?;
        let update = match (magnitudes, config.magnitudes) {
            (None, false) => update,
            (Some(magnitudes), true) if !embedding => update.with_magnitudes(base, magnitudes).map_err(wrong)?,
            (found, _) => {
                let reason = match found {
                    Some(_) if embedding => "DoRA of an embedding is not supported",
                    Some(_) => "it has a magnitude vector, but `use_dora` is not set",
                    None => "`use_dora` is set, but the magnitude vector is missing",
                };
                return Err(wrong(AdapterError::Magnitudes { module, reason }));
            }
        };
        updates.insert(name, update);
    }
    let merged = |tensor: &ModelTensor| {
        if let Some(replacement) = whole.get(&tensor.name) {
            return ModelTensor { name: tensor.name.clone(), ..replacement.clone() };
        }
        let Some(update) = updates.remove(&tensor.name) else { return tensor.clone() };
        // Sums of quantized weights are no longer on their grid.
        let storage =
            if tensor.storage.is_float() { tensor.storage.clone() } else { TensorEncoding::plain(DType::Float32) };
        let (order, parts) = (RowOrder::Same, vec![tensor.clone()]);
        let view = View { parts, order, plus: 0.0, fixed: false, update: Some(update) };
        ModelTensor::of_view(tensor.name.clone(), tensor.shape.clone(), storage, view)
    };
    let tensors = model.tensors().iter().map(merged).collect();
    let metadata = model.metadata().clone();
    Ok(model.renamed(tensors, metadata))
}

fn shape(tensor: &ModelTensor, expected: String) -> AdapterError {
    AdapterError::Shape { tensor: tensor.name.clone(), found: tensor.shape.clone(), expected }
}

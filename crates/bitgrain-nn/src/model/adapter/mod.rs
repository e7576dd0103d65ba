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

/// The two factors of an update.
#[derive(Default)]
struct Factors {
    a: Option<ModelTensor>,
    b: Option<ModelTensor>,
    embedding: bool,
}

/// Returns `model` with the adapter in `folder` merged: every matrix `W` with factors becomes `W + scale B A`, computed in
/// f32 row by row, and tensors that the adapter holds completely replace those of the model.
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
        let slot = |module: String, factors: &mut BTreeMap<String, Factors>, second: bool, embedding: bool| {
            let own = factors.entry(module).or_default();
            own.embedding |= embedding;
            *(if second { &mut own.b } else { &mut own.a }) = Some(tensor.clone());
        };
        if let Some(module) = module(".lora_A") {
            slot(module, &mut factors, false, false);
        } else if let Some(module) = module(".lora_B") {
            slot(module, &mut factors, true, false);
        } else if let Some(module) = module(".lora_embedding_A") {
            slot(module, &mut factors, false, true);
        } else if let Some(module) = module(".lora_embedding_B") {
            slot(module, &mut factors, true, true);
        } else if name.contains("lora_magnitude_vector") {
            return Err(wrong(AdapterError::Unsupported {
                path: config.path.clone(),
                key: "use_dora",
                found: "true".into(),
            }));
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
    for (module, Factors { a, b, embedding }) in factors {
        let (Some(a), Some(b)) = (a, b) else { return Err(wrong(AdapterError::Unpaired { module })) };
        let name = format!("{module}.weight");
        let base = model.tensor(&name).map_err(|_| {
            wrong(AdapterError::UnknownTensor { path: adapter.path().to_owned(), tensor: a.name.clone() })
        })?;
        let update = LowRank::new(base, a, b, &config, &module, embedding).map_err(wrong)?;
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

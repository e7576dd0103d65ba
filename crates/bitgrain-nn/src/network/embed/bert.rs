//! BERT (Devlin et al. 2018) as layers of a [`Network`], with the weights of a Hugging Face file.

use bitgrain_codec::weight::DType;

use super::EmbedError;
use super::config::Config;
use crate::network::layer::{Activation, Attention, Dense, Embedding, Layer, LayerNorm, Pool, Positions};
use crate::network::parameter::{Parameter, ParameterSpec};
use crate::network::{LayerPlan, Network, NetworkError, Shape};
use crate::{ModelFile, WeightStore};

/// Number of layers before the first block: word embeddings, positions, a norm.
const BEFORE: usize = 3;

/// Number of layers per block: attention and a norm, the feed-forward branch and a norm.
const BLOCK: usize = 4;

/// Builds the network from the tensors of `model`.
pub(super) fn network(config: &Config, model: &ModelFile) -> Result<Network, EmbedError> {
    // The number comes from a file: bound it before building layers. Each block has its own tensors.
    if config.layers > model.tensors().len() {
        let (found, known) = (config.layers, "at most one layer per tensor");
        return Err(EmbedError::unsupported(model.path(), "num_hidden_layers", found, known));
    }
    let plan = LayerPlan::new(Shape::sequence(&[]), layers(config))?;
    // Models that were trained with a head prefix the encoder's tensors with `bert.`.
    let prefix = if model.tensor("bert.embeddings.word_embeddings.weight").is_ok() { "bert." } else { "" };
    let parameters: Vec<Parameter> =
        plan.parameters.iter().map(|spec| parameter(spec, prefix, model)).collect::<Result<_, _>>()?;
    Ok(plan.with(parameters))
}

fn layers(config: &Config) -> Vec<Layer> {
    let norm = || Layer::LayerNorm(LayerNorm { epsilon: config.epsilon });
    let attention = Layer::Attention(Attention { heads: config.heads, causal: false, bias: true, rope: None });
    let dense = |outputs| Layer::Dense(Dense { outputs, bias: true });
    let activation = Layer::Activation(Activation { function: config.activation });
    let mut layers = vec![
        Layer::Embedding(Embedding { tokens: config.tokens, outputs: config.hidden }),
        Layer::Positions(Positions { length: config.positions, types: config.types }),
        norm(),
    ];
    for _ in 0..config.layers {
        layers.push(Layer::residual([attention.clone()]));
        layers.push(norm());
        layers.push(Layer::residual([dense(config.inner), activation.clone(), dense(config.hidden)]));
        layers.push(norm());
    }
    layers.push(Layer::Pool(Pool { pooling: config.pooling }));
    layers
}

/// Loads one parameter and checks its shape against the plan.
fn parameter(spec: &ParameterSpec, prefix: &str, model: &ModelFile) -> Result<Parameter, EmbedError> {
    let tensor = model.tensor(&format!("{prefix}{}", tensor_name(&spec.name)))?;
    let (rows, cols) = (spec.rows as u64, spec.cols as u64);
    let wanted = if spec.vector { vec![cols] } else { vec![rows, cols] };
    if tensor.shape != wanted {
        let (path, found) = (model.path().to_owned(), tensor.shape.clone());
        return Err(EmbedError::TensorShape { path, tensor: tensor.name.clone(), wanted, found });
    }
    let store = WeightStore::new(tensor.values()?, spec.cols).map_err(NetworkError::store(&tensor.name))?;
    Ok(Parameter::new(spec, store, DType::Float32.into()))
}

/// Returns Hugging Face's name of the parameter `name` of a network of these [`layers`].
fn tensor_name(name: &str) -> String {
    let (layer, part) = name.split_once('.').unwrap_or((name, ""));
    let layer: usize = layer.parse().unwrap_or(0);
    match (layer, part) {
        (0, _) => "embeddings.word_embeddings.weight".to_owned(),
        (1, "weight") => "embeddings.position_embeddings.weight".to_owned(),
        (1, _) => "embeddings.token_type_embeddings.weight".to_owned(),
        (2, part) => format!("embeddings.LayerNorm.{part}"),
        (layer, part) => {
            let (block, at) = ((layer - BEFORE) / BLOCK, (layer - BEFORE) % BLOCK);
            // Within a branch, the part starts with the index of the inner layer.
            let (inner, end) = part.split_once('.').unwrap_or(("", part));
            let rest = match (at, inner) {
                (0, _) => match end.split_once('.') {
                    Some(("output", end)) => format!("attention.output.dense.{end}"),
                    _ => format!("attention.self.{end}"),
                },
                (1, _) => format!("attention.output.LayerNorm.{part}"),
                (2, "0") => format!("intermediate.dense.{end}"),
                (2, _) => format!("output.dense.{end}"),
                _ => format!("output.LayerNorm.{part}"),
            };
            format!("encoder.layer.{block}.{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_names_of_hugging_face() {
        for (ours, theirs) in [
            ("0.weight", "embeddings.word_embeddings.weight"),
            ("1.weight", "embeddings.position_embeddings.weight"),
            ("1.types.weight", "embeddings.token_type_embeddings.weight"),
            ("2.bias", "embeddings.LayerNorm.bias"),
            ("3.0.query.weight", "encoder.layer.0.attention.self.query.weight"),
            ("3.0.output.bias", "encoder.layer.0.attention.output.dense.bias"),
            ("4.weight", "encoder.layer.0.attention.output.LayerNorm.weight"),
            ("9.0.weight", "encoder.layer.1.intermediate.dense.weight"),
            ("9.2.bias", "encoder.layer.1.output.dense.bias"),
            ("10.bias", "encoder.layer.1.output.LayerNorm.bias"),
        ] {
            assert_eq!(tensor_name(ours), theirs);
        }
    }
}

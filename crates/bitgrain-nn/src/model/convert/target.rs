//! `Target`: the resulting encoding of a tensor, given the request and the container.

use bitgrain_codec::weight::{DType, ScaledFormat, Scaling, WeightFormat};

use super::fallback::fallback;
use super::{FormatChoice, Recipe, Scheme};
use crate::model::{Container, ModelFileError, ModelTensor, TensorEncoding};
use crate::model::{dtype_of, tensor_type};

/// Resulting encoding of a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) storage: TensorEncoding,
    /// The format to encode in; `None` copies the bytes.
    pub(crate) encode: Option<WeightFormat>,
    /// Layout of the arrays for other programs, instead of this project's own.
    pub(crate) scheme: Option<Scheme>,
    /// Reason for a deviation from the request.
    pub(crate) remark: Option<String>,
}

impl Target {
    /// Returns the size of the tensor in the output in bytes.
    pub(crate) fn bytes(&self, tensor: &ModelTensor) -> Result<u64, ModelFileError> {
        let Some(format) = self.encode else { return Ok(tensor.bytes()) };
        let (rows, cols) = tensor.matrix_shape()?;
        let sizes = format.sizes(rows, cols).map_err(ModelFileError::codec(&tensor.name))?;
        Ok(sizes.bytes() as u64)
    }

    fn encoded(format: WeightFormat, remark: Option<String>) -> Self {
        Self { storage: TensorEncoding::Weights(format), encode: Some(format), scheme: None, remark }
    }
}

pub(crate) fn target(tensor: &ModelTensor, container: Container, recipe: &Recipe) -> Result<Target, ModelFileError> {
    if let Some((scheme, format)) = recipe.schemed(tensor) {
        return schemed(tensor, scheme, format, container);
    }
    let format = match recipe.choice(tensor) {
        FormatChoice::To(format) if tensor.storage.format() != Some(format) => format,
        FormatChoice::Keep | FormatChoice::To(_) => return kept(tensor, container),
    };
    check_container(tensor, container, &TensorEncoding::Weights(format))?;
    let (_, cols) = tensor.matrix_shape()?;
    if cols.is_multiple_of(format.block()) {
        return Ok(Target::encoded(format, None));
    }
    let instead = fallback(tensor, format, container, recipe)?;
    let block = format.block();
    let remark = format!("row length {cols} is not a multiple of {block}; using {instead} instead of {format}");
    Ok(Target::encoded(instead, Some(remark)))
}

/// Returns the encoding of a linear layer in a scheme, whose groups must fill the rows.
fn schemed(
    tensor: &ModelTensor,
    scheme: Scheme,
    format: WeightFormat,
    container: Container,
) -> Result<Target, ModelFileError> {
    let (rows, cols) = tensor.matrix_shape()?;
    let group = match format {
        WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(len), .. }) => len.get(),
        _ => 1,
    };
    if rows > 0 && cols > 0 && cols.is_multiple_of(group) {
        return Ok(Target { scheme: Some(scheme), ..Target::encoded(format, None) });
    }
    let remark = format!("row length {cols} is not a multiple of {group}; kept without {}", scheme.name());
    Ok(Target { remark: Some(remark), ..kept(tensor, container)? })
}

/// Returns the tensor's own encoding, or the smallest plain float that represents it exactly if the container cannot
/// hold it.
fn kept(tensor: &ModelTensor, container: Container) -> Result<Target, ModelFileError> {
    let as_is = Target { storage: tensor.storage.clone(), encode: None, scheme: None, remark: None };
    if let Some(format) = tensor.storage.format().filter(|_| tensor.is_computed()) {
        let packed = matches!(tensor.storage, TensorEncoding::Packed { .. });
        return Ok(Target::encoded(format, packed.then(|| format!("dequantized from {}", tensor.storage))));
    }
    let TensorEncoding::Weights(format) = tensor.storage else {
        check_container(tensor, container, &tensor.storage)?;
        return Ok(as_is);
    };
    if container != Container::Gguf || tensor_type(&tensor.storage).is_some() {
        return Ok(as_is);
    }
    // Values of FP8 without scales are exact in float16; scaled values need float32.
    let fp8 = matches!(format.name(), "fp8_e4m3" | "fp8_e5m2") && tensor.scales.is_none();
    let dtype = if fp8 { DType::Float16 } else { DType::Float32 };
    let remark = format!("{} files cannot hold {}", container.name(), tensor.storage);
    Ok(Target::encoded(ScaledFormat::new(dtype).into(), Some(remark)))
}

/// Returns whether the container can hold this encoding.
pub(super) fn is_held(container: Container, storage: &TensorEncoding) -> bool {
    match container {
        Container::Gguf => tensor_type(storage).is_some(),
        _ => storage.format().is_some() || dtype_of(storage).is_some(),
    }
}

/// Returns an error for an encoding that the container cannot hold.
fn check_container(tensor: &ModelTensor, container: Container, storage: &TensorEncoding) -> Result<(), ModelFileError> {
    if is_held(container, storage) {
        return Ok(());
    }
    let hint = match container {
        Container::Gguf => {
            "; use a block format (q4_0, q4_k, q8_0, ...), float16, bfloat16 or float32, or write .safetensors"
        }
        _ => "; write .gguf",
    };
    Err(ModelFileError::Container {
        container: container.name(),
        format: storage.to_string(),
        tensor: tensor.name.clone(),
        hint,
    })
}

//! `NetworkError`: errors of building, running and training networks. Messages name the layer or parameter.

use bitgrain_codec::CodecErr;

use super::Shape;
use crate::network::weights::WeightsError;

/// Reason why a network could not be built, run, trained or quantized.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A layer that does not accept the shape of its input.
    #[error("layer {layer} ({kind}): expected {wanted} as input, found shape {found}")]
    Shape {
        /// Path of the layer: its index, preceded by the indices of the enclosing layers.
        layer: String,
        /// Kind of the layer.
        kind: &'static str,
        /// Input that the layer accepts.
        wanted: &'static str,
        /// Shape of the layer's input.
        found: Shape,
    },
    /// A residual branch that changes the shape.
    #[error("layer {layer} (residual): the branch maps {wanted} to {found}, but must preserve the shape")]
    Branch {
        /// Path of the layer.
        layer: String,
        /// Input shape of the branch.
        wanted: Shape,
        /// Output shape of the branch.
        found: Shape,
    },
    /// An invalid setting of a layer.
    #[error("layer {layer} ({kind}): {what} cannot be {value}")]
    Setting {
        /// Path of the layer.
        layer: String,
        /// Kind of the layer.
        kind: &'static str,
        /// Name of the setting.
        what: &'static str,
        /// Requested value.
        value: String,
    },
    /// A network without layers, or a shape without dimensions.
    #[error("a network needs {what}")]
    Nothing {
        /// The missing part.
        what: &'static str,
    },
    /// A parameter with more weights than memory can hold.
    #[error("parameter `{parameter}`: {rows} rows of {cols} weights exceed the address space")]
    TooLarge {
        /// Name of the parameter.
        parameter: String,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
    },
    /// A batch without samples.
    #[error("empty batch; pass at least one sample")]
    EmptyBatch,
    /// Values that do not form complete samples.
    #[error("{values} values are not a multiple of the sample size {sample}")]
    Ragged {
        /// Number of values.
        values: usize,
        /// Number of values per sample.
        sample: usize,
    },
    /// Dimensions whose product exceeds the address space.
    #[error("samples of dimensions {dims:?} exceed the address space")]
    SampleSize {
        /// Dimensions of a sample, outermost first.
        dims: Vec<usize>,
    },
    /// Samples of the wrong shape.
    #[error("the network expects samples of shape {wanted}, found {found}")]
    Input {
        /// Expected shape.
        wanted: Shape,
        /// Shape of the samples.
        found: Shape,
    },
    /// A NaN or an infinity in the input.
    #[error("value {index} of sample {sample} (0-based) is not finite")]
    NonFiniteInput {
        /// 0-based index of the sample.
        sample: usize,
        /// 0-based index within the sample.
        index: usize,
    },
    /// A mask, token types or a sample index that does not fit the batch.
    #[error("{what} {found} does not fit a batch of size {wanted}")]
    Places {
        /// Name of the quantity.
        what: &'static str,
        /// Number of positions in the batch (samples times length), or number of samples.
        wanted: usize,
        /// Value of the quantity.
        found: usize,
    },
    /// A token or token type that is not a valid row index of its table.
    #[error("layer {layer}: token `{id}` at position {place} (0-based) is not an integer in 0..{rows}")]
    Token {
        /// Path of the layer.
        layer: String,
        /// 0-based position, counted over the whole batch.
        place: usize,
        /// The input.
        id: f32,
        /// Number of rows of the table.
        rows: usize,
    },
    /// A sequence longer than the position table.
    #[error("layer {layer} (positions): sequence of length {length} exceeds the table of {rows} positions")]
    TooLong {
        /// Path of the layer.
        layer: String,
        /// Number of positions in the table.
        rows: usize,
        /// Length of the sequence.
        length: usize,
    },
    /// Weights that cannot be quantized, or invalid codes.
    #[error("parameter `{parameter}`: {source}")]
    Codec {
        /// Name of the parameter.
        parameter: String,
        /// The codec's error.
        source: CodecErr,
    },
    /// Weights that overflow to infinity in a format.
    #[error("parameter `{parameter}`: weights overflow to infinity in {format}; choose a format with a wider range")]
    Overflow {
        /// Name of the parameter.
        parameter: String,
        /// Name of the format.
        format: String,
    },
    /// A format for which the caller cannot choose scales.
    #[error("cannot set the scales of `{parameter}` in {format}: {reason}; use a signed dtype such as int8 or int4")]
    NoScales {
        /// Name of the parameter.
        parameter: String,
        /// Name of the format.
        format: String,
        /// Reason.
        reason: &'static str,
    },
    /// A NaN or infinite input of a matrix: an earlier layer overflowed.
    #[error("input of `{parameter}` is not finite in row {row}, column {column} (0-based)")]
    NonFiniteActivation {
        /// Name of the parameter that is multiplied with the input.
        parameter: String,
        /// 0-based row of the input.
        row: usize,
        /// 0-based column of the input.
        column: usize,
    },
    /// An unknown parameter name.
    #[error("unknown parameter `{name}`; the network has {known}")]
    NoParameter {
        /// The requested name.
        name: String,
        /// Number of parameters, and some of their names.
        known: String,
    },
    /// Wrong number of weights for a parameter.
    #[error("expected {wanted} weights for `{parameter}`, found {found}")]
    Count {
        /// Name of the parameter.
        parameter: String,
        /// Number of weights of the parameter.
        wanted: usize,
        /// Number of weights given.
        found: usize,
    },
    /// A weight that is NaN or infinite.
    #[error("weight {index} (0-based) of `{parameter}` is not finite")]
    NonFiniteWeight {
        /// Name of the parameter.
        parameter: String,
        /// 0-based index of the weight.
        index: usize,
    },
    /// Targets that do not match the samples or the loss.
    #[error("{what} {wanted}, found {found}")]
    Targets {
        /// The requirement, completed by `wanted`: "number of targets must be".
        what: &'static str,
        /// Expected count or bound.
        wanted: usize,
        /// Actual count or value.
        found: usize,
    },
    /// An invalid training setting.
    #[error("{what} cannot be {value}")]
    Training {
        /// Name of the setting.
        what: &'static str,
        /// Requested value.
        value: f64,
    },
    /// A loss that is NaN or infinite.
    #[error("loss is not finite in epoch {epoch}, batch {batch} (1-based); try a smaller learning rate")]
    Diverged {
        /// 1-based epoch.
        epoch: usize,
        /// 1-based batch within the epoch.
        batch: usize,
    },
    /// Two networks with different parameters.
    #[error("the networks differ in `{parameter}`: {first} and {second}")]
    Different {
        /// Name of the parameter.
        parameter: String,
        /// Its name and shape in the first network.
        first: String,
        /// Its name and shape in the second network.
        second: String,
    },
}

impl NetworkError {
    /// Attaches the parameter's name to a codec error.
    pub(crate) fn codec(parameter: &str) -> impl FnOnce(CodecErr) -> Self {
        let parameter = parameter.to_owned();
        move |source| match source {
            CodecErr::NonFinite { index } => Self::NonFiniteWeight { parameter, index },
            source => Self::Codec { parameter, source },
        }
    }

    /// Attaches the parameter's name to an error of its weights.
    pub(crate) fn store(parameter: &str) -> impl FnOnce(WeightsError) -> Self {
        let parameter = parameter.to_owned();
        move |error| match error {
            WeightsError::Codec(source) => Self::codec(&parameter)(source),
            WeightsError::Overflow { format, .. } => Self::Overflow { parameter, format },
            WeightsError::NonFinite { row, column } => Self::NonFiniteActivation { parameter, row, column },
            // Building a network checks all shapes, so these errors would be bugs in a layer.
            WeightsError::Length { found, rows, cols, .. } => {
                let source = CodecErr::LengthMismatch { left: rows.saturating_mul(cols), right: found };
                Self::Codec { parameter, source }
            }
            WeightsError::NoScales { format, reason } => Self::NoScales { parameter, format, reason },
            WeightsError::Inner { left, right } => {
                Self::Codec { parameter, source: CodecErr::LengthMismatch { left, right } }
            }
            WeightsError::NoRow { row, rows } => {
                Self::Codec { parameter, source: CodecErr::InvalidRange { start: row, end: row + 1, count: rows } }
            }
        }
    }
}

//! What can be wrong with a network, its weights or what it is given; each names the layer or parameter.

use bitgrain_codec::CodecErr;

use super::Shape;
use crate::network::weights::WeightsError;

/// Why a network could not be built, run, trained or morphed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A layer that cannot take what comes before it.
    #[error("layer {layer} ({kind}) takes {wanted}, and what comes is {found}")]
    Shape {
        /// Where it is: its index, behind those of the layers it is in.
        layer: String,
        /// What it is.
        kind: &'static str,
        /// What it could take.
        wanted: &'static str,
        /// The shape of a sample that comes.
        found: Shape,
    },
    /// A residual branch that does not give back the shape it takes.
    #[error("layer {layer} (residual) adds {found} to {wanted}: its branch must keep the shape")]
    Branch {
        /// Where it is.
        layer: String,
        /// What goes in.
        wanted: Shape,
        /// What comes out.
        found: Shape,
    },
    /// A setting that a layer cannot have.
    #[error("layer {layer} ({kind}): {what} cannot be {value}")]
    Setting {
        /// Where it is.
        layer: String,
        /// What it is.
        kind: &'static str,
        /// Which setting.
        what: &'static str,
        /// What was asked for.
        value: String,
    },
    /// A network without layers, or a shape without dimensions.
    #[error("a network needs {what}")]
    Nothing {
        /// What is lacking.
        what: &'static str,
    },
    /// More weights than there can be in memory.
    #[error("parameter `{parameter}` would have {rows} rows of {cols}: that is too many")]
    TooLarge {
        /// Its name.
        parameter: String,
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// No samples at all.
    #[error("the batch is empty: give at least one sample")]
    EmptyBatch,
    /// Numbers that are not whole samples.
    #[error("{values} numbers are not whole samples of {sample}")]
    Ragged {
        /// Numbers there are.
        values: usize,
        /// Numbers of a sample.
        sample: usize,
    },
    /// Dimensions whose product exceeds the address space.
    #[error("samples of dimensions {dims:?} are too large for this system's memory")]
    SampleSize {
        /// Dimensions of a sample, outermost first.
        dims: Vec<usize>,
    },
    /// Samples of another shape than the network takes.
    #[error("the network takes samples of {wanted}, these are {found}")]
    Input {
        /// What it takes.
        wanted: Shape,
        /// What came.
        found: Shape,
    },
    /// A NaN or an infinity in the input.
    #[error("number {index} of sample {sample} is not finite")]
    NonFiniteInput {
        /// Which sample.
        sample: usize,
        /// Which of its numbers.
        index: usize,
    },
    /// A mask or token types for other samples.
    #[error("{what} of {found} places do not fit {wanted} places of the batch")]
    Places {
        /// What it is.
        what: &'static str,
        /// Places of the batch: samples times length.
        wanted: usize,
        /// Places there are.
        found: usize,
    },
    /// A number that is no row of a table.
    #[error("layer {layer} (embedding): {id} at place {place} is no whole number below {rows}")]
    Token {
        /// Where it is.
        layer: String,
        /// Counted over the whole batch.
        place: usize,
        /// What came.
        id: f32,
        /// Rows of the table.
        rows: usize,
    },
    /// A sequence that is longer than there are positions.
    #[error("layer {layer} (positions) has {rows} positions, the sequence has {length}")]
    TooLong {
        /// Where it is.
        layer: String,
        /// Positions it knows.
        rows: usize,
        /// Length of the sequence.
        length: usize,
    },
    /// Weights that cannot be quantized, or codes that cannot be read.
    #[error("parameter `{parameter}`: {source}")]
    Codec {
        /// Its name.
        parameter: String,
        /// What is wrong.
        source: CodecErr,
    },
    /// Weights that a format turns into infinities.
    #[error("parameter `{parameter}` has weights that {format} cannot hold: they would become infinite")]
    Overflow {
        /// Its name.
        parameter: String,
        /// The format.
        format: String,
    },
    /// What goes into a matrix is NaN or infinite: earlier layers overflowed.
    #[error("what goes into `{parameter}` is not finite in row {row}, column {column}")]
    NonFiniteActivation {
        /// The parameter it would be multiplied with.
        parameter: String,
        /// Row of what goes in.
        row: usize,
        /// Column of it.
        column: usize,
    },
    /// There is no such parameter.
    #[error("there is no parameter `{name}`; there are {known}")]
    NoParameter {
        /// What was asked for.
        name: String,
        /// How many there are, and some of their names.
        known: String,
    },
    /// Weights for another parameter.
    #[error("parameter `{parameter}` has {wanted} weights, not {found}")]
    Count {
        /// Its name.
        parameter: String,
        /// Weights it has.
        wanted: usize,
        /// Weights there are.
        found: usize,
    },
    /// A weight that is NaN or infinite.
    #[error("weight {index} of `{parameter}` is not finite")]
    NonFiniteWeight {
        /// The parameter.
        parameter: String,
        /// Which of its weights.
        index: usize,
    },
    /// Targets that do not fit the samples or the loss.
    #[error("{what}: {found} where {wanted} are needed")]
    Targets {
        /// What does not fit.
        what: &'static str,
        /// What there should be.
        wanted: usize,
        /// What there is.
        found: usize,
    },
    /// A setting of training that makes no sense.
    #[error("{what} cannot be {value}")]
    Training {
        /// Which setting.
        what: &'static str,
        /// What was asked for.
        value: f64,
    },
    /// Training went out of bounds.
    #[error("the loss is not finite in epoch {epoch}, batch {batch}: a smaller learning rate may help")]
    Diverged {
        /// Which epoch, from 1.
        epoch: usize,
        /// Which of its batches, from 1.
        batch: usize,
    },
    /// Two networks that have no weights in common.
    #[error("the networks differ in `{parameter}`: {first} and {second}")]
    Different {
        /// The parameter.
        parameter: String,
        /// What it is in the first.
        first: String,
        /// What it is in the second.
        second: String,
    },
}

impl NetworkError {
    /// Wraps what the codec said about `parameter`.
    pub(crate) fn codec(parameter: &str) -> impl FnOnce(CodecErr) -> Self {
        let parameter = parameter.to_owned();
        move |source| match source {
            CodecErr::NonFinite { index } => Self::NonFiniteWeight { parameter, index },
            source => Self::Codec { parameter, source },
        }
    }

    /// Wraps what a store said about `parameter`.
    pub(crate) fn store(parameter: &str) -> impl FnOnce(WeightsError) -> Self {
        let parameter = parameter.to_owned();
        move |error| match error {
            WeightsError::Codec(source) => Self::codec(&parameter)(source),
            WeightsError::Overflow { format, .. } => Self::Overflow { parameter, format },
            WeightsError::NonFinite { row, column } => Self::NonFiniteActivation { parameter, row, column },
            // Layers check shapes when the network is built, so these are faults of a layer.
            WeightsError::Length { found, rows, cols, .. } => {
                let source = CodecErr::LengthMismatch { left: rows.saturating_mul(cols), right: found };
                Self::Codec { parameter, source }
            }
            WeightsError::Inner { left, right } => {
                Self::Codec { parameter, source: CodecErr::LengthMismatch { left, right } }
            }
            WeightsError::NoRow { row, rows } => {
                Self::Codec { parameter, source: CodecErr::InvalidRange { start: row, end: row + 1, count: rows } }
            }
        }
    }
}

//! What a matrix is stored as where its rows are not whole blocks of the format that was asked for.

use bitgrain_codec::weight::{BlockLen, Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat};

/// The format itself, or the nearest one that takes rows of `cols`: for blocks of 256 the blocks of 32 with as many
/// bits or the next more, and for blocks of 32 the dtype of as many bits or the next more, with a scale per 32.
///
/// ```
/// use bitgrain_nn::network::weights::stored_as;
/// assert_eq!(stored_as("q4_k".parse()?, 96).to_string(), "iq4_nl");
/// assert_eq!(stored_as("q4_0".parse()?, 10).to_string(), "int4/32");
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[must_use]
pub fn stored_as(format: WeightFormat, cols: usize) -> WeightFormat {
    let narrow = match format {
        WeightFormat::Ggml(GgmlBlock::Q2_K | GgmlBlock::Q3_K | GgmlBlock::Q4_K) => GgmlBlock::IQ4_NL,
        WeightFormat::Ggml(GgmlBlock::Q5_K) => GgmlBlock::Q5_1,
        WeightFormat::Ggml(GgmlBlock::Q6_K) => GgmlBlock::Q8_0,
        WeightFormat::Ggml(block) => block,
        WeightFormat::Q4F32 | WeightFormat::Scaled(_) => GgmlBlock::Q4_0,
    };
    if cols.is_multiple_of(format.block()) {
        return format;
    }
    if cols.is_multiple_of(narrow.weights()) {
        return narrow.into();
    }
    let dtype = match narrow {
        GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => DType::Ternary,
        GgmlBlock::MXFP4 => DType::Fp4,
        GgmlBlock::Q4_1 => DType::Uint4,
        GgmlBlock::Q5_0 | GgmlBlock::Q5_1 | GgmlBlock::Q8_0 => DType::Int8,
        _ => DType::Int4,
    };
    let scaled = ScaledFormat::new(dtype).calibrated(Calibration::MeanSquaredError);
    BlockLen::new(32).map_or(scaled, |len| scaled.grouped(len)).into()
}

//! HQQ: `W_q` in planes of the flattened matrix, and a float scale and zero point per group.

use bitgrain_codec::weight::DType;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_float};
use super::float8::sizes;
use super::gptq::put;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use super::zeros::Zeros;
use crate::model::{ModelTensor, TensorEncoding};

const CODES: &str = ".W_q";

/// Settings that describe how a layer was made and not how it is stored.
const UNUSED: [&str; 12] = [
    ".group_size",
    ".packing",
    ".unpack_view_dtype",
    ".view_as_float",
    ".compute_dtype",
    ".offload_meta",
    ".encoded_state_dict",
    ".stores_quant_config",
    ".channel_wise",
    ".optimize",
    ".round_zero",
    ".quant_scale",
];

/// Assembles the weights of all modules.
pub(super) fn join(arrays: &mut Arrays) -> Result<(), CheckpointError> {
    for module in arrays.modules(CODES) {
        let codes = arrays.need(&module, CODES, CODES)?;
        if [".scale_q", ".zero_q"].into_iter().any(|ending| arrays.has(&module, ending)) {
            return Err(value(
                &codes,
                "quantized scales and zero points are not read; dequantize it with HQQ".to_owned(),
            ));
        }
        let scales = arrays.need(&module, ".scale", CODES)?;
        let zeros = arrays.need(&module, ".zero", CODES)?;
        let shape = integers(&arrays.need(&module, ".shape", CODES)?, 2)?;
        let bits = integers(&arrays.need(&module, ".nbits", CODES)?, 1)?[0];
        let axis = integers(&arrays.need(&module, ".axis", CODES)?, 1)?[0];
        UNUSED.iter().chain(&[".quant_zero"]).for_each(|ending| drop(arrays.take(&module, ending)));
        let bits = match bits {
            1..=4 => bits,
            5..=8 => 8,
            _ => return Err(value(&codes, format!("{bits} bits per code, expected 1 to 8"))),
        };
        let elements = shape[0].checked_mul(shape[1]).filter(|count| *count > 0 && *count <= 1 << 48);
        let elements = elements.ok_or_else(|| value(&codes, format!("shape {shape:?} is out of range")))?;
        let count = scales.elements();
        check(&scales, "floats, one per group", |s| is_float(s) && count > 0 && elements.is_multiple_of(count))?;
        check(&zeros, &format!("floats {:?}", scales.shape), |z| is_float(z) && z.shape == scales.shape)?;
        // One row per group along the axis 1, one column along the axis 0; the other is packed.
        let (groups, length) = (count, elements / count);
        let (first, second) = if axis == 0 { (length, groups) } else { (groups, length) };
        let planes = if bits == 3 { 10 } else { 8 / bits };
        let stride = first.div_ceil(planes) * second;
        let item = if bits == 3 { 4 } else { 1 };
        check(&codes, &format!("{} bytes", stride * item), |codes| codes.bytes() == stride * item)?;
        let [rows, cols, stride, count, length, bits] =
            sizes(&codes, [shape[0], shape[1], stride, count, length, bits])?;
        let packed = Packed {
            kind: format!("hqq int{bits}/{length}"),
            rows,
            cols,
            layout: Layout::Planes { bits, stride },
            scales: Scales::Floats(scales),
            zeros: Some(Zeros::Plain(zeros)),
            groups: match axis {
                0 => Groups::Modulo(count),
                1 if cols.is_multiple_of(length) => Groups::Blocks { rows: 1, cols: length },
                1 => Groups::Flat(length),
                _ => return Err(value(&codes, format!("axis {axis}, expected 0 or 1"))),
            },
            order: None,
            factor: 1.0,
            codes,
        };
        put(arrays, &module, CODES, packed);
    }
    Ok(())
}

fn value(tensor: &ModelTensor, reason: String) -> CheckpointError {
    CheckpointError::Value { tensor: tensor.name.clone(), reason }
}

/// Reads `count` non-negative integers, or floats without a fraction.
fn integers(tensor: &ModelTensor, count: u64) -> Result<Vec<u64>, CheckpointError> {
    let number = |tensor: &ModelTensor| {
        is_float(tensor) || matches!(tensor.storage, TensorEncoding::Integers { dtype, .. } if dtype != DType::Uint64)
    };
    check(tensor, &format!("{count} integers"), |tensor| number(tensor) && tensor.elements() == count)?;
    let values = tensor.values().map_err(|error| value(tensor, error.to_string()))?;
    let one = |number: &f32| match *number {
        // Exact in f32, and beyond the width of any layer.
        number if (0.0..=16_777_216.0).contains(&number) && number.fract() == 0.0 => Ok(to_u64(number)),
        number => Err(value(tensor, format!("`{number}` is not an integer in 0..=2^24"))),
    };
    values.iter().map(one).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a non-negative integer up to 2^24")]
const fn to_u64(number: f32) -> u64 {
    number as u64
}

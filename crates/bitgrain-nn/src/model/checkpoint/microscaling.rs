//! NVFP4 and MXFP4: 4-bit floats with a scale per 16 or 32 weights.

use bitgrain_codec::weight::DType;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_integer, matrix};
use super::float8::{is_e4m3, is_e8m0, join_one, sizes};
use super::gptq::put;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use crate::model::{ModelTensor, TensorEncoding};

/// Scale of a whole matrix.
pub(super) struct Factor {
    pub(super) array: ModelTensor,
    /// Whether the other scales are divided by it.
    pub(super) inverse: bool,
}

/// Assembles the weights of ModelOpt: NVFP4 in `weight` as bytes, or FP8.
pub(super) fn join_modelopt(arrays: &mut Arrays) -> Result<(), CheckpointError> {
    const CODES: &str = ".weight";
    for module in arrays.modules(CODES) {
        let Some(codes) = arrays.get(&module, CODES) else { continue };
        let (bytes, float8) = (is_integer(codes, DType::Uint8), is_e4m3(codes));
        if !bytes && !float8 {
            continue;
        }
        let codes = arrays.need(&module, CODES, CODES)?;
        let scales = arrays.need(&module, ".weight_scale", CODES)?;
        arrays.take(&module, ".input_scale");
        if float8 {
            join_one(arrays, &module, "modelopt", codes, scales, None)?;
            continue;
        }
        let array = arrays.need(&module, ".weight_scale_2", CODES)?;
        let packed = packed("modelopt nvfp4", codes, scales, Some(Factor { array, inverse: false }))?;
        put(arrays, &module, CODES, packed);
    }
    Ok(())
}

/// Assembles the experts of gpt-oss: `NAME_blocks` with 16 bytes per group, and `NAME_scales`.
pub(super) fn join_experts(arrays: &mut Arrays) -> Result<(), CheckpointError> {
    const CODES: &str = "_blocks";
    for module in arrays.modules(CODES) {
        let codes = arrays.need(&module, CODES, CODES)?;
        let scales = arrays.need(&module, "_scales", CODES)?;
        let expected = "U8 [..., outputs, groups, 16]";
        check(&codes, expected, |codes| is_integer(codes, DType::Uint8) && codes.shape.len() > 2)?;
        let (width, outer) = codes.shape.split_last().unwrap_or((&0, &[]));
        check(&codes, expected, |_| *width == 16 && !outer.contains(&0))?;
        check(&scales, &format!("U8 {outer:?}"), |s| is_integer(s, DType::Uint8) && s.shape == outer)?;
        let (groups, outer) = outer.split_last().unwrap_or((&0, &[]));
        let cols = groups * 32;
        let shape: Vec<u64> = outer.iter().copied().chain([cols]).collect();
        let [rows, cols] = sizes(&codes, [outer.iter().product(), cols])?;
        let at = codes.name.clone();
        let packed = fp4("mxfp4", codes, Scales::Exponents(scales), (rows, cols), 32);
        arrays.put(&at, module, shape, packed);
    }
    Ok(())
}

/// Assembles a matrix with E2M1 codes: NVFP4 with a factor, MXFP4 without.
pub(super) fn packed(
    kind: &str,
    codes: ModelTensor,
    scales: ModelTensor,
    factor: Option<Factor>,
) -> Result<Packed, CheckpointError> {
    let expected = "U8 [outputs, inputs / 2]";
    let (rows, bytes) = matrix(&codes, expected)?;
    check(&codes, expected, |codes| is_integer(codes, DType::Uint8))?;
    let length = if factor.is_some() { 16 } else { 32 };
    let cols = bytes * 2;
    check(&codes, &format!("rows of a multiple of {length} weights"), |_| cols.is_multiple_of(length))?;
    let shape = [rows, cols / length];
    let scales = match factor {
        Some(Factor { array, inverse }) => {
            check(&scales, &format!("F8_E4M3 {shape:?}"), |s| is_e4m3(s) && s.shape == shape)?;
            let single = |factor: &ModelTensor| factor.shape.iter().all(|dim| *dim == 1);
            check(&array, "F32 [1]", |f| f.storage == TensorEncoding::plain(DType::Float32) && single(f))?;
            Scales::Shared { each: scales, factor: array, inverse }
        }
        None => {
            check(&scales, &format!("U8 {shape:?}"), |s| {
                (is_integer(s, DType::Uint8) || is_e8m0(s)) && s.shape == shape
            })?;
            Scales::Exponents(scales)
        }
    };
    let [rows, cols, length] = sizes(&codes, [rows, cols, length])?;
    Ok(fp4(kind, codes, scales, (rows, cols), length))
}

fn fp4(kind: &str, codes: ModelTensor, scales: Scales, shape: (usize, usize), length: usize) -> Packed {
    Packed {
        kind: kind.to_owned(),
        rows: shape.0,
        cols: shape.1,
        layout: Layout::E2m1,
        scales,
        zeros: None,
        groups: Groups::Blocks { rows: 1, cols: length },
        order: None,
        factor: 1.0,
        codes,
    }
}

//! FP8 with scales: `weight` in E4M3 and `weight_scale_inv` or `weight_scale`, per tensor, row or block.

use bitgrain_codec::weight::DType;
use bitgrain_formats::safetensors::Dtype;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_float};
use super::config::Float8;
use super::gptq::put;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use crate::model::{ModelTensor, TensorEncoding};

const CODES: &str = ".weight";

/// Assembles the weights of all modules with FP8 codes.
pub(super) fn join(arrays: &mut Arrays, settings: &Float8) -> Result<(), CheckpointError> {
    for module in arrays.modules(CODES) {
        if !arrays.get(&module, CODES).is_some_and(is_e4m3) {
            continue;
        }
        let codes = arrays.need(&module, CODES, CODES)?;
        let ending = if arrays.has(&module, ".weight_scale") { ".weight_scale" } else { ".weight_scale_inv" };
        let scales = arrays.need(&module, ending, CODES)?;
        arrays.take(&module, ".input_scale");
        arrays.take(&module, ".activation_scale");
        join_one(arrays, &module, "fp8", codes, scales, settings.block)?;
    }
    Ok(())
}

/// Assembles a matrix of numbers with one scale per tensor, per row or per block.
pub(super) fn join_one(
    arrays: &mut Arrays,
    module: &str,
    method: &str,
    codes: ModelTensor,
    scales: ModelTensor,
    block: Option<(u64, u64)>,
) -> Result<(), CheckpointError> {
    let (rows, cols) = super::arrays::matrix(&codes, "a matrix")?;
    let (height, width) = match (block, &scales.shape[..]) {
        (Some((height, width)), _) => (height.min(rows), width.min(cols)),
        (None, [] | [1] | [1, 1]) => (rows, cols),
        (None, [count] | [count, 1]) if *count == rows => (1, cols),
        (None, _) => {
            let problem = format!("floats [1], [{rows}] or [{rows}, 1]");
            check(&scales, &problem, |_| false)?;
            (1, cols)
        }
    };
    let count = rows.div_ceil(height) * cols.div_ceil(width);
    let shape = [rows.div_ceil(height), cols.div_ceil(width)];
    check(&scales, &format!("floats {shape:?}"), |s| {
        let single = s.shape.iter().product::<u64>() == count && (count == 1 || s.shape.len() < 2 || s.shape == shape);
        (is_float(s) || is_e8m0(s)) && single
    })?;
    let [rows, cols, height, width] = sizes(&codes, [rows, cols, height, width])?;
    let suffix = match (height, width) {
        (1, w) if w == cols => String::new(),
        (h, w) if h == rows && w == cols => "/tensor".to_owned(),
        (h, w) => format!("/{h}x{w}"),
    };
    let packed = Packed {
        kind: format!("{method} {}{suffix}", codes.storage),
        rows,
        cols,
        layout: Layout::Plain,
        scales: if is_e8m0(&scales) { Scales::Exponents(scales) } else { Scales::Floats(scales) },
        zeros: None,
        groups: Groups::Blocks { rows: height, cols: width },
        order: None,
        factor: 1.0,
        codes,
    };
    put(arrays, module, CODES, packed);
    Ok(())
}

pub(super) fn is_e4m3(tensor: &ModelTensor) -> bool {
    tensor.storage == TensorEncoding::plain(DType::Fp8E4M3)
}

/// Returns whether an array holds powers of two as their exponents.
pub(super) fn is_e8m0(tensor: &ModelTensor) -> bool {
    tensor.storage == TensorEncoding::Opaque { name: Dtype::F8_E8M0.name() }
}

/// Converts sizes of an array that fit its bytes, and so also fit the address space unless they are absurd.
pub(super) fn sizes<const N: usize>(codes: &ModelTensor, sizes: [u64; N]) -> Result<[usize; N], CheckpointError> {
    let mut out = [0; N];
    for (out, size) in out.iter_mut().zip(sizes) {
        *out = usize::try_from(size).map_err(|_| CheckpointError::Value {
            tensor: codes.name.clone(),
            reason: format!("size {size} exceeds the address space"),
        })?;
    }
    Ok(out)
}

//! AWQ (gemm): `qweight` and `qzeros` packed along the outputs, eight 4-bit codes per word, and `scales`.

use bitgrain_codec::weight::DType;

use super::arrays::{Arrays, check, is_float, is_integer, matrix};
use super::config::Awq;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use super::zeros::Zeros;
use super::{CheckpointError, float8, gptq};

const CODES: &str = ".qweight";

/// Assembles the weights of all modules.
pub(super) fn join(arrays: &mut Arrays, settings: &Awq) -> Result<(), CheckpointError> {
    for module in arrays.modules(CODES) {
        let codes = arrays.need(&module, CODES, CODES)?;
        let scales = arrays.need(&module, ".scales", CODES)?;
        let zeros = arrays.need(&module, ".qzeros", CODES)?;
        let expected = "I32 [inputs, outputs / 8]";
        let (cols, words) = matrix(&codes, expected)?;
        check(&codes, expected, |codes| is_integer(codes, DType::Int32))?;
        let length = settings.group.unwrap_or(cols).min(cols);
        let groups = cols.div_ceil(length);
        let rows = words * 8;
        check(&scales, &format!("floats [{groups}, {rows}]"), |s| is_float(s) && s.shape == [groups, rows])?;
        check(&zeros, &format!("I32 [{groups}, {words}]"), |zeros| {
            is_integer(zeros, DType::Int32) && zeros.shape == [groups, words]
        })?;
        let [rows, cols, length] = float8::sizes(&codes, [rows, cols, length])?;
        let packed = Packed {
            kind: format!("awq int4/{length}"),
            rows,
            cols,
            layout: Layout::Awq,
            scales: Scales::Transposed(scales),
            zeros: Some(Zeros::Awq { words: zeros, rows }),
            groups: Groups::Blocks { rows: 1, cols: length },
            order: None,
            factor: 1.0,
            codes,
        };
        gptq::put(arrays, &module, CODES, packed);
    }
    Ok(())
}

//! GPTQ: `qweight` packed along the inputs, `qzeros` along the outputs, `scales` and `g_idx`.

use bitgrain_codec::weight::DType;

use super::arrays::{Arrays, check, is_float, is_integer, matrix};
use super::config::Gptq;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use super::zeros::Zeros;
use super::{CheckpointError, float8};

const CODES: &str = ".qweight";

/// Assembles the weights of all modules.
pub(super) fn join(arrays: &mut Arrays, settings: &Gptq) -> Result<(), CheckpointError> {
    let bits = settings.bits;
    for module in arrays.modules(CODES) {
        let codes = arrays.need(&module, CODES, CODES)?;
        let scales = arrays.need(&module, ".scales", CODES)?;
        let zeros = arrays.need(&module, ".qzeros", CODES)?;
        let order = arrays.take(&module, ".g_idx");
        let expected = format!("I32 [inputs / 32 * {bits}, outputs]");
        let (words, rows) = matrix(&codes, &expected)?;
        check(&codes, &expected, |codes| is_integer(codes, DType::Int32) && words.is_multiple_of(bits as u64))?;
        let cols = words / bits as u64 * 32;
        let length = settings.group.unwrap_or(cols).min(cols);
        let groups = cols.div_ceil(length);
        check(&scales, &format!("floats [{groups}, {rows}]"), |s| is_float(s) && s.shape == [groups, rows])?;
        let wide = (rows * bits as u64).div_ceil(32);
        check(&zeros, &format!("I32 [{groups}, {wide}]"), |zeros| {
            is_integer(zeros, DType::Int32) && zeros.shape == [groups, wide]
        })?;
        if let Some(order) = &order {
            check(order, &format!("I32 [{cols}]"), |o| is_integer(o, DType::Int32) && o.shape == [cols])?;
        }
        let [rows, cols, length, count] = float8::sizes(&codes, [rows, cols, length, groups])?;
        let groups = match order {
            Some(_) => Groups::Columns { of: Vec::new(), count },
            None => Groups::Blocks { rows: 1, cols: length },
        };
        let packed = Packed {
            kind: format!("gptq int{bits}/{length}"),
            rows,
            cols,
            layout: Layout::WordsDown { bits },
            scales: Scales::Transposed(scales),
            zeros: Some(Zeros::Words { words: zeros, bits, rows, decremented: settings.decremented }),
            groups,
            order,
            factor: 1.0,
            codes,
        };
        put(arrays, &module, CODES, packed);
    }
    Ok(())
}

/// Adds the weight of a module in the place of its codes.
pub(super) fn put(arrays: &mut Arrays, module: &str, codes: &str, packed: Packed) {
    let shape = vec![packed.rows as u64, packed.cols as u64];
    arrays.put(&format!("{module}{codes}"), format!("{module}.weight"), shape, packed);
}

//! bitsandbytes: NF4 and FP4 with a scale per block of the flattened matrix, and int8 with a scale per row.

use bitgrain_codec::weight::DType;
use serde::Deserialize;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_float, is_integer, matrix};
use super::float8::sizes;
use super::gptq::put;
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use crate::model::ModelTensor;

const CODES: &str = ".weight";
const STATES: [&str; 2] = [".weight.quant_state.bitsandbytes__nf4", ".weight.quant_state.bitsandbytes__fp4"];

/// Reciprocal of 127, by which the package multiplies last.
const INT8_STEP: f32 = 1.0 / 127.0;

/// Description of a 4-bit matrix, stored as JSON in an array of bytes.
#[derive(Deserialize)]
struct State {
    quant_type: String,
    blocksize: usize,
    shape: Vec<u64>,
    nested_blocksize: Option<usize>,
    #[serde(default)]
    nested_offset: f32,
}

/// Assembles the weights of all modules.
pub(super) fn join(arrays: &mut Arrays) -> Result<(), CheckpointError> {
    for ending in STATES {
        for module in arrays.modules(ending) {
            let state = arrays.need(&module, ending, ending)?;
            join_4bit(arrays, &module, &state)?;
        }
    }
    for module in arrays.modules(".SCB") {
        let scales = arrays.need(&module, ".SCB", CODES)?;
        let codes = arrays.need(&module, CODES, CODES)?;
        if let Some(format) = arrays.take(&module, ".weight_format") {
            check(&format, "U8, 0 for rows", |format| {
                is_integer(format, DType::Uint8) && format.values().is_ok_and(|values| values == [0.0])
            })?;
        }
        let (rows, cols) = matrix(&codes, "I8 [outputs, inputs]")?;
        check(&codes, "I8 [outputs, inputs]", |codes| is_integer(codes, DType::Int8))?;
        check(&scales, &format!("floats [{rows}]"), |s| is_float(s) && s.shape == [rows])?;
        let [rows, cols] = sizes(&codes, [rows, cols])?;
        let packed = Packed {
            kind: "bitsandbytes int8".to_owned(),
            rows,
            cols,
            layout: Layout::Plain,
            scales: Scales::Floats(scales),
            zeros: None,
            groups: Groups::Blocks { rows: 1, cols },
            order: None,
            factor: INT8_STEP,
            codes,
        };
        put(arrays, &module, CODES, packed);
    }
    Ok(())
}

fn join_4bit(arrays: &mut Arrays, module: &str, state: &ModelTensor) -> Result<(), CheckpointError> {
    let wrong = |reason: String| CheckpointError::Value { tensor: state.name.clone(), reason };
    let text = state.codes.load().map_err(|error| wrong(error.to_string()))?;
    let State { quant_type, blocksize, shape, nested_blocksize, nested_offset } = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("not the JSON of a quantization state: {error}")))?;
    let codes = arrays.need(module, CODES, CODES)?;
    let scales = arrays.need(module, ".weight.absmax", CODES)?;
    let table = arrays.need(module, ".weight.quant_map", CODES)?;
    let [rows, cols] =
        <[u64; 2]>::try_from(shape).map_err(|shape| wrong(format!("shape {shape:?} is not a matrix")))?;
    let elements = rows.checked_mul(cols).filter(|count| *count > 0 && *count <= 1 << 48);
    let elements = elements.ok_or_else(|| wrong(format!("shape [{rows}, {cols}] is out of range")))?;
    check(&codes, &format!("{} bytes", elements.div_ceil(2)), |codes| codes.bytes() == elements.div_ceil(2))?;
    if blocksize == 0 {
        return Err(wrong("`blocksize` is 0".to_owned()));
    }
    let blocks = elements.div_ceil(blocksize as u64);
    check(&table, "F32 [16]", |table| is_float(table) && table.shape == [16])?;
    let nested = arrays.take(module, ".weight.nested_absmax");
    let scales = match nested {
        None => {
            check(&scales, &format!("floats [{blocks}]"), |s| is_float(s) && s.shape == [blocks])?;
            Scales::Floats(scales)
        }
        Some(outer) => {
            let inner = arrays.need(module, ".weight.nested_quant_map", CODES)?;
            let len = nested_blocksize.filter(|len| *len > 0);
            let len = len.ok_or_else(|| wrong("missing `nested_blocksize`".to_owned()))?;
            check(&scales, &format!("U8 [{blocks}]"), |s| is_integer(s, DType::Uint8) && s.shape == [blocks])?;
            check(&inner, "F32 [256]", |map| is_float(map) && map.shape == [256])?;
            let count = blocks.div_ceil(len as u64);
            check(&outer, &format!("floats [{count}]"), |s| is_float(s) && s.shape == [count])?;
            Scales::Nested { codes: scales, table: inner, scales: outer, len, offset: nested_offset }
        }
    };
    let values = table.values().map_err(|error| wrong(error.to_string()))?;
    let values: [f32; 16] = values.try_into().map_err(|_| wrong("the map does not have 16 values".to_owned()))?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err(wrong("the map has values that are not finite".to_owned()));
    }
    let [rows, cols] = sizes(&codes, [rows, cols])?;
    let packed = Packed {
        kind: format!("bitsandbytes {}", quant_type.chars().take(8).collect::<String>()),
        rows,
        cols,
        layout: Layout::Table(values.into()),
        scales,
        zeros: None,
        groups: if cols.is_multiple_of(blocksize) {
            Groups::Blocks { rows: 1, cols: blocksize }
        } else {
            Groups::Flat(blocksize)
        },
        order: None,
        factor: 1.0,
        codes,
    };
    put(arrays, module, CODES, packed);
    Ok(())
}

//! ONNX: weights that `DequantizeLinear`, `MatMulNBits`, `QLinearMatMul`, `QLinearConv` and `QGemm` dequantize, and those that
//! ONNX Runtime names `NAME_quantized`, `NAME_scale` and `NAME_zero_point`.

use std::collections::BTreeSet;
use std::sync::Arc;

use bitgrain_codec::weight::DType;
use bitgrain_formats::onnx::Operator;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_float, is_integer};
use super::float8::{is_e4m3, sizes};
use super::groups::Groups;
use super::layout::Layout;
use super::packed::Packed;
use super::scales::Scales;
use super::zeros::Zeros;
use crate::model::file::Bytes;
use crate::model::{ModelTensor, TensorEncoding};

/// Endings that quantizers add to the name of a weight.
const ENDINGS: [&str; 6] = ["_quantized", "_Q4", "_Q8", "_Q2", "_DequantizeLinear_Input", ".quantized"];

/// Codes, scales and zero points of a weight by name, and the arrangement of its scales.
struct Weight<'a> {
    codes: &'a str,
    scales: &'a str,
    zeros: Option<&'a str>,
    axis: Axis,
}

/// Dimension along which scales differ.
#[derive(Clone, Copy)]
enum Axis {
    First,
    Last,
    /// Counted from the end if negative, with a scale per `block` elements, or per element if 0.
    Of {
        axis: i64,
        block: i64,
    },
}

/// Replaces the arrays of quantized weights by the weights.
pub(super) fn join(arrays: &mut Arrays, operators: &[Operator]) -> Result<(), CheckpointError> {
    let mut used = BTreeSet::new();
    for operator in operators {
        let weight = |place: usize, axis| {
            let (codes, scales) = (operator.input(place)?, operator.input(place + 1)?);
            Some(Weight { codes, scales, zeros: operator.input(place + 2), axis })
        };
        let flag = |name| operator.integer(name).unwrap_or(0);
        let found = match operator.kind.as_str() {
            "DequantizeLinear" => {
                weight(0, Axis::Of { axis: operator.integer("axis").unwrap_or(1), block: flag("block_size") })
            }
            "QLinearMatMul" => weight(3, Axis::Last),
            "QLinearConv" => weight(3, Axis::First),
            "QGemm" => weight(3, if flag("transB") == 0 { Axis::Last } else { Axis::First }),
            "MatMulNBits" => {
                join_bits(arrays, operator, &mut used)?;
                None
            }
            _ => None,
        };
        if let Some(weight) = found {
            join_linear(arrays, &weight, &mut used)?;
        }
    }
    for name in arrays.modules("_quantized") {
        let [codes, scales, zeros] = ["_quantized", "_scale", "_zero_point"].map(|ending| format!("{name}{ending}"));
        let Some(scale) = arrays.get(&scales, "") else { continue };
        let last = arrays.get(&codes, "").is_some_and(|codes| codes.shape.last() == scale.shape.first());
        let zeros = Some(zeros.as_str()).filter(|zeros| arrays.has(zeros, ""));
        let axis = if last { Axis::Last } else { Axis::First };
        join_linear(arrays, &Weight { codes: &codes, scales: &scales, zeros, axis }, &mut used)?;
    }
    used.iter().for_each(|name| drop(arrays.take(name, "")));
    Ok(())
}

/// Assembles `(codes - zero) * scale`, unless the codes or the scales are computed by other operators.
fn join_linear(arrays: &mut Arrays, weight: &Weight<'_>, used: &mut BTreeSet<String>) -> Result<(), CheckpointError> {
    let Some(codes) = arrays.get(weight.codes, "") else { return Ok(()) };
    let bytes = is_integer(codes, DType::Int8) || is_integer(codes, DType::Uint8) || is_e4m3(codes);
    let nibbles = match codes.storage {
        TensorEncoding::Opaque { name: "I4" } => Some(true),
        TensorEncoding::Opaque { name: "U4" } => Some(false),
        _ => None,
    };
    // Biases are quantized to 32 bits, which no weight format has.
    let Some(scales) = arrays.get(weight.scales, "").filter(|_| bytes || nibbles.is_some()) else { return Ok(()) };
    check(scales, "floats", is_float)?;
    let groups = groups(codes, scales, weight.axis)?;
    let count = scales.elements();
    let zeros = match weight.zeros.map(|name| (name, arrays.get(name, ""))) {
        None => None,
        Some((name, None)) => {
            let (tensor, array) = (codes.name.clone(), name.to_owned());
            return Err(CheckpointError::MissingArray { tensor, array });
        }
        Some((_, Some(zeros))) => {
            let same = zeros.storage == codes.storage;
            check(zeros, &format!("{} [{count}]", codes.storage), |zeros| same && zeros.elements() == count)?;
            Some(zero_points(zeros, nibbles, count)?)
        }
    };
    let layout = nibbles.map_or(Layout::Plain, |signed| Layout::Nibbles { signed });
    let [rows, cols] = sizes(codes, [codes.rows(), codes.cols()])?;
    let width = if nibbles.is_some() { "int4".to_owned() } else { codes.storage.to_string() };
    let packed = Packed {
        kind: format!("onnx {width}"),
        rows,
        cols,
        layout,
        scales: Scales::Floats(scales.clone()),
        zeros: zeros.map(Zeros::Plain),
        groups,
        order: None,
        factor: 1.0,
        codes: codes.clone(),
    };
    used.extend([Some(weight.scales), weight.zeros].into_iter().flatten().map(str::to_owned));
    put(arrays, weight.codes, codes.shape.clone(), packed);
    Ok(())
}

/// Returns the scale of each element.
fn groups(codes: &ModelTensor, scales: &ModelTensor, axis: Axis) -> Result<Groups, CheckpointError> {
    let shape = &codes.shape;
    let [rows, cols] = sizes(codes, [codes.rows(), codes.cols()])?;
    let count = scales.elements();
    let unfit = |expected: String| CheckpointError::Array {
        tensor: scales.name.clone(),
        found: format!("{} scales for {shape:?}", scales.elements()),
        expected,
    };
    if shape.contains(&0) {
        return Err(unfit("weights".to_owned()));
    }
    let (axis, block) = match axis {
        Axis::First => (0, 0),
        Axis::Last => (shape.len().saturating_sub(1), 0),
        Axis::Of { axis, block } => {
            let from_end = i64::try_from(shape.len()).unwrap_or(i64::MAX).saturating_add(axis);
            let place = usize::try_from(if axis < 0 { from_end } else { axis });
            let block = u64::try_from(block).map_err(|_| unfit("a positive `block_size`".to_owned()))?;
            (place.unwrap_or(usize::MAX), block)
        }
    };
    let whole = Groups::Blocks { rows, cols };
    if count == 1 && block == 0 {
        return Ok(whole);
    }
    let Some(dim) = shape.get(axis) else { return Err(unfit("an axis of the weights".to_owned())) };
    let (last, [length]) = (axis + 1 == shape.len(), sizes(codes, [block])?);
    let (groups, wanted) = match (block, last) {
        (0, true) => (Groups::Blocks { rows, cols: 1 }, *dim),
        (0, false) if axis == 0 => {
            let height = usize::try_from(*dim).map_or(1, |dim| rows / dim);
            (Groups::Blocks { rows: height, cols }, *dim)
        }
        (1.., true) => (Groups::Blocks { rows: 1, cols: length }, codes.rows() * dim.div_ceil(block)),
        (1.., false) if axis == 0 && shape.len() == 2 => {
            (Groups::Blocks { rows: length, cols: 1 }, dim.div_ceil(block) * codes.cols())
        }
        _ => return Err(unfit("scales along the first or the last axis".to_owned())),
    };
    if count == wanted { Ok(groups) } else { Err(unfit(format!("{wanted} scales"))) }
}

/// Returns zero points as floats.
fn zero_points(zeros: &ModelTensor, nibbles: Option<bool>, count: u64) -> Result<ModelTensor, CheckpointError> {
    let wrong = |reason: String| CheckpointError::Value { tensor: zeros.name.clone(), reason };
    let [count] = sizes(zeros, [count])?;
    let values = match nibbles {
        None => zeros.values().map_err(|error| wrong(error.to_string()))?,
        Some(signed) => {
            let bytes = zeros.codes.load().map_err(|error| wrong(error.to_string()))?;
            if bytes.len() < count.div_ceil(2) {
                return Err(wrong(format!("shorter than {count} zero points")));
            }
            let mut values = vec![0.0; count];
            Layout::Nibbles { signed }.decode(&bytes, (1, count), 0..1, &mut values);
            values
        }
    };
    Ok(floats(zeros.name.clone(), &values))
}

/// Creates a vector in memory.
fn floats(name: String, values: &[f32]) -> ModelTensor {
    let bytes: Arc<[u8]> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    ModelTensor {
        name,
        shape: vec![values.len() as u64],
        storage: TensorEncoding::plain(DType::Float32),
        codes: Bytes::Owned(bytes),
        scales: None,
        zeros: None,
        view: None,
        packed: None,
    }
}

/// Assembles the weight of a `MatMulNBits`: `[N, K]` in blocks of the rows.
fn join_bits(arrays: &mut Arrays, operator: &Operator, used: &mut BTreeSet<String>) -> Result<(), CheckpointError> {
    let Some((name, codes)) = operator.input(1).and_then(|name| Some((name, arrays.get(name, "")?))) else {
        return Ok(());
    };
    let wrong = |reason: String| CheckpointError::Value { tensor: codes.name.clone(), reason };
    let size = |name: &str| operator.integer(name).and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
    let (rows, cols, length) = (size("N"), size("K"), size("block_size"));
    let bits = operator.integer("bits").unwrap_or(4);
    let Some(bits) = u64::try_from(bits).ok().filter(|bits| matches!(bits, 2 | 4 | 8)) else {
        return Err(wrong(format!("{bits} bits per code, expected 2, 4 or 8")));
    };
    let fits = length.is_power_of_two() && length >= 16 && cols > 0 && rows > 0 && cols.is_multiple_of(length);
    if !fits {
        return Err(wrong(format!(
            "N {rows}, K {cols}, block_size {length}; expected a K that is a multiple of the blocks"
        )));
    }
    if operator.input(4).is_some() {
        return Err(wrong("reordered columns (`g_idx`) are not read".to_owned()));
    }
    let blocks = cols / length;
    let packed = cols / 8 * bits;
    let bytes = rows.checked_mul(packed);
    check(codes, &format!("U8 [{rows}, {blocks}, {}]", packed / blocks), |codes| {
        is_integer(codes, DType::Uint8) && Some(codes.elements()) == bytes
    })?;
    let count = rows * blocks;
    let Some(scales) = operator.input(2).and_then(|name| arrays.get(name, "")) else {
        let array = operator.input(2).unwrap_or("scales").to_owned();
        return Err(CheckpointError::MissingArray { tensor: codes.name.clone(), array });
    };
    check(scales, &format!("floats [{count}]"), |scales| is_float(scales) && scales.elements() == count)?;
    let [height, width, length, bits] = sizes(codes, [rows, cols, length, bits])?;
    let groups = width / length;
    let zeros = match operator.input(3).map(|name| (name, arrays.get(name, ""))) {
        None => floats("zero points".to_owned(), &vec![f32::from(1_u8 << (bits - 1)); height * groups]),
        Some((name, None)) => {
            let (tensor, array) = (codes.name.clone(), name.to_owned());
            return Err(CheckpointError::MissingArray { tensor, array });
        }
        Some((_, Some(zeros))) if is_float(zeros) => {
            check(zeros, &format!("floats [{count}]"), |zeros| zeros.elements() == count)?;
            zeros.clone()
        }
        Some((_, Some(zeros))) => {
            let run = (groups * bits).div_ceil(8);
            check(zeros, &format!("U8 [{rows}, {run}]"), |zeros| {
                is_integer(zeros, DType::Uint8) && zeros.elements() == rows * run as u64
            })?;
            let bytes = zeros.codes.load().map_err(|error| wrong(error.to_string()))?;
            // A zero point per block, dense in each row, the first one in the lowest bits.
            let code = |row: &[u8], i: usize| row[i * bits / 8] >> (i * bits % 8) & (u8::MAX >> (8 - bits));
            let row = |row: &[u8]| (0..groups).map(|i| f32::from(code(row, i))).collect::<Vec<f32>>();
            floats(zeros.name.clone(), &bytes.chunks_exact(run).flat_map(row).collect::<Vec<f32>>())
        }
    };
    let packed = Packed {
        kind: format!("onnx int{bits}/{length}"),
        rows: height,
        cols: width,
        layout: Layout::WordsAcross { bits, offset: 0.0 },
        scales: Scales::Floats(scales.clone()),
        zeros: Some(Zeros::Plain(zeros)),
        groups: Groups::Blocks { rows: 1, cols: length },
        order: None,
        factor: 1.0,
        codes: codes.clone(),
    };
    used.extend([2, 3].into_iter().filter_map(|place| operator.input(place)).map(str::to_owned));
    let name = name.to_owned();
    put(arrays, &name, vec![rows, cols], packed);
    Ok(())
}

/// Adds a weight in the place of its codes, under their name without the quantizer's ending.
fn put(arrays: &mut Arrays, codes: &str, shape: Vec<u64>, packed: Packed) {
    let stem = ENDINGS.iter().find_map(|ending| codes.strip_suffix(ending)).filter(|stem| !arrays.has(stem, ""));
    arrays.put(codes, stem.unwrap_or(codes).to_owned(), shape, packed);
}

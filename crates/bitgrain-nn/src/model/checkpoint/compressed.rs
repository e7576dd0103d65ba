//! compressed-tensors: integers in 32-bit words or bytes, FP8, NVFP4 and MXFP4, with `weight_scale` beside them.

use std::path::Path;

use bitgrain_codec::weight::DType;

use super::CheckpointError;
use super::arrays::{Arrays, check, is_float, is_integer, matrix};
use super::config::{Group, GroupScaling};
use super::float8::{is_e4m3, join_one, sizes};
use super::gptq::put;
use super::groups::Groups;
use super::layout::Layout;
use super::microscaling::{self, Factor};
use super::packed::Packed;
use super::scales::Scales;
use super::zeros::Zeros;
use crate::model::ModelTensor;

const PACKED: &str = ".weight_packed";
const PLAIN: &str = ".weight";
const SCALE: &str = ".weight_scale";

/// Assembles the weights of all modules with packed or plain codes.
pub(super) fn join(arrays: &mut Arrays, groups: &[Group], path: &Path) -> Result<(), CheckpointError> {
    for module in arrays.modules(PACKED) {
        let codes = arrays.need(&module, PACKED, PACKED)?;
        arrays.take(&module, ".input_global_scale");
        if is_integer(&codes, DType::Uint8) {
            join_fp4(arrays, &module, codes, groups)?;
        } else {
            join_words(arrays, &module, codes, groups)?;
        }
    }
    for module in arrays.modules(PLAIN) {
        let quantized = |tensor: &ModelTensor| is_e4m3(tensor) || is_integer(tensor, DType::Int8);
        if !arrays.get(&module, PLAIN).is_some_and(quantized) {
            continue;
        }
        let codes = arrays.need(&module, PLAIN, PLAIN)?;
        for unused in [".input_scale", ".input_zero_point", ".output_scale"] {
            arrays.take(&module, unused);
        }
        join_plain(arrays, &module, codes, groups)?;
    }
    if groups.iter().any(|group| group.float && !matches!(group.bits, 4 | 8)) {
        return Err(CheckpointError::Scheme {
            path: path.to_owned(),
            key: "num_bits".to_owned(),
            found: "a float".to_owned(),
            expected: "4 or 8 for floats",
        });
    }
    Ok(())
}

/// Returns the first group that fits an array, or an error that names the property of the array.
fn find<'a>(
    codes: &ModelTensor,
    found: impl FnOnce() -> String,
    groups: &'a [Group],
    fits: impl Fn(&Group) -> bool,
) -> Result<&'a Group, CheckpointError> {
    groups.iter().find(|group| fits(group)).ok_or_else(|| {
        let kind = |group: &Group| {
            let kind = if group.float { "float" } else { "int" };
            let symmetric = if group.symmetric { "" } else { " asymmetric" };
            format!("{kind}{}{symmetric} with scales per {}", group.bits, group.scaling)
        };
        let expected: Vec<String> = groups.iter().map(kind).collect();
        CheckpointError::Contradiction { tensor: codes.name.clone(), found: found(), expected: expected.join(", or ") }
    })
}

/// Integers of 1 to 8 bits in 32-bit words.
fn join_words(arrays: &mut Arrays, module: &str, codes: ModelTensor, groups: &[Group]) -> Result<(), CheckpointError> {
    let scales = arrays.need(module, SCALE, PACKED)?;
    let stored = arrays.need(module, ".weight_shape", PACKED)?;
    let zeros = arrays.take(module, ".weight_zero_point");
    let (rows, words) = matrix(&codes, "I32 [outputs, words]")?;
    check(&codes, "I32 [outputs, words]", |codes| is_integer(codes, DType::Int32))?;
    let shape = shape_of(&stored)?;
    let cols = shape[1];
    if shape[0] != rows || cols == 0 {
        return Err(CheckpointError::Array {
            tensor: codes.name.clone(),
            found: format!("{rows} rows"),
            expected: format!("the shape {shape:?} in `{}`", stored.name),
        });
    }
    let scaling = scaling_of(&scales, rows, cols)?;
    let found =
        || format!("{words} words per row of {cols} weights, {} and scales {:?}", zeros_name(&zeros), scales.shape);
    let group = find(&codes, found, groups, |group| {
        !group.float
            && cols.checked_mul(group.bits).is_some_and(|bits| bits.div_ceil(32) == words)
            && group.symmetric == zeros.is_none()
            && group.scaling.fits(scaling, cols)
    })?;
    let bits = usize::try_from(group.bits).unwrap_or(8);
    let offset = if bits == 8 { 128.0 } else { f32::from(1_u8 << (bits - 1)) };
    let order = arrays.take(module, ".weight_g_idx").filter(|_| matches!(scaling, GroupScaling::Group(_)));
    if let Some(order) = &order {
        check(order, &format!("I32 [{cols}]"), |o| is_integer(o, DType::Int32) && o.shape == [cols])?;
    }
    let (height, width) = scaling.block(rows, cols);
    let count = cols.div_ceil(width);
    if let Some(zeros) = &zeros {
        let wide = (rows * group.bits).div_ceil(32);
        check(zeros, &format!("I32 [{wide}, {count}]"), |zeros| {
            is_integer(zeros, DType::Int32) && zeros.shape == [wide, count] && height == 1
        })?;
    }
    let [rows, cols, height, width, count] = sizes(&codes, [rows, cols, height, width, count])?;
    let packed = Packed {
        kind: format!("compressed-tensors int{bits}{}", scaling.suffix()),
        rows,
        cols,
        layout: Layout::WordsAcross { bits, offset },
        scales: Scales::Floats(scales),
        zeros: zeros.map(|words| Zeros::WordsDown { words, bits, rows, offset }),
        groups: match order {
            Some(_) => Groups::Columns { of: Vec::new(), count },
            None => Groups::Blocks { rows: height, cols: width },
        },
        order,
        factor: 1.0,
        codes,
    };
    put(arrays, module, PACKED, packed);
    Ok(())
}

fn zeros_name(zeros: &Option<ModelTensor>) -> &'static str {
    if zeros.is_some() { "zero points" } else { "no zero points" }
}

/// Two E2M1 floats per byte: NVFP4 and MXFP4.
fn join_fp4(arrays: &mut Arrays, module: &str, codes: ModelTensor, groups: &[Group]) -> Result<(), CheckpointError> {
    let scales = arrays.need(module, SCALE, PACKED)?;
    let factor = arrays.take(module, ".weight_global_scale");
    let length = if factor.is_some() { 16 } else { 32 };
    find(
        &codes,
        || format!("4-bit floats in groups of {length}"),
        groups,
        |group| group.float && group.bits == 4 && group.scaling == GroupScaling::Group(length),
    )?;
    let factor = factor.map(|array| Factor { array, inverse: true });
    let kind = if factor.is_some() { "compressed-tensors nvfp4" } else { "compressed-tensors mxfp4" };
    let packed = microscaling::packed(kind, codes, scales, factor)?;
    put(arrays, module, PACKED, packed);
    Ok(())
}

/// One number per byte: int8 and FP8.
fn join_plain(arrays: &mut Arrays, module: &str, codes: ModelTensor, groups: &[Group]) -> Result<(), CheckpointError> {
    let scales = arrays.need(module, SCALE, PLAIN)?;
    let zeros = arrays.take(module, ".weight_zero_point");
    let (rows, cols) = matrix(&codes, "a matrix")?;
    let float = is_e4m3(&codes);
    let blocks = groups.iter().find_map(|group| match group.scaling {
        GroupScaling::Block(height, width) if group.float == float => Some((height, width)),
        _ => None,
    });
    let found = || format!("{} with {} and scales {:?}", codes.storage, zeros_name(&zeros), scales.shape);
    let same = |group: &Group| group.float == float && group.symmetric == zeros.is_none();
    if let Some((height, width)) = blocks {
        find(&codes, found, groups, |group| same(group) && zeros.is_none())?;
        return join_one(arrays, module, "compressed-tensors", codes, scales, Some((height, width)));
    }
    let scaling = scaling_of(&scales, rows, cols)?;
    find(&codes, found, groups, |group| {
        // Integers of fewer bits are also stored in bytes.
        let bits = if float { group.bits == 8 } else { group.bits <= 8 };
        bits && same(group) && group.scaling.fits(scaling, cols)
    })?;
    let (height, width) = scaling.block(rows, cols);
    if let Some(zeros) = &zeros {
        check(zeros, &format!("I8 {:?}", scales.shape), |z| is_integer(z, DType::Int8) && z.shape == scales.shape)?;
    }
    let [rows, cols, height, width] = sizes(&codes, [rows, cols, height, width])?;
    let packed = Packed {
        kind: format!("compressed-tensors {}{}", codes.storage, scaling.suffix()),
        rows,
        cols,
        layout: Layout::Plain,
        scales: Scales::Floats(scales),
        zeros: zeros.map(Zeros::Plain),
        groups: Groups::Blocks { rows: height, cols: width },
        order: None,
        factor: 1.0,
        codes,
    };
    put(arrays, module, PLAIN, packed);
    Ok(())
}

/// Reads the array that holds the shape of the weights.
fn shape_of(stored: &ModelTensor) -> Result<[u64; 2], CheckpointError> {
    let integers = |stored: &ModelTensor| is_integer(stored, DType::Int64) || is_integer(stored, DType::Int32);
    check(stored, "I64 [2]", |stored| integers(stored) && stored.shape == [2])?;
    let values = stored
        .values()
        .map_err(|error| CheckpointError::Value { tensor: stored.name.clone(), reason: error.to_string() })?;
    // Exact up to 2^24, which is beyond the width of any layer.
    let value = |value: f32| (1.0..=16_777_216.0).contains(&value).then_some(value);
    match (value(values[0]), value(values[1])) {
        (Some(rows), Some(cols)) => Ok([rows, cols].map(count)),
        _ => Err(CheckpointError::Value {
            tensor: stored.name.clone(),
            reason: format!("the shape {values:?} is out of range"),
        }),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive integer up to 2^24")]
const fn count(value: f32) -> u64 {
    value as u64
}

/// Returns the scaling that the shape of the scales implies.
fn scaling_of(scales: &ModelTensor, rows: u64, cols: u64) -> Result<GroupScaling, CheckpointError> {
    let expected = format!("floats [1], [{rows}, 1] or [{rows}, groups]");
    check(scales, &expected, is_float)?;
    match scales.shape[..] {
        [] | [1] => Ok(GroupScaling::Tensor),
        [count] if count == rows => Ok(GroupScaling::Channel),
        [count, 1] if count == rows => Ok(GroupScaling::Channel),
        [count, groups] if count == rows && groups > 0 && cols.is_multiple_of(groups) => {
            Ok(GroupScaling::Group(cols / groups))
        }
        _ => check(scales, &expected, |_| false).map(|()| GroupScaling::Tensor),
    }
}

impl GroupScaling {
    /// Returns whether a configured scaling gives the scales that were found.
    fn fits(self, found: Self, cols: u64) -> bool {
        match (self, found) {
            // A group that covers the row.
            (Self::Group(length), Self::Channel) => length == cols,
            (Self::Channel, Self::Tensor) => true,
            (wanted, found) => wanted == found,
        }
    }

    /// Returns rows and columns of a block with one scale.
    const fn block(self, rows: u64, cols: u64) -> (u64, u64) {
        match self {
            Self::Tensor => (rows, cols),
            Self::Channel => (1, cols),
            Self::Group(length) => (1, length),
            Self::Block(height, width) => (height, width),
        }
    }

    fn suffix(self) -> String {
        match self {
            Self::Tensor => "/tensor".to_owned(),
            Self::Channel => String::new(),
            Self::Group(length) => format!("/{length}"),
            Self::Block(height, width) => format!("/{height}x{width}"),
        }
    }
}

impl std::fmt::Display for GroupScaling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tensor => f.write_str("tensor"),
            Self::Channel => f.write_str("row"),
            Self::Group(length) => write!(f, "{length} weights"),
            Self::Block(height, width) => write!(f, "{height} x {width} weights"),
        }
    }
}

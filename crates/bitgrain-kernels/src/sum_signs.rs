//! Sums over sign codes: one bit per value, so that a first look at a vector reads an eighth of the bytes of 8-bit codes.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Vectors per group of sign codes.
pub const SIGN_GROUP: usize = 32;
/// Signs per table: four bits select one of sixteen entries.
pub const SIGNS_PER_TABLE: usize = 4;
/// Bytes of a table, and bytes that a group takes per table.
const ENTRIES: usize = 16;
/// Tables whose entries are added as 16-bit integers: 256 times 255 is below 2^16.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) const TABLES_PER_RUN: usize = 256;

/// Returns the number of tables, each of four signs, for vectors of `columns` values.
#[must_use]
pub const fn sign_tables(columns: usize) -> usize {
    columns.div_ceil(SIGNS_PER_TABLE)
}

/// Returns the size in bytes of a group of 32 vectors of `columns` values.
#[must_use]
pub const fn sign_group_bytes(columns: usize) -> usize {
    sign_tables(columns) * ENTRIES
}

/// Sets the bits of vector `vector` (0 to 31) of a group: bit `i % 4` of the nibble for table `i / 4` is set if `values[i]`
/// is at least 0. The low nibble of byte `16 * t + v` belongs to vector `v` and table `t`, the high nibble to vector
/// `v + 16`. The caller zeroes a new group.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] unless the group has [`sign_group_bytes`] bytes, or
/// [`KernelError::RowCount`] if there is no such vector.
pub fn set_signs(values: &[f32], vector: usize, group: &mut [u8]) -> Result<(), KernelError> {
    let required = sign_group_bytes(values.len());
    if group.len() != required {
        return Err(KernelError::OutputTooSmall { required });
    }
    if vector >= SIGN_GROUP {
        return Err(KernelError::RowCount { bytes: vector, expected: SIGN_GROUP });
    }
    let shift = vector / ENTRIES * 4;
    for (values, bytes) in values.chunks(SIGNS_PER_TABLE).zip(group.as_chunks_mut::<ENTRIES>().0) {
        let signs = values.iter().enumerate().map(|(i, value)| u8::from(*value >= 0.0) << i);
        bytes[vector % ENTRIES] |= signs.fold(0, |nibble, sign| nibble | sign) << shift;
    }
    Ok(())
}

/// Adds to `out[v]`, for each vector `v` of consecutive groups, the entries of all tables that its nibbles select. The sums
/// are integers and exact.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] unless `codes` has 16 bytes per group and table, or
/// [`KernelError::OutputTooSmall`] unless the length of `out` is a multiple of 32.
pub fn sum_signs(backend: Backend, tables: &[[u8; ENTRIES]], codes: &[u8], out: &mut [u32]) -> Result<(), KernelError> {
    if !out.len().is_multiple_of(SIGN_GROUP) {
        return Err(KernelError::OutputTooSmall { required: out.len().next_multiple_of(SIGN_GROUP) });
    }
    let required = out.len() / SIGN_GROUP * tables.len() * ENTRIES;
    if codes.len() != required {
        return Err(KernelError::InputTooSmall { required });
    }
    if !tables.is_empty() {
        on!(backend, sum_signs(tables, codes, out));
    }
    Ok(())
}

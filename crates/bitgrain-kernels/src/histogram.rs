//! Gradient histograms: sums of gradients per bin, the inner loop of gradient boosting.
//!
//! A row is a record of one byte per *slot*. Each byte selects a cell of its slot, to which the row's gradient pair is
//! added. Pairs of codes are added as one 64-bit number, with the gradient in the upper half and the hessian in the
//! lower.

use crate::error::KernelError;

/// Cells per slot: one for each byte value, plus padding that stays empty.
///
/// Without the padding, equal bytes of two slots are a power of two apart, and the CPU mistakes a load from one for a
/// dependency on the store to the other (same low 12 bits): ten times slower on columns with few distinct values.
pub const SLOT_CELLS: usize = 264;

/// Maximum number of slots per row: their cells of 8 bytes fit in an L1 cache of 48 KB with space to spare. With 24 slots or more,
/// each addition takes twice as long (0.8 instead of 0.4 ns).
pub const MAX_SLOTS: usize = 16;

/// Cells of one slot.
pub type Slot<C> = [C; SLOT_CELLS];

/// Gradient and hessian of a row.
pub trait GradientPair: Copy {
    /// Accumulator type.
    type Cell: Copy;

    /// Returns the cell with this pair added.
    fn add_to(self, cell: Self::Cell) -> Self::Cell;
}

/// Gradient code and hessian code of 8 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Pair8 {
    /// Gradient code.
    pub grad: i8,
    /// Hessian code.
    pub hess: u8,
}

/// Gradient code and hessian code of 4 bits each, in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Pair4(u8);

impl Pair4 {
    /// Creates a pair from a gradient code of -8 to 7 and a hessian code of 0 to 15; higher bits are cut off.
    #[must_use]
    pub const fn new(grad: i8, hess: u8) -> Self {
        Self((hess << 4) | (grad.cast_unsigned() & 15))
    }

    /// Returns the gradient code.
    #[must_use]
    pub const fn grad(self) -> i8 {
        (self.0 << 4).cast_signed() >> 4
    }

    /// Returns the hessian code.
    #[must_use]
    pub const fn hess(self) -> u8 {
        self.0 >> 4
    }
}

/// Unquantized gradient and hessian.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(8))]
pub struct PairF32 {
    /// Gradient.
    pub grad: f32,
    /// Hessian.
    pub hess: f32,
}

/// Sums of codes: the gradient sum times 2^32 plus the hessian sum. Adding and subtracting such numbers adds and
/// subtracts both sums, as long as the hessian sum stays below 2^32 and the gradient sum within an i32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct CodeSum(pub i64);

impl CodeSum {
    /// Creates the sum of one pair.
    #[must_use]
    pub const fn of(grad: i8, hess: u8) -> Self {
        Self(((grad as i64) << 32) + hess as i64)
    }

    /// Returns the sum of the gradient codes.
    #[must_use]
    pub const fn grad(self) -> i64 {
        self.0 >> 32
    }

    /// Returns the sum of the hessian codes.
    #[must_use]
    pub const fn hess(self) -> i64 {
        self.0 & 0xFFFF_FFFF
    }
}

impl GradientPair for Pair8 {
    type Cell = CodeSum;

    #[inline(always)]
    fn add_to(self, cell: CodeSum) -> CodeSum {
        CodeSum(cell.0.wrapping_add(CodeSum::of(self.grad, self.hess).0))
    }
}

impl GradientPair for Pair4 {
    type Cell = CodeSum;

    #[inline(always)]
    fn add_to(self, cell: CodeSum) -> CodeSum {
        CodeSum(cell.0.wrapping_add(CodeSum::of(self.grad(), self.hess()).0))
    }
}

impl GradientPair for PairF32 {
    type Cell = Self;

    /// Adds both sums with one vector addition: the compiler emits two loads, two additions and two stores for the
    /// plain code.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn add_to(self, cell: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { add_lanes(cell, self) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn add_to(self, cell: Self) -> Self {
        Self { grad: cell.grad + self.grad, hess: cell.hess + self.hess }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn add_lanes(a: PairF32, b: PairF32) -> PairF32 {
    use core::arch::x86_64::{__m128, _mm_add_ps, _mm_castpd_ps, _mm_castps_pd, _mm_cvtsd_f64, _mm_set_sd};
    #[inline]
    #[target_feature(enable = "sse2")]
    fn lanes(pair: PairF32) -> __m128 {
        let bits = u64::from(pair.grad.to_bits()) | (u64::from(pair.hess.to_bits()) << 32);
        _mm_castpd_ps(_mm_set_sd(f64::from_bits(bits)))
    }
    let bits = _mm_cvtsd_f64(_mm_castps_pd(_mm_add_ps(lanes(a), lanes(b)))).to_bits();
    #[expect(clippy::cast_possible_truncation, reason = "the low half and the high half")]
    let [grad, hess] = [bits as u32, (bits >> 32) as u32].map(f32::from_bits);
    PairF32 { grad, hess }
}

/// Adds the pair of every row to the cells selected by its bytes. Rows have `slots.len()` bytes each: 4, 8, 12 or 16.
/// Rows are added in order, so that float sums are reproducible.
///
/// # Errors
/// Returns [`KernelError::SlotCount`], or [`KernelError::RowCount`] unless there is one row per pair.
pub fn add_pairs<P: GradientPair>(rows: &[u8], pairs: &[P], slots: &mut [Slot<P::Cell>]) -> Result<(), KernelError> {
    let width = slots.len();
    if rows.len() != pairs.len() * width {
        return Err(KernelError::RowCount { bytes: rows.len(), expected: pairs.len() * width });
    }
    match width {
        4 => add_rows::<P, 4>(rows, pairs, slots),
        8 => add_rows::<P, 8>(rows, pairs, slots),
        12 => add_rows::<P, 12>(rows, pairs, slots),
        16 => add_rows::<P, 16>(rows, pairs, slots),
        slots => return Err(KernelError::SlotCount { slots }),
    }
    Ok(())
}

fn add_rows<P: GradientPair, const W: usize>(rows: &[u8], pairs: &[P], slots: &mut [Slot<P::Cell>]) {
    let Ok(slots) = <&mut [Slot<P::Cell>; W]>::try_from(slots) else { unreachable!("the caller counted the slots") };
    for (row, &pair) in rows.as_chunks::<W>().0.iter().zip(pairs) {
        for (slot, &byte) in slots.iter_mut().zip(row) {
            let cell = &mut slot[usize::from(byte)];
            *cell = pair.add_to(*cell);
        }
    }
}

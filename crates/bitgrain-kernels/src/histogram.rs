//! Sums of gradients per bin: the inner loop of gradient boosting.
//!
//! Rows are records of one byte for each *slot*; a slot's byte chooses one of its cells, and the row's pair is added
//! there. Pairs of codes are added as one 64-bit number, with the gradient above the hessian.

use crate::error::KernelError;

/// Cells between the first of a slot and the first of the next: one for each byte, and a few that stay empty.
///
/// Without those, equal bytes of two slots lie a power of two apart, and the CPU takes the load of the one for the
/// store of the other (same low 12 bits): ten times slower on columns of few values.
pub const SLOT_CELLS: usize = 264;

/// The most slots a row can have: their cells of 8 bytes leave room in a first-level cache of 48 KB. With 24 slots and
/// more, each addition takes twice as long (0.4 and 0.8 ns).
pub const MAX_SLOTS: usize = 16;

/// The cells of one slot.
pub type Slot<C> = [C; SLOT_CELLS];

/// A gradient and a hessian as a row carries them.
pub trait GradientPair: Copy {
    /// What they are added to.
    type Cell: Copy;

    /// The cell with this pair added.
    fn add_to(self, cell: Self::Cell) -> Self::Cell;
}

/// A gradient code and a hessian code of 8 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Pair8 {
    /// Code of the gradient.
    pub grad: i8,
    /// Code of the hessian.
    pub hess: u8,
}

/// A gradient code and a hessian code of 4 bits each, in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Pair4(u8);

impl Pair4 {
    /// From a gradient code of -8 to 7 and a hessian code of 0 to 15; other bits are cut off.
    #[must_use]
    pub const fn new(grad: i8, hess: u8) -> Self {
        Self((hess << 4) | (grad.cast_unsigned() & 15))
    }

    /// Code of the gradient.
    #[must_use]
    pub const fn grad(self) -> i8 {
        (self.0 << 4).cast_signed() >> 4
    }

    /// Code of the hessian.
    #[must_use]
    pub const fn hess(self) -> u8 {
        self.0 >> 4
    }
}

/// A gradient and a hessian as they are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(8))]
pub struct PairF32 {
    /// The gradient.
    pub grad: f32,
    /// The hessian.
    pub hess: f32,
}

/// Sums of codes: the gradients' times 2^32, plus the hessians'. Sums and differences of such numbers are those of
/// their parts, as long as the hessians' sum stays below 2^32 and the gradients' within an i32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct CodeSum(pub i64);

impl CodeSum {
    /// One pair of codes.
    #[must_use]
    pub const fn of(grad: i8, hess: u8) -> Self {
        Self(((grad as i64) << 32) + hess as i64)
    }

    /// Sum of the gradients' codes.
    #[must_use]
    pub const fn grad(self) -> i64 {
        self.0 >> 32
    }

    /// Sum of the hessians' codes.
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

    /// Both sums in one addition: of the plain way the compiler makes two loads, two additions and two stores.
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

/// Adds the pair of every row to the cells that its bytes choose. Rows have `slots.len()` bytes each: 4, 8, 12 or
/// 16. Rows are added in order, so that sums of floats are the same every time.
///
/// # Errors
/// [`KernelError::SlotCount`], or [`KernelError::RowCount`] unless there is a row for each pair.
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

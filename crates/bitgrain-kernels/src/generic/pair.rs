//! `Pair`: twice the lanes, in two registers. A search is a chain of dependent sums; two independent chains hide the
//! latency.

use core::ops::{Add, Div, Mul, Sub};

use crate::lanes::{Isa, Lanes, Mask};

/// Twice the lanes of `I`.
#[derive(Clone, Copy)]
pub(crate) struct Pair<I>(pub(crate) I);

/// Two registers or two masks.
#[derive(Clone, Copy)]
pub(crate) struct Both<T>(T, T);

impl<I: Isa> Isa for Pair<I> {
    type F = Both<I::F>;

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        Both(self.0.splat(value), self.0.splat(value))
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Self::F {
        Both(self.0.load(values), self.0.load(&values[I::F::LANES..]))
    }

    #[inline(always)]
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Self::F]) {
        let (rows, more_rows) = rows.split_at(I::F::LANES);
        let zero = self.0.splat(0.0);
        for (step, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let (mut low, mut high) = ([zero; 16], [zero; 16]);
            self.0.columns(rows, at + 16 * step, &mut low);
            self.0.columns(more_rows, at + 16 * step, &mut high);
            for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
                *out = Both(low, high);
            }
        }
    }

    #[inline(always)]
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
        self.0.codes(values, plus, step, low, high)
    }
}

impl<F: Lanes> Lanes for Both<F> {
    type Mask = Both<F::Mask>;

    const LANES: usize = 2 * F::LANES;

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.min(other.1))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.max(other.1))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs(), self.1.abs())
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.neg(), self.1.neg())
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }

    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        Both(self.0.gt(other.0), self.1.gt(other.1))
    }

    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        Both(self.0.le(other.0), self.1.le(other.1))
    }

    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        Both(self.0.ne(other.0), self.1.ne(other.1))
    }

    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(F::select(mask.0, yes.0, no.0), F::select(mask.1, yes.1, no.1))
    }

    #[inline(always)]
    fn nearest(self) -> Self {
        Self(self.0.nearest(), self.1.nearest())
    }

    #[inline(always)]
    fn low_byte(self) -> Self {
        Self(self.0.low_byte(), self.1.low_byte())
    }

    #[inline(always)]
    fn nearest_level(self) -> Self {
        Self(self.0.nearest_level(), self.1.nearest_level())
    }

    #[inline(always)]
    fn store(self, out: &mut [f32]) {
        let (out, more) = out.split_at_mut(F::LANES);
        self.0.store(out);
        self.1.store(more);
    }
}

impl<M: Mask> Mask for Both<M> {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0), self.1.and(other.1))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1))
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.not(), self.1.not())
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0.or(self.1).any()
    }
}

/// Implements an operator on both registers.
macro_rules! both {
    ($($trait:ident $method:ident),*) => {$(
        impl<F: $trait<Output = F>> $trait for Both<F> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0), self.1.$method(other.1))
            }
        }
    )*};
}

both!(Add add, Sub sub, Mul mul, Div div);

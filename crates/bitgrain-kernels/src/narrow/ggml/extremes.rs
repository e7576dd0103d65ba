//! Extremes of four blocks at once, reduced together by a transpose.

use crate::generic::ggml::extremes::Reduce;
use crate::lanes::Lanes;
use crate::narrow::register::{Floats, Narrow};

impl<I: Narrow> Reduce<4> for I {
    #[inline(always)]
    fn highest(self, blocks: &[[f32; 32]; 4], least: Floats<Self>) -> Floats<Self> {
        let mut rows = [least; 4];
        for (row, block) in rows.iter_mut().zip(blocks) {
            for values in block.as_chunks::<4>().0 {
                // `max` returns its argument if either operand is NaN or if they are equal.
                *row = self.floats(values).max(*row);
            }
        }
        let [a, b, c, d] = self.transpose(rows);
        a.max(b).max(c.max(d))
    }

    #[inline(always)]
    fn lowest(self, blocks: &[[f32; 32]; 4], most: Floats<Self>) -> Floats<Self> {
        let mut rows = [most; 4];
        for (row, block) in rows.iter_mut().zip(blocks) {
            for values in block.as_chunks::<4>().0 {
                *row = self.floats(values).min(*row);
            }
        }
        let [a, b, c, d] = self.transpose(rows);
        a.min(b).min(c.min(d))
    }
}

//! Binning with two comparisons against sixteen cuts per value: one finds the group of sixteen, one the cut in it.

use crate::bin::BinCode;
use crate::generic::cut_groups::CutGroups;
use crate::lanes::Lanes;
use crate::narrow::register::{Floats, Narrow};
use crate::scalar;

pub(crate) fn bin_f32<C: BinCode, I: Narrow>(isa: I, cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    let Some(CutGroups { groups, ends }) = CutGroups::new(cuts, values.len()) else {
        return scalar::bin_f32(cuts, values, nan, out);
    };
    for (value, out) in values.iter().zip(out) {
        let everywhere = isa.splat(*value);
        let group = count_below(isa, &ends, everywhere);
        // No value is above infinity, so at most 15 ends are below it; the mask removes the bounds check.
        let within = count_below(isa, &groups[group & 15], everywhere);
        *out = if value.is_nan() { nan } else { C::of_bin(group * 16 + within) };
    }
}

/// Returns the number of cuts below a value among sixteen cuts; 0 for NaN.
#[inline(always)]
fn count_below<I: Narrow>(isa: I, cuts: &[f32; 16], value: Floats<I>) -> usize {
    let [a, b, c, d] = cuts.as_chunks::<4>().0 else { unreachable!("sixteen cuts are four groups of four") };
    isa.count_true([value.gt(isa.floats(a)), value.gt(isa.floats(b)), value.gt(isa.floats(c)), value.gt(isa.floats(d))])
}

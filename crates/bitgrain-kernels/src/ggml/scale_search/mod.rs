//! Quantizers that search their scales: the K-quants, IQ4_NL, and every format with importances.
//!
//! Each block occupies a lane of [`Lanes`](crate::lanes::Lanes); its sums are in the order of the reference. Where the
//! reference uses `if` and `break`, this code uses masks per lane.

mod affine_k;
mod batch;
mod fit;
mod half;
mod iq4_nl;
pub(crate) mod levels;
mod q2_k;
mod q3_k;
mod q4_k;
mod q5_k;
mod q6_k;
mod weighted;

pub(crate) use batch::{BlockSearch, Rows, quantize_rows};

use self::affine_k::AffineK;
use self::iq4_nl::Iq4Nl;
use self::q2_k::Q2K;
use self::q3_k::{Q3K, WeightedQ3K};
use self::q4_k::Q4K;
use self::q5_k::Q5K;
use self::q6_k::Q6K;
use self::weighted::{WeightedAffine, WeightedScale};
use crate::Backend;
use crate::backend::on;
use crate::ggml::GgmlBlock;

/// Quantizes rows if the format is searched; returns false without writing anything if it is not.
///
/// Rows fill whole blocks, `importance` is empty or has one number per column, and `out` has the size of the blocks.
pub(crate) fn quantize(backend: Backend, block: GgmlBlock, rows: Rows<'_>, out: &mut [u8]) -> bool {
    match (block, rows.importance.is_some()) {
        (GgmlBlock::Q2_K, false) => on!(backend, scale_search::<AffineK<Q2K, false>>(rows, out)),
        (GgmlBlock::Q2_K, true) => on!(backend, scale_search::<AffineK<Q2K, true>>(rows, out)),
        (GgmlBlock::Q3_K, false) => on!(backend, scale_search::<Q3K>(rows, out)),
        (GgmlBlock::Q3_K, true) => on!(backend, scale_search::<WeightedQ3K>(rows, out)),
        (GgmlBlock::Q4_K, false) => on!(backend, scale_search::<AffineK<Q4K, false>>(rows, out)),
        (GgmlBlock::Q4_K, true) => on!(backend, scale_search::<AffineK<Q4K, true>>(rows, out)),
        (GgmlBlock::Q5_K, false) => on!(backend, scale_search::<AffineK<Q5K, false>>(rows, out)),
        (GgmlBlock::Q5_K, true) => on!(backend, scale_search::<AffineK<Q5K, true>>(rows, out)),
        (GgmlBlock::Q6_K, false) => on!(backend, scale_search::<Q6K<false>>(rows, out)),
        (GgmlBlock::Q6_K, true) => on!(backend, scale_search::<Q6K<true>>(rows, out)),
        (GgmlBlock::IQ4_NL, false) => on!(backend, scale_search::<Iq4Nl<false>>(rows, out)),
        (GgmlBlock::IQ4_NL, true) => on!(backend, scale_search::<Iq4Nl<true>>(rows, out)),
        (GgmlBlock::Q4_0, true) => on!(backend, scale_search::<WeightedScale<4>>(rows, out)),
        (GgmlBlock::Q4_1, true) => on!(backend, scale_search::<WeightedAffine<4>>(rows, out)),
        (GgmlBlock::Q5_0, true) => on!(backend, scale_search::<WeightedScale<5>>(rows, out)),
        (GgmlBlock::Q5_1, true) => on!(backend, scale_search::<WeightedAffine<5>>(rows, out)),
        _ => return false,
    }
    true
}

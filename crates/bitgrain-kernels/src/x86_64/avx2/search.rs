//! Formats that search their scales, 16 blocks at a time.

use bitgrain_isa::avx2;

use super::f32_lanes::Avx2;
use crate::ggml::search::pair::Pair;
use crate::ggml::search::{BlockSearch, Rows, quantize_rows};

#[avx2]
pub(crate) fn search<B: BlockSearch>(rows: Rows<'_>, out: &mut [u8]) {
    quantize_rows::<_, B>(Pair(Avx2::new()), rows, out);
}

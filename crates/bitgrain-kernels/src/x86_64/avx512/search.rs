//! Formats that search their scales, 32 blocks at a time.

use bitgrain_isa::avx512;

use super::f32_lanes::Avx512;
use crate::ggml::search::pair::Pair;
use crate::ggml::search::{BlockSearch, Rows, quantize_rows};

#[avx512]
pub(crate) fn search<B: BlockSearch>(rows: Rows<'_>, out: &mut [u8]) {
    quantize_rows::<_, B>(Pair(Avx512::new()), rows, out);
}

//! Formats that search their scales, 16 blocks at a time.

use super::f32_lanes::Avx2;
use crate::ggml::search::pair::Pair;
use crate::ggml::search::{BlockSearch, Rows, quantize_rows};

#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn search<B: BlockSearch>(rows: Rows<'_>, out: &mut [u8]) {
    quantize_rows::<_, B>(Pair(Avx2::new()), rows, out);
}

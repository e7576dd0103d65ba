//! Formats that search their scales, 32 blocks at a time.

use super::f32_lanes::Avx512;
use crate::ggml::search::pair::Pair;
use crate::ggml::search::{BlockSearch, Rows, quantize_rows};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn search<B: BlockSearch>(rows: Rows<'_>, out: &mut [u8]) {
    quantize_rows::<_, B>(Pair(Avx512::new()), rows, out);
}

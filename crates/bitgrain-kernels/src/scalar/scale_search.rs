//! Formats with a scale search, four blocks at a time.

use super::Portable;
use crate::ggml::scale_search::{BlockSearch, Rows, quantize_rows};

pub(crate) fn scale_search<B: BlockSearch>(rows: Rows<'_>, out: &mut [u8]) {
    quantize_rows::<_, B>(Portable, rows, out);
}

//! A test of many scores at once: the definition.

use crate::mark_rows::RowCondition;

pub(crate) fn mark_rows(
    conditions: &[RowCondition; 2],
    scores: &[f32],
    norms: &[f32],
    residuals: &[f32],
    marks: &mut [u8],
) {
    crate::mark_rows::mark_rows_body(conditions, scores, norms, residuals, marks);
}

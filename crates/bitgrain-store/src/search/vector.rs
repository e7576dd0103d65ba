//! Norm and error of a vector, computed once when it enters the table of its segment.

use bitgrain_codec::{BlockFormat, CodecErr, bound_of_scale};
use bitgrain_formats::segment::{Accuracy, Encoding};

use crate::{blocks, half};

/// Error of the values of a record, split so that each block's own scale can be used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueErrors {
    /// Error of earlier encodings, in addition to the block's own.
    extra: f64,
    /// Largest error measured, over all encodings.
    measured: f64,
}

/// Covers the rounding of a difference that was measured in f32.
const MEASURED_SLACK: f64 = 1.0 + 1e-6;

impl ValueErrors {
    /// Splits the error of a record with `bytes` of values.
    pub(super) fn new(accuracy: Accuracy, encoding: Encoding, bytes: &[u8], count: usize) -> Result<Self, CodecErr> {
        let total = f64::from(accuracy.bound());
        let own = match encoding {
            Encoding::Blocks(format) if !format.is_two_level() => f64::from(format.bound(bytes, count)?),
            _ => 0.0,
        };
        // The total was rounded up when the errors were added, so the difference covers the earlier encodings.
        let extra = if total > own { (total - own) * MEASURED_SLACK } else { 0.0 };
        Ok(Self { extra, measured: f64::from(accuracy.measured()) * MEASURED_SLACK })
    }

    /// Returns the largest error of a value whose block's own error is at most `own`.
    pub(super) fn of(&self, own: f64) -> f64 {
        (own + self.extra).min(self.measured)
    }

    /// Calls `add` with the number of values and the largest error of each part of a row with the same error.
    pub(super) fn for_parts(
        &self,
        format: Option<BlockFormat>,
        bytes: &[u8],
        row: Row,
        mut add: impl FnMut(usize, f64),
    ) {
        let Some(format) = format.filter(|format| !format.is_two_level()) else {
            return add(row.columns, self.of(0.0));
        };
        let (block, end) = (format.block_len().get(), row.start + row.columns);
        let mut at = row.start;
        while at < end {
            let next = (at / block + 1) * block;
            let stored = bytes.get(at / block * format.block_bytes()..).and_then(|bytes| bytes.first_chunk());
            let scale = stored.map_or(f32::NAN, |le| f32::from_le_bytes(*le));
            let own = f64::from(bound_of_scale(format.width(), scale));
            add(next.min(end) - at, self.of(own));
            at = next;
        }
    }
}

/// Position of a row in the values of its tensor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Index of its first value.
    pub(super) start: usize,
    /// Number of values.
    pub(super) columns: usize,
}

/// Norm and errors of a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Facts {
    /// Euclidean norm of the decoded vector, to the nearest f32.
    pub(super) norm: f32,
    /// Largest Euclidean distance from the vector as put.
    pub(super) residual: f32,
    /// Largest error of a value.
    pub(super) unit: f32,
}

impl Facts {
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest f32")]
    pub(super) fn new(
        values: &[f32],
        errors: &ValueErrors,
        format: Option<BlockFormat>,
        bytes: &[u8],
        row: Row,
    ) -> Self {
        let norm = norm(values) as f32;
        let (mut squares, mut unit) = (0.0, 0.0_f64);
        errors.for_parts(format, bytes, row, |count, error| {
            squares += count as f64 * error * error;
            unit = unit.max(error);
        });
        Self { norm, residual: up(squares.sqrt()), unit: up(unit) }
    }
}

/// Returns the Euclidean norm.
pub(super) fn norm(values: &[f32]) -> f64 {
    // Eight sums, which the compiler vectorizes.
    let mut sums = [0.0_f64; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
    let rest: f64 = rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    (sums.iter().sum::<f64>() + rest).sqrt()
}

/// Rounds up to an f32, with a margin for the rounding errors of a sum.
#[expect(clippy::cast_possible_truncation, reason = "rounded up")]
fn up(value: f64) -> f32 {
    if value == 0.0 { 0.0 } else { ((value * (1.0 + 1e-9)) as f32).next_up() }
}

/// Decodes a row of a tensor of `count` values.
pub(super) fn decode_row(
    encoding: Encoding,
    bytes: &[u8],
    count: usize,
    row: Row,
    out: &mut [f32],
) -> Result<(), CodecErr> {
    let part = |each: usize| {
        let required = each * (row.start + row.columns);
        bytes.get(each * row.start..required).ok_or(CodecErr::InputTooSmall { required })
    };
    match encoding {
        Encoding::Raw => blocks::read_raw(part(4)?, out),
        Encoding::Half => half::decode(part(2)?, out)?,
        Encoding::Blocks(format) => {
            format.decode_range(bytes, count, row.start..row.start + row.columns, out)?;
        }
        Encoding::Absent | Encoding::Frames => {}
    }
    Ok(())
}

//! `Reconstruct`: reconstruction policy of a tensor.

use bitgrain_codec::BlockFormat;

use super::cursor::Cursor;
use super::form::{read_format, write_format};
use super::{IdRef, SegmentError, put};

/// Reconstruction of a tensor from another one. Its payload is in the body, after the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reconstruct<'a> {
    /// The sum of a base and a delta in blocks, which has as many values as the tensor.
    Delta {
        /// Tensor that the delta is added to.
        base: IdRef<'a>,
        /// Layout of the delta.
        format: BlockFormat,
    },
    /// Another tensor, permuted, projected and scaled, in this order.
    Factor {
        /// Tensor that the factor is applied to.
        source: IdRef<'a>,
        /// Multiplier of every value.
        scale: f32,
        /// Length of the permutation, which the body contains as u32.
        permutation: Option<usize>,
        /// Rows and columns of the projection, which the body contains as f32 in row-major order.
        projection: Option<(usize, usize)>,
    },
}

impl<'a> Reconstruct<'a> {
    /// Returns the tensor that it depends on.
    #[must_use]
    pub const fn needs(&self) -> IdRef<'a> {
        match *self {
            Self::Delta { base, .. } => base,
            Self::Factor { source, .. } => source,
        }
    }

    /// Returns the sizes in bytes of delta, permutation and projection for a tensor of `count` values.
    pub(super) const fn lengths(&self, count: usize) -> [usize; 3] {
        match *self {
            Self::Delta { format, .. } => [format.encoded_len(count), 0, 0],
            Self::Factor { permutation, projection, .. } => {
                let permutation = match permutation {
                    Some(len) => len.saturating_mul(4),
                    None => 0,
                };
                let projection = match projection {
                    Some((rows, columns)) => rows.saturating_mul(columns).saturating_mul(4),
                    None => 0,
                };
                [0, permutation, projection]
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        match *self {
            Self::Delta { base, format } => {
                out.push(DELTA);
                base.write(out)?;
                write_format(format, out);
            }
            Self::Factor { source, scale, permutation, projection } => {
                if !scale.is_finite() {
                    return Err(SegmentError::Unwritable { what: "the scale of a factor", must: "finite" });
                }
                let permuted = if permutation.is_some() { PERMUTED } else { 0 };
                let projected = if projection.is_some() { PROJECTED } else { 0 };
                out.push(FACTOR | permuted | projected);
                source.write(out)?;
                out.extend_from_slice(&scale.to_le_bytes());
                let sizes = [permutation, projection.map(|p| p.0), projection.map(|p| p.1)];
                sizes.into_iter().flatten().for_each(|size| put::varint(out, size as u64));
            }
        }
        Ok(())
    }

    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let kind = cursor.u8("reconstruction kind")?;
        if kind == DELTA {
            return Ok(Self::Delta { base: IdRef::read(cursor)?, format: read_format(cursor)? });
        }
        if kind & !(PERMUTED | PROJECTED) != FACTOR {
            return Err(SegmentError::Value { what: "reconstruction kind", offset });
        }
        let source = IdRef::read(cursor)?;
        let offset = cursor.offset();
        let scale = cursor.f32("factor scale")?;
        if !scale.is_finite() {
            return Err(SegmentError::Value { what: "factor scale", offset });
        }
        let permutation = if kind & PERMUTED == 0 { None } else { Some(cursor.size("permutation length")?) };
        let projection = if kind & PROJECTED == 0 {
            None
        } else {
            Some((cursor.size("projection rows")?, cursor.size("projection columns")?))
        };
        Ok(Self::Factor { source, scale, permutation, projection })
    }
}

const DELTA: u8 = 0;
const FACTOR: u8 = 1;
/// Flag of a factor: it has a permutation.
const PERMUTED: u8 = 1 << 1;
/// Flag of a factor: it has a projection.
const PROJECTED: u8 = 1 << 2;

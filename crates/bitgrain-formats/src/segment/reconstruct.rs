//! `Reconstruct`: how a tensor whose data is gone comes back from another one.

use bitgrain_codec::BlockFormat;

use super::cursor::Cursor;
use super::form::{read_format, write_format};
use super::{IdRef, SegmentError, put};

/// How to compute a tensor from another one. What it takes is in the body, behind the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reconstruct<'a> {
    /// The base and blocks that are added to it. The blocks have as many values as the tensor.
    Delta {
        /// The tensor it is the difference to.
        base: IdRef<'a>,
        /// Layout of the difference.
        format: BlockFormat,
    },
    /// Another tensor, permuted, projected and scaled, in this order.
    Factor {
        /// The tensor it is made of.
        source: IdRef<'a>,
        /// What every value is multiplied with.
        scale: f32,
        /// Length of the permutation: as many u32 are in the body.
        permutation: Option<usize>,
        /// Rows and columns of the projection: as many f32 are in the body, row by row.
        projection: Option<(usize, usize)>,
    },
}

impl<'a> Reconstruct<'a> {
    /// The tensor it needs.
    #[must_use]
    pub const fn needs(&self) -> IdRef<'a> {
        match *self {
            Self::Delta { base, .. } => base,
            Self::Factor { source, .. } => source,
        }
    }

    /// Bytes of delta, permutation and projection for a tensor of `count` values.
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
        let kind = cursor.u8("kind of the reconstruction")?;
        if kind == DELTA {
            return Ok(Self::Delta { base: IdRef::read(cursor)?, format: read_format(cursor)? });
        }
        if kind & !(PERMUTED | PROJECTED) != FACTOR {
            return Err(SegmentError::Value { what: "kind of the reconstruction", offset });
        }
        let source = IdRef::read(cursor)?;
        let offset = cursor.offset();
        let scale = cursor.f32("scale of the factor")?;
        if !scale.is_finite() {
            return Err(SegmentError::Value { what: "scale of the factor", offset });
        }
        let permutation = if kind & PERMUTED == 0 { None } else { Some(cursor.size("length of the permutation")?) };
        let projection = if kind & PROJECTED == 0 {
            None
        } else {
            Some((cursor.size("rows of the projection")?, cursor.size("columns of the projection")?))
        };
        Ok(Self::Factor { source, scale, permutation, projection })
    }
}

const DELTA: u8 = 0;
const FACTOR: u8 = 1;
/// Flag of a factor: there is a permutation.
const PERMUTED: u8 = 1 << 1;
/// Flag of a factor: there is a projection.
const PROJECTED: u8 = 1 << 2;

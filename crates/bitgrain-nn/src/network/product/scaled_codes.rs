//! `ScaledCodes`: reads the codes and grids of dtypes with scales, for integer products.

use bitgrain_codec::weight::{DType, QuantizedTensor, Scaling};
use bitgrain_kernels::codes::unpack_u8;
use bitgrain_kernels::product::PlaneCodes;
use bitgrain_kernels::{Backend, UnsignedWidth};

use super::WeightsError;

/// Twice the values of FP4, plus 12 so that none is negative.
const FP4: [u8; 16] = [12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0];

/// Conversion of a dtype's codes to integers.
pub(super) struct ScaledCodes {
    pub(super) codes: PlaneCodes,
    /// The integer that stands for 0, unless groups have zero points.
    pub(super) zero: u8,
    pub(super) has_zeros: bool,
    dtype: DType,
}

impl ScaledCodes {
    /// Returns `None` for dtypes that other matrices multiply.
    pub(super) fn new(dtype: DType) -> Option<Self> {
        let (codes, zero, has_zeros) = match dtype {
            DType::Fp4 => (PlaneCodes::Table(FP4), 12, false),
            DType::Int2 | DType::Ternary => (PlaneCodes::Bits(2), 2, false),
            DType::Binary => (PlaneCodes::Bits(1), 0, true),
            DType::Uint2 => (PlaneCodes::Bits(2), 0, true),
            DType::Uint4 => (PlaneCodes::Bits(4), 0, true),
            DType::Uint8 => (PlaneCodes::Bits(8), 0, true),
            _ => return None,
        };
        Some(Self { codes, zero, has_zeros, dtype })
    }

    /// Copies the codes of a row.
    pub(super) fn row(&self, tensor: &QuantizedTensor, row: usize, out: &mut [u8]) -> Result<(), WeightsError> {
        let bytes = self.dtype.packed_len(out.len());
        self.unpack(&tensor.parts().codes[row * bytes..][..bytes], out)?;
        if matches!(self.dtype, DType::Int2 | DType::Ternary) {
            // Two's complement with the sign bit flipped counts from the smallest code.
            out.iter_mut().for_each(|code| *code ^= 2);
        }
        Ok(())
    }

    /// Returns the scale and the zero point of a group, such that a weight is `(integer - zero) * scale`.
    pub(super) fn grid(
        &self,
        tensor: &QuantizedTensor,
        scaling: Scaling,
        row: usize,
        group: usize,
    ) -> Result<(f32, f32), WeightsError> {
        let (rows, cols) = tensor.shape();
        let parts = tensor.parts();
        let groups = match scaling {
            Scaling::Group(len) => cols.div_ceil(len.get()),
            Scaling::None | Scaling::Tensor | Scaling::Channel => 1,
        };
        let row = if parts.scales.len() < rows { 0 } else { row };
        let scale = parts.scales.get(row * groups + group).copied().unwrap_or(1.0);
        match self.dtype {
            DType::Fp4 => return Ok((scale / 2.0, 0.0)),
            DType::Binary => return Ok((scale * 2.0, 0.5)),
            _ if !self.has_zeros => return Ok((scale, 0.0)),
            _ => {}
        }
        // Zero points are packed like codes: the first in the lowest bits.
        let (bits, first) = (self.dtype.bits(), group * usize::from(self.dtype.bits()));
        let byte = parts.zeros.get(row * self.dtype.packed_len(groups) + first / 8).copied().unwrap_or(0);
        Ok((scale, f32::from(byte >> (first % 8) & (u8::MAX >> (8 - bits)))))
    }

    fn unpack(&self, bytes: &[u8], out: &mut [u8]) -> Result<(), WeightsError> {
        match UnsignedWidth::new(self.dtype.bits()) {
            Ok(width) if self.dtype.bits() < 8 => {
                unpack_u8(Backend::best(), width, bytes, out)?;
            }
            _ => out.copy_from_slice(bytes),
        }
        Ok(())
    }
}

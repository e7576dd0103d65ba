//! `ruvector-temporal-tensor`: groups with an f16 scale, scalar code, for 8, 7, 5 and 3 bits.

use ruvector_temporal_tensor::quantizer::{compute_scales, dequantize_f32, quantize_and_pack_f32, scales_to_f32};

/// Block length of all comparisons with it.
const GROUP: usize = 64;

/// Its vectors, reused between calls so that only the first call allocates.
#[derive(Default)]
pub(crate) struct Ruvector {
    scales: Vec<f32>,
    codes: Vec<u8>,
    values: Vec<f32>,
}

impl Ruvector {
    pub(crate) const fn supports(bits: u8) -> bool {
        matches!(bits, 3 | 5 | 7 | 8)
    }

    /// Computes scales and codes of `values`. Its interface returns the scales, so each call allocates them.
    pub(crate) fn encode(&mut self, bits: u8, values: &[f32]) {
        self.scales = scales_to_f32(&compute_scales(values, GROUP, bits));
        self.codes.clear();
        quantize_and_pack_f32(values, &self.scales, GROUP, bits, &mut self.codes);
    }

    /// Decodes the values from scales already converted to f32. Without a `clear`, the output is not zeroed again.
    pub(crate) fn decode(&mut self, bits: u8, count: usize) {
        dequantize_f32(&self.codes, &self.scales, GROUP, bits, count, 1, &mut self.values);
    }

    /// Panics unless a round trip returns each value to within half a step plus the rounding of the f16 scale.
    pub(crate) fn check(&mut self, bits: u8, values: &[f32]) {
        self.encode(bits, values);
        self.decode(bits, values.len());
        assert_eq!(self.values.len(), values.len(), "ruvector at {bits} bits: length");
        for ((values, back), scale) in values.chunks(GROUP).zip(self.values.chunks(GROUP)).zip(&self.scales) {
            let largest = values.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
            let bound = 0.501 * scale + largest / 1024.0;
            let close = values.iter().zip(back).all(|(v, b)| (v - b).abs() <= bound);
            assert!(close, "ruvector at {bits} bits: a value is off by more than {bound}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_widths_round_trip() {
        let values = crate::data::normal(4096);
        (0..=8).filter(|&bits| Ruvector::supports(bits)).for_each(|bits| Ruvector::default().check(bits, &values));
    }
}

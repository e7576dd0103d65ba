//! `Packing`: sums of codes, packed in as few bits as the number of rows allows.
//!
//! Communicators add 64-bit integers, each of which holds as many bins as fit. The field of a bin is wide enough for the
//! largest possible sum, so no carry reaches the next field. A node of 100 rows takes 4 bytes per bin, one of three rows 2.

use crate::gradient::Codes;
use bitgrain_kernels::histograms::CodeSum;

/// Widths of the sums of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    hess_bits: u32,
    /// Bits of both sums of a bin.
    bits: u32,
    /// Bins per number.
    per_word: usize,
    /// Largest gradient code, added once per row so that sums of gradients are not negative.
    bias: i64,
    rows: i64,
}

impl Packing {
    /// Creates the packing of a node of `rows` rows on all workers. `hess` is an upper bound of the sum of its hessians.
    pub(crate) fn new(codes: Codes, rows: u64, hess: u64) -> Self {
        let (grad_max, hess_max) = codes.largest();
        let bits = |most: u64| (u64::BITS - most.leading_zeros()).clamp(1, 32);
        let hess_bits = bits(rows.saturating_mul(hess_max).min(hess));
        let total = bits(rows.saturating_mul(2 * grad_max)) + hess_bits;
        Self {
            hess_bits,
            bits: total,
            per_word: (u64::BITS / total) as usize,
            bias: grad_max.cast_signed(),
            rows: rows.cast_signed(),
        }
    }

    /// Number of 64-bit numbers that hold some bins.
    pub(crate) fn words(&self, bins: usize) -> usize {
        bins.div_ceil(self.per_word)
    }

    /// Packs the sums of the rows of this worker, `rows` in number.
    pub(crate) fn pack(&self, rows: usize, sums: impl Iterator<Item = CodeSum>, out: &mut Vec<u64>) {
        let bias = self.bias * rows.cast_signed() as i64;
        let (mut word, mut filled) = (0, 0);
        for sum in sums {
            let value = ((sum.grad() + bias).cast_unsigned() << self.hess_bits) | sum.hess().cast_unsigned();
            word |= value << (filled * self.bits);
            filled += 1;
            if filled as usize == self.per_word {
                out.push(word);
                (word, filled) = (0, 0);
            }
        }
        if filled > 0 {
            out.push(word);
        }
    }

    /// Returns sums over the rows of all workers from added numbers.
    pub(crate) fn unpack<'w>(&self, words: &'w [u64]) -> impl Iterator<Item = CodeSum> + 'w {
        let Self { hess_bits, bits, per_word, bias, rows } = *self;
        let mask = |bits: u32| u64::MAX >> (u64::BITS - bits);
        words.iter().flat_map(move |&word| {
            (0..u32::try_from(per_word).unwrap_or(0)).map(move |at| {
                let value = (word >> (at * bits)) & mask(bits);
                let grad = (value >> hess_bits).cast_signed() - bias * rows;
                CodeSum((grad << 32) + (value & mask(hess_bits)).cast_signed())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mixed;

    #[test]
    fn sums_of_packed_numbers_are_packed_sums() {
        for codes in [Codes::PAIR8, Codes::PAIR4] {
            let (grad_max, hess_max) = codes.largest();
            for rows in [1_u64, 2, 3, 17, 100, 257, 4000, 70_000, 8_000_000] {
                let codes = codes.for_rows(usize::try_from(rows).expect("small"));
                // Extremes, and some random sums; the rows are divided among three workers.
                let shares = [rows / 3, rows / 2, rows - rows / 3 - rows / 2];
                let bins = |worker: usize| -> Vec<CodeSum> {
                    let rows = shares[worker].cast_signed();
                    let (grad, hess) = (grad_max.cast_signed() * rows, hess_max.cast_signed() * rows);
                    let random =
                        |at: u64, range: i64| (mixed(at + worker as u64) % (range.cast_unsigned() + 1)).cast_signed();
                    let sums = (0..50).map(|at| CodeSum(((random(at, 2 * grad) - grad) << 32) + random(at ^ 99, hess)));
                    sums.chain([CodeSum((grad << 32) + hess), CodeSum((-grad) << 32), CodeSum(0)]).collect()
                };
                let packing = Packing::new(codes, rows, u64::MAX);
                let mut total = vec![0; packing.words(53)];
                for (worker, &rows) in shares.iter().enumerate() {
                    let mut words = Vec::new();
                    packing.pack(usize::try_from(rows).expect("small"), bins(worker).into_iter(), &mut words);
                    assert_eq!(words.len(), total.len());
                    total.iter_mut().zip(words).for_each(|(sum, word)| *sum += word);
                }
                let want: Vec<i64> = (0..53).map(|bin| (0..3).map(|worker| bins(worker)[bin].0).sum()).collect();
                let found: Vec<i64> = packing.unpack(&total).take(53).map(|sum| sum.0).collect();
                assert_eq!(found, want, "{rows} rows");
            }
        }
    }

    #[test]
    fn small_nodes_take_few_bytes() {
        let bytes = |codes, rows, hess| Packing::new(codes, rows, hess).words(1200) * 8 / 1200;
        assert_eq!(bytes(Codes::PAIR8, 1_000_000, u64::MAX), 8);
        assert_eq!(bytes(Codes::PAIR8, 128, u64::MAX), 4);
        assert_eq!(bytes(Codes::PAIR4, 4000, u64::MAX), 4);
        assert_eq!(bytes(Codes::PAIR4, 8, u64::MAX), 2);
        // A known sum of hessians narrows the field.
        assert_eq!(bytes(Codes::PAIR8, 1000, 8000), 4);
    }
}

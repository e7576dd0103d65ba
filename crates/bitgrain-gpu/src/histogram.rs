//! `DeviceBins`: a binned table in the memory of a device, and sums of gradients per bin.

use bitgrain_gbdt::feature::{BinLayout, BinStorage, QuantizedMatrix};
use bitgrain_gbdt::gradient::GradientsPair8;
use bitgrain_kernels::histograms::CodeSum;

use crate::kernel::Kernel;
use crate::pass::{Pass, Values};
use crate::weights::count;
use crate::{Device, GpuError};

/// Bins per workgroup.
const BINS: usize = 1024;
/// Rows per workgroup.
const ROWS: usize = 4096;
/// Most rows per addition to the sums on the device: hessian codes of up to 255 then stay below 2^31.
const MOST: usize = 1 << 23;

/// The rows of a table as packed global bins (ELLPACK), in the memory of a device.
#[derive(Debug, Clone)]
pub struct DeviceBins {
    device: Device,
    offsets: Vec<u32>,
    rows: usize,
    stride: usize,
    bits: u32,
    padding: u32,
    parts: Vec<Part>,
}

/// Consecutive rows of the table.
#[derive(Debug, Clone)]
struct Part {
    first: usize,
    rows: usize,
    symbols: wgpu::Buffer,
    bytes: usize,
}

impl DeviceBins {
    /// Copies a table to the device, in ELLPACK layout. Tables that exceed the largest array of the device are split by
    /// rows.
    ///
    /// # Errors
    /// Returns [`GpuError::TooLarge`] if eight rows exceed the largest array of the device, and errors of the device.
    pub fn upload(device: &Device, matrix: &QuantizedMatrix) -> Result<Self, GpuError> {
        let converted;
        let ellpack = match matrix.storage() {
            BinStorage::Ellpack(ellpack) => ellpack,
            _ => {
                converted = matrix.to_layout(BinLayout::Ellpack);
                match converted.storage() {
                    BinStorage::Ellpack(ellpack) => ellpack,
                    _ => unreachable!("the matrix was converted to this layout"),
                }
            }
        };
        let (rows, stride, bits) = (matrix.n_rows(), ellpack.row_stride(), ellpack.symbol_bits());
        // Eight rows fill whole bytes. Bit positions in a part must fit 32 bits.
        let eight = stride * bits as usize;
        let limit = device.max_binding().saturating_sub(8).min(1 << 28);
        let room = usize::try_from(limit).unwrap_or(usize::MAX);
        let each = room.checked_div(eight).unwrap_or(usize::MAX / 8).min(usize::MAX / 8) * 8;
        if each == 0 {
            return Err(GpuError::TooLarge { what: "eight rows of bins", bytes: eight as u64 + 8, limit: limit + 8 });
        }
        let part = |first: usize| -> Result<Part, GpuError> {
            let rows = each.min(rows - first);
            let bytes = &ellpack.packed()[first / 8 * eight..];
            let bytes = &bytes[..(rows * eight).div_ceil(8).min(bytes.len())];
            Ok(Part { first, rows, symbols: device.upload("bins", bytes)?, bytes: bytes.len() })
        };
        let parts =
            if stride == 0 { Vec::new() } else { (0..rows).step_by(each).map(part).collect::<Result<_, _>>()? };
        let (offsets, padding) = (matrix.map().feature_offsets().to_vec(), ellpack.padding());
        Ok(Self { device: device.clone(), offsets, rows, stride, bits, padding, parts })
    }

    /// Returns the size of the bins on the device in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Returns the number of arrays that the bins are split into.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Adds up gradient and hessian codes per global bin, over all rows or over the listed ones: the sums of the CPU, bit
    /// for bit, because they are sums of integers. Missing values count for the last bin of their feature.
    ///
    /// # Errors
    /// Returns [`GpuError::Length`] unless there is one gradient per row, [`GpuError::NoRow`] for a row out of range,
    /// [`GpuError::TooLarge`] if the gradients exceed the largest array of the device, and errors of the device.
    pub fn histogram(&self, gradients: &GradientsPair8, rows: Option<&[u32]>) -> Result<Vec<CodeSum>, GpuError> {
        let codes = &gradients.codes;
        if codes.len() != self.rows {
            return Err(GpuError::Length { what: "gradients", wanted: self.rows, found: codes.len() });
        }
        if let Some(&row) = rows.into_iter().flatten().find(|row| **row as usize >= self.rows) {
            return Err(GpuError::NoRow { row: row as usize, rows: self.rows });
        }
        let bins = self.offsets.last().map_or(0, |bins| *bins as usize);
        let mut sums = vec![CodeSum::default(); bins];
        let all = rows.map_or(self.rows, <[u32]>::len);
        if !self.parts.is_empty() && bins > 0 {
            let bytes: Vec<u8> = codes.iter().flat_map(|pair| [pair.grad.cast_unsigned(), pair.hess]).collect();
            let pairs = self.device.upload("gradients", &bytes)?;
            let listed = match rows {
                Some(rows) => Some(Pass::new(&self.device)?.upload_words("rows", rows)?),
                None => None,
            };
            for start in (0..all).step_by(MOST) {
                self.add(&pairs, listed.as_ref(), start, MOST.min(all - start), &mut sums)?;
            }
        }
        let add = |sum: CodeSum, row: usize| CodeSum(sum.0 + CodeSum::of(codes[row].grad, codes[row].hess).0);
        let total = match rows {
            Some(rows) => rows.iter().fold(CodeSum::default(), |sum, row| add(sum, *row as usize)),
            None => (0..codes.len()).fold(CodeSum::default(), add),
        };
        for feature in self.offsets.windows(2) {
            let range = feature[0] as usize..feature[1] as usize;
            let known: i64 = sums[range.clone()].iter().map(|sum| sum.0).sum();
            // Rows do not store missing values: their sum is the rest.
            if let Some(last) = sums[range].last_mut() {
                last.0 += total.0 - known;
            }
        }
        Ok(sums)
    }

    /// Adds the sums of `len` rows, from row `start` of the table or of the list.
    fn add(
        &self,
        pairs: &wgpu::Buffer,
        rows: Option<&Values>,
        start: usize,
        len: usize,
        sums: &mut [CodeSum],
    ) -> Result<(), GpuError> {
        let source = include_str!("shaders/histogram.wgsl");
        let kernel = self.device.kernel("histogram", || Kernel::new(&self.device, "histogram", source, 3));
        // Whole ranges of bins, so that the kernel needs no check at the end.
        let tiles = sums.len().div_ceil(BINS);
        let cells = 2 * BINS * tiles;
        let mut pass = Pass::new(&self.device)?;
        let out = pass.allocate("histogram", cells)?;
        pass.clear(&out.buffer);
        for part in &self.parts {
            let parameters = [
                count(len),
                u32::from(rows.is_some()),
                count(part.first),
                count(part.rows),
                count(self.stride),
                self.bits,
                self.padding,
                count(start),
            ];
            // Without a list, any array may stand in its place: the kernel does not read it.
            let reads = [&part.symbols, pairs, rows.map_or(pairs, |rows| &rows.buffer)];
            let groups = [count(len.div_ceil(ROWS)), count(tiles), 1];
            let each = part.bytes.min(len * self.stride * self.bits as usize / 8 + 8) + 2 * len;
            let moved = (tiles * each + 8 * cells) as u64;
            pass.dispatch(&kernel, &parameters, &reads, &out.buffer, groups, moved);
        }
        let words = pass.read_words(&out.buffer, 2 * sums.len())?;
        for (sum, pair) in sums.iter_mut().zip(words.as_chunks().0) {
            let [grad, hess]: [u32; 2] = *pair;
            sum.0 += (i64::from(grad.cast_signed()) << 32) + i64::from(hess);
        }
        Ok(())
    }
}

//! Dense column-major layout, each column in the width its feature needs.

use std::ops::Range;

use bitgrain_kernels::bins::BinCode;
use rayon::prelude::*;

use super::codes::CodesMut;
use super::column::ColumnMut;
use super::tile::{Tile, TileBin, blocks};
use super::{BinBits, BinColumn, BinMap, BinSource, FeatureStorageInfo};

/// Column-major bins. Histograms built one feature at a time read memory sequentially.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinColumns {
    /// 4-bit and 8-bit columns.
    bytes: Box<[u8]>,
    words: Box<[u16]>,
    longs: Box<[u32]>,
    infos: Box<[FeatureStorageInfo]>,
    n_rows: usize,
}

impl BinColumns {
    /// Returns the column of a feature.
    #[must_use]
    pub fn col(&self, feature: usize) -> BinColumn<'_> {
        let FeatureStorageInfo { offset, bits, .. } = self.infos[feature];
        match bits {
            BinBits::U4 => BinColumn::U4(&self.bytes[offset..][..self.n_rows.div_ceil(2)], self.n_rows),
            BinBits::U8 => BinColumn::U8(&self.bytes[offset..][..self.n_rows]),
            BinBits::U16 => BinColumn::U16(&self.words[offset..][..self.n_rows]),
            BinBits::U32 => BinColumn::U32(&self.longs[offset..][..self.n_rows]),
        }
    }

    /// Returns the storage location and width of a feature's column.
    #[must_use]
    pub fn feature_info(&self, feature: usize) -> &FeatureStorageInfo {
        &self.infos[feature]
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.words.len() * 2 + self.longs.len() * 4
    }

    /// Size in bytes of a matrix in this layout.
    pub(super) fn bytes_for(map: &BinMap, n_rows: usize) -> usize {
        (0..map.n_features()).map(|feature| BinBits::for_bins(map.n_bins(feature)).column_bytes(n_rows)).sum()
    }

    pub(super) fn build<C: TileBin>(source: &dyn BinSource) -> Self {
        let mut columns = Self::zeros(source.map(), source.n_rows());
        columns.parallel_blocks().for_each(|(rows, parts)| {
            let tile = Tile::<C>::read(source, rows);
            parts.into_iter().enumerate().for_each(|(feature, mut part)| part.write(tile.column(feature)));
        });
        columns
    }

    /// Reads bins as described by [`BinSource`].
    pub(super) fn read<C: BinCode>(&self, features: &[usize], rows: &Range<usize>, out: &mut [C]) {
        for (at, &feature) in features.iter().enumerate() {
            self.col(feature).read(rows.clone(), &mut out[at * rows.len()..][..rows.len()]);
        }
    }

    fn zeros(map: &BinMap, n_rows: usize) -> Self {
        let (mut bytes, mut words, mut longs) = (0, 0, 0);
        let infos = (0..map.n_features()).map(|feature| {
            let n_bins = map.n_bins(feature);
            let bits = BinBits::for_bins(n_bins);
            let (used, len) = match bits {
                BinBits::U4 => (&mut bytes, n_rows.div_ceil(2)),
                BinBits::U8 => (&mut bytes, n_rows),
                BinBits::U16 => (&mut words, n_rows),
                BinBits::U32 => (&mut longs, n_rows),
            };
            let offset = *used;
            *used += len;
            FeatureStorageInfo { offset, n_bins, bits }
        });
        let infos = infos.collect();
        Self { bytes: vec![0; bytes].into(), words: vec![0; words].into(), longs: vec![0; longs].into(), infos, n_rows }
    }

    /// Splits all columns into blocks of rows that threads can write independently.
    fn parallel_blocks(&mut self) -> impl ParallelIterator<Item = (Range<usize>, Vec<ColumnMut<'_>>)> {
        let mut bytes = CodesMut::U8(&mut self.bytes);
        let mut words = CodesMut::U16(&mut self.words);
        let mut longs = CodesMut::U32(&mut self.longs);
        let columns = self.infos.iter().map(|info| match info.bits {
            BinBits::U4 => match bytes.take(self.n_rows.div_ceil(2)) {
                CodesMut::U8(halves) => ColumnMut::Halves(halves),
                other => ColumnMut::Whole(other),
            },
            BinBits::U8 => ColumnMut::Whole(bytes.take(self.n_rows)),
            BinBits::U16 => ColumnMut::Whole(words.take(self.n_rows)),
            BinBits::U32 => ColumnMut::Whole(longs.take(self.n_rows)),
        });
        let mut columns: Vec<ColumnMut<'_>> = columns.collect();
        let blocks = blocks(self.n_rows, columns.len()).into_iter().map(|rows| {
            let parts = columns.iter_mut().map(|column| column.take(rows.len())).collect();
            (rows, parts)
        });
        blocks.collect::<Vec<_>>().into_par_iter()
    }
}

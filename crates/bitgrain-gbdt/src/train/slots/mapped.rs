//! Codes of a binned file: read in place through a memory map, by row and not by position.
//!
//! Rows keep their place in the file. Training moves only their indices, gradients, targets and scores, so that the
//! order of all sums, and thus the model, is the same as with codes in memory. See
//! `docs/decisions/031-binned-files.md`.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bitgrain_files::{FileWindow, resident_bytes};

use super::Plan;
use super::wide::Wide;

/// Bytes that the system maps at once when a page is read: sixteen pages on Linux.
const WINDOW: u32 = 16;

/// Recently read windows of a task, which are not counted again.
const RECENT: usize = 64;

/// Smallest number of mapped bytes between two checks of the resident memory, which take about 20 microseconds.
const LEAST_STEP: usize = 4 << 20;

/// Location of the codes in a file: chunks of rows, each with the records of one tile after those of another, then the
/// columns of wide features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkLayout {
    /// Offset of the first chunk.
    pub(crate) start: usize,
    /// Distance of two chunks in bytes.
    pub(crate) stride: usize,
    /// Rows per chunk, a power of two.
    pub(crate) chunk_rows: usize,
    pub(crate) n_rows: usize,
}

/// Codes of all rows in a mapped file.
#[derive(Debug)]
pub(crate) struct MappedCodes {
    file: FileWindow,
    layout: ChunkLayout,
    shift: u32,
    /// First row of the last chunk, which may be shorter.
    last_start: usize,
    tiles: Vec<Region>,
    wide: Vec<Region>,
    /// Number of bins of each wide feature: larger codes of a corrupt file count as the last bin.
    wide_bins: Vec<u32>,
    /// Maximum resident memory of the process in bytes.
    limit: Option<usize>,
    /// Bytes mapped since the resident memory was last checked; an upper bound.
    mapped: AtomicUsize,
}

/// Place of a tile or a column in each chunk.
#[derive(Debug, Clone, Copy)]
struct Region {
    /// Bytes of a row before it.
    before: usize,
    /// Bytes of a row.
    width: usize,
}

impl MappedCodes {
    /// Takes a mapped file whose length was checked against the layout.
    pub(crate) fn new(
        file: FileWindow,
        layout: ChunkLayout,
        plan: &Plan,
        n_bins: impl Fn(usize) -> u32,
        limit: Option<usize>,
    ) -> Self {
        let mut before = 0;
        let mut region = |width: usize| {
            let region = Region { before, width };
            before += width;
            region
        };
        let tiles = plan.tiles.iter().map(|tile| region(tile.width)).collect();
        let wide_bins: Vec<u32> = plan.wide.iter().map(|&feature| n_bins(feature as usize)).collect();
        let wide = wide_bins.iter().map(|&bins| region(Wide::width(bins))).collect();
        let last_start = (layout.n_rows - 1) / layout.chunk_rows * layout.chunk_rows;
        let shift = layout.chunk_rows.trailing_zeros();
        Self { file, layout, shift, last_start, tiles, wide, wide_bins, limit, mapped: AtomicUsize::new(0) }
    }

    /// Maximum resident memory of the process in bytes, if there is a limit.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// Returns the offset of a row's part of a region.
    #[inline(always)]
    fn offset(&self, Region { before, width }: Region, row: usize) -> usize {
        let ChunkLayout { start, stride, chunk_rows, n_rows } = self.layout;
        let rows = if row < self.last_start { chunk_rows } else { n_rows - self.last_start };
        start + (row >> self.shift) * stride + before * rows + (row & (chunk_rows - 1)) * width
    }

    /// Calls `visit` with the byte of a slot of each row.
    pub(crate) fn for_each_byte(&self, tile: usize, slot: usize, rows: &[u32], mut visit: impl FnMut(u8)) {
        let (region, mut touched) = (self.tiles[tile], self.touched());
        for &row in rows {
            let at = self.offset(region, row as usize);
            touched.at(at);
            visit(self.file[at + slot]);
        }
    }

    /// Calls `visit` with the bin of a wide feature of each row.
    pub(crate) fn for_each_wide(&self, column: usize, rows: &[u32], mut visit: impl FnMut(usize)) {
        let (region, mut touched) = (self.wide[column], self.touched());
        for &row in rows {
            touched.at(self.offset(region, row as usize));
            visit(self.wide(column, row as usize));
        }
    }

    /// Returns the byte of a slot.
    #[inline]
    pub(crate) fn byte(&self, tile: usize, slot: usize, row: usize) -> u8 {
        self.file[self.offset(self.tiles[tile], row) + slot]
    }

    /// Returns the bin of a wide feature.
    #[inline]
    pub(crate) fn wide(&self, column: usize, row: usize) -> usize {
        let region = self.wide[column];
        let at = self.offset(region, row);
        let bin = match self.file[at..at + region.width] {
            [a, b] => u32::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        };
        bin.min(self.wide_bins[column].saturating_sub(1)) as usize
    }

    /// Returns the place of adjacent rows, or `None` if they are not in one chunk.
    fn run(&self, region: Region, rows: Range<usize>) -> Option<Range<usize>> {
        let at = self.offset(region, rows.start);
        (rows.start >> self.shift == (rows.end - 1) >> self.shift).then(|| at..at + rows.len() * region.width)
    }

    /// Copies the column of a wide feature for some rows.
    pub(crate) fn wide_column(&self, column: usize, rows: &[usize]) -> Wide {
        Wide::of(self.wide_bins[column], rows.iter().map(|&row| self.wide(column, row)))
    }

    /// Returns the records of some rows, at most `out.len() / 16` of them: in place if the rows are adjacent, else copied
    /// to `out`.
    pub(crate) fn records<'a>(
        &'a self,
        tile: usize,
        rows: &[u32],
        out: &'a mut [u8],
        touched: &mut Touched<'_>,
    ) -> &'a [u8] {
        let region = self.tiles[tile];
        let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else { return &[] };
        let adjacent = (last as usize).wrapping_sub(first as usize) == rows.len() - 1
            && rows.iter().zip(first..).all(|(row, wanted)| *row == wanted);
        if adjacent && let Some(range) = self.run(region, first as usize..last as usize + 1) {
            touched.range(range.clone());
            return &self.file[range];
        }
        match region.width {
            4 => self.copy::<4>(region, rows, out, touched),
            8 => self.copy::<8>(region, rows, out, touched),
            12 => self.copy::<12>(region, rows, out, touched),
            _ => self.copy::<16>(region, rows, out, touched),
        }
        &out[..rows.len() * region.width]
    }

    fn copy<const W: usize>(&self, region: Region, rows: &[u32], out: &mut [u8], touched: &mut Touched<'_>) {
        for (out, &row) in out.as_chunks_mut::<W>().0.iter_mut().zip(rows) {
            let at = self.offset(region, row as usize);
            touched.at(at);
            if let Some(record) = self.file[at..].first_chunk() {
                *out = *record;
            }
        }
    }

    /// Returns a counter of the pages that a task reads.
    pub(crate) fn touched(&self) -> Touched<'_> {
        Touched { codes: self, recent: [u32::MAX; RECENT], windows: 0, counts: self.limit.is_some() }
    }

    /// Releases the file's pages if the resident memory nears the limit.
    pub(crate) fn check_memory(&self) {
        let Some(limit) = self.limit else { return };
        self.mapped.store(0, Ordering::Relaxed);
        let margin = (limit / 8).max(2 * LEAST_STEP);
        // Without a figure from the system, every check releases the pages.
        if resident_bytes().is_none_or(|bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes + margin > limit)) {
            self.file.release();
        }
    }

    fn add_mapped(&self, windows: usize) {
        let Some(limit) = self.limit else { return };
        let bytes = windows << WINDOW;
        let before = self.mapped.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > (limit / 16).max(LEAST_STEP) {
            self.check_memory();
        }
    }
}

/// Counts the parts of the file that a task reads; with a limit on memory, pages are released before they exceed it.
pub(crate) struct Touched<'c> {
    codes: &'c MappedCodes,
    recent: [u32; RECENT],
    windows: usize,
    counts: bool,
}

impl Touched<'_> {
    #[inline(always)]
    fn at(&mut self, offset: usize) {
        if !self.counts {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "windows that differ by 2^48 bytes may be confused")]
        let window = (offset >> WINDOW) as u32;
        let place = &mut self.recent[window as usize % RECENT];
        if *place != window {
            *place = window;
            self.windows += 1;
        }
    }

    fn range(&mut self, range: Range<usize>) {
        range.step_by(1 << WINDOW).for_each(|offset| self.at(offset));
    }
}

impl Drop for Touched<'_> {
    fn drop(&mut self) {
        if self.windows > 0 {
            self.codes.add_mapped(self.windows);
        }
    }
}

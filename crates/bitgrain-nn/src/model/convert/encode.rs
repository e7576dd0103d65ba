//! Encodes one tensor into its slot of the output: in pieces, in parallel, measuring the error on the way.

use std::ops::Range;

use bitgrain_codec::weight::{Grid, PartsBuf, Scaling, WeightFormat, check_finite};
use bitgrain_codec::{CodecErr, NonFinite};
use bitgrain_kernels::{Backend, ErrorSums, error_sums};

use super::Recipe;
use super::layout::Slot;
use super::output::OutputFile;
use crate::model::Rows;
use crate::model::pieces::{self, Progress};
use crate::model::{ModelFileError, ModelTensor};

/// Pieces in flight per core: enough that cores do not idle behind the slowest piece, few enough to keep memory small.
const PER_CORE: usize = 4;

/// Chunk size of plain copies in bytes.
const COPY: usize = 8 << 20;

/// One encoded piece and its error.
struct Piece {
    parts: PartsBuf,
    sums: ErrorSums,
}

/// A tensor to be encoded in a format.
struct Job<'a> {
    tensor: &'a ModelTensor,
    rows: Rows,
    format: WeightFormat,
    grid: Option<Grid>,
    importance: Option<&'a [f32]>,
    non_finite: NonFinite,
}

impl<'a> Job<'a> {
    fn new(tensor: &'a ModelTensor, format: WeightFormat, recipe: &'a Recipe) -> Result<Self, ModelFileError> {
        let importance = recipe.importance.as_ref().map_or(Ok(None), |all| all.of(tensor))?;
        let rows = tensor.load()?;
        let non_finite = recipe.non_finite;
        let mut job = Self { tensor, rows, format, grid: None, importance, non_finite };
        if format.needs_tensor_grid() {
            job.grid = job.tensor_grid()?;
        }
        Ok(job)
    }

    /// Computes the grid that all of the tensor's weights share: from their range, piece by piece, if the range is
    /// enough, else from all values at once.
    fn tensor_grid(&self) -> Result<Option<Grid>, ModelFileError> {
        if self.format.tensor_grid_of_range(0.0, 0.0).is_some() {
            let runs = pieces::runs(&self.rows);
            let range = |i: usize, values: &mut [f32], _: &mut Vec<f32>| {
                self.clean(values, runs[i].start)?;
                Ok(values.iter().fold((0.0_f32, 0.0_f32), |(lo, hi), &x| (lo.min(x), hi.max(x))))
            };
            let ranges = pieces::map(&self.rows, &runs, range)?;
            let (lo, hi) = ranges.into_iter().fold((0.0_f32, 0.0_f32), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
            return Ok(self.format.tensor_grid_of_range(lo, hi));
        }
        let mut values = vec![0.0; self.rows.len()];
        self.rows.decode(0..self.rows.rows(), &mut values)?;
        self.clean(&mut values, 0)?;
        self.format.tensor_grid(&values).map_err(ModelFileError::codec(&self.tensor.name))
    }

    /// Applies the policy for NaN and infinities to each row separately, so that results do not depend on piece sizes.
    fn clean(&self, values: &mut [f32], first_row: usize) -> Result<(), ModelFileError> {
        match self.non_finite {
            // The encoder itself rejects non-finite values, except for plain floats, which can represent them.
            NonFinite::Reject if !self.is_plain() => Ok(()),
            NonFinite::Reject => check_finite(values)
                .map_err(|error| ModelFileError::codec(&self.tensor.name)(error.shifted(first_row * self.rows.cols()))),
            policy => {
                values.chunks_mut(self.rows.cols().max(1)).for_each(|row| policy.sanitize(row));
                Ok(())
            }
        }
    }

    fn is_plain(&self) -> bool {
        matches!(self.format, WeightFormat::Scaled(scaled) if scaled.dtype.is_plain())
    }

    /// Encodes a run of rows and decodes it again to measure the error.
    fn piece(&self, run: &Range<usize>, values: &mut [f32], back: &mut Vec<f32>) -> Result<Piece, ModelFileError> {
        let wrong =
            |error: CodecErr| ModelFileError::codec(&self.tensor.name)(error.shifted(run.start * self.rows.cols()));
        self.clean(values, run.start)?;
        let cols = self.rows.cols();
        let mut parts = PartsBuf::new(self.format.sizes(run.len(), cols).map_err(wrong)?);
        self.format
            .encode_rows(values, cols, self.grid, self.importance_of(run.start), parts.parts_mut())
            .map_err(wrong)?;
        back.resize(values.len(), 0.0);
        self.format.decode_rows(parts.parts(), cols, back).map_err(wrong)?;
        let sums = error_sums(Backend::best(), values, back).map_err(|error| wrong(error.into()))?;
        Ok(Piece { parts, sums })
    }

    /// Returns runs of rows that share their importances.
    fn runs(&self) -> Vec<Range<usize>> {
        pieces::runs_within(&self.rows, self.matrix())
    }

    /// Returns the rows per matrix: one expert's rows if each expert has its own importances, else all rows.
    fn matrix(&self) -> usize {
        let matrices = self.importance.and_then(|all| all.len().checked_div(self.rows.cols())).unwrap_or(1);
        (self.rows.rows() / matrices.max(1)).max(1)
    }

    fn importance_of(&self, row: usize) -> Option<&[f32]> {
        let cols = self.rows.cols();
        self.importance?.get(row / self.matrix() * cols..)?.get(..cols)
    }

    /// Rejects an infinite error, which means that a weight overflowed the format.
    fn checked(&self, sums: ErrorSums) -> Result<ErrorSums, ModelFileError> {
        if sums.squares.is_finite() {
            return Ok(sums);
        }
        Err(ModelFileError::Overflow { tensor: self.tensor.name.clone(), format: self.format.to_string() })
    }
}

/// Measures the error of a tensor in `format` without writing anything.
pub(crate) fn measure(
    tensor: &ModelTensor,
    format: WeightFormat,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<ErrorSums, ModelFileError> {
    pieces::check_interrupt(progress)?;
    let job = Job::new(tensor, format, recipe)?;
    let runs = job.runs();
    let sums = pieces::map(&job.rows, &runs, |i, values, back| Ok(job.piece(&runs[i], values, back)?.sums))?;
    progress.add(tensor.bytes());
    job.checked(sums.into_iter().fold(ErrorSums::default(), ErrorSums::merge))
}

/// Encodes a tensor into its slot of the output.
pub(crate) fn encode(
    tensor: &ModelTensor,
    format: WeightFormat,
    recipe: &Recipe,
    slot: &Slot,
    output: &mut OutputFile,
    progress: &dyn Progress,
) -> Result<ErrorSums, ModelFileError> {
    let job = Job::new(tensor, format, recipe)?;
    let runs = job.runs();
    let mut place = Place::new(slot, matches!(format, WeightFormat::Scaled(f) if f.scaling == Scaling::Tensor));
    let mut sums = ErrorSums::default();
    let mut done: Vec<Piece> = Vec::new();
    let mut windows = runs.chunks(PER_CORE * rayon::current_num_threads());
    loop {
        pieces::check_interrupt(progress)?;
        // Write the previous window on one core while the others encode the next.
        let next = windows.next();
        let encoded = || match next {
            Some(runs) => pieces::map(&job.rows, runs, |i, values, back| job.piece(&runs[i], values, back)),
            None => Ok(Vec::new()),
        };
        let finished = std::mem::take(&mut done);
        let (written, encoded) = rayon::join(|| place.write(&finished, output), encoded);
        written?;
        sums = finished.iter().fold(sums, |sums, piece| sums.merge(piece.sums));
        done = encoded?;
        let rows: usize = next.unwrap_or_default().iter().map(Range::len).sum();
        progress.add(share(tensor, rows));
        if next.is_none() {
            return job.checked(sums);
        }
    }
}

/// Returns the input bytes of this many rows.
fn share(tensor: &ModelTensor, rows: usize) -> u64 {
    tensor.bytes().checked_div(tensor.rows()).unwrap_or(0) * rows as u64
}

/// Offsets in the output of the next piece.
struct Place {
    codes: u64,
    scales: u64,
    zeros: u64,
    /// Whether the tensor has a single scale. Every piece then carries the same one, and all write it to the same
    /// offset.
    shared: bool,
}

impl Place {
    fn new(slot: &Slot, shared: bool) -> Self {
        let start = |range: &Option<Range<u64>>| range.as_ref().map_or(0, |range| range.start);
        Self { codes: slot.codes.start, scales: start(&slot.scales), zeros: start(&slot.zeros), shared }
    }

    fn write(&mut self, pieces: &[Piece], output: &mut OutputFile) -> Result<(), ModelFileError> {
        for Piece { parts, .. } in pieces {
            output.write_at(self.codes, &parts.codes)?;
            self.codes += parts.codes.len() as u64;
            let scales: Vec<u8> = parts.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
            output.write_at(self.scales, &scales)?;
            output.write_at(self.zeros, &parts.zeros)?;
            if !self.shared {
                self.scales += scales.len() as u64;
                self.zeros += parts.zeros.len() as u64;
            }
        }
        Ok(())
    }
}

/// Copies a tensor's bytes into its slot.
pub(crate) fn copy(
    tensor: &ModelTensor,
    slot: &Slot,
    output: &mut OutputFile,
    progress: &dyn Progress,
) -> Result<(), ModelFileError> {
    let arrays = [(Some(&tensor.codes), Some(&slot.codes)), (tensor.scales.as_ref(), slot.scales.as_ref())];
    for (bytes, range) in arrays.into_iter().chain([(tensor.zeros.as_ref(), slot.zeros.as_ref())]) {
        let (Some(bytes), Some(range)) = (bytes, range) else { continue };
        let loaded = bytes.load()?;
        for (i, chunk) in loaded.chunks(COPY).enumerate() {
            output.write_at(range.start + (i * COPY) as u64, chunk)?;
            progress.add(chunk.len() as u64);
        }
    }
    Ok(())
}

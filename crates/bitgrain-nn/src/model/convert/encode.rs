//! Encodes one tensor into its slot of the output: in pieces, in parallel, measuring the error on the way.

use std::ops::Range;

use bitgrain_codec::weight::{Grid, PartsBuf, QuantizedTensor, Scaling, WeightFormat, check_finite};
use bitgrain_codec::{CodecErr, NonFinite};
use bitgrain_kernels::{Backend, ErrorSums, error_sums};

use super::layout::Slot;
use super::output::OutputFile;
use super::target::Target;
use super::{Recipe, Scheme};
use crate::model::Rows;
use crate::model::pieces::{self, Progress};
use crate::model::{ModelFileError, ModelTensor};

/// Pieces in flight per core: enough that cores do not idle behind the slowest piece, few enough to keep memory small.
const PER_CORE: usize = 4;

/// Chunk size of plain copies in bytes.
const COPY: usize = 8 << 20;

/// One encoded piece and its error.
struct Piece {
    codes: Vec<u8>,
    /// Scales as bytes of their array.
    scales: Vec<u8>,
    zeros: Vec<u8>,
    sums: ErrorSums,
}

/// A scheme with the scale of the matrix.
#[derive(Clone, Copy)]
struct Layout {
    scheme: Scheme,
    factor: f32,
}

/// A tensor to be encoded in a format.
struct Job<'a> {
    tensor: &'a ModelTensor,
    rows: Rows,
    format: WeightFormat,
    grid: Option<Grid>,
    layout: Option<Layout>,
    importance: Option<&'a [f32]>,
    non_finite: NonFinite,
}

impl<'a> Job<'a> {
    fn new(
        tensor: &'a ModelTensor,
        format: WeightFormat,
        scheme: Option<Scheme>,
        recipe: &'a Recipe,
    ) -> Result<Self, ModelFileError> {
        let importance = recipe.importance.as_ref().map_or(Ok(None), |all| all.of(tensor))?;
        let rows = tensor.load()?;
        let non_finite = recipe.non_finite;
        let mut job = Self { tensor, rows, format, grid: None, layout: None, importance, non_finite };
        if format.needs_tensor_grid() {
            job.grid = job.tensor_grid()?;
        }
        if let Some(scheme) = scheme {
            let factor = if scheme.rounds_scales() { scheme.factor(job.largest()?) } else { 1.0 };
            job.layout = Some(Layout { scheme, factor });
        }
        Ok(job)
    }

    /// Returns the largest magnitude of the finite weights.
    fn largest(&self) -> Result<f32, ModelFileError> {
        let runs = pieces::runs(&self.rows);
        let largest = |i: usize, values: &mut [f32], _: &mut Vec<f32>| {
            self.clean(values, runs[i].start)?;
            Ok(values.iter().filter(|x| x.is_finite()).fold(0.0_f32, |most, x| most.max(x.abs())))
        };
        Ok(pieces::map(&self.rows, &runs, largest)?.into_iter().fold(0.0_f32, f32::max))
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
        let parts = self.encoded(run, values)?;
        let wrong = |error: CodecErr| self.wrong(run, error);
        back.resize(values.len(), 0.0);
        self.format.decode_rows(parts.parts(), self.rows.cols(), back).map_err(wrong)?;
        let sums = error_sums(Backend::best(), values, back).map_err(|error| wrong(error.into()))?;
        let (codes, scales) = match self.layout {
            Some(Layout { scheme, factor }) => scheme.bytes(parts.parts(), factor),
            None => (parts.codes, parts.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect()),
        };
        Ok(Piece { codes, scales, zeros: parts.zeros, sums })
    }

    fn wrong(&self, run: &Range<usize>, error: CodecErr) -> ModelFileError {
        ModelFileError::codec(&self.tensor.name)(error.shifted(run.start * self.rows.cols()))
    }

    /// Encodes a run of rows.
    fn encoded(&self, run: &Range<usize>, values: &mut [f32]) -> Result<PartsBuf, ModelFileError> {
        let wrong = |error: CodecErr| self.wrong(run, error);
        self.clean(values, run.start)?;
        let cols = self.rows.cols();
        let mut parts = PartsBuf::new(self.format.sizes(run.len(), cols).map_err(wrong)?);
        let importance = self.importance_of(run.start);
        match (self.layout, self.format) {
            (Some(Layout { scheme, factor }), WeightFormat::Scaled(format)) if scheme.rounds_scales() => {
                let round = |scale| scheme.round(scale, factor);
                format.encode_rows_rounded(values, cols, importance, round, parts.parts_mut()).map_err(wrong)?;
            }
            _ => self.format.encode_rows(values, cols, self.grid, importance, parts.parts_mut()).map_err(wrong)?,
        }
        Ok(parts)
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

/// Error of a tensor in a format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    pub(crate) sums: ErrorSums,
    /// Number of weights measured.
    pub(crate) weights: usize,
    /// Squared errors and squared weights, each times the importance of its column, if the recipe has importances.
    weighted: Option<[f64; 2]>,
}

impl Measured {
    fn merge(self, other: Self) -> Self {
        let weighted = match (self.weighted, other.weighted) {
            (Some(a), Some(b)) => Some([a[0] + b[0], a[1] + b[1]]),
            (a, b) => a.or(b),
        };
        Self { sums: self.sums.merge(other.sums), weights: self.weights + other.weights, weighted }
    }

    /// Returns the squared error relative to the weights, both weighted by importance.
    pub(crate) fn weighted(&self) -> Option<f64> {
        self.weighted.map(|[errors, weights]| if errors == 0.0 { 0.0 } else { errors / weights })
    }
}

/// Measures the error of a tensor in `format` without writing anything: of all rows, or of a sample of about `most`
/// weights that is spread over the tensor.
pub(crate) fn measure(
    tensor: &ModelTensor,
    format: WeightFormat,
    recipe: &Recipe,
    most: Option<usize>,
    progress: &dyn Progress,
) -> Result<Measured, ModelFileError> {
    pieces::check_interrupt(progress)?;
    let job = Job::new(tensor, format, None, recipe)?;
    let mut runs = job.runs();
    if let Some(most) = most.filter(|most| *most < job.rows.len()) {
        sample(&mut runs, job.rows.cols(), job.rows.len(), most);
    }
    let measured = pieces::map(&job.rows, &runs, |i, values, back| {
        let sums = job.piece(&runs[i], values, back)?.sums;
        let weighted = job.importance_of(runs[i].start).map(|weights| weighted(weights, values, back));
        Ok(Measured { sums, weights: values.len(), weighted })
    })?;
    progress.add(tensor.bytes());
    let all = measured.into_iter().reduce(Measured::merge).unwrap_or_default();
    job.checked(all.sums)?;
    Ok(all)
}

/// Shortens the runs of a tensor so that together they have about `most` of its weights.
fn sample(runs: &mut Vec<Range<usize>>, cols: usize, weights: usize, most: usize) {
    // Runs of at least a few rows: dropping runs evenly keeps their number in proportion to the sample.
    const ROWS: usize = 4;
    let share = |len: usize| (len as u128 * most as u128).div_ceil(weights.max(1) as u128);
    let rows = most.div_ceil(cols.max(1)).max(1);
    let step = (runs.len() / rows.div_ceil(ROWS)).max(1);
    *runs = runs.iter().step_by(step).cloned().collect();
    for run in runs {
        let wanted = usize::try_from(share(run.len())).unwrap_or(run.len()).saturating_mul(step);
        run.end = run.end.min(run.start + wanted.max(1));
    }
}

/// Sums squared errors and squared weights of rows, each times the weight of its column.
fn weighted(weights: &[f32], values: &[f32], back: &[f32]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for (values, back) in values.chunks_exact(weights.len()).zip(back.chunks_exact(weights.len())) {
        // Eight independent sums, which the compiler turns into vectors.
        let mut lanes = [[0.0_f32; 8]; 2];
        let row = weights.chunks(8).zip(values.chunks(8)).zip(back.chunks(8));
        for ((weights, values), back) in row {
            for (lane, ((weight, value), back)) in weights.iter().zip(values).zip(back).enumerate() {
                let error = value - back;
                lanes[0][lane] += weight * error * error;
                lanes[1][lane] += weight * value * value;
            }
        }
        for (sum, lanes) in sums.iter_mut().zip(&lanes) {
            *sum += f64::from(lanes.iter().sum::<f32>());
        }
    }
    sums
}

/// Quantizes a tensor in memory.
pub(crate) fn quantized(
    tensor: &ModelTensor,
    format: WeightFormat,
    recipe: &Recipe,
) -> Result<QuantizedTensor, ModelFileError> {
    let job = Job::new(tensor, format, None, recipe)?;
    let runs = job.runs();
    let pieces = pieces::map(&job.rows, &runs, |i, values, _| job.encoded(&runs[i], values))?;
    let mut parts = PartsBuf { codes: Vec::new(), scales: Vec::new(), zeros: Vec::new() };
    for piece in pieces {
        parts.codes.extend(piece.codes);
        parts.scales.extend(piece.scales);
        parts.zeros.extend(piece.zeros);
    }
    let (rows, cols) = (job.rows.rows(), job.rows.cols());
    QuantizedTensor::from_parts(format, rows, cols, parts).map_err(ModelFileError::codec(&tensor.name))
}

/// Encodes a tensor into its slot of the output, in the format and layout of `target`.
pub(crate) fn encode(
    tensor: &ModelTensor,
    format: WeightFormat,
    target: &Target,
    recipe: &Recipe,
    slot: &Slot,
    output: &mut OutputFile,
    progress: &dyn Progress,
) -> Result<ErrorSums, ModelFileError> {
    let job = Job::new(tensor, format, target.scheme, recipe)?;
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
            if let (Some(Layout { scheme, factor }), Some(range)) = (job.layout, &slot.constant) {
                output.write_at(range.start, &scheme.constant(tensor, factor))?;
            }
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
        for Piece { codes, scales, zeros, .. } in pieces {
            output.write_at(self.codes, codes)?;
            self.codes += codes.len() as u64;
            output.write_at(self.scales, scales)?;
            output.write_at(self.zeros, zeros)?;
            if !self.shared {
                self.scales += scales.len() as u64;
                self.zeros += zeros.len() as u64;
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
        // Map one piece at a time: mapped pages count as memory of the process.
        for start in (0..bytes.len()).step_by(COPY) {
            let piece = bytes.window(start..bytes.len().min(start + COPY as u64))?;
            output.write_at(range.start + start, &piece)?;
            progress.add(piece.len() as u64);
        }
    }
    Ok(())
}

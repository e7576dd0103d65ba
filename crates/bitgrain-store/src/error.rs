//! Why the store refused.

use std::io;

use bitgrain_codec::CodecErr;
use thiserror::Error;

use crate::policy::PolicyError;
use crate::{TensorId, Tier};

/// Why an operation of the store failed. Whatever the error, what was acknowledged before is still there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No tensor has this id.
    #[error("no tensor is called {id}")]
    NotFound {
        /// What was asked for.
        id: TensorId,
    },
    /// An id without characters.
    #[error("an id needs at least one character")]
    IdEmpty,
    /// An id that is too long.
    #[error("an id of {len} bytes is longer than {limit}")]
    IdTooLong {
        /// Its bytes.
        len: usize,
        /// The most there may be.
        limit: usize,
    },
    /// Another process has the store open for writing.
    #[error("the store is in use by {}; open it read-only or wait", Process(*.pid))]
    Locked {
        /// The process, or 0 if it did not say.
        pid: u32,
    },
    /// There is no store, and none was to be made.
    #[error("there is no store here; make one with `bitgrain store init`, or open it with `create`")]
    NoStore,
    /// Shape and values do not go together.
    #[error("the shape has {expected} values, {got} were given")]
    ShapeMismatch {
        /// Product of the axes.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// A shape with more values than memory has bytes.
    #[error("the shape {shape:?} has more values than fit in memory")]
    ShapeOverflow {
        /// The axes.
        shape: Vec<usize>,
    },
    /// A shape with too many axes.
    #[error("a shape of {axes} axes has more than {limit}")]
    TooManyAxes {
        /// Axes given.
        axes: usize,
        /// The most there may be.
        limit: usize,
    },
    /// Rows that the tensor does not have.
    #[error("rows {start}..{end} do not lie in a tensor of {rows}")]
    RowsOutOfRange {
        /// First row.
        start: usize,
        /// The row after the last.
        end: usize,
        /// Length of the first axis; 1 for a tensor without axes.
        rows: usize,
    },
    /// A NaN or an infinity, and the policy is to refuse them.
    #[error("value at index {index} is not finite; choose a non-finite policy other than reject to store it")]
    NonFinite {
        /// Position of the first such value.
        index: usize,
    },
    /// A tier whose error is larger than allowed.
    #[error("the {} tier would be off by up to {got}, allowed are {wanted}; ask for more bits or store it lossless", .tier.name())]
    BoundExceeded {
        /// The tier.
        tier: Tier,
        /// The largest error allowed.
        wanted: f32,
        /// The bound of the tier.
        got: f32,
    },
    /// Values for a tier that keeps none.
    #[error("values cannot be put at the absent tier, which keeps none; say how to reconstruct them with `put_absent`")]
    AbsentValues,
    /// A policy with a setting out of range.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A largest error that is negative or no number.
    #[error("{max_error} is not a largest error: it must be finite and not negative")]
    InvalidMaxError {
        /// What was given.
        max_error: f32,
    },
    /// User metadata beyond its limits.
    #[error(
        "user metadata of {pairs} pairs and {bytes} bytes; at most {max_pairs} pairs and {max_bytes} bytes are kept"
    )]
    UserTooLarge {
        /// Pairs given.
        pairs: usize,
        /// Their bytes.
        bytes: usize,
        /// The most pairs.
        max_pairs: usize,
        /// The most bytes.
        max_bytes: usize,
    },
    /// The data was evicted and the tensor has no reconstruction policy.
    #[error(
        "`{id}` has no data: it was evicted and has no reconstruction policy; put it again, or set absent_reads to zeros"
    )]
    TierZeroNoPolicy {
        /// The absent tensor.
        id: TensorId,
    },
    /// A tensor was pinned after it was encoded for a batch.
    #[error("`{id}` is pinned to {}: the batch has it at {}; put it into a new batch", pin.name(), tier.name())]
    BelowPin {
        /// The tensor.
        id: TensorId,
        /// Tier of the data in the batch.
        tier: crate::Tier,
        /// The pin.
        pin: crate::Tier,
    },
    /// More zeros for a tensor without data than the store makes by itself.
    #[error("{id} has no data: {values} zeros are more than {limit}; read it into memory of your own")]
    TooManyZeros {
        /// The absent tensor.
        id: TensorId,
        /// Values that its shape has.
        values: usize,
        /// The most that are made.
        limit: usize,
    },
    /// Values that would take the place of frames, though the frames were to be kept.
    #[error(
        "{id} holds {frames} frames, which would be dropped; append to it, choose another id, or replace it explicitly"
    )]
    HasFrames {
        /// The temporal tensor.
        id: TensorId,
        /// Its frames.
        frames: u64,
    },
    /// A temporal tensor where one without frames is needed.
    #[error("{id} has frames: append to it, or delete it first")]
    Temporal {
        /// The tensor.
        id: TensorId,
    },
    /// A tensor without frames where a temporal one is needed.
    #[error("{id} has no frames: it was put as a whole; append to another id, or delete it first")]
    NotTemporal {
        /// The tensor.
        id: TensorId,
    },
    /// Frames that the tensor does not have.
    #[error("frames {start}..{end} do not lie in a tensor of {frames}")]
    FramesOutOfRange {
        /// First frame.
        start: u64,
        /// The frame after the last.
        end: u64,
        /// Frames there are.
        frames: u64,
    },
    /// A chain of reconstructions that is too long to follow.
    #[error("{id} is more than {limit} reconstructions away from data; put one of those between again")]
    ReconstructionDepthExceeded {
        /// The tensor at the far end.
        id: TensorId,
        /// The most that are followed.
        limit: u8,
    },
    /// A tensor that would be reconstructed from itself.
    #[error("{id} cannot be reconstructed from {base}, which is reconstructed from it")]
    ReconstructionCycle {
        /// The tensor to be reconstructed.
        id: TensorId,
        /// What it would be reconstructed from.
        base: TensorId,
    },
    /// A reconstruction with a result that is not finite.
    #[error("the reconstructed value at index {index} is beyond the range of f32")]
    ReconstructionOverflow {
        /// Position of the first such value.
        index: usize,
    },
    /// Others are reconstructed from this tensor.
    #[error(
        "{} tensors are reconstructed from {id}, {} among them; delete or materialise them first",
        .dependents.len(), .dependents.first().unwrap_or(.id)
    )]
    HasDependents {
        /// What was to go.
        id: TensorId,
        /// Who needs it, in order.
        dependents: Vec<TensorId>,
    },
    /// A factor that does not go with its source.
    #[error("the {what} is for {expected} rows, the source has {got}")]
    FactorShape {
        /// Permutation or projection.
        what: &'static str,
        /// Rows it is for.
        expected: usize,
        /// Rows of the source.
        got: usize,
    },
    /// A permutation that repeats a row or names one that is not there.
    #[error("entry {index} of the permutation is {row}, which is repeated or beyond its {len} rows")]
    FactorPermutation {
        /// The first such entry.
        index: usize,
        /// The row it names.
        row: usize,
        /// Entries of the permutation.
        len: usize,
    },
    /// A factor with a scale or a projection that is not finite.
    #[error("the factor's {what} is not finite at index {index}")]
    FactorNonFinite {
        /// Scale or projection.
        what: &'static str,
        /// Position of the first such number.
        index: usize,
    },
    /// A projection whose numbers do not fill its rows and columns.
    #[error("a projection of {rows} rows and {columns} columns does not have {got} numbers")]
    ProjectionShape {
        /// Rows of the result.
        rows: usize,
        /// Rows of the source.
        columns: usize,
        /// Numbers given.
        got: usize,
    },
    /// A frame with another number of values than the frames before it.
    #[error("frames of this tensor have {expected} values, {got} were given")]
    FrameShape {
        /// Values of a frame.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// Bytes of a frame that are too few or too many for its head.
    #[error("the frame has {got} bytes where its head asks for {expected}")]
    FrameBody {
        /// Bytes that the head asks for.
        expected: usize,
        /// Bytes that are there.
        got: usize,
    },
    /// A frame decoded with a run that it is not of.
    #[error("frame {index} needs frame {needed}, which is not the {what} at hand")]
    FrameOutOfRun {
        /// The frame.
        index: u64,
        /// The frame it needs, or its own index if its head contradicts itself.
        needed: u64,
        /// Key frame or difference key.
        what: &'static str,
    },
    /// The codec refused the values.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// Something the format has no place for.
    #[error("it cannot be stored: {what}")]
    Unwritable {
        /// What and why.
        what: String,
    },
    /// Bytes that were good once are not any more.
    #[error("{segment} is damaged at byte {offset}{}: {what}", Named(.id.as_ref()))]
    Damaged {
        /// File, relative to the store.
        segment: String,
        /// Where in it.
        offset: u64,
        /// The tensor, if it is known.
        id: Option<TensorId>,
        /// What is wrong.
        what: String,
    },
    /// A file of another store.
    #[error("{name} belongs to another store")]
    Foreign {
        /// File, relative to the store.
        name: String,
    },
    /// A file of a version this build does not read.
    #[error("{name} has version {version} of the format, this build reads up to {known}; use a newer one")]
    FutureVersion {
        /// File, relative to the store.
        name: String,
        /// Its version.
        version: u32,
        /// The newest version known here.
        known: u32,
    },
    /// A disk failed under a write, so that nobody knows what it holds.
    #[error("a failed write left the store in doubt: reads go on, reopen it to write")]
    Poisoned,
    /// The disk is full. What was to be written is not there.
    #[error("{name}: no space left on the device; free some, or delete tensors and compact the store")]
    NoSpace {
        /// File, relative to the store.
        name: String,
    },
    /// The disk is almost full. What was to be written is not there.
    #[error(
        "no space left on the device: {available} bytes are free, {needed} were to be written, and {kept} are kept for \
         compaction; free some, or delete tensors and compact the store"
    )]
    LittleSpace {
        /// Bytes that were to be written.
        needed: u64,
        /// Bytes that are free.
        available: u64,
        /// Bytes of these that compaction may need.
        kept: u64,
    },
    /// An operation of many steps that failed after some of them.
    #[error("{operation} stopped after {done} of {total} {unit}, which stay done: {source}")]
    Stopped {
        /// The operation.
        operation: &'static str,
        /// Steps that were done, and are durable.
        done: usize,
        /// Steps that there were to do.
        total: usize,
        /// What a step is about.
        unit: &'static str,
        /// Why the next one failed.
        source: Box<Self>,
    },
    /// A file, or a part of one, that is longer than memory can be on this system.
    #[error("{name}: {bytes} bytes cannot be read into memory on this system; open the store on a 64-bit system")]
    TooLargeForMemory {
        /// File, relative to the store.
        name: String,
        /// Bytes that were to be read.
        bytes: u64,
    },
    /// A time that the clock does not agree with.
    #[error(
        "time out of range: {now} is {} the clock, which shows {clock}; times are milliseconds since 1970 and at most a \
         day from the clock, unless the clock is simulated", if now > clock { "ahead of" } else { "behind" }
    )]
    TimeOutOfRange {
        /// The time that was given, in milliseconds since 1970.
        now: u64,
        /// The clock's.
        clock: u64,
    },
    /// A size of segments that no record fits in.
    #[error("segment_bytes is {segment_bytes}; it must be at least {least}")]
    InvalidSegmentBytes {
        /// The size that was given.
        segment_bytes: u64,
        /// The least.
        least: u64,
    },
    /// A folder for a new store that has other files in it.
    #[error("the folder holds other files, such as `{name}`; a new store needs an empty folder")]
    OtherFiles {
        /// One of them.
        name: String,
    },
    /// A place for a backup in the folder of the store.
    #[error("{path} is inside the store; choose a folder outside of it")]
    InsideStore {
        /// The place.
        path: String,
    },
    /// The store was opened for reading.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// A place for a backup that is not empty.
    #[error("{path} is not empty, a backup goes to a new folder")]
    NotEmpty {
        /// The place.
        path: String,
    },
    /// The file system refused.
    #[error("{name}: {source}")]
    Io {
        /// File, relative to the store.
        name: String,
        /// Why.
        source: io::Error,
    },
}

impl StoreError {
    /// What the system said about `name`.
    pub(crate) fn io(name: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let name = name.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { name },
            _ => Self::Io { name, source },
        }
    }

    /// True if the disk is full, or too full for the store to grow.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        match self {
            Self::NoSpace { .. } | Self::LittleSpace { .. } => true,
            Self::Stopped { source, .. } => source.is_no_space(),
            _ => false,
        }
    }

    /// The error of an operation of which `done` steps were done; itself if none was.
    pub(crate) fn after(self, operation: &'static str, done: usize, total: usize, unit: &'static str) -> Self {
        if done == 0 { self } else { Self::Stopped { operation, done, total, unit, source: Box::new(self) } }
    }
}

/// `process 12`, or `another process` if its number is not known.
struct Process(u32);

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 { write!(f, "another process") } else { write!(f, "process {}", self.0) }
    }
}

/// ` (tensor x)`, or nothing.
struct Named<'a>(Option<&'a TensorId>);

impl std::fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |id| write!(f, " (tensor {id})"))
    }
}

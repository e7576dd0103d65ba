//! Errors of the store.

use std::io;

use bitgrain_codec::CodecErr;
use thiserror::Error;

use crate::policy::PolicyError;
use crate::{TensorId, Tier};

/// Error of a store operation. Writes that were acknowledged earlier remain stored after any error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No tensor has this id.
    #[error("unknown tensor id `{id}`")]
    NotFound {
        /// Requested id.
        id: TensorId,
    },
    /// An empty id.
    #[error("empty tensor id: an id needs at least one character")]
    IdEmpty,
    /// An id that is too long.
    #[error("tensor id too long: {len} bytes; at most {limit} are allowed")]
    IdTooLong {
        /// Length in bytes.
        len: usize,
        /// Maximum length in bytes.
        limit: usize,
    },
    /// Another process has the store open for writing.
    #[error("the store is locked by {}; open it read-only, or wait until that process closes it", Process(*.pid))]
    Locked {
        /// Id of the process that holds the lock, or 0 if unknown.
        pid: u32,
    },
    /// The folder does not contain a store, and `create` was not set.
    #[error("no store found; create one with `bitgrain store init`, or open it with `create`")]
    NoStore,
    /// The shape does not match the number of values.
    #[error("shape mismatch: the shape has {expected} values, but {got} were given")]
    ShapeMismatch {
        /// Product of the dimensions.
        expected: usize,
        /// Number of values given.
        got: usize,
    },
    /// A shape whose number of values overflows the address space.
    #[error("shape {shape:?} is too large: its values do not fit in memory")]
    ShapeOverflow {
        /// Length of each axis.
        shape: Vec<usize>,
    },
    /// A shape with too many axes.
    #[error("too many axes: the shape has {axes}; at most {limit} are allowed")]
    TooManyAxes {
        /// Number of axes given.
        axes: usize,
        /// Maximum number of axes.
        limit: usize,
    },
    /// A row range that exceeds the tensor.
    #[error("rows {start}..{end} are out of range for a tensor of {rows} rows")]
    RowsOutOfRange {
        /// First row, 0-based.
        start: usize,
        /// End of the range, exclusive.
        end: usize,
        /// Length of the first axis; 1 for a scalar.
        rows: usize,
    },
    /// A NaN or an infinity under [`NonFinite::Reject`](bitgrain_codec::NonFinite::Reject).
    #[error("value at index {index} (0-based) is not finite; choose a non-finite policy other than `reject`")]
    NonFinite {
        /// 0-based index of the first such value.
        index: usize,
    },
    /// A query with a NaN or an infinity.
    #[error("query {query} (0-based) is not finite at index {index} (0-based); search with finite values")]
    QueryNotFinite {
        /// 0-based number of the query.
        query: usize,
        /// 0-based index of the first such value.
        index: usize,
    },
    /// A query without values, or queries of different lengths.
    #[error("query {query} (0-based) has {got} values; all queries need the same number, at least 1")]
    QueryLength {
        /// 0-based number of the query.
        query: usize,
        /// Number of its values.
        got: usize,
    },
    /// A zero query with the cosine metric.
    #[error("query {query} (0-based) is the zero vector, for which cosine is undefined; use metric `ip` or `l2`")]
    ZeroQuery {
        /// 0-based number of the query.
        query: usize,
    },
    /// A search for no answers.
    #[error("k is 0; it must be at least 1")]
    NoAnswers,
    /// A search that is both approximate and exact.
    #[error("an approximate search cannot prove answers; use either `approximate` or `exact`")]
    ApproximateProofs,
    /// A selected tensor that is not a vector or a matrix with as many columns as the query.
    #[error(
        "tensor `{id}` has shape {shape:?}, which does not match a query of {columns} values; \
             select tensors of one shape with a prefix or ids"
    )]
    SearchShape {
        /// Id of the tensor.
        id: TensorId,
        /// Its shape.
        shape: Vec<usize>,
        /// Number of values of the query.
        columns: usize,
    },
    /// A metric that does not exist.
    #[error("unknown metric `{name}`; use `ip`, `cosine` or `l2`")]
    UnknownMetric {
        /// Name given.
        name: String,
    },
    /// A tier whose error bound exceeds the limit.
    #[error("the {} tier has error bound {got}, above the limit {wanted}; use more bits or lossless", .tier.name())]
    BoundExceeded {
        /// The tier.
        tier: Tier,
        /// Largest error allowed.
        wanted: f32,
        /// Error bound of the tier.
        got: f32,
    },
    /// Values put at the absent tier, which stores none.
    #[error("the absent tier does not store values; call `put_absent` with a reconstruction instead")]
    AbsentValues,
    /// A policy with a setting out of range.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// An error limit that is negative or not finite.
    #[error("invalid max_error {max_error}: it must be finite and at least 0")]
    InvalidMaxError {
        /// Value given.
        max_error: f32,
    },
    /// User metadata beyond its limits.
    #[error(
        "user metadata too large: {pairs} pairs, {bytes} bytes; the maximum is {max_pairs} pairs and {max_bytes} bytes"
    )]
    UserTooLarge {
        /// Number of pairs given.
        pairs: usize,
        /// Total size in bytes of keys and values.
        bytes: usize,
        /// Maximum number of pairs.
        max_pairs: usize,
        /// Maximum size in bytes.
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
    /// A tensor that was pinned after it was encoded for a batch.
    #[error("`{id}` is pinned to {}, but the batch encoded it at {}; put it into a new batch", pin.name(), tier.name())]
    BelowPin {
        /// The tensor.
        id: TensorId,
        /// Tier of the data in the batch.
        tier: crate::Tier,
        /// Pinned tier.
        pin: crate::Tier,
    },
    /// An absent tensor with more zeros than the store allocates.
    #[error("`{id}` has no data: its {values} zeros exceed the limit of {limit}; read it into a buffer of your own")]
    TooManyZeros {
        /// The absent tensor.
        id: TensorId,
        /// Number of values of its shape.
        values: usize,
        /// Maximum number of zeros that the store allocates.
        limit: usize,
    },
    /// A put that would replace frames although the caller asked to keep them.
    #[error("`{id}` has {frames} frames that would be lost; append to it, choose another id, or replace it explicitly")]
    HasFrames {
        /// The temporal tensor.
        id: TensorId,
        /// Number of its frames.
        frames: u64,
    },
    /// An operation on a temporal tensor that needs a tensor without frames.
    #[error("`{id}` is temporal (it has frames); append to it, or delete it first")]
    Temporal {
        /// The tensor.
        id: TensorId,
    },
    /// A delta of a temporal tensor given as the result: frames differ, so no single delta gives all of them.
    #[error(
        "`{id}` is temporal and its frames differ; give the delta to `{base}` itself, which is added to every frame"
    )]
    FramesNeedDelta {
        /// The temporal tensor.
        id: TensorId,
        /// The base.
        base: TensorId,
    },
    /// A base with fewer frames than the tensor to reconstruct has evicted.
    #[error("`{base}` has fewer frames than `{id}` has without data; choose a base with all of them")]
    BaseTooShort {
        /// The temporal tensor.
        id: TensorId,
        /// The base.
        base: TensorId,
    },
    /// An operation on a tensor without frames that needs a temporal one.
    #[error("`{id}` is not temporal: it was put as one tensor; append to another id, or delete it first")]
    NotTemporal {
        /// The tensor.
        id: TensorId,
    },
    /// A frame range that exceeds the tensor.
    #[error("frames {start}..{end} are out of range for a tensor of {frames} frames")]
    FramesOutOfRange {
        /// First frame, 0-based.
        start: u64,
        /// End of the range, exclusive.
        end: u64,
        /// Number of frames of the tensor.
        frames: u64,
    },
    /// A chain of reconstructions that is too long.
    #[error("`{id}` is more than {limit} reconstructions away from stored data; put one of its bases again")]
    ReconstructionDepthExceeded {
        /// Tensor at the end of the chain.
        id: TensorId,
        /// Maximum length of a chain.
        limit: u8,
    },
    /// A tensor that would be reconstructed from itself, directly or through others.
    #[error("reconstruction cycle: `{base}` is itself reconstructed from `{id}`; choose another base")]
    ReconstructionCycle {
        /// Tensor to reconstruct.
        id: TensorId,
        /// Base of the reconstruction.
        base: TensorId,
    },
    /// A reconstruction whose result is not finite.
    #[error("the reconstructed value at index {index} (0-based) is out of the range of f32")]
    ReconstructionOverflow {
        /// 0-based index of the first such value.
        index: usize,
    },
    /// A tensor that other tensors are reconstructed from.
    #[error(
        "`{id}` is in use: {} tensors are reconstructed from it, `{}` among them; delete or materialize them first",
        .dependents.len(), .dependents.first().unwrap_or(.id)
    )]
    HasDependents {
        /// Tensor to delete or replace.
        id: TensorId,
        /// Tensors that depend on it, sorted.
        dependents: Vec<TensorId>,
    },
    /// A factor that does not match its source.
    #[error("the {what} has {expected} rows, but the source has {got}")]
    FactorShape {
        /// `permutation` or `projection`.
        what: &'static str,
        /// Rows that the factor expects.
        expected: usize,
        /// Rows of the source.
        got: usize,
    },
    /// A permutation with a repeated or out-of-range row.
    #[error("invalid permutation: entry {index} (0-based) is row {row}, which is repeated or not in 0..{len}")]
    FactorPermutation {
        /// 0-based index of the first such entry.
        index: usize,
        /// Row of the entry.
        row: usize,
        /// Length of the permutation.
        len: usize,
    },
    /// A factor with a scale or a projection that is not finite.
    #[error("the factor's {what} is not finite at index {index} (0-based)")]
    FactorNonFinite {
        /// `scale` or `projection`.
        what: &'static str,
        /// 0-based index of the first such value.
        index: usize,
    },
    /// A projection whose length is not rows × columns.
    #[error("projection shape mismatch: {rows} rows and {columns} columns do not match {got} values")]
    ProjectionShape {
        /// Number of rows of the result.
        rows: usize,
        /// Number of rows of the source.
        columns: usize,
        /// Number of values given.
        got: usize,
    },
    /// A frame whose number of values differs from the frames before it.
    #[error("frame shape mismatch: frames of this tensor have {expected} values, but {got} were given")]
    FrameShape {
        /// Values per frame.
        expected: usize,
        /// Number of values given.
        got: usize,
    },
    /// A frame whose size does not match its head.
    #[error("frame size mismatch: the head requires {expected} bytes, but the body has {got}")]
    FrameBody {
        /// Size in bytes according to the head.
        expected: usize,
        /// Actual size in bytes.
        got: usize,
    },
    /// A frame decoded with the wrong key frame or difference key.
    #[error("frame {index} depends on frame {needed}, which is not the current {what}")]
    FrameOutOfRun {
        /// Index of the frame.
        index: u64,
        /// Index of the required frame, or its own index if its head is inconsistent.
        needed: u64,
        /// `key frame` or `difference key`.
        what: &'static str,
    },
    /// An error of the codec.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// Input that the file format cannot represent.
    #[error("cannot store the tensor: {what}")]
    Unwritable {
        /// Reason.
        what: String,
    },
    /// Durable bytes that no longer match their checksum or contradict each other.
    #[error("{segment} is damaged at byte {offset}{}: {what}", Named(.id.as_ref()))]
    Damaged {
        /// File name, relative to the store.
        segment: String,
        /// Byte offset in the file.
        offset: u64,
        /// Affected tensor, if known.
        id: Option<TensorId>,
        /// Description of the damage.
        what: String,
    },
    /// A file of another store.
    #[error("{name} belongs to another store; move it out of this folder")]
    Foreign {
        /// File name, relative to the store.
        name: String,
    },
    /// A file with an unsupported format version.
    #[error("{name} has format version {version}, but this build supports at most {known}; update bitgrain")]
    FutureVersion {
        /// File name, relative to the store.
        name: String,
        /// Version of the file.
        version: u32,
        /// Newest supported version.
        known: u32,
    },
    /// A write or fsync failed earlier, so the contents of the disk are unknown.
    #[error("an earlier write failed; the store is read-only until reopened")]
    Poisoned,
    /// Another process opened the same remote store for writing, or committed first.
    #[error(
        "the store has another writer since epoch {epoch}; this handle is read-only: open the store again to write"
    )]
    Superseded {
        /// Epoch of the other writer. Each opening for writing starts the next one.
        epoch: u64,
    },
    /// A remote store on a server that does not decide between writers.
    #[error(
        "the server does not support conditional writes: {what}; if no other process writes to the store, add \
         `?writers=single` to its address"
    )]
    NoConditionalPut {
        /// Result of the test.
        what: String,
    },
    /// An address of a remote store that cannot be used.
    #[error("invalid store address `{address}`: {what}")]
    Address {
        /// The address, without user information and query.
        address: String,
        /// Reason.
        what: String,
    },
    /// An address of a remote store in a build without remote stores.
    #[error(
        "this build cannot open `{scheme}://` stores; build it with the cargo feature `remote`, or copy the store to a \
         local folder"
    )]
    NeedsRemote {
        /// Scheme of the address.
        scheme: String,
    },
    /// The disk is full. Nothing of the failed write is stored.
    #[error("{name}: no space left on device; free some space, or delete tensors and compact the store")]
    NoSpace {
        /// File name, relative to the store.
        name: String,
    },
    /// The disk is almost full. Nothing of the failed write is stored.
    #[error(
        "no space left on device: {available} bytes are free, {needed} are needed, and {kept} are reserved for \
         compaction; free some space, or delete tensors and compact the store"
    )]
    LittleSpace {
        /// Size of the write in bytes.
        needed: u64,
        /// Free bytes on the device.
        available: u64,
        /// Bytes reserved for compaction.
        kept: u64,
    },
    /// An operation of several steps that failed midway.
    #[error("{operation} stopped after {done} of {total} {unit}, which remain applied: {source}")]
    Stopped {
        /// Name of the operation.
        operation: &'static str,
        /// Number of steps that succeeded and are durable.
        done: usize,
        /// Total number of steps.
        total: usize,
        /// Unit of a step, in the plural.
        unit: &'static str,
        /// Error of the failed step.
        source: Box<Self>,
    },
    /// A file or a range of a file that exceeds the address space.
    #[error("{name}: cannot read {bytes} bytes into memory on this system; open the store on a 64-bit system")]
    TooLargeForMemory {
        /// File name, relative to the store.
        name: String,
        /// Number of bytes to read.
        bytes: u64,
    },
    /// A time that is too far from the clock.
    #[error(
        "time out of range: {now} is {} the clock ({clock}); times are milliseconds since 1970 and at most a \
         day from the clock, unless the clock is simulated", if now > clock { "ahead of" } else { "behind" }
    )]
    TimeOutOfRange {
        /// Time given, in milliseconds since 1970.
        now: u64,
        /// Time of the clock, in milliseconds since 1970.
        clock: u64,
    },
    /// A segment size that is too small for a record.
    #[error("segment_bytes {segment_bytes} is too small; it must be at least {least}")]
    InvalidSegmentBytes {
        /// Size given in bytes.
        segment_bytes: u64,
        /// Minimum size in bytes.
        least: u64,
    },
    /// A folder for a new store that contains other files.
    #[error("the folder is not empty: it contains `{name}`; create the store in an empty folder")]
    OtherFiles {
        /// Name of one of the files.
        name: String,
    },
    /// A backup destination inside the folder of the store.
    #[error("{path} is inside the store; choose a folder outside of it")]
    InsideStore {
        /// Destination.
        path: String,
    },
    /// A write to a store that was opened read-only.
    #[error("the store is open read-only; open it for writing to change it")]
    ReadOnly,
    /// A backup destination that is not empty.
    #[error("{path} is not empty; choose a new folder for the backup")]
    NotEmpty {
        /// Destination.
        path: String,
    },
    /// A destination of a sync that is not a replica of the store.
    #[error("{path} is not a replica of this store: {what}; sync to an empty destination")]
    NotReplica {
        /// Destination.
        path: String,
        /// Difference.
        what: &'static str,
    },
    /// An I/O error.
    #[error("{name}: {source}")]
    Io {
        /// File name, relative to the store.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl StoreError {
    /// Returns a closure that converts an I/O error on `name`.
    pub(crate) fn io(name: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let name = name.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { name },
            _ => Self::in_doubt(name, source),
        }
    }

    /// Converts an error after which it is unknown whether the data is stored, so it must not claim that it is not.
    pub(crate) fn in_doubt(name: String, source: io::Error) -> Self {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        if let Some(epoch) = crate::storage::object::superseding_epoch(&source) {
            return Self::Superseded { epoch };
        }
        Self::Io { name, source }
    }

    /// Returns whether the disk is full, or too full for the store to grow.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        match self {
            Self::NoSpace { .. } | Self::LittleSpace { .. } => true,
            Self::Stopped { source, .. } => source.is_no_space(),
            _ => false,
        }
    }

    /// Wraps the error of an operation that completed `done` steps; returns it unchanged if `done` is 0.
    pub(crate) fn after(self, operation: &'static str, done: usize, total: usize, unit: &'static str) -> Self {
        if done == 0 { self } else { Self::Stopped { operation, done, total, unit, source: Box::new(self) } }
    }
}

/// Displays as `process 12`, or as `another process` if the id is unknown.
struct Process(u32);

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 { write!(f, "another process") } else { write!(f, "process {}", self.0) }
    }
}

/// Displays as ` (tensor x)`, or as an empty string.
struct Named<'a>(Option<&'a TensorId>);

impl std::fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |id| write!(f, " (tensor {id})"))
    }
}

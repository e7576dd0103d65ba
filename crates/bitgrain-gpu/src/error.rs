//! `GpuError`: reasons why work on a device fails.

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::WeightFormat;
use bitgrain_nn::network::NetworkError;

/// Reason why a device cannot be opened or used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The system has no graphics driver that wgpu can use.
    #[error(
        "no graphics adapter: no driver for Vulkan, Metal or DX12 was found; install one \
         (Debian: `apt install mesa-vulkan-drivers` adds a software adapter), or compute on the CPU"
    )]
    NoAdapter,
    /// The requested adapter does not exist.
    #[error("no graphics adapter matches `{wanted}`; found {found}")]
    UnknownAdapter {
        /// Name or index that was requested.
        wanted: String,
        /// The existing adapters.
        found: String,
    },
    /// The driver did not open the adapter.
    #[error("cannot open adapter `{adapter}`: {reason}")]
    Open {
        /// Name of the adapter.
        adapter: String,
        /// The driver's message.
        reason: String,
    },
    /// The adapter does not have what every kernel of this crate needs.
    #[error("adapter `{adapter}` is not supported: {what} is {found}, kernels need {needed}")]
    Unsupported {
        /// Name of the adapter.
        adapter: String,
        /// Name of the limit.
        what: &'static str,
        /// Value that the kernels need.
        needed: u64,
        /// Value that the adapter has.
        found: u64,
    },
    /// The device was reset, removed or closed.
    #[error("the graphics device was lost: {reason}; open it again and upload the weights again")]
    Lost {
        /// The driver's message.
        reason: String,
    },
    /// The memory of the device is full.
    #[error("out of memory on the graphics device: {reason}; use a smaller batch or fewer bits per weight")]
    OutOfMemory {
        /// The driver's message.
        reason: String,
    },
    /// The driver refused a command. This is a bug in this crate or in the driver.
    #[error("the graphics driver reported an error: {reason}")]
    Driver {
        /// The driver's message.
        reason: String,
    },
    /// An array that cannot be split is larger than the device can bind.
    #[error("{what} need {bytes} bytes, but the device binds at most {limit}; use a smaller batch")]
    TooLarge {
        /// Contents of the array.
        what: &'static str,
        /// Size of the array.
        bytes: u64,
        /// Largest size that the device can bind.
        limit: u64,
    },
    /// A slice has another length than the shapes require.
    #[error("{what} have length {found}, expected {wanted}")]
    Length {
        /// Contents of the slice.
        what: &'static str,
        /// Required length.
        wanted: usize,
        /// Length of the slice.
        found: usize,
    },
    /// An activation that is NaN or infinite.
    #[error("activation {index} (0-based) is not finite")]
    NonFiniteInput {
        /// Position in the input.
        index: usize,
    },
    /// An output of a network that is NaN or infinite.
    #[error("output {index} (0-based) of the network is not finite: its activations overflowed")]
    Overflow {
        /// Position in the outputs of the batch.
        index: usize,
    },
    /// A weight that is NaN or infinite.
    #[error("weight {index} (0-based) of a matrix in format `{format}` is not finite")]
    NonFiniteWeight {
        /// Position in the matrix, in row-major order.
        index: usize,
        /// Format of the matrix.
        format: WeightFormat,
    },
    /// A row that does not exist.
    #[error("row {row} (0-based) is out of range for a matrix with {rows} rows")]
    NoRow {
        /// The requested row.
        row: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A layer without kernels.
    #[error("layer {layer} ({kind}) cannot run on a graphics device: {reason}; run this network on the CPU")]
    UnsupportedLayer {
        /// Path of the layer.
        layer: String,
        /// Kind of the layer.
        kind: &'static str,
        /// The missing part.
        reason: &'static str,
    },
    /// Codes or scales are invalid.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// The network refuses the input, or its weights cannot be quantized.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

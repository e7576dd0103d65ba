//! Settings of an open store.

use std::fmt;
use std::sync::Arc;

use bitgrain_codec::{BitWidth, BlockLen, TwoLevel};

use crate::policy::PolicyConfig;
use crate::temporal::FrameConfig;
use crate::{Clock, StoreError, SystemClock};

/// Settings of an open store. They apply to this handle and are not saved in the store.
#[derive(Clone)]
pub struct StoreConfig {
    /// Create a store if the folder does not contain one; otherwise opening fails with [`StoreError::NoStore`].
    pub create: bool,
    /// Durability of acknowledged writes.
    pub sync: SyncMode,
    /// Size in bytes at which a segment is sealed and the next one started; at least 512.
    pub segment_bytes: u64,
    /// Number of values that share a scale, for tensors put from now on.
    pub block_len: BlockLen,
    /// Encoding of frames. Bit width and block length come from the tier and from `block_len`.
    pub frames: FrameConfig,
    /// Use of a second scale in 3-bit blocks when the policy moves a tensor to the cold tier.
    pub two_level: TwoLevel,
    /// Read files through memory maps instead of copying. Reads of small tensors are twice as fast, but if the disk
    /// fails or another program truncates a file during a read, the process is killed by SIGBUS instead of receiving an
    /// error. Verification and compaction always copy.
    pub mapped: bool,
    /// Handling of segments that were damaged after they were written.
    pub on_damage: OnDamage,
    /// Result of reading an absent tensor that cannot be reconstructed. An error by default.
    pub absent_reads: AbsentReads,
    /// Policy that assigns tiers to tensors.
    pub policy: PolicyConfig,
    /// Settings for stores in object storage.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub remote: crate::storage::object::RemoteConfig,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
}

/// Durable writes, segments of 64 MiB, blocks of 128 values; damage is an error.
impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            create: true,
            sync: SyncMode::default(),
            segment_bytes: 64 << 20,
            block_len: BlockLen::new(128).unwrap_or(BlockLen::DEFAULT),
            frames: FrameConfig::new(BitWidth::W8),
            two_level: TwoLevel::Off,
            mapped: true,
            on_damage: OnDamage::default(),
            absent_reads: AbsentReads::default(),
            policy: PolicyConfig::default(),
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            remote: crate::storage::object::RemoteConfig::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl StoreConfig {
    /// Minimum of [`segment_bytes`](Self::segment_bytes): room for a header, a record and an index.
    pub const LEAST_SEGMENT_BYTES: u64 = 512;

    /// Checks that every setting is within its range.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.policy.check()?;
        let (segment_bytes, least) = (self.segment_bytes, Self::LEAST_SEGMENT_BYTES);
        if segment_bytes < least { Err(StoreError::InvalidSegmentBytes { segment_bytes, least }) } else { Ok(()) }
    }
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConfig")
            .field("create", &self.create)
            .field("sync", &self.sync)
            .field("segment_bytes", &self.segment_bytes)
            .field("block_len", &self.block_len)
            .field("frames", &self.frames)
            .field("two_level", &self.two_level)
            .field("mapped", &self.mapped)
            .field("on_damage", &self.on_damage)
            .field("absent_reads", &self.absent_reads)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Durability that a write waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SyncMode {
    /// A write returns when it would survive a power failure. Concurrent writers share one fsync (group commit).
    #[default]
    Always,
    /// A write returns when the operating system has the data: it survives a crash of the process. A power failure may
    /// lose writes since the last [`flush`](crate::TensorStore::flush) or sealed segment.
    OnSeal,
}

/// Handling of durable bytes that no longer match what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnDamage {
    /// Fail to open, with the location of the damage.
    #[default]
    Refuse,
    /// Open with the remaining data and list the losses in the recovery report.
    Salvage,
}

/// Result of reading an absent tensor that has no reconstruction policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AbsentReads {
    /// Zeros, with an infinite bound.
    Zeros,
    /// Fail with [`TierZeroNoPolicy`](crate::StoreError::TierZeroNoPolicy).
    #[default]
    Refuse,
}

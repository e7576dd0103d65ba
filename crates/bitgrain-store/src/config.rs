//! How a store is opened.

use std::fmt;
use std::sync::Arc;

use bitgrain_codec::{BitWidth, BlockLen, TwoLevel};

use crate::policy::PolicyConfig;
use crate::temporal::FrameConfig;
use crate::{Clock, StoreError, SystemClock};

/// Settings of an open store. None of them is kept in the store.
#[derive(Clone)]
pub struct StoreConfig {
    /// Make a new store where there is none. Else opening one that is not there is an error.
    pub create: bool,
    /// When a write is acknowledged.
    pub sync: SyncMode,
    /// Bytes after which a segment is sealed and the next begun, at least 512.
    pub segment_bytes: u64,
    /// Values that share a scale, in tensors put from now on.
    pub block_len: BlockLen,
    /// How frames are encoded. Width and block length are those of the tier and of `block_len`.
    pub frames: FrameConfig,
    /// Whether 3-bit blocks may have a second scale, when the policy sends a tensor there.
    pub two_level: TwoLevel,
    /// Whether files are read where the system has them in memory, rather than copied. Twice as fast for small tensors, but if
    /// a disk fails or another program cuts a file short while it is read, the process ends (SIGBUS) instead of getting an
    /// error. Looking for damage and compaction always copy.
    pub mapped: bool,
    /// What to do with a segment that was damaged after it was written.
    pub on_damage: OnDamage,
    /// Result of reading an absent tensor that cannot be reconstructed. An error by default.
    pub absent_reads: AbsentReads,
    /// Which tier a tensor gets.
    pub policy: PolicyConfig,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
}

/// Durable writes, segments of 64 MiB, blocks of 128 values, damage is an error.
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
            clock: Arc::new(SystemClock),
        }
    }
}

impl StoreConfig {
    /// The least of [`segment_bytes`](Self::segment_bytes): a header, a record and an index fit.
    pub const LEAST_SEGMENT_BYTES: u64 = 512;

    /// Checks that every setting is in its range.
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

/// What a write waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SyncMode {
    /// Until it would survive a loss of power. Writers that wait at the same time share one wait for the disk.
    #[default]
    Always,
    /// Until the system has it: it survives the end of the process, however sudden. A loss of power may take what was
    /// written since the last [`flush`](crate::TensorStore::flush) or sealed segment.
    OnSeal,
}

/// What opening does about bytes that were durable and are no longer what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnDamage {
    /// Refuse and say where.
    #[default]
    Refuse,
    /// Open with what is left and say in the report what is not.
    Salvage,
}

/// Result of reading an absent tensor that has no reconstruction policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AbsentReads {
    /// Zeros, with an infinite bound.
    Zeros,
    /// [`TierZeroNoPolicy`](crate::StoreError::TierZeroNoPolicy).
    #[default]
    Refuse,
}

//! Conversion of metadata and reports to the tuples and dicts behind the dataclasses of `python/bitgrain/store`.

use bitgrain::store::temporal::FrameRole;
use bitgrain::store::{
    CompactReport, Damage, Frame, FrameProvenance, Provenance, RecoveryReport, StoreStats, SyncReport, TensorMeta,
    TickPlan, TickReport, Tier, TierStats, VerifyReport,
};
use pyo3::prelude::*;

use super::id::Id;
use super::moves::{StoreMoves, StoreWantedTiers};

/// Tier, bits, bound, measured, depth: `Provenance`.
#[derive(IntoPyObject)]
pub(super) struct Cost(&'static str, u8, f32, f32, u8);

impl From<Provenance> for Cost {
    fn from(of: Provenance) -> Self {
        Self(of.tier.name(), of.bits, of.bound, of.measured, of.depth)
    }
}

/// Index, time, role, provenance, bytes: `FrameInfo`.
#[derive(IntoPyObject)]
pub(super) struct FrameFacts(u64, u64, &'static str, Cost, Option<u64>);

impl From<&Frame> for FrameFacts {
    fn from(frame: &Frame) -> Self {
        Self(frame.index, frame.time, role(frame.role), frame.provenance.into(), None)
    }
}

impl FrameFacts {
    /// Creates the facts of an appended frame.
    pub(super) fn appended(frame: FrameProvenance, time: u64) -> Self {
        Self(frame.index, time, role(frame.role), frame.provenance.into(), Some(frame.bytes))
    }
}

fn role(role: FrameRole) -> &'static str {
    match role {
        FrameRole::Key => "key",
        FrameRole::Shared => "shared",
        FrameRole::DifferenceKey => "difference-key",
        FrameRole::DifferenceShared => "difference-shared",
    }
}

/// `TensorInfo`.
#[derive(IntoPyObject)]
pub(super) struct Known {
    id: Id,
    shape: Vec<usize>,
    provenance: Cost,
    wanted: &'static str,
    stored_bytes: u64,
    created: u64,
    updated: u64,
    accessed: u64,
    accesses: u64,
    score: f32,
    pinned: Option<&'static str>,
    max_error: Option<f32>,
    frames: Option<u64>,
    reconstructable: bool,
    user: Vec<(String, String)>,
}

impl From<TensorMeta> for Known {
    fn from(meta: TensorMeta) -> Self {
        Self {
            id: Id(meta.id),
            shape: meta.shape,
            provenance: meta.provenance.into(),
            wanted: meta.wanted.name(),
            stored_bytes: meta.stored_bytes,
            created: meta.created,
            updated: meta.updated,
            accessed: meta.accessed,
            accesses: meta.accesses,
            score: meta.score,
            pinned: meta.pinned.map(Tier::name),
            max_error: meta.max_error,
            frames: meta.frames,
            reconstructable: meta.reconstructable,
            user: meta.user,
        }
    }
}

/// `StoreStats`.
#[derive(IntoPyObject)]
pub(super) struct Counts {
    tensors: usize,
    temporal: usize,
    frames: u64,
    tiers: Vec<TierCounts>,
    segments: usize,
    file_bytes: u64,
    live_bytes: u64,
    garbage_bytes: u64,
}

/// Tier, tensors, bytes, bytes as f32, worst bound: `TierStats`.
#[derive(IntoPyObject)]
struct TierCounts(&'static str, usize, u64, u64, f32);

impl From<StoreStats> for Counts {
    fn from(stats: StoreStats) -> Self {
        let tier = |t: &TierStats| TierCounts(t.tier.name(), t.tensors, t.bytes, t.f32_bytes, t.worst_bound);
        Self {
            tensors: stats.tensors,
            temporal: stats.temporal,
            frames: stats.frames,
            tiers: stats.tiers.iter().map(tier).collect(),
            segments: stats.segments,
            file_bytes: stats.file_bytes,
            live_bytes: stats.live_bytes,
            garbage_bytes: stats.garbage_bytes,
        }
    }
}

/// `TickReport`.
#[derive(IntoPyObject)]
pub(super) struct Ticked {
    moves: StoreMoves,
    skipped: usize,
    wanted_tiers: usize,
    bytes_before: u64,
    bytes_after: u64,
    over_budget: u64,
}

impl From<TickReport> for Ticked {
    fn from(report: TickReport) -> Self {
        let TickReport { moves, skipped, wanted_tiers, bytes_before, bytes_after, over_budget, .. } = report;
        Self { moves: StoreMoves(moves), skipped, wanted_tiers, bytes_before, bytes_after, over_budget }
    }
}

/// `TickPlan`.
#[derive(IntoPyObject)]
pub(super) struct Planned {
    moves: StoreMoves,
    wanted_tiers: StoreWantedTiers,
    warm_bytes_before: u64,
    warm_bytes_after: u64,
    over_budget: u64,
}

impl From<TickPlan> for Planned {
    fn from(plan: TickPlan) -> Self {
        let TickPlan { moves, wanted_tiers, warm_bytes_before, warm_bytes_after, over_budget, .. } = plan;
        let (moves, wanted_tiers) = (StoreMoves(moves), StoreWantedTiers(wanted_tiers));
        Self { moves, wanted_tiers, warm_bytes_before, warm_bytes_after, over_budget }
    }
}

/// Segment, offset, id, description: `Damage`.
#[derive(IntoPyObject)]
struct Broken(String, u64, Option<Id>, String);

impl From<Damage> for Broken {
    fn from(damage: Damage) -> Self {
        Self(damage.segment, damage.offset, damage.id.map(Id), damage.what)
    }
}

/// `VerifyReport`.
#[derive(IntoPyObject)]
pub(super) struct Verified {
    segments: usize,
    records: u64,
    bytes: u64,
    damages: Vec<Broken>,
}

impl From<VerifyReport> for Verified {
    fn from(report: VerifyReport) -> Self {
        let VerifyReport { segments, records, bytes, damages, .. } = report;
        Self { segments, records, bytes, damages: damages.into_iter().map(Broken::from).collect() }
    }
}

/// `CompactReport`.
#[derive(IntoPyObject)]
pub(super) struct Compacted {
    segments_removed: usize,
    segments_written: usize,
    records: u64,
    bytes_removed: u64,
    bytes_written: u64,
}

impl From<CompactReport> for Compacted {
    fn from(report: CompactReport) -> Self {
        let CompactReport { segments_removed, segments_written, records, bytes_removed, bytes_written, .. } = report;
        Self { segments_removed, segments_written, records, bytes_removed, bytes_written }
    }
}

/// `SyncReport`.
#[derive(IntoPyObject)]
pub(super) struct Synced {
    segments_copied: usize,
    bytes_copied: u64,
    segments_kept: usize,
    segments_removed: usize,
}

impl From<SyncReport> for Synced {
    fn from(report: SyncReport) -> Self {
        let SyncReport { segments_copied, bytes_copied, segments_kept, segments_removed, .. } = report;
        Self { segments_copied, bytes_copied, segments_kept, segments_removed }
    }
}

/// `RecoveryReport`.
#[derive(IntoPyObject)]
pub(super) struct Recovered {
    created: bool,
    read_only: bool,
    segments: usize,
    tensors: usize,
    scanned: Vec<String>,
    bad_indexes: usize,
    torn_bytes: u64,
    torn_records: u64,
    leftovers: Vec<String>,
    damages: Vec<Broken>,
}

impl From<RecoveryReport> for Recovered {
    fn from(report: RecoveryReport) -> Self {
        Self {
            created: report.created,
            read_only: report.read_only,
            segments: report.segments,
            tensors: report.tensors,
            scanned: report.scanned,
            bad_indexes: report.bad_indexes,
            torn_bytes: report.torn_bytes,
            torn_records: report.torn_records,
            leftovers: report.leftovers,
            damages: report.damages.into_iter().map(Broken::from).collect(),
        }
    }
}

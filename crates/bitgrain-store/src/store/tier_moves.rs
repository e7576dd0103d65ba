//! Execution of the moves of a tick, in batches.

use super::Core;
use super::retier::{Outcome, Retier};
use super::tick::{TickReport, TierMove};
use crate::id::Key;
use crate::log::Purpose;
use crate::policy::{Candidate, PlannedMove};
use crate::{StoreError, TensorId};

/// Number of tensors re-encoded and committed per batch.
const TOGETHER: usize = 128;

/// A tensor with the state that the policy needs.
pub(super) struct Looked {
    pub(super) key: Key,
    pub(super) candidate: Candidate,
    /// Error bound of its data, if the policy needs it.
    pub(super) bound: Option<f32>,
}

impl Looked {
    pub(super) fn id(&self) -> TensorId {
        TensorId::of_key(&self.key)
    }
}

pub(super) fn tier_move(planned: &PlannedMove, tensors: &[Looked]) -> TierMove {
    let Looked { candidate, .. } = &tensors[planned.index];
    let id = tensors[planned.index].id();
    TierMove { id, from: candidate.stored, to: planned.tier, reason: planned.reason, bytes: candidate.bytes }
}

/// Executes the moves of one tick.
pub(super) struct Mover<'a> {
    core: &'a Core,
    tensors: &'a [Looked],
    now: u64,
    /// Report of the moves so far.
    pub(super) report: TickReport,
}

impl<'a> Mover<'a> {
    pub(super) fn new(core: &'a Core, tensors: &'a [Looked], now: u64, wishes: usize) -> Self {
        let report = TickReport { moves: Vec::new(), skipped: 0, wishes, bytes_before: 0, bytes_after: 0 };
        Self { core, tensors, now, report }
    }

    /// Executes all moves in batches.
    pub(super) fn carry_out_all(&mut self, moves: &[PlannedMove]) -> Result<(), StoreError> {
        for (i, some) in moves.chunks(TOGETHER).enumerate() {
            match self.carry_out(some, Purpose::Grow) {
                Err(error) if error.is_no_space() => return self.carry_out_tightly(&moves[i * TOGETHER..]),
                done => done?,
            }
        }
        Ok(())
    }

    /// Like [`carry_out_all`](Self::carry_out_all), on a disk where only the space reserved for compaction is free.
    /// Moves run in record order and go to a segment of their own: each move turns records of the oldest segments into
    /// garbage, and these are compacted first, so at every step compaction needs less space than is free.
    fn carry_out_tightly(&mut self, moves: &[PlannedMove]) -> Result<(), StoreError> {
        let place = |planned: &PlannedMove| {
            self.core.index.with(&self.tensors[planned.index].key, |entry| {
                let header = entry.place.segment.header;
                (entry.place.segment.is_log(), header.base_sequence, header.number, entry.place.offset)
            })
        };
        self.core.log()?.seal(self.now)?;
        let mut moves = moves.to_vec();
        moves.sort_by_cached_key(place);
        for some in moves.chunks(TOGETHER / 8) {
            match self.carry_out(some, Purpose::Shrink) {
                Err(error) if error.is_no_space() => {
                    self.core.make_room()?;
                    self.carry_out(some, Purpose::Shrink)?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Executes one batch of moves.
    fn carry_out(&mut self, moves: &[PlannedMove], purpose: Purpose) -> Result<(), StoreError> {
        let retier = |planned: &PlannedMove| Retier { id: self.tensors[planned.index].id(), tier: planned.tier };
        let outcomes = self.core.retier(&moves.iter().map(retier).collect::<Vec<_>>(), self.now, purpose)?;
        for (planned, outcome) in moves.iter().zip(outcomes) {
            match outcome {
                Outcome::Done { before, after } => {
                    self.report.moves.push(tier_move(planned, self.tensors));
                    self.report.bytes_before += before;
                    self.report.bytes_after += after;
                }
                Outcome::Skipped => self.report.skipped += 1,
            }
        }
        Ok(())
    }
}

//! Execution of the moves of a tick, in batches.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Core;
use super::retier::{Outcome, Retier};
use super::tick::{TickReport, TierMove};
use crate::id::Key;
use crate::log::Purpose;
use crate::policy::{Candidate, PlannedMove};
use crate::{StoreError, TensorId, Tier};

/// Number of tensors re-encoded and committed per batch.
const TOGETHER: usize = 128;

/// A tensor, or a run of frames, with the state that the policy needs.
pub(super) struct Looked {
    pub(super) key: Key,
    pub(super) candidate: Candidate,
    /// Error bound of its data, if the policy needs it.
    pub(super) bound: Option<f32>,
    /// Range of frames, if it is a run of a temporal tensor.
    pub(super) frames: Option<Range<u64>>,
    /// Whether it is a whole tensor or the last run.
    pub(super) last: bool,
}

impl Looked {
    pub(super) fn id(&self) -> TensorId {
        TensorId::of_key(&self.key)
    }
}

pub(super) fn tier_move(planned: &PlannedMove, tensors: &[Looked]) -> TierMove {
    let Looked { candidate, .. } = &tensors[planned.index];
    let id = tensors[planned.index].id();
    let frames = tensors[planned.index].frames.clone();
    TierMove { id, frames, from: candidate.stored, to: planned.tier, reason: planned.reason, bytes: candidate.bytes }
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
    pub(super) fn new(core: &'a Core, tensors: &'a [Looked], now: u64, wanted_tiers: usize) -> Self {
        let report =
            TickReport { moves: Vec::new(), skipped: 0, wanted_tiers, bytes_before: 0, bytes_after: 0, over_budget: 0 };
        Self { core, tensors, now, report }
    }

    /// Executes all moves in batches.
    pub(super) fn execute_all(&mut self, moves: &[PlannedMove]) -> Result<(), StoreError> {
        for (i, some) in moves.chunks(TOGETHER).enumerate() {
            match self.execute(some, Purpose::Grow) {
                Err(error) if error.is_no_space() => return self.execute_tight(&moves[i * TOGETHER..]),
                done => done?,
            }
        }
        Ok(())
    }

    /// Like [`execute_all`](Self::execute_all), on a disk where only the space reserved for compaction is free.
    /// Moves run in record order and go to a separate segment: each move turns records of the oldest segments into
    /// garbage, and these are compacted first, so at every step compaction needs less space than is free.
    fn execute_tight(&mut self, moves: &[PlannedMove]) -> Result<(), StoreError> {
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
            match self.execute(some, Purpose::Shrink) {
                Err(error) if error.is_no_space() => {
                    self.core.make_room()?;
                    self.execute(some, Purpose::Shrink)?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Executes one batch of moves.
    fn execute(&mut self, moves: &[PlannedMove], purpose: Purpose) -> Result<(), StoreError> {
        let whole = moves.iter().filter(|planned| self.tensors[planned.index].frames.is_none());
        let retier = |planned: &PlannedMove| Retier { id: self.tensors[planned.index].id(), tier: planned.tier };
        let outcomes = self.core.retier(&whole.map(retier).collect::<Vec<_>>(), self.now, purpose)?;
        let mut outcomes = outcomes.into_iter();
        // All runs of a tensor in one commit: a crash leaves either the old frames or the new ones.
        let mut runs: BTreeMap<&Key, Vec<(Range<u64>, Tier)>> = BTreeMap::new();
        for planned in moves {
            let looked = &self.tensors[planned.index];
            if let Some(frames) = &looked.frames {
                runs.entry(&looked.key).or_default().push((frames.clone(), planned.tier));
            }
        }
        let mut moved = BTreeMap::new();
        for (key, runs) in runs {
            let done = self.core.retier_frames(&TensorId::of_key(key), &runs, self.now, purpose)?;
            moved.insert(key, done.into_iter());
        }
        for planned in moves {
            let looked = &self.tensors[planned.index];
            let outcome = match looked.frames {
                Some(_) => moved.get_mut(&looked.key).and_then(Iterator::next),
                None => outcomes.next(),
            };
            self.note(planned, outcome.unwrap_or(Outcome::Skipped));
        }
        Ok(())
    }

    fn note(&mut self, planned: &PlannedMove, outcome: Outcome) {
        match outcome {
            Outcome::Done { before, after } => {
                self.report.moves.push(tier_move(planned, self.tensors));
                self.report.bytes_before += before;
                self.report.bytes_after += after;
            }
            Outcome::Skipped => self.report.skipped += 1,
        }
    }
}

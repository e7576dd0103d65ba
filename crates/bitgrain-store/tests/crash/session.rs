//! A store on a simulated disk together with its model: operations, acknowledgments and possible contents.

use std::sync::Arc;

use bitgrain_store::policy::{AbsentRule, PolicyConfig};
use bitgrain_store::storage::Storage;
use bitgrain_store::storage::simulated::{Counted, Fault, FaultPlan, Journal, SimulatedDisk};
use bitgrain_store::{Clock, SimulatedClock, StoreConfig, StoreError, SyncMode, TensorId, TensorStore};

use crate::execute::{brief, execute};
use crate::mutant::{Mutant, MutantDisk};
use crate::script::Op;
use crate::view::View;
use crate::world::{Version, World};

/// Settings for opening the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) sync: SyncMode,
    pub(crate) segment_bytes: u64,
    pub(crate) mutant: Option<Mutant>,
}

/// An operation that ran: its part of the journal, and the possible contents during and after it.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) what: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) during: Arc<[World]>,
    pub(crate) after: Arc<[World]>,
    /// True if everything before it is durable in any mode.
    pub(crate) durable: bool,
}

/// A store that is open, or was open until its process was killed.
pub(crate) struct Session {
    pub(crate) disk: SimulatedDisk,
    pub(crate) settings: Settings,
    store: Option<TensorStore>,
    clock: Arc<SimulatedClock>,
    worlds: Arc<[World]>,
    steps: Vec<Step>,
    /// Segments that had no index when the session began.
    scanned: Vec<String>,
}

impl Session {
    /// Opens the store on `disk`, which may hold any of `worlds`, and reads all of it.
    ///
    /// # Errors
    /// Returns the reason if it does not open, or if its content does not match any of `worlds`.
    pub(crate) fn open(
        disk: SimulatedDisk,
        settings: Settings,
        worlds: Arc<[World]>,
        now: u64,
    ) -> Result<Self, String> {
        let clock = Arc::new(SimulatedClock::new(now));
        let mut session = Self { disk, settings, store: None, clock, worlds, steps: Vec::new(), scanned: Vec::new() };
        session.start().map_err(|error| format!("the store does not open: {error}"))?;
        session.settle()?;
        let report = session.store().recovery();
        if !report.damages.is_empty() || report.tensors != session.worlds[0].0.len() {
            return Err(format!("the report is not true: {report:?}"));
        }
        session.scanned = report.scanned.clone();
        Ok(session)
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    pub(crate) fn store(&self) -> &TensorStore {
        self.store.as_ref().expect("the store is open")
    }

    pub(crate) fn is_open(&self) -> bool {
        self.store.is_some()
    }

    /// Reads the whole store; reads must work even after a failed write.
    ///
    /// # Errors
    /// Returns the reason if its content does not match any possible world.
    pub(crate) fn readable(&self) -> Result<(), String> {
        let view = View::of(self.store()).map_err(|error| format!("a read failed: {error}"))?;
        view.find(&self.worlds).map(drop)
    }

    pub(crate) fn worlds(&self) -> &Arc<[World]> {
        &self.worlds
    }

    pub(crate) fn journal(&self) -> Journal {
        self.disk.journal()
    }

    /// Ends the session and returns its operations, for crashes in the middle of them.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        // Writes during shutdown do not count.
        let _dead = self.disk.kill();
        self.steps
    }

    /// Runs `ops`, then compares the store with the model.
    ///
    /// # Errors
    /// Returns an unjustified error of the store, or the mismatch with the model.
    pub(crate) fn run_all(&mut self, ops: &[Op]) -> Result<(), String> {
        for op in ops {
            if let Err(error) = self.run(op)? {
                return Err(format!("{op:?}: {error}, without a reason"));
            }
        }
        self.settle()
    }

    /// Runs `op`. An operation that is impossible for a missing id or a kind of tensor is not an error.
    ///
    /// # Errors
    /// Outer: the violation; inner: the error of the store, after which the operation may or may not have been applied.
    pub(crate) fn run(&mut self, op: &Op) -> Result<Result<(), StoreError>, String> {
        let from = self.disk.done();
        let before = Arc::clone(&self.worlds);
        let result = match op {
            Op::Kill => self.restart(false),
            Op::Reopen => self.restart(true),
            _ => {
                if let Op::Tick { later } = op {
                    self.clock.set(self.now() + *later);
                }
                execute(self.store(), op, self.now())
            }
        };
        if matches!(op, Op::Reopen) && result.is_ok() && self.disk.hits() == 0 {
            self.check_clean()?;
        }
        let to = self.disk.done();
        let result = match result {
            Err(error) if from == to && is_refusal(&error) => Ok(()),
            result => {
                let acknowledged = result.is_ok();
                if acknowledged || from != to {
                    let after = before.iter().map(|world| self.applied(world, op, acknowledged));
                    self.worlds = after.collect::<Result<_, _>>()?;
                }
                result
            }
        };
        let during: Arc<[World]> = match op {
            // Not atomic: some tensors have changed, others have not.
            Op::Tick { .. } => before.iter().zip(&*self.worlds).map(|(old, new)| old.or(new)).collect(),
            _ => before.iter().chain(&*self.worlds).cloned().collect(),
        };
        if result.is_err() && from != to {
            self.worlds = Arc::clone(&during);
        }
        let durable = matches!(op, Op::Flush | Op::Reopen) && result.is_ok();
        let what = brief(op, result.as_ref().err());
        self.steps.push(Step { what, from, to, during, after: Arc::clone(&self.worlds), durable });
        // A write after a failed one replaced it in the log, so the current contents are final.
        let wrote = matches!(op, Op::Put(_) | Op::Append { .. } | Op::Batch(_) | Op::Delete { .. });
        if result.is_ok() && !self.is_certain() && (wrote && from != to || matches!(op, Op::Kill | Op::Reopen)) {
            self.settle()?;
        }
        Ok(result)
    }

    /// Kills the process after `changes` more disk changes, in the middle of `op`, and reopens the store.
    ///
    /// # Errors
    /// Returns the violation found in the reopened store.
    pub(crate) fn killed_in(&mut self, op: &Op, changes: usize) -> Result<(), String> {
        let at = self.disk.operations(Counted::Changes) + changes;
        self.disk.plan(FaultPlan { fault: Fault::Killed, counted: Counted::Changes, at, lasting: true });
        let ran = self.run(op);
        self.disk.heal();
        ran?.ok();
        self.run(&Op::Kill)?.map_err(|error| format!("the store does not open after a kill: {error}"))?;
        self.settle()
    }

    /// Reads the whole store; its contents become the only possible ones.
    ///
    /// # Errors
    /// Returns the reason if its content does not match any possible world.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let view = View::of(self.store()).map_err(|error| format!("a read failed: {error}"))?;
        let mut found = view.find(&self.worlds)?;
        self.record(&mut found)?;
        self.worlds = [found].into();
        if let Some(step) = self.steps.last_mut() {
            step.after = Arc::clone(&self.worlds);
        }
        Ok(())
    }

    /// Returns whether the contents of the store are certain.
    fn is_certain(&self) -> bool {
        self.worlds.len() == 1 && self.worlds[0].0.values().all(|versions| versions.len() == 1)
    }

    /// Checks that a cleanly closed store needs no repair. An index that was lost in an earlier session stays lost.
    fn check_clean(&self) -> Result<(), String> {
        let mut report = self.store().recovery().clone();
        report.scanned.retain(|name| !self.scanned.contains(name));
        if report.is_clean() { Ok(()) } else { Err(format!("closed in order, but repaired: {report:?}")) }
    }

    fn config(&self) -> StoreConfig {
        let early = self.settings.mutant == Some(Mutant::EarlyAcknowledgement);
        let sync = if early { SyncMode::OnSeal } else { self.settings.sync };
        StoreConfig {
            sync,
            segment_bytes: self.settings.segment_bytes,
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            // Evict data as well, because a crash must not leave an eviction half done.
            policy: PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() },
            ..StoreConfig::default()
        }
    }

    /// Returns the disk, with the deliberate fault if one is set.
    fn storage(&self) -> Arc<dyn Storage> {
        let disk = self.disk.clone();
        match self.settings.mutant {
            Some(mutant) => Arc::new(MutantDisk::new(disk, mutant)),
            None => Arc::new(disk),
        }
    }

    fn start(&mut self) -> Result<(), StoreError> {
        let from = self.disk.done();
        let opened = TensorStore::open_on(self.storage(), self.config());
        let (to, worlds) = (self.disk.done(), &self.worlds);
        let (during, after) = (Arc::clone(worlds), Arc::clone(worlds));
        self.steps.push(Step { what: "open".into(), from, to, during, after, durable: false });
        self.store = Some(opened?);
        Ok(())
    }

    fn restart(&mut self, orderly: bool) -> Result<(), StoreError> {
        if let Some(store) = self.store.take_if(|_| orderly) {
            store.close()?;
        }
        self.disk = self.disk.kill();
        self.store = None;
        self.start()
    }

    /// Applies `op` to `world`, with the metadata of the store if the operation was acknowledged.
    fn applied(&self, world: &World, op: &Op, acknowledged: bool) -> Result<World, String> {
        let mut after = world.after(op);
        // Only with a single world: with several, it is unknown which one is the actual one.
        let known = acknowledged && self.is_certain();
        if let Op::Tick { .. } = op {
            for id in world.0.keys() {
                self.retiered(&mut after, id, known)?;
            }
        }
        if known {
            self.record(&mut after)?;
        }
        Ok(after)
    }

    /// Fills in the accuracy that the store recorded for new data.
    fn record(&self, world: &mut World) -> Result<(), String> {
        for (id, versions) in &mut world.0 {
            let Some(version) = versions.last_mut() else { continue };
            if version.parts.iter().all(|part| part.recorded.is_some()) {
                continue;
            }
            let wrong = |error: StoreError| format!("{id} was acknowledged and cannot be read: {error}");
            let meta = self.store().meta(id).map_err(wrong)?;
            let parts = View::parts(self.store(), &meta).map_err(wrong)?;
            let version = Arc::make_mut(version);
            for (part, read) in version.parts.iter_mut().zip(parts).filter(|(part, _)| part.recorded.is_none()) {
                part.recorded = read.recorded;
            }
        }
        Ok(())
    }

    /// Returns the provenance of a tensor after a tick, without reading the tensor, because reads count as use.
    fn retiered(&self, world: &mut World, id: &TensorId, known: bool) -> Result<(), String> {
        let Some(old) = world.version(id) else { return Ok(()) };
        if old.temporal {
            // Runs of frames are moved one by one, so a tick that was interrupted may leave any mixture.
            let mut new = Version::clone(old);
            let frames = if known {
                let read = self.store().snapshot().frames(id, 0..old.parts.len() as u64);
                read.map_err(|error| format!("{id} after a tick: {error}"))?
            } else {
                Vec::new()
            };
            let recorded = frames.iter().map(|frame| Some(frame.provenance.into())).chain(std::iter::repeat(None));
            new.parts.iter_mut().zip(recorded).for_each(|(part, recorded)| part.recorded = recorded);
            if new.parts.iter().zip(&old.parts).any(|(new, old)| new.recorded != old.recorded) {
                world.set(id.clone(), new);
            }
            return Ok(());
        }
        let recorded = if known {
            let meta = self.store().meta(id).map_err(|error| format!("{id} after a tick: {error}"))?;
            Some(meta.provenance.into())
        } else {
            None
        };
        if old.parts[0].recorded != recorded {
            let mut new = Version::clone(old);
            new.parts[0].recorded = recorded;
            world.set(id.clone(), new);
        }
        Ok(())
    }
}

/// Returns whether the store rejected an operation because of its contents; this is expected and changes nothing.
pub(crate) fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NotFound { .. }
            | StoreError::HasDependents { .. }
            | StoreError::ReconstructionDepthExceeded { .. }
            | StoreError::ReconstructionCycle { .. }
    )
}

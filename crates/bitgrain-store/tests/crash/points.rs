//! Crashes after every disk operation of a session, and checks of the remaining store.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bitgrain_store::SyncMode;
use bitgrain_store::storage::simulated::{Dice, Image, Journal, PowerLoss, SimulatedDisk};

use crate::mutant::Mutant;
use crate::script::{Op, script};
use crate::session::{Session, Settings, Step};
use crate::world::World;

/// Number of operations per script.
const SCRIPT: usize = 40;

/// Number of crashes examined, by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(pub(crate) BTreeMap<&'static str, usize>);

impl Tally {
    pub(crate) fn count(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, count)| *self.0.entry(kind).or_default() += count);
    }
}

/// Runs the script of `seed` and crashes it after each disk operation.
///
/// # Errors
/// Returns the first loss and the command that reproduces it.
pub(crate) fn explore(seed: u64, mutant: Option<Mutant>, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 3);
    let sync = if dice.chance(70) { SyncMode::Always } else { SyncMode::OnSeal };
    let settings = Settings { sync, segment_bytes: *dice.pick(&[2_000, 6_000, 40_000]), mutant };
    let ran = quiet(|| live(seed, settings, &mut dice));
    let (journal, steps, now) = ran.map_err(|why| format!("seed {seed}, without a crash: {why} ({settings:?})"))?;
    let story = Story { journal: &journal, steps: &steps, settings, now };
    story.crash_everywhere(seed, tally).map_err(|why| format!("seed {seed}: {why} ({settings:?})"))
}

/// Runs the script of `seed` without power failures, but with kills.
fn live(seed: u64, settings: Settings, dice: &mut Dice) -> Result<(Journal, Vec<Step>, u64), String> {
    let mut session = Session::open(SimulatedDisk::default(), settings, [World::default()].into(), 1_000_000)?;
    for op in script(seed, SCRIPT) {
        if dice.chance(4) && !matches!(op, Op::Kill | Op::Reopen) {
            session.killed_in(&op, dice.below(6))?;
        } else {
            session.run_all(&[op])?;
        }
    }
    let (journal, now) = (session.journal(), session.now());
    Ok((journal, session.into_steps(), now))
}

/// A finished session.
struct Story<'a> {
    journal: &'a Journal,
    steps: &'a [Step],
    settings: Settings,
    now: u64,
}

impl Story<'_> {
    fn crash_everywhere(&self, seed: u64, tally: &mut Tally) -> Result<(), String> {
        let mut walk = self.journal.walk();
        for at in 0..=self.journal.len() {
            walk.forward_to(at);
            let mut dice = Dice::part(seed, 1000 + at as u64);
            let loss = PowerLoss::any(&mut dice);
            let image = walk.power_cut(loss, &mut dice);
            tally.count("power cut");
            self.check(&image, &self.after_power_cut(at), 1, &mut dice, tally)
                .map_err(|why| self.told(at, &format!("power cut, {loss:?}"), &why))?;
            if dice.chance(30) {
                tally.count("kill");
                let image = walk.kill(&mut dice);
                self.check(&image, &self.after_kill(at), 1, &mut dice, tally)
                    .map_err(|why| self.told(at, "kill", &why))?;
            }
        }
        Ok(())
    }

    /// Returns the possible contents if the process ends after operation `at`: every acknowledged write, with or without
    /// the current one.
    fn after_kill(&self, at: usize) -> Arc<[World]> {
        let begun = self.steps.iter().rposition(|step| step.from < at).unwrap_or(0);
        let step = &self.steps[begun];
        if at >= step.to { Arc::clone(&step.after) } else { Arc::clone(&step.during) }
    }

    /// Returns the possible contents if power fails after operation `at`. Without durable writes: the state after any
    /// operation since the last that made everything durable.
    fn after_power_cut(&self, at: usize) -> Arc<[World]> {
        if self.settings.sync == SyncMode::Always {
            return self.after_kill(at);
        }
        let done = self.steps.partition_point(|step| step.to <= at);
        let durable = self.steps[..done].iter().rposition(|step| step.durable).unwrap_or(0);
        let since = self.steps[durable..done].iter().flat_map(|step| step.after.iter().cloned());
        since.chain(self.after_kill(at).iter().cloned()).collect()
    }

    /// Opens the store after a crash, compares it, continues writing, and sometimes crashes again.
    fn check(
        &self,
        image: &Image,
        worlds: &Arc<[World]>,
        depth: u8,
        dice: &mut Dice,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let settings = self.settings;
        let again = quiet(|| {
            let mut session = Session::open(SimulatedDisk::holding(image), settings, Arc::clone(worlds), self.now)?;
            session.run_all(&after(dice))?;
            if dice.chance(20) {
                let report = session.store().verify().map_err(|error| format!("verify: {error}"))?;
                if !report.damages.is_empty() {
                    return Err(format!("verify finds damage that nobody did: {:?}", report.damages));
                }
            }
            let (journal, now) = (session.journal(), session.now());
            Ok((journal, session.into_steps(), now))
        });
        let (journal, steps, now) = again?;
        if depth > 0 && dice.chance(30) && settings.sync == SyncMode::Always {
            let story = Story { journal: &journal, steps: &steps, settings, now };
            let at = dice.below(journal.len() + 1);
            let loss = PowerLoss::any(dice);
            let mut walk = journal.walk();
            walk.forward_to(at);
            tally.count("power cut after a crash");
            let image = walk.power_cut(loss, dice);
            story
                .check(&image, &story.after_power_cut(at), depth - 1, dice, tally)
                .map_err(|why| story.told(at, &format!("reopened, then power cut, {loss:?}"), &why))?;
        }
        Ok(())
    }

    fn told(&self, at: usize, crash: &str, why: &str) -> String {
        let begun = self.steps.iter().rposition(|step| step.from < at).unwrap_or(0);
        let steps = &self.steps[begun.saturating_sub(4)..=begun];
        let story: Vec<_> = steps.iter().map(|step| format!("  [{}..{}] {}", step.from, step.to, step.what)).collect();
        let around = (at.saturating_sub(3)..at + 2).map(|index| format!("  {index}: {}", self.journal.describe(index)));
        let around: Vec<_> = around.collect();
        format!(
            "{why}\n{crash}, after {at} operations of the disk, step {begun}:\n{}\nthe disk:\n{}\n",
            story.join("\n"),
            around.join("\n")
        )
    }
}

/// Number of operations on a store after a crash.
fn after(dice: &mut Dice) -> Vec<Op> {
    let mut ops = script(dice.roll(), 2);
    ops.push(Op::Kill);
    ops
}

/// Runs `work` and converts a panic to an error.
pub(crate) fn quiet<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

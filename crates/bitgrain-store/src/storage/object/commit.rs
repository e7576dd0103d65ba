//! Commits: the next numbered catalog, put under a condition.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant, SystemTime};

use bitgrain_formats::segment::Catalog;

use super::ObjectError;
use super::folder::{Shared, catalog_key, catalog_numbers, encode, epoch_at, now, put_catalog, superseded};

/// Time without a commit after which a writer lists the catalogs before it commits. Catalogs of other writers may have
/// been deleted since, and with them the obstacle to a put under an old number.
const IDLE: Duration = Duration::from_secs(600);

/// State of the commits of a folder.
pub(super) struct Commits {
    /// Number of the current catalog.
    pub(super) number: u64,
    pub(super) epoch: u64,
    /// Version of the folder that the current catalog contains.
    version: u64,
    /// Numbers of this writer's earlier catalogs.
    pub(super) old: Vec<u64>,
    /// Objects that the current catalog lists as dead.
    pub(super) dead: HashSet<([u8; 16], u64)>,
    /// Time of the last commit, by two clocks: one may stop while the system sleeps, the other may be set back.
    last: (Instant, SystemTime),
    failure: Option<Failure>,
}

/// Reason why no commit is possible any more.
#[derive(Debug, Clone)]
enum Failure {
    /// Another writer has the right to commit.
    Superseded(u64),
    /// It is unknown whether the last commit took effect.
    Unknown(ObjectError),
}

impl Commits {
    pub(super) fn new(number: u64, epoch: u64) -> Self {
        let last = (Instant::now(), SystemTime::now());
        Self { number, epoch, version: 0, old: Vec::new(), dead: HashSet::new(), last, failure: None }
    }

    fn is_idle(&self) -> bool {
        // A clock that was set back proves nothing, so it counts as idle.
        self.last.0.elapsed() > IDLE || self.last.1.elapsed().map_or(true, |elapsed| elapsed > IDLE)
    }
}

impl Shared {
    /// Makes all synced changes durable with one put, unless an earlier commit contains them.
    pub(super) fn commit(&self) -> io::Result<()> {
        let writer = self.writer()?;
        let mut commits = self.commits();
        self.commit_with(&mut commits, writer)
    }

    fn commit_with(&self, commits: &mut Commits, writer: [u8; 16]) -> io::Result<()> {
        match &commits.failure {
            Some(Failure::Superseded(epoch)) => return Err(superseded(*epoch)),
            Some(Failure::Unknown(error)) => return Err(error.clone().into()),
            None => {}
        }
        // Read before the content, so that later changes are committed again rather than forgotten.
        let version = self.version.load(SeqCst);
        if version == commits.version {
            return Ok(());
        }
        let state = self.state();
        let catalog = Catalog {
            number: commits.number + 1,
            epoch: commits.epoch,
            writer,
            time: now(),
            files: state.files.values().map(|file| file.entry()).collect(),
            dead: state.dead.iter().map(|dead| dead.object.clone()).collect(),
            fences: state.fences.clone(),
        };
        drop(state);
        let (bytes, key) = (encode(&catalog)?, catalog_key(catalog.number));
        let put = match self.newer_epoch(commits) {
            Ok(Some(epoch)) => return Err(self.stop(commits, Failure::Superseded(epoch))),
            Ok(None) => put_catalog(&self.objects, &self.config, &key, &bytes),
            Err(error) => Err(error),
        };
        match put {
            Ok(()) => {}
            Err(ObjectError::AlreadyExists) => {
                let epoch = epoch_at(&self.objects, catalog.number).unwrap_or(commits.epoch + 1);
                return Err(self.stop(commits, Failure::Superseded(epoch)));
            }
            Err(error) => return Err(self.stop(commits, Failure::Unknown(error))),
        }
        if !catalog.fences.iter().any(|fence| fence.number == commits.number) {
            commits.old.push(commits.number);
        }
        commits.number = catalog.number;
        commits.version = version;
        commits.last = (Instant::now(), SystemTime::now());
        commits.dead = catalog.dead.iter().map(|dead| (dead.writer, dead.count)).collect();
        self.collect(commits, false);
        Ok(())
    }

    /// Commits the last changes of names and deletes leftovers, when the folder is closed.
    pub(super) fn finish(&self) {
        let Ok(writer) = self.writer() else { return };
        let mut commits = self.commits();
        if self.commit_with(&mut commits, writer).is_ok() {
            self.collect(&mut commits, true);
        }
    }

    /// Returns the epoch of a newer catalog, which is only looked for after a long pause.
    fn newer_epoch(&self, commits: &Commits) -> Result<Option<u64>, ObjectError> {
        if !commits.is_idle() {
            return Ok(None);
        }
        let newest = catalog_numbers(&self.objects)?.into_iter().max().unwrap_or(0);
        let is_newer = newest > commits.number;
        Ok(is_newer.then(|| epoch_at(&self.objects, newest).unwrap_or(commits.epoch + 1)))
    }

    /// Ends all commits of this writer.
    fn stop(&self, commits: &mut Commits, failure: Failure) -> io::Error {
        commits.failure = Some(failure.clone());
        match failure {
            Failure::Superseded(epoch) => superseded(epoch),
            Failure::Unknown(error) => error.into(),
        }
    }
}

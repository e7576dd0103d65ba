//! Journal of all operations on a disk, and the possible disk contents if power fails after any of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Dice, Image, PowerLoss};

/// A change of a file's content.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// `bytes` were written at `offset`.
    Write { offset: usize, bytes: Arc<[u8]> },
    /// The file was truncated, or extended with zeros, to `len` bytes.
    Cut { len: usize },
}

/// Outcome of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Everything before it is durable.
    Durable,
    /// It failed: changes of the file that were not durable may never become durable, even if a later sync succeeds.
    Failed,
    /// It reported success but did nothing.
    Lied,
}

/// One operation. Files are identified by number, because a name can be reused.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Create { name: Arc<str>, file: usize },
    Remove { name: Arc<str> },
    Change { file: usize, change: Change },
    SyncFile { file: usize, outcome: Outcome },
    SyncFolder { outcome: Outcome },
}

/// All operations on a disk since [`Journal::start`].
#[derive(Debug, Clone)]
pub struct Journal {
    pub(super) start: Image,
    pub(super) entries: Vec<Entry>,
}

impl Journal {
    /// Returns the number of operations that changed or synced something.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the journal is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the content of the disk before the first operation.
    #[must_use]
    pub fn start(&self) -> &Image {
        &self.start
    }

    /// Returns a view of the disk before the first operation, which can be moved forward.
    #[must_use]
    pub fn walk(&self) -> Walk<'_> {
        let mut walk = Walk { journal: self, at: 0, files: Vec::new(), names: BTreeMap::new(), renamed: Vec::new() };
        for (name, bytes) in &self.start.0 {
            walk.names.insert(Arc::clone(name), walk.files.len());
            walk.files.push(File { durable: Arc::clone(bytes), ..File::default() });
        }
        walk
    }

    /// Describes the operation at `index`, for test reports.
    #[must_use]
    pub fn describe(&self, index: usize) -> String {
        match self.entries.get(index) {
            None => "the end".into(),
            Some(Entry::Create { name, file }) => format!("create {name} as file {file}"),
            Some(Entry::Remove { name }) => format!("remove {name}"),
            Some(Entry::Change { file, change: Change::Write { offset, bytes } }) => {
                format!("write {} bytes at {offset} of file {file}", bytes.len())
            }
            Some(Entry::Change { file, change: Change::Cut { len } }) => format!("cut file {file} to {len} bytes"),
            Some(Entry::SyncFile { file, outcome }) => format!("sync file {file}: {outcome:?}"),
            Some(Entry::SyncFolder { outcome }) => format!("sync folder: {outcome:?}"),
        }
    }
}

/// A file at one point of a walk. Changes whose sync failed come before the others.
#[derive(Debug, Clone, Default)]
struct File {
    durable: Arc<Vec<u8>>,
    doubtful: Vec<Change>,
    pending: Vec<Change>,
}

/// A change of names: the new file of a name, or `None`.
type Renamed = (Arc<str>, Option<usize>);

/// State of a disk after the first operations of a [`Journal`].
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    journal: &'a Journal,
    at: usize,
    files: Vec<File>,
    names: BTreeMap<Arc<str>, usize>,
    renamed: Vec<Renamed>,
}

impl Walk<'_> {
    /// Returns the number of operations applied so far.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Applies the operations up to `index`, or all of them if there are fewer.
    pub fn forward_to(&mut self, index: usize) {
        while self.at < index.min(self.journal.len()) {
            self.step(&self.journal.entries[self.at]);
            self.at += 1;
        }
    }

    /// Returns a possible content of the disk if power fails now.
    #[must_use]
    pub fn power_cut(&self, loss: PowerLoss, dice: &mut Dice) -> Image {
        let mut names = self.names.clone();
        for (name, file) in &self.renamed {
            if loss.keeps_name(dice) {
                match file {
                    Some(file) => names.insert(Arc::clone(name), *file),
                    None => names.remove(name),
                };
            }
        }
        let stale = self.stale();
        let settled = names.into_iter().map(|(name, file)| {
            let File { durable, doubtful, pending } = &self.files[file];
            let changes: Vec<Change> = doubtful.iter().chain(pending).cloned().collect();
            (name, loss.settle(durable, &changes, &stale, dice))
        });
        Image(settled.collect())
    }

    /// Returns the content of the disk if the process is killed now, possibly in the middle of the next write.
    #[must_use]
    pub fn kill(&self, dice: &mut Dice) -> Image {
        let mut next = self.clone();
        if let Some(Entry::Change { file, change: Change::Write { offset, bytes } }) = self.journal.entries.get(self.at)
            && dice.chance(50)
        {
            let bytes = bytes[..dice.below(bytes.len())].into();
            next.files[*file].pending.push(Change::Write { offset: *offset, bytes });
        }
        next.power_cut(PowerLoss::ENDS[0], dice)
    }

    /// Returns the bytes of a deleted file, or of any other file if none was deleted.
    fn stale(&self) -> Arc<Vec<u8>> {
        let named = |at: &usize| self.names.values().any(|file| file == at);
        let unnamed = (0..self.files.len()).find(|at| !named(at) && !self.files[*at].durable.is_empty());
        let any = || self.files.first().map(|file| Arc::clone(&file.durable));
        unnamed.map(|at| Arc::clone(&self.files[at].durable)).or_else(any).unwrap_or_default()
    }

    fn step(&mut self, entry: &Entry) {
        match entry {
            Entry::Create { name, file } => {
                self.files.resize_with(self.files.len().max(file + 1), File::default);
                self.renamed.push((Arc::clone(name), Some(*file)));
            }
            Entry::Remove { name } => self.renamed.push((Arc::clone(name), None)),
            Entry::Change { file, change } => self.files[*file].pending.push(change.clone()),
            Entry::SyncFile { file, outcome: Outcome::Durable } => self.files[*file].settle(),
            Entry::SyncFile { file, outcome: Outcome::Failed } => {
                let file = &mut self.files[*file];
                file.doubtful.append(&mut file.pending);
            }
            Entry::SyncFolder { outcome: Outcome::Durable } => {
                for (name, file) in self.renamed.drain(..) {
                    match file {
                        Some(file) => self.names.insert(name, file),
                        None => self.names.remove(&name),
                    };
                }
            }
            // A later sync of the folder retries: file systems journal their names.
            Entry::SyncFolder { outcome: Outcome::Failed | Outcome::Lied } => {}
            Entry::SyncFile { outcome: Outcome::Lied, .. } => {}
        }
    }
}

impl File {
    /// Makes everything durable except changes whose sync failed; newer bytes at the same place end that uncertainty.
    fn settle(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let bytes = Arc::make_mut(&mut self.durable);
        // The length is written with the newer changes, so earlier truncations are certain now.
        self.doubtful.iter().filter(|old| matches!(old, Change::Cut { .. })).for_each(|cut| cut.apply(bytes));
        self.doubtful.retain(|old| matches!(old, Change::Write { .. }));
        for change in self.pending.drain(..) {
            change.apply(bytes);
            let doubtful = std::mem::take(&mut self.doubtful);
            self.doubtful = doubtful.into_iter().flat_map(|old| old.without(&change)).collect();
        }
    }
}

impl Change {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Cut { len } => content.resize(*len, 0),
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                content.resize(content.len().max(end), 0);
                content[*offset..end].copy_from_slice(bytes);
            }
        }
    }

    /// Returns the parts of an uncertain change that a newer one does not overwrite.
    fn without(self, newer: &Self) -> Vec<Self> {
        let Self::Write { offset, bytes } = &self else {
            return vec![self];
        };
        let part = |range: Range<usize>| {
            let range = range.start.min(bytes.len())..range.end.min(bytes.len());
            (!range.is_empty()).then(|| Self::Write { offset: offset + range.start, bytes: bytes[range].into() })
        };
        match newer {
            Self::Cut { len } => part(0..len.saturating_sub(*offset)).into_iter().collect(),
            Self::Write { offset: from, bytes: new } => {
                let before = part(0..from.saturating_sub(*offset));
                let after = part((from + new.len()).saturating_sub(*offset)..bytes.len());
                before.into_iter().chain(after).collect()
            }
        }
    }
}

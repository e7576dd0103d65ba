//! A disk in memory that loses what a real one may lose, for tests of crashes.
//!
//! [`SimulatedDisk`] is a [`Storage`] that keeps a [`Journal`] of everything done to it. From the journal follows what
//! a disk can hold if the power goes after any operation: of all that was not synced, any part may be there. Content
//! is kept, dropped or torn per write, by bytes or by sectors and in any order; names come and go apart from content;
//! lengths are written apart from bytes; a sync of a file that failed leaves its bytes in doubt for ever. [`PowerLoss`] says which of
//! this happens, [`Dice`] decide the rest, so that a seed repeats a crash. Operations fail on request ([`FaultPlan`]), syncs
//! can lie, bits rot ([`Image::flip`]).
//!
//! ```
//! use bitgrain_store::storage::simulated::{Dice, PowerLoss, SimulatedDisk};
//! use bitgrain_store::storage::Storage;
//!
//! let disk = SimulatedDisk::default();
//! let file = disk.create_new("a")?;
//! file.write_at(0, b"kept")?;
//! file.sync_data()?;
//! disk.sync_folder()?;
//! file.write_at(4, b"lost")?;
//!
//! let journal = disk.journal();
//! let mut walk = journal.walk();
//! walk.forward_to(journal.len());
//! let worst = walk.power_cut(PowerLoss::ENDS[1], &mut Dice::new(1));
//! assert_eq!(worst.file("a"), Some(&b"kept"[..]));
//! assert_eq!(disk.image().file("a"), Some(&b"keptlost"[..])); // as the process saw it
//! # Ok::<(), std::io::Error>(())
//! ```

mod dice;
mod fault;
mod image;
mod journal;
mod loss;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use dice::Dice;
pub use fault::{Counted, Fault, FaultPlan};
pub use image::Image;
pub use journal::{Journal, Walk};
pub use loss::{Fate, Fill, PowerLoss};

use super::{Storage, StorageFile};
use journal::{Change, Entry, Outcome};

/// A disk in memory, as one process sees it. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    disk: Arc<Mutex<Disk>>,
    process: usize,
}

#[derive(Debug, Default)]
struct Disk {
    start: Image,
    entries: Vec<Entry>,
    names: BTreeMap<Arc<str>, usize>,
    /// As the process sees them, by number.
    files: Vec<Arc<Vec<u8>>>,
    /// The only process whose operations count.
    process: usize,
    changes: usize,
    reads: usize,
    plan: Option<FaultPlan>,
    hits: usize,
    lies: bool,
    /// How long a sync of a file takes.
    slow: Duration,
    /// Bytes that fit.
    capacity: Option<u64>,
    dice: Option<Dice>,
}

impl SimulatedDisk {
    /// A disk that holds `image`, all of it durable.
    #[must_use]
    pub fn holding(image: &Image) -> Self {
        let names = image.0.keys().enumerate().map(|(file, name)| (Arc::clone(name), file)).collect();
        let files = image.0.values().map(Arc::clone).collect();
        let disk = Disk { start: image.clone(), names, files, ..Disk::default() };
        Self { disk: Arc::new(Mutex::new(disk)), process: 0 }
    }

    /// Kills the process: its operations fail from now on and do nothing. What it wrote is still there, synced or not,
    /// for the next process, whose disk this returns.
    #[must_use]
    pub fn kill(&self) -> Self {
        let mut disk = self.locked();
        disk.process += 1;
        Self { disk: Arc::clone(&self.disk), process: disk.process }
    }

    /// Lets operations fail; the ones planned before no longer do.
    pub fn plan(&self, plan: FaultPlan) {
        self.locked().plan = Some(plan);
    }

    /// No operation fails any more.
    pub fn heal(&self) {
        self.locked().plan = None;
    }

    /// Operations that failed on purpose so far.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.locked().hits
    }

    /// From now on syncs do nothing and say that all is well, or no longer so.
    pub fn lie(&self, lies: bool) {
        self.locked().lies = lies;
    }

    /// From now on syncs of files take some time, as they do: threads that wait for the disk wait together.
    pub fn slow(&self, sync: Duration) {
        self.locked().slow = sync;
    }

    /// From now on only so many bytes fit; `None` is as many as there are. Files without a name take none.
    pub fn limit(&self, capacity: Option<u64>) {
        self.locked().capacity = capacity;
    }

    /// Bytes of all files.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.locked().used()
    }

    /// Operations so far that were counted, those that failed included.
    #[must_use]
    pub fn operations(&self, counted: Counted) -> usize {
        let disk = self.locked();
        match counted {
            Counted::Changes => disk.changes,
            Counted::Reads => disk.reads,
        }
    }

    /// Length of the journal.
    #[must_use]
    pub fn done(&self) -> usize {
        self.locked().entries.len()
    }

    /// Everything done so far.
    #[must_use]
    pub fn journal(&self) -> Journal {
        let disk = self.locked();
        Journal { start: disk.start.clone(), entries: disk.entries.clone() }
    }

    /// What the process sees now.
    #[must_use]
    pub fn image(&self) -> Image {
        let disk = self.locked();
        Image(disk.names.iter().map(|(name, file)| (Arc::clone(name), Arc::clone(&disk.files[*file]))).collect())
    }

    fn locked(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The disk for an operation of the kind `counted`, and how it is to fail, if it is and leaves traces.
    fn operation(&self, counted: Counted) -> io::Result<(MutexGuard<'_, Disk>, Option<Fault>)> {
        let mut disk = self.locked();
        if disk.process != self.process {
            return Err(Fault::Killed.error());
        }
        let count = if counted == Counted::Reads { &mut disk.reads } else { &mut disk.changes };
        let index = *count;
        *count += 1;
        match disk.plan.filter(|plan| plan.hits(counted, index)).map(|plan| plan.fault) {
            Some(Fault::Killed) => Err(disk.hit(Fault::Killed)),
            fault => Ok((disk, fault)),
        }
    }

    /// The same, for operations that fail without a trace.
    fn plain(&self, counted: Counted, needs_space: bool) -> io::Result<MutexGuard<'_, Disk>> {
        let (mut disk, fault) = self.operation(counted)?;
        match fault.filter(|fault| needs_space || *fault == Fault::Device) {
            None => Ok(disk),
            Some(fault) => Err(disk.hit(fault)),
        }
    }
}

impl Disk {
    fn used(&self) -> u64 {
        self.names.values().map(|file| self.files[*file].len() as u64).sum()
    }

    /// Bytes of a write to `file` at `offset` that fit.
    fn fitting(&self, file: usize, offset: usize, len: usize) -> usize {
        let Some(capacity) = self.capacity else { return len };
        let left =
            capacity.saturating_sub(self.used()).saturating_add(self.files[file].len().saturating_sub(offset) as u64);
        usize::try_from(left).map_or(len, |left| len.min(left))
    }

    fn hit(&mut self, fault: Fault) -> io::Error {
        self.hits += 1;
        fault.error()
    }

    fn change(&mut self, file: usize, change: Change) {
        change.apply(Arc::make_mut(&mut self.files[file]));
        self.entries.push(Entry::Change { file, change });
    }

    /// What a sync comes to.
    fn sync(&mut self, fault: Option<Fault>, entry: impl Fn(Outcome) -> Entry) -> io::Result<()> {
        let outcome = match fault {
            Some(_) => Outcome::Failed,
            None if self.lies => Outcome::Lied,
            None => Outcome::Durable,
        };
        self.entries.push(entry(outcome));
        fault.map_or(Ok(()), |fault| Err(self.hit(fault)))
    }
}

impl Storage for SimulatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let disk = self.plain(Counted::Reads, false)?;
        Ok(disk.names.keys().map(ToString::to_string).collect())
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let mut disk = self.plain(Counted::Changes, true)?;
        if disk.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let (name, file): (Arc<str>, _) = (name.into(), disk.files.len());
        disk.files.push(Arc::default());
        disk.names.insert(Arc::clone(&name), file);
        disk.entries.push(Entry::Create { name, file });
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let disk = self.plain(Counted::Reads, false)?;
        let file = *disk.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        drop(disk);
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.plain(Counted::Changes, false)?;
        let (name, _) = disk.names.remove_entry(name).ok_or(io::ErrorKind::NotFound)?;
        disk.entries.push(Entry::Remove { name });
        Ok(())
    }

    fn available(&self) -> Option<u64> {
        let disk = self.locked();
        disk.capacity.map(|capacity| capacity.saturating_sub(disk.used()))
    }

    fn sync_folder(&self) -> io::Result<()> {
        let (mut disk, fault) = self.operation(Counted::Changes)?;
        let fault = fault.filter(|fault| *fault == Fault::Device);
        disk.sync(fault, |outcome| Entry::SyncFolder { outcome })
    }
}

/// An open file of a [`SimulatedDisk`], which its removal does not close.
#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    file: usize,
}

impl StorageFile for SimulatedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let content = Arc::clone(&self.disk.plain(Counted::Reads, false)?.files[self.file]);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let range = start..start.saturating_add(buffer.len());
        buffer.copy_from_slice(content.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut disk, fault) = self.disk.operation(Counted::Changes)?;
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let written = match fault {
            None => disk.fitting(self.file, offset, bytes.len()),
            Some(_) => disk.dice.get_or_insert(Dice::new(0)).below(bytes.len() + 1),
        };
        if written > 0 {
            disk.change(self.file, Change::Write { offset, bytes: bytes[..written].into() });
        }
        let fault = fault.or_else(|| (written < bytes.len()).then_some(Fault::NoSpace));
        fault.map_or(Ok(()), |fault| Err(disk.hit(fault)))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.plain(Counted::Reads, false)?.files[self.file].len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk.plain(Counted::Changes, false)?;
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        disk.change(self.file, Change::Cut { len });
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let slow = self.disk.locked().slow;
        if !slow.is_zero() {
            thread::sleep(slow);
        }
        let (mut disk, fault) = self.disk.operation(Counted::Changes)?;
        let file = self.file;
        disk.sync(fault, |outcome| Entry::SyncFile { file, outcome })
    }
}

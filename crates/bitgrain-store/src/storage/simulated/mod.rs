//! A simulated disk for crash tests, which loses what a real one may lose.
//!
//! [`SimulatedDisk`] is a [`Storage`] that keeps a [`Journal`] of all operations. The journal determines the possible
//! contents of the disk if power fails after any operation: any part of the unsynced changes may be present. Content
//! is kept, dropped or torn per write, by bytes or by sectors and in any order; names and lengths are written
//! separately from content; after a failed sync of a file, its bytes stay uncertain. [`PowerLoss`] selects the kind of
//! loss and [`Dice`] decide the rest, so that a seed reproduces a crash. Operations can be made to fail
//! ([`FaultPlan`]), syncs to report false success, and bits to flip ([`Image::flip`]).
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
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod hooked;
mod image;
mod journal;
mod loss;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod objects;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use dice::Dice;
pub use fault::{Counted, Fault, FaultPlan};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use hooked::HookedObjects;
pub use image::Image;
pub use journal::{Journal, Walk};
pub use loss::{Fate, Fill, PowerLoss};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use objects::{ObjectFault, ObjectFaults, ObjectImage, SimulatedObjects};

use super::{Storage, StorageFile};
use journal::{Change, Entry, Outcome};

/// A simulated disk, as seen by one process. Clones share the disk.
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
    /// Contents as the process sees them, by file number.
    files: Vec<Arc<Vec<u8>>>,
    /// Number of the process whose operations take effect; others were killed.
    process: usize,
    changes: usize,
    reads: usize,
    plan: Option<FaultPlan>,
    hits: usize,
    lies: bool,
    /// Duration of a file sync.
    slow: Duration,
    /// Capacity in bytes.
    capacity: Option<u64>,
    dice: Option<Dice>,
}

impl SimulatedDisk {
    /// Creates a disk with the content `image`, all of it durable.
    #[must_use]
    pub fn holding(image: &Image) -> Self {
        let names = image.0.keys().enumerate().map(|(file, name)| (Arc::clone(name), file)).collect();
        let files = image.0.values().map(Arc::clone).collect();
        let disk = Disk { start: image.clone(), names, files, ..Disk::default() };
        Self { disk: Arc::new(Mutex::new(disk)), process: 0 }
    }

    /// Kills the process: its operations fail from now on and have no effect. Everything it wrote, synced or not, is
    /// visible to the next process, whose disk is returned.
    #[must_use]
    pub fn kill(&self) -> Self {
        let mut disk = self.locked();
        disk.process += 1;
        Self { disk: Arc::clone(&self.disk), process: disk.process }
    }

    /// Makes operations fail; replaces an earlier plan.
    pub fn plan(&self, plan: FaultPlan) {
        self.locked().plan = Some(plan);
    }

    /// Removes the fault plan.
    pub fn heal(&self) {
        self.locked().plan = None;
    }

    /// Returns the number of injected failures so far.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.locked().hits
    }

    /// Makes syncs do nothing and report success, or work again.
    pub fn lie(&self, lies: bool) {
        self.locked().lies = lies;
    }

    /// Makes file syncs take some time, so that concurrent writers wait together.
    pub fn slow(&self, sync: Duration) {
        self.locked().slow = sync;
    }

    /// Limits the capacity in bytes; `None` is unlimited. Deleted files take no space.
    pub fn limit(&self, capacity: Option<u64>) {
        self.locked().capacity = capacity;
    }

    /// Returns the total size of all files in bytes.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.locked().used()
    }

    /// Returns the number of operations of this kind so far, including failed ones.
    #[must_use]
    pub fn operations(&self, counted: Counted) -> usize {
        let disk = self.locked();
        match counted {
            Counted::Changes => disk.changes,
            Counted::Reads => disk.reads,
        }
    }

    /// Returns the length of the journal.
    #[must_use]
    pub fn done(&self) -> usize {
        self.locked().entries.len()
    }

    /// Returns the journal of all operations so far.
    #[must_use]
    pub fn journal(&self) -> Journal {
        let disk = self.locked();
        Journal { start: disk.start.clone(), entries: disk.entries.clone() }
    }

    /// Returns the content as the process sees it.
    #[must_use]
    pub fn image(&self) -> Image {
        let disk = self.locked();
        Image(disk.names.iter().map(|(name, file)| (Arc::clone(name), Arc::clone(&disk.files[*file]))).collect())
    }

    fn locked(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the disk for an operation of the kind `counted`, and returns the fault to apply if it has a partial
    /// effect.
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

    /// Like [`operation`](Self::operation), for operations that fail without a partial effect.
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

    /// Returns the number of bytes of a write to `file` at `offset` that fit on the disk.
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

    /// Performs a sync and returns its outcome.
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

/// An open file of a [`SimulatedDisk`]; stays open when its name is removed.
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

//! A file: objects with its first bytes, and a buffer with its last ones until it is sealed.

use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use bitgrain_formats::segment::{CatalogFile, DeadObject, ObjectPart};

use super::folder::{DATA, Shared, now};
use super::garbage::Dead;
use crate::storage::StorageFile;

/// Maximum number of bytes of a file that a catalog contains. Longer ends become an object, so that commits stay small.
const TAIL: u64 = 64 << 10;

/// A sealed file is merged into one object if it has more objects than one for each of these bytes.
const PER_OBJECT: u64 = 4 << 20;

/// A file of the folder.
pub(super) struct ObjectFile {
    folder: Weak<Shared>,
    name: String,
    content: RwLock<Content>,
    /// Held while bytes are uploaded.
    uploading: Mutex<()>,
}

/// Content of a file. Positions in order: `start <= uploaded <= synced <= len`.
#[derive(Default)]
struct Content {
    parts: Vec<ObjectPart>,
    /// End of the bytes in `parts`.
    uploaded: u64,
    /// End of the bytes that the next catalog must contain.
    synced: u64,
    /// Bytes from `start` to the end of the file.
    buffer: Vec<u8>,
    start: u64,
    sealed: bool,
}

impl Content {
    fn len(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    /// Returns buffered bytes.
    fn slice(&self, range: Range<u64>) -> &[u8] {
        let at = |offset: u64| usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        &self.buffer[at(range.start)..at(range.end)]
    }
}

impl ObjectFile {
    /// Creates a file that is not in the catalog yet.
    pub(super) fn new(folder: Weak<Shared>, name: &str, buffer: Vec<u8>) -> Arc<Self> {
        let content = RwLock::new(Content { buffer, ..Content::default() });
        Arc::new(Self { folder, name: name.to_owned(), content, uploading: Mutex::default() })
    }

    /// Returns a file of a catalog.
    pub(super) fn of(folder: Weak<Shared>, file: CatalogFile) -> Arc<Self> {
        let CatalogFile { name, sealed, parts, tail: buffer } = file;
        let start = parts.iter().map(|part| part.len).sum();
        let synced = start + buffer.len() as u64;
        let content = RwLock::new(Content { parts, uploaded: start, synced, buffer, start, sealed });
        Arc::new(Self { folder, name, content, uploading: Mutex::default() })
    }

    /// Returns the entry of the next catalog.
    pub(super) fn entry(&self) -> CatalogFile {
        let content = self.content();
        let tail = content.slice(content.uploaded..content.synced).to_vec();
        CatalogFile { name: self.name.clone(), sealed: content.sealed, parts: content.parts.clone(), tail }
    }

    /// Returns the objects of the file, as leftovers from now on.
    pub(super) fn part_objects(&self) -> Vec<DeadObject> {
        self.content().parts.iter().map(|part| self.dead(part)).collect()
    }

    fn dead(&self, part: &ObjectPart) -> DeadObject {
        DeadObject { name: self.name.clone(), writer: part.writer, count: part.count, since: now() }
    }

    fn content(&self) -> RwLockReadGuard<'_, Content> {
        self.content.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn content_mut(&self) -> RwLockWriteGuard<'_, Content> {
        self.content.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self) -> io::Result<Arc<Shared>> {
        self.folder.upgrade().ok_or_else(|| io::Error::other("the store is closed"))
    }

    /// Puts bytes as a new object.
    fn upload(&self, folder: &Shared, bytes: &[u8]) -> io::Result<ObjectPart> {
        let (writer, count) = folder.next_object()?;
        folder.objects.put(&key(&self.name, &writer, count), bytes)?;
        Ok(ObjectPart { writer, count, len: bytes.len() as u64 })
    }

    /// Reads bytes of objects.
    fn fetch(&self, folder: &Shared, parts: &[ObjectPart], offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (mut start, end) = (0, offset + buffer.len() as u64);
        for part in parts {
            let (from, to) = (offset.max(start), end.min(start + part.len));
            if from < to {
                let at = |place: u64| usize::try_from(place - offset).unwrap_or(usize::MAX);
                let (key, out) = (key(&self.name, &part.writer, part.count).into(), &mut buffer[at(from)..at(to)]);
                folder.cache.read(&folder.objects, &key, part.len, from - start, out)?;
            }
            start += part.len;
        }
        if end > start { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Uploads bytes that are too many for a catalog, so that the next catalog contains all bytes so far.
    fn prepare(&self, folder: &Shared) -> io::Result<()> {
        let (uploaded, end, pending) = {
            let content = self.content();
            let (uploaded, end) = (content.uploaded, content.len());
            if content.synced == end && end - uploaded <= TAIL {
                return Ok(());
            }
            let pending = (end - uploaded > TAIL).then(|| content.slice(uploaded..end).to_vec());
            (uploaded, end, pending)
        };
        let part = pending.map(|bytes| self.upload(folder, &bytes)).transpose()?;
        let mut content = self.content_mut();
        if let Some(part) = part {
            content.parts.push(part);
            content.uploaded = uploaded + part.len;
        }
        content.synced = content.synced.max(end);
        drop(content);
        folder.version.fetch_add(1, SeqCst);
        Ok(())
    }

    /// Uploads all bytes, as one object unless the existing ones are large.
    fn prepare_sealed(&self, folder: &Shared) -> io::Result<()> {
        let (mut parts, uploaded, start, rest) = {
            let content = self.content();
            if content.sealed {
                return Ok(());
            }
            (content.parts.clone(), content.uploaded, content.start, content.buffer.clone())
        };
        let len = start + rest.len() as u64;
        let pending = rest.len() - usize::try_from(uploaded - start).unwrap_or(0);
        let mut old = Vec::new();
        if parts.len() as u64 + u64::from(pending > 0) > 1 + len / PER_OBJECT {
            let mut whole = vec![0; usize::try_from(start).map_err(|_| io::ErrorKind::OutOfMemory)?];
            self.fetch(folder, &parts, 0, &mut whole)?;
            whole.extend_from_slice(&rest);
            old = std::mem::replace(&mut parts, vec![self.upload(folder, &whole)?]);
        } else if pending > 0 {
            parts.push(self.upload(folder, &rest[rest.len() - pending..])?);
        }
        let mut content = self.content_mut();
        *content = Content { parts, uploaded: len, synced: len, buffer: Vec::new(), start: len, sealed: true };
        drop(content);
        folder.state().dead.extend(old.iter().map(|part| Dead::of(self.dead(part))));
        folder.version.fetch_add(1, SeqCst);
        Ok(())
    }
}

impl StorageFile for ObjectFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut parts = Vec::new();
        // Twice, because sealing may have replaced the objects in the meantime.
        for _ in 0..2 {
            let content = self.content();
            let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= content.len());
            let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
            let split = usize::try_from(content.start.clamp(offset, end) - offset).unwrap_or(buffer.len());
            let (stored, buffered) = buffer.split_at_mut(split);
            if !buffered.is_empty() {
                buffered.copy_from_slice(content.slice(end - buffered.len() as u64..end));
            }
            if stored.is_empty() {
                return Ok(());
            }
            if parts == content.parts {
                break;
            }
            parts.clone_from(&content.parts);
            drop(content);
            match self.fetch(&*self.folder()?, &parts, offset, stored) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => return done,
            }
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the object was deleted, because a writer replaced it; open the store again",
        ))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.folder()?.writer()?;
        let mut content = self.content_mut();
        if offset != content.len() || content.sealed {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "objects can only be appended to until sealed"));
        }
        content.buffer.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        content.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.content().len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let folder = self.folder()?;
        folder.writer()?;
        let _alone = self.uploading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut content = self.content_mut();
        if len > content.len() || (content.sealed && len < content.len()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "objects can only be truncated until sealed"));
        }
        let mut dropped = Vec::new();
        while content.uploaded > len {
            let Some(last) = content.parts.pop() else { break };
            content.uploaded -= last.len;
            if content.uploaded < len {
                let kept = ObjectPart { len: len - content.uploaded, ..last };
                content.parts.push(kept);
                content.uploaded = len;
            } else {
                dropped.push(last);
            }
        }
        content.synced = content.synced.min(len);
        let kept = len.saturating_sub(content.start);
        content.buffer.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
        content.start = content.start.min(len);
        drop(content);
        folder.state().dead.extend(dropped.iter().map(|part| Dead::of(self.dead(part))));
        folder.version.fetch_add(1, SeqCst);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let folder = self.folder()?;
        {
            let _alone = self.uploading.lock().unwrap_or_else(PoisonError::into_inner);
            self.prepare(&folder)?;
        }
        folder.commit()
    }

    fn seal(&self) -> io::Result<()> {
        let folder = self.folder()?;
        {
            let _alone = self.uploading.lock().unwrap_or_else(PoisonError::into_inner);
            self.prepare_sealed(&folder)?;
        }
        folder.commit()
    }

    /// Objects are durable when a put succeeds.
    fn rewrite(&self, _: Range<u64>) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the key of an object with bytes of a file.
pub(super) fn key(name: &str, writer: &[u8; 16], count: u64) -> String {
    format!("{DATA}/{name}.{:032x}.{count:x}", u128::from_be_bytes(*writer))
}

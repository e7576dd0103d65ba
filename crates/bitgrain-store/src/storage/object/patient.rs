//! Retries of failed requests, with growing delays.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{ObjectError, Objects, RemoteConfig};

/// Maximum factor between the first delay and a later one.
const LONGEST: u32 = 100;

/// Objects whose requests are retried.
#[derive(Clone)]
pub(super) struct Patient {
    objects: Arc<dyn Objects>,
    attempts: u32,
    delay: Duration,
}

impl Patient {
    pub(super) fn new(objects: Arc<dyn Objects>, config: &RemoteConfig) -> Self {
        Self { objects, attempts: config.attempts.max(1), delay: config.delay }
    }

    /// Puts an object under a key that is not taken. After a lost answer, the retry finds the key taken: the object is
    /// read back and compared, so that this writer's own put is recognized.
    ///
    /// # Errors
    /// Returns [`ObjectError::AlreadyExists`] if another object has the key.
    pub(super) fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        match self.retry(|| self.objects.put_new(key, bytes)) {
            Err(ObjectError::AlreadyExists) => {
                // A truncated answer must not be mistaken for the object of another writer.
                let whole = |found: &[u8]| found == bytes || !bytes.starts_with(found);
                match self.get_whole(key, whole) {
                    Ok(found) if found == bytes => Ok(()),
                    Ok(_) | Err(ObjectError::NotFound) => Err(ObjectError::AlreadyExists),
                    Err(error) => Err(error),
                }
            }
            done => done,
        }
    }

    pub(super) fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.retry(|| self.objects.put(key, bytes))
    }

    /// Reads an object, or a range of its bytes. A truncated answer is retried.
    pub(super) fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Vec<u8>, ObjectError> {
        self.retry(|| {
            let found = self.objects.get(key, range.clone())?;
            match &range {
                Some(range) if found.len() as u64 != range.end - range.start => {
                    let (got, want) = (found.len(), range.end - range.start);
                    Err(ObjectError::Failed(format!("{got} of {want} bytes were received")))
                }
                _ => Ok(found),
            }
        })
    }

    /// Reads an object of unknown length; an answer that is not `whole` is retried, and returned at last.
    pub(super) fn get_whole(&self, key: &str, whole: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, ObjectError> {
        for _ in 1..self.attempts {
            let found = self.get(key, None)?;
            if whole(&found) {
                return Ok(found);
            }
        }
        self.get(key, None)
    }

    pub(super) fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError> {
        self.retry(|| self.objects.list(folder))
    }

    /// Deletes objects once: a leftover object is harmless and deleted later.
    pub(super) fn delete(&self, keys: &[String]) -> Result<(), ObjectError> {
        if keys.is_empty() { Ok(()) } else { self.objects.delete(keys) }
    }

    fn retry<T>(&self, request: impl Fn() -> Result<T, ObjectError>) -> Result<T, ObjectError> {
        let mut factor = 1;
        for _ in 1..self.attempts {
            match request() {
                Err(error) if error.is_transient() => {}
                done => return done,
            }
            // Between half and all of the delay, so that several clients do not return at the same time.
            let delay = self.delay * factor;
            let random = RandomState::new().hash_one(factor) % 512;
            thread::sleep(delay / 2 + delay * u32::try_from(random).unwrap_or(0) / 1024);
            factor = (factor * 2).min(LONGEST);
        }
        request()
    }
}

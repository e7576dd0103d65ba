//! Simulated object storage for crash tests: requests fail, answers are lost or truncated, puts arrive late.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::storage::object::{ObjectError, Objects};

/// Objects with a journal of all changes, as seen by one process. Clones share the objects and the process.
#[derive(Debug, Clone)]
pub struct SimulatedObjects {
    server: Arc<Mutex<Server>>,
    process: usize,
}

/// Content of an object store: objects by key.
pub type ObjectImage = BTreeMap<String, Arc<[u8]>>;

/// A fault of object storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFault {
    /// The request has no effect.
    Failed,
    /// The request takes effect, but its answer is lost.
    AnswerLost,
    /// The request takes effect after this many further requests, if it is a put; its answer is lost.
    Late(usize),
    /// The answer is truncated.
    Torn,
    /// The process is killed: this request and all later ones have no effect.
    Killed,
}

/// Faults from request number `at` on.
#[derive(Debug, Clone, Copy)]
pub struct ObjectFaults {
    /// The fault.
    pub fault: ObjectFault,
    /// Number of the first request with the fault, 0-based.
    pub at: usize,
    /// Number of consecutive requests with the fault.
    pub count: usize,
}

/// A change of the objects.
#[derive(Debug, Clone)]
enum Change {
    Put(String, Arc<[u8]>),
    Delete(Vec<String>),
}

/// A put that has not arrived yet: due time, key, bytes, and whether the key must not be taken.
type Late = (usize, String, Arc<[u8]>, bool);

#[derive(Debug)]
struct Server {
    base: ObjectImage,
    objects: ObjectImage,
    /// Changes since `base`; `None` if they are not recorded.
    journal: Option<Vec<Change>>,
    late: Vec<Late>,
    requests: usize,
    process: usize,
    faults: Option<ObjectFaults>,
    hits: usize,
}

impl Default for SimulatedObjects {
    fn default() -> Self {
        Self::holding(ObjectImage::default())
    }
}

impl SimulatedObjects {
    /// Creates object storage with this content.
    #[must_use]
    pub fn holding(image: ObjectImage) -> Self {
        Self::new(image, Some(Vec::new()))
    }

    /// Creates object storage with this content and without a journal, for long runs.
    #[must_use]
    pub fn unrecorded(image: ObjectImage) -> Self {
        Self::new(image, None)
    }

    fn new(objects: ObjectImage, journal: Option<Vec<Change>>) -> Self {
        let base = if journal.is_some() { objects.clone() } else { ObjectImage::default() };
        let (late, faults) = (Vec::new(), None);
        let server = Server { base, objects, journal, late, requests: 0, process: 0, faults, hits: 0 };
        Self { server: Arc::new(Mutex::new(server)), process: 0 }
    }

    /// Ends the process, and returns the content at that moment.
    #[must_use]
    pub fn end(&self) -> ObjectImage {
        let mut server = self.server();
        server.process += 1;
        server.objects.clone()
    }

    /// Sets the faults of the next requests.
    pub fn plan(&self, faults: ObjectFaults) {
        self.server().faults = Some(faults);
    }

    /// Ends all faults; late puts arrive now.
    pub fn heal(&self) {
        let mut server = self.server();
        server.faults = None;
        server.arrive(usize::MAX);
    }

    /// Ends the process: its requests have no effect any more. Returns the objects for the next process.
    #[must_use]
    pub fn kill(&self) -> Self {
        let mut server = self.server();
        server.process += 1;
        Self { server: Arc::clone(&self.server), process: server.process }
    }

    /// Returns the number of requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.server().requests
    }

    /// Returns the number of requests that had a fault.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.server().hits
    }

    /// Returns the number of changes.
    #[must_use]
    pub fn done(&self) -> usize {
        self.server().journal.as_ref().map_or(0, Vec::len)
    }

    /// Returns the content after the first `done` changes.
    #[must_use]
    pub fn image(&self, done: usize) -> ObjectImage {
        let server = self.server();
        let mut image = server.base.clone();
        let journal = server.journal.iter().flatten();
        journal.take(done).for_each(|change| change.apply(&mut image));
        image
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a request with the fault that is planned for it.
    fn request<T>(
        &self,
        late: Option<(&str, &[u8], bool)>,
        work: impl FnOnce(&mut Server) -> Result<T, ObjectError>,
        tear: impl FnOnce(T) -> T,
    ) -> Result<T, ObjectError> {
        let mut server = self.server();
        let lost = |what: &str| Err(ObjectError::Failed(what.to_owned()));
        if server.process != self.process {
            return lost("the process was killed");
        }
        let number = server.requests;
        server.requests += 1;
        server.arrive(number);
        let planned = server.faults.filter(|faults| (faults.at..faults.at + faults.count).contains(&number));
        let Some(ObjectFaults { fault, .. }) = planned else { return work(&mut server) };
        server.hits += 1;
        match (fault, late) {
            (ObjectFault::Killed, _) => {
                server.process += 1;
                lost("the process was killed")
            }
            (ObjectFault::Late(requests), Some((key, bytes, new))) => {
                server.late.push((number + requests, key.to_owned(), bytes.into(), new));
                lost("the answer is late")
            }
            (ObjectFault::Failed | ObjectFault::Late(_), _) => lost("the request failed"),
            (ObjectFault::AnswerLost, _) => {
                let _ = work(&mut server);
                lost("the answer was lost")
            }
            (ObjectFault::Torn, _) => work(&mut server).map(tear),
        }
    }
}

impl Server {
    /// Applies late puts that are due.
    fn arrive(&mut self, now: usize) {
        for (_, key, bytes, new) in self.late.extract_if(.., |(due, ..)| *due <= now).collect::<Vec<_>>() {
            let _ = self.put(&key, &bytes, new);
        }
    }

    fn put(&mut self, key: &str, bytes: &[u8], new: bool) -> Result<(), ObjectError> {
        if new && self.objects.contains_key(key) {
            return Err(ObjectError::AlreadyExists);
        }
        self.change(Change::Put(key.to_owned(), bytes.into()));
        Ok(())
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.objects);
        self.journal.iter_mut().for_each(|journal| journal.push(change.clone()));
    }
}

impl Change {
    fn apply(&self, image: &mut ObjectImage) {
        match self {
            Self::Put(key, bytes) => drop(image.insert(key.clone(), Arc::clone(bytes))),
            Self::Delete(keys) => keys.iter().for_each(|key| drop(image.remove(key))),
        }
    }
}

impl Objects for SimulatedObjects {
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.request(Some((key, bytes, true)), |server| server.put(key, bytes, true), |done| done)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.request(Some((key, bytes, false)), |server| server.put(key, bytes, false), |done| done)
    }

    fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Vec<u8>, ObjectError> {
        let work = |server: &mut Server| {
            let bytes = server.objects.get(key).ok_or(ObjectError::NotFound)?;
            let at = |offset: u64| usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
            let range = range.map_or(0..bytes.len(), |range| at(range.start)..at(range.end));
            Ok(bytes[range].to_vec())
        };
        self.request(None, work, |mut bytes| {
            bytes.truncate(bytes.len() / 2);
            bytes
        })
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError> {
        let inside = |key: &&String| folder.is_empty() || key.strip_prefix(folder).is_some_and(|k| k.starts_with('/'));
        let work = |server: &mut Server| Ok(server.objects.keys().filter(inside).cloned().collect());
        self.request(None, work, |keys: Vec<String>| keys)
    }

    fn delete(&self, keys: &[String]) -> Result<(), ObjectError> {
        let work = |server: &mut Server| {
            server.change(Change::Delete(keys.to_vec()));
            Ok(())
        };
        self.request(None, work, |done| done)
    }
}

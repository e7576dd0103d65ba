//! `HookedObjects`: object storage with single operations replaced or observed, for tests of servers that misbehave.

use std::ops::Range;
use std::sync::Arc;

use crate::storage::object::{ObjectError, Objects};

type Put = dyn Fn(&dyn Objects, &str, &[u8]) -> Result<(), ObjectError> + Send + Sync;
type Observe = dyn Fn(&dyn Objects, &str) + Send + Sync;

/// Objects whose other operations are those of the objects below.
pub struct HookedObjects {
    objects: Arc<dyn Objects>,
    put_new: Option<Box<Put>>,
    put: Option<Box<Put>>,
    after_get: Option<Box<Observe>>,
    before_list: Option<Box<Observe>>,
}

impl HookedObjects {
    /// Wraps objects without changing an operation.
    #[must_use]
    pub fn new(objects: impl Objects + 'static) -> Self {
        Self { objects: Arc::new(objects), put_new: None, put: None, after_get: None, before_list: None }
    }

    /// Replaces puts under keys that are not taken.
    #[must_use]
    pub fn with_put_new(
        self,
        put: impl Fn(&dyn Objects, &str, &[u8]) -> Result<(), ObjectError> + Send + Sync + 'static,
    ) -> Self {
        Self { put_new: Some(Box::new(put)), ..self }
    }

    /// Replaces unconditional puts.
    #[must_use]
    pub fn with_put(
        self,
        put: impl Fn(&dyn Objects, &str, &[u8]) -> Result<(), ObjectError> + Send + Sync + 'static,
    ) -> Self {
        Self { put: Some(Box::new(put)), ..self }
    }

    /// Calls `hook` with the key after an object was read, before the answer is returned.
    #[must_use]
    pub fn with_after_get(self, hook: impl Fn(&dyn Objects, &str) + Send + Sync + 'static) -> Self {
        Self { after_get: Some(Box::new(hook)), ..self }
    }

    /// Calls `hook` with the folder before keys are listed.
    #[must_use]
    pub fn with_before_list(self, hook: impl Fn(&dyn Objects, &str) + Send + Sync + 'static) -> Self {
        Self { before_list: Some(Box::new(hook)), ..self }
    }
}

impl std::fmt::Debug for HookedObjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookedObjects").finish_non_exhaustive()
    }
}

impl Objects for HookedObjects {
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        match &self.put_new {
            Some(put) => put(&*self.objects, key, bytes),
            None => self.objects.put_new(key, bytes),
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        match &self.put {
            Some(put) => put(&*self.objects, key, bytes),
            None => self.objects.put(key, bytes),
        }
    }

    fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Vec<u8>, ObjectError> {
        let found = self.objects.get(key, range);
        if let Some(hook) = &self.after_get {
            hook(&*self.objects, key);
        }
        found
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError> {
        if let Some(hook) = &self.before_list {
            hook(&*self.objects, folder);
        }
        self.objects.list(folder)
    }

    fn delete(&self, keys: &[String]) -> Result<(), ObjectError> {
        self.objects.delete(keys)
    }
}

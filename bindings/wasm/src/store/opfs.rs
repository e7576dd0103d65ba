//! Files of a store in the browser's private file system.
//!
//! A store creates files while it works, but browsers open files only asynchronously. A [`Pool`] therefore opens some files
//! in advance, its slots, and gives them names as the store needs them: each slot starts with a head that holds its name.
//! Slots are opened exclusively, so one store cannot be open in two pages.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bitgrain::kernels::{Backend, crc32c};
use bitgrain::store::storage::{Storage, StorageFile};
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::error::{Result, js};

#[wasm_bindgen]
extern "C" {
    /// A folder.
    type Folder;

    #[wasm_bindgen(method, js_name = getDirectoryHandle)]
    fn folder(this: &Folder, name: &str, options: &JsValue) -> Promise;

    #[wasm_bindgen(method, js_name = getFileHandle)]
    fn file(this: &Folder, name: &str, options: &JsValue) -> Promise;

    /// A file that is not open.
    type Closed;

    #[wasm_bindgen(method, js_name = createSyncAccessHandle, catch)]
    fn open(this: &Closed) -> Result<Promise>;

    /// An open file.
    #[derive(Clone)]
    type Handle;

    #[wasm_bindgen(method, catch)]
    fn read(this: &Handle, buffer: &mut [u8], options: &JsValue) -> Result<f64>;

    #[wasm_bindgen(method, catch)]
    fn write(this: &Handle, buffer: &[u8], options: &JsValue) -> Result<f64>;

    #[wasm_bindgen(method, catch)]
    fn truncate(this: &Handle, len: f64) -> Result<()>;

    #[wasm_bindgen(method, catch, js_name = getSize)]
    fn size(this: &Handle) -> Result<f64>;

    #[wasm_bindgen(method, catch)]
    fn flush(this: &Handle) -> Result<()>;

    #[wasm_bindgen(method)]
    fn close(this: &Handle);
}

thread_local! {
    /// Open files. The engine moves its files between threads, which JavaScript values cannot do, so files hold an index.
    static HANDLES: RefCell<Vec<Option<Handle>>> = const { RefCell::new(Vec::new()) };
}

/// Size of the head of a slot in bytes: magic number, length of the name, name, checksum.
const HEAD: usize = 512;
const MAGIC: [u8; 8] = *b"BGSLOT\0\x01";
/// Maximum length of a name in bytes.
const MAX_NAME: usize = HEAD - MAGIC.len() - 2 - 4;

/// A folder of slots.
pub(super) struct Pool {
    folder: Folder,
    slots: Arc<Slots>,
}

/// The slots, as the store sees them.
struct Slots(Mutex<Vec<Slot>>);

struct Slot {
    handle: usize,
    name: Option<String>,
    /// The open file, if any: it stays readable after its name was removed, so its slot must not be used again.
    file: Weak<SlotFile>,
}

struct SlotFile(usize);

impl Pool {
    /// Opens the folder `name` and all its slots, of which there are at least `count` then.
    pub(super) async fn open(name: &str, count: u32) -> Result<Self> {
        let create = options("create", &JsValue::TRUE)?;
        let root = JsFuture::from(root()?).await?.unchecked_into::<Folder>();
        let folder = JsFuture::from(root.folder(name, &create)).await?.unchecked_into::<Folder>();
        let pool = Self { folder, slots: Arc::new(Slots(Mutex::default())) };
        // Slots are numbered without gaps, and none is ever removed.
        let existing = pool.count().await?;
        pool.reserve(existing.max(count)).await?;
        Ok(pool)
    }

    /// Returns the files of the pool for a store.
    pub(super) fn storage(&self) -> Arc<dyn Storage> {
        Arc::clone(&self.slots) as Arc<dyn Storage>
    }

    /// Adds slots until there are `count`.
    pub(super) async fn reserve(&self, count: u32) -> Result<()> {
        let create = options("create", &JsValue::TRUE)?;
        loop {
            let number = self.slots.all().len();
            if number >= count as usize {
                return Ok(());
            }
            let file = JsFuture::from(self.folder.file(&number.to_string(), &create)).await?.unchecked_into::<Closed>();
            let opened =
                JsFuture::from(file.open().map_err(|_| js("the private file system is open to workers only"))?).await;
            let handle = opened
                .map_err(|cause| js(format!("cannot open the store: {}; close it in other pages", text(&cause))))?;
            let handle = keep(handle.unchecked_into());
            let name = name_of(handle).map_err(js)?;
            self.slots.all().push(Slot { handle, name, file: Weak::new() });
        }
    }

    /// Returns the number of slots in the folder.
    async fn count(&self) -> Result<u32> {
        let keep = options("create", &JsValue::FALSE)?;
        let mut count = 0;
        while JsFuture::from(self.folder.file(&count.to_string(), &keep)).await.is_ok() {
            count += 1;
        }
        Ok(count)
    }
}

/// Closes all slots.
impl Drop for Pool {
    fn drop(&mut self) {
        for slot in self.slots.all().drain(..) {
            if let Some(handle) = HANDLES.with_borrow_mut(|all| all.get_mut(slot.handle).and_then(Option::take)) {
                handle.close();
            }
        }
    }
}

impl Slots {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Slots {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.all().iter().filter_map(|slot| slot.name.clone()).collect())
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let mut slots = self.all();
        if slots.iter().any(|slot| slot.name.as_deref() == Some(name)) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let free = slots.iter_mut().find(|slot| slot.name.is_none() && slot.file.strong_count() == 0);
        let slot = free.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::StorageFull,
                "all slots of the store are in use; call `reserve` with a larger number",
            )
        })?;
        // The name last, so that it never has the content of an earlier file.
        with(slot.handle, |handle| handle.truncate(HEAD as f64))?;
        write_name(slot.handle, name)?;
        let file = Arc::new(SlotFile(slot.handle));
        (slot.name, slot.file) = (Some(name.to_owned()), Arc::downgrade(&file));
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let mut slots = self.all();
        let slot = slots.iter_mut().find(|slot| slot.name.as_deref() == Some(name)).ok_or(io::ErrorKind::NotFound)?;
        let file = slot.file.upgrade().unwrap_or_else(|| Arc::new(SlotFile(slot.handle)));
        slot.file = Arc::downgrade(&file);
        Ok(file)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut slots = self.all();
        let slot = slots.iter_mut().find(|slot| slot.name.as_deref() == Some(name)).ok_or(io::ErrorKind::NotFound)?;
        write_name(slot.handle, "")?;
        slot.name = None;
        Ok(())
    }

    /// Names are durable when they change.
    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }
}

impl StorageFile for SlotFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        read(self.0, offset + HEAD as u64, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write(self.0, offset + HEAD as u64, bytes)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a file size below 2^53")]
    fn len(&self) -> io::Result<u64> {
        Ok((with(self.0, Handle::size)? as u64).saturating_sub(HEAD as u64))
    }

    #[expect(clippy::cast_precision_loss, reason = "a file size below 2^53")]
    fn set_len(&self, len: u64) -> io::Result<()> {
        with(self.0, |handle| handle.truncate((len + HEAD as u64) as f64))
    }

    fn sync_data(&self) -> io::Result<()> {
        with(self.0, Handle::flush)
    }
}

fn keep(handle: Handle) -> usize {
    HANDLES.with_borrow_mut(|all| {
        all.push(Some(handle));
        all.len() - 1
    })
}

/// Calls a function of an open file.
fn with<T>(index: usize, work: impl FnOnce(&Handle) -> Result<T>) -> io::Result<T> {
    let handle = HANDLES.with_borrow(|all| all.get(index).cloned().flatten());
    let handle = handle.ok_or_else(|| io::Error::other("the store is closed; open it again"))?;
    work(&handle).map_err(|cause| {
        let full = Reflect::get(&cause, &"name".into()).is_ok_and(|name| name == "QuotaExceededError");
        io::Error::new(if full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other }, text(&cause))
    })
}

#[expect(clippy::cast_precision_loss, reason = "a position below 2^53")]
fn read(index: usize, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    let at = options("at", &JsValue::from(offset as f64)).map_err(|cause| io::Error::other(text(&cause)))?;
    let wanted = buffer.len();
    let found = with(index, |handle| handle.read(buffer, &at))?;
    if found == wanted as f64 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[expect(clippy::cast_precision_loss, reason = "a position below 2^53")]
fn write(index: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let at = options("at", &JsValue::from(offset as f64)).map_err(|cause| io::Error::other(text(&cause)))?;
    let written = with(index, |handle| handle.write(bytes, &at))?;
    if written == bytes.len() as f64 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
}

/// Returns the name of a slot; `None` if it is free, or if writing its head was interrupted.
fn name_of(index: usize) -> io::Result<Option<String>> {
    let mut head = [0; HEAD];
    match read(index, 0, &mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let (content, sum) = head.split_at(HEAD - 4);
    let intact = content.starts_with(&MAGIC) && sum == checksum(content);
    let len = usize::from(u16::from_le_bytes([content[MAGIC.len()], content[MAGIC.len() + 1]]));
    let name = content[MAGIC.len() + 2..].get(..len).filter(|name| intact && !name.is_empty());
    Ok(name.and_then(|name| String::from_utf8(name.to_vec()).ok()))
}

/// Writes the head of a slot; without a name, the slot is free.
fn write_name(index: usize, name: &str) -> io::Result<()> {
    let len = u16::try_from(name.len()).ok().filter(|len| usize::from(*len) <= MAX_NAME);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the file name is too long"))?;
    let mut head = [0; HEAD];
    head[..MAGIC.len()].copy_from_slice(&MAGIC);
    head[MAGIC.len()..][..2].copy_from_slice(&len.to_le_bytes());
    head[MAGIC.len() + 2..][..name.len()].copy_from_slice(name.as_bytes());
    let sum = checksum(&head[..HEAD - 4]);
    head[HEAD - 4..].copy_from_slice(&sum);
    write(index, 0, &head)?;
    with(index, Handle::flush)
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    crc32c(Backend::best(), 0, bytes).to_le_bytes()
}

/// Returns the promise of the private file system's root.
fn root() -> Result<Promise> {
    let missing =
        || js("no private file system here; open the store in a worker of a page served over https or localhost");
    let get = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).ok().filter(|found| found.is_object());
    let storage = get(&js_sys::global(), "navigator").and_then(|navigator| get(&navigator, "storage"));
    let storage = storage.ok_or_else(missing)?;
    let open = Reflect::get(&storage, &"getDirectory".into())?;
    let open = open.dyn_ref::<js_sys::Function>().ok_or_else(missing)?;
    Ok(open.call0(&storage)?.unchecked_into())
}

fn options(key: &str, value: &JsValue) -> Result<JsValue> {
    let object = Object::new();
    Reflect::set(&object, &key.into(), value)?;
    Ok(object.into())
}

fn text(cause: &JsValue) -> String {
    let message = Reflect::get(cause, &"message".into()).ok().and_then(|message| message.as_string());
    message.unwrap_or_else(|| format!("{cause:?}"))
}

/// Number of slots of a new store: one for the manifest, one for the log, and some for segments and their compaction.
pub(super) const SLOTS: u32 = 24;

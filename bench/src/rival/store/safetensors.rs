//! One safetensors file per tensor, through the official crate.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize_to_file};

use super::{Plan, Reads, Shelf, bytes_of, floats};

thread_local! {
    static FILE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Folder with the files.
pub(crate) struct Files {
    folder: PathBuf,
    shape: [usize; 2],
    synced: bool,
}

impl Files {
    pub(crate) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        Box::new(Self { folder: plan.folder.to_owned(), shape: plan.shape, synced: plan.synced })
    }

    fn path(&self, id: u128) -> PathBuf {
        self.folder.join(format!("{id}.safetensors"))
    }

    /// Reads a whole file into a reused buffer.
    fn with<T>(&self, id: u128, look: impl FnOnce(&[u8]) -> T) -> T {
        FILE.with_borrow_mut(|bytes| {
            bytes.clear();
            let mut file = File::open(self.path(id)).expect("a file");
            file.read_to_end(bytes).expect("a readable file");
            look(SafeTensors::deserialize(bytes).and_then(|file| file.tensor("t")).expect("a tensor").data())
        })
    }
}

impl Shelf for Files {
    fn put(&mut self, id: u128, values: &[f32]) {
        let view = TensorView::new(Dtype::F32, self.shape.to_vec(), bytemuck::cast_slice(values)).expect("its shape");
        let path = self.path(id);
        serialize_to_file([("t", view)], None, &path).expect("space for a file");
        if self.synced {
            File::open(&path).and_then(|file| file.sync_data()).expect("a file that can be synced");
        }
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        (first..).zip(tensors).for_each(|(id, values)| self.put(id, values));
    }

    fn get(&mut self, id: u128, out: &mut [f32]) {
        self.read(id, out);
    }

    fn rows(&mut self, id: u128, rows: Range<usize>) -> Option<Vec<f32>> {
        let mut file = File::open(self.path(id)).expect("a file");
        // Reads only the rows: the data of the only tensor starts after the header, whose length is the first field.
        let mut len = [0; 8];
        file.read_exact(&mut len).expect("the length of the header");
        let range = bytes_of(&rows, self.shape[1]);
        let start = 8 + u64::from_le_bytes(len) + range.start as u64;
        let (mut bytes, mut out) = (vec![0; range.len()], vec![0.0; rows.len() * self.shape[1]]);
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes)).expect("the rows");
        floats(&bytes, &mut out);
        Some(out)
    }

    fn shared(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for Files {
    fn read(&self, id: u128, out: &mut [f32]) {
        self.with(id, |bytes| floats(bytes, out));
    }
}

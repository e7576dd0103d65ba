//! Lower bound of the cost: blocks in one file, encoded and written, or read and decoded, without checksums, index or
//! commits. The number of a tensor determines its offset.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::ops::Range;

use bitgrain::codec::{BitWidth, BlockFormat, BlockLen, EncodeOptions};

use crate::rival::store::{Plan, Reads, Shelf};

thread_local! {
    static BLOCKS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The file and its block format, which is that of the store's hot tier.
pub(super) struct Floor {
    file: File,
    format: BlockFormat,
    shape: [usize; 2],
    synced: bool,
}

impl Floor {
    pub(super) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        let path = plan.folder.join("blocks");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let format = BlockFormat::new(BitWidth::W8).with_block_len(BlockLen::new(128).unwrap_or(BlockLen::DEFAULT));
        Box::new(Self { file: file.expect("a file"), format, shape: plan.shape, synced: plan.synced })
    }

    fn count(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// Returns the size of a tensor in bytes.
    fn len(&self) -> usize {
        self.format.encoded_len(self.count())
    }

    fn offset(&self, id: u128) -> u64 {
        u64::try_from(id).unwrap_or(u64::MAX) * self.len() as u64
    }
}

impl Shelf for Floor {
    fn put(&mut self, id: u128, values: &[f32]) {
        self.put_all(id, &[values]);
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        BLOCKS.with_borrow_mut(|blocks| {
            let len = self.len();
            blocks.resize(len * tensors.len(), 0);
            for (values, out) in tensors.iter().zip(blocks.chunks_mut(len)) {
                self.format.encode_into(values, &EncodeOptions::default(), out).expect("finite values");
            }
            write_at(&self.file, self.offset(first), blocks).expect("space for blocks");
        });
        if self.synced {
            self.file.sync_data().expect("a file that can be synced");
        }
    }

    fn get(&mut self, id: u128, out: &mut [f32]) {
        self.read(id, out);
    }

    fn rows(&mut self, id: u128, rows: Range<usize>) -> Option<Vec<f32>> {
        let (block, stride) = (self.format.block_len().get(), self.format.block_bytes());
        let range = rows.start * self.shape[1]..rows.end * self.shape[1];
        let first = range.start / block;
        let values = first * block..range.end.next_multiple_of(block).min(self.count());
        let mut out = vec![0.0; range.len()];
        BLOCKS.with_borrow_mut(|blocks| {
            blocks.resize(self.format.encoded_len(values.len()), 0);
            read_at(&self.file, self.offset(id) + (first * stride) as u64, blocks).expect("blocks");
            let range = range.start - values.start..range.end - values.start;
            self.format.decode_range(blocks, values.len(), range, &mut out).expect("blocks that were encoded here");
        });
        Some(out)
    }

    fn shared(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for Floor {
    fn read(&self, id: u128, out: &mut [f32]) {
        BLOCKS.with_borrow_mut(|blocks| {
            blocks.resize(self.len(), 0);
            read_at(&self.file, self.offset(id), blocks).expect("blocks");
            self.format.decode_into(blocks, out).expect("blocks that were encoded here");
        });
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
    if read == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(windows)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
    let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
    if written == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::WriteZero.into()) }
}

//! Any bytes as the files of a store: opening rejects or recovers them, and a recovered store works.
//!
//! Input: a byte of [`SALVAGE`] and [`REPAIR`], then files: a byte for the name ([`MANIFEST`] and a number), two for
//! the length, then the content. The last file may be shorter than stated. Spec: `spec/segment.md`.

mod memory;

use std::sync::Arc;

use bitgrain::store::{CompactOptions, OnDamage, StoreConfig, SyncMode, TensorStore};

use self::memory::Memory;
use crate::sums;

/// Opens a damaged store in salvage mode.
const SALVAGE: u8 = 1;
/// Corrects checksums, so that the code after the checks is reached.
const REPAIR: u8 = 2;
/// The file is a manifest, otherwise a segment.
const MANIFEST: u8 = 0x80;

/// Larger tensors are not decoded: a tensor without data reads as zeros and takes few bytes in a file.
const MAX_ZEROS: usize = 1 << 20;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Some((&flags, input)) = input.split_first() else { return };
    let files = Memory::default();
    fill(&files, flags, input);
    let on_damage = if flags & SALVAGE == 0 { OnDamage::Refuse } else { OnDamage::Salvage };
    let config = StoreConfig { create: false, sync: SyncMode::OnSeal, on_damage, ..StoreConfig::default() };
    let backend = Arc::new(files);
    let Ok(store) = TensorStore::open_on(backend.clone(), config.clone()) else { return };
    read_all(&store);
    let written = store.put("written by the target", &[3], &[1.0, -2.0, 0.5]).is_ok();
    let _ = store.compact(CompactOptions { all: true, ..CompactOptions::default() });
    let _ = store.tick(1 << 40);
    if store.close().is_ok() && written {
        let again = TensorStore::open_on(backend, config).expect("a store that was closed can be opened");
        assert!(again.contains("written by the target"));
        read_all(&again);
    }
}

fn fill(files: &Memory, flags: u8, mut input: &[u8]) {
    while let Some((&[name, low, high], rest)) = input.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (content, rest) = rest.split_at(len);
        let mut content = content.to_vec();
        let (kind, repair): (_, fn(&mut [u8])) =
            if name & MANIFEST == 0 { ("segment", sums::segment) } else { ("manifest", sums::manifest) };
        if flags & REPAIR != 0 {
            repair(&mut content);
        }
        files.insert(&format!("{kind}-{:016x}", name & !MANIFEST), content);
        input = rest;
    }
}

fn read_all(store: &TensorStore) {
    let _ = store.verify();
    for id in store.ids(None) {
        let _ = store.meta(id.clone());
        let count = |shape: &[usize]| shape.iter().try_fold(1_usize, |all, dim| all.checked_mul(*dim));
        let small = |shape: &Vec<usize>| count(shape).is_some_and(|count| count <= MAX_ZEROS);
        if let Some(shape) = store.shape(id.clone()).ok().filter(small)
            && let Ok(tensor) = store.get(id.clone())
        {
            assert_eq!((tensor.values.len(), &tensor.shape), (shape.iter().product(), &shape), "{id}");
        }
        if let Ok(frames) = store.frame_count(id.clone()) {
            let _ = store.frames(id, frames.saturating_sub(3)..frames);
        }
    }
}

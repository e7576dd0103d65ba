//! Every truncation and every flipped bit of small files: an error or a value, never a panic, with bounded memory.
#![expect(unsafe_code, reason = "a global allocator that measures cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Debug;
use std::path::Path;

use bitgrain_formats::npz::Archive;
use bitgrain_formats::safetensors::Index;
use bitgrain_formats::segment::{Manifest, RecordView, Records, SegmentHeader, UsageEntries};
use bitgrain_formats::{gguf, lightgbm, npy, safetensors, xgboost};

struct Measuring;

thread_local! {
    // Per thread, because the test runner allocates too; negative if a thread frees memory that another one allocated.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system allocator; measuring does not allocate.
unsafe impl GlobalAlloc for Measuring {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        NOW.with(|now| {
            now.set(now.get().saturating_add_unsigned(layout.size()));
            PEAK.with(|peak| peak.set(peak.get().max(now.get())));
        });
        // SAFETY: the caller upholds the contract of `alloc`, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.with(|now| now.set(now.get().saturating_sub_unsigned(layout.size())));
        // SAFETY: the pointer came from `System` through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Measuring = Measuring;

/// Returns the peak memory of `work` in bytes.
fn peak_of(work: impl FnOnce()) -> usize {
    let before = NOW.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    work();
    PEAK.with(Cell::get).abs_diff(before)
}

/// Runs `parse` and checks that its memory stays below sixteen times the input plus 64 KiB.
fn bounded<T, E: Debug>(bytes: &[u8], parse: impl FnOnce(&[u8]) -> Result<T, E>) -> Option<T> {
    let mut result = None;
    let peak = peak_of(|| result = parse(bytes).ok());
    assert!(peak <= 16 * bytes.len() + (64 << 10), "{peak} bytes for an input of {}", bytes.len());
    result
}

fn vector(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/containers").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns `bytes` with every bit of `bytes[..len]` flipped, and every byte set to its extremes.
fn mutations(bytes: &[u8], len: usize, mut check: impl FnMut(&[u8])) {
    let mut copy = bytes.to_vec();
    for at in 0..len {
        let old = copy[at];
        for new in (0..8).map(|bit| old ^ (1 << bit)).chain([0, 0x7f, 0xff]) {
            copy[at] = new;
            check(&copy);
        }
        copy[at] = old;
    }
}

/// Returns `bytes` with eight bytes at every position of `bytes[..len]` replaced by a length that is too long.
fn huge_lengths(bytes: &[u8], len: usize, mut check: impl FnMut(&[u8])) {
    for at in 0..len.saturating_sub(8) {
        for huge in [u64::MAX, u64::MAX - 7, 1 << 63, 1 << 40, 1 << 31] {
            let mut copy = bytes.to_vec();
            copy[at..at + 8].copy_from_slice(&huge.to_le_bytes());
            check(&copy);
        }
    }
}

#[test]
fn the_memory_measurement_works() {
    let peak = peak_of(|| {
        drop(std::hint::black_box(vec![1_u8; 1000]));
        drop(std::hint::black_box(vec![1_u8; 3000]));
    });
    assert_eq!(peak, 3000);
}

fn check_gguf(bytes: &[u8]) {
    if let Some(header) = bounded(bytes, gguf::Header::parse) {
        for info in &header.tensors {
            assert_eq!(bytes[info.range()].len() as u64, info.bytes);
        }
    }
}

#[test]
fn broken_gguf_files_are_errors_or_headers() {
    let bytes = vector("every_type.gguf");
    let header = gguf::Header::parse(&bytes).expect("whole");
    let start = usize::try_from(header.data_start).expect("small");
    let last = header.tensors.last().expect("some").range().end;
    for len in 0..last {
        assert!(bounded(&bytes[..len], gguf::Header::parse).is_none(), "cut at {len}");
    }
    assert!(gguf::Header::parse(&bytes[..last]).is_ok(), "without the last padding");
    mutations(&bytes, start, check_gguf);
    huge_lengths(&bytes, start, check_gguf);
}

fn check_safetensors(bytes: &[u8]) {
    if let Some(header) = bounded(bytes, safetensors::Header::parse) {
        for info in &header.tensors {
            assert_eq!(bytes[info.range()].len() as u64, info.bytes());
        }
    }
}

#[test]
fn broken_safetensors_files_are_errors_or_headers() {
    let bytes = vector("many.safetensors");
    let start = usize::try_from(safetensors::Header::parse(&bytes).expect("whole").data_start).expect("small");
    for len in 0..bytes.len() {
        assert!(bounded(&bytes[..len], safetensors::Header::parse).is_none(), "cut at {len}");
    }
    mutations(&bytes, start, check_safetensors);
    huge_lengths(&bytes, 16, check_safetensors);
}

#[test]
fn broken_npy_files_are_errors_or_headers() {
    let check = |bytes: &[u8]| {
        if let Some(header) = bounded(bytes, npy::Header::parse) {
            assert_eq!(bytes[header.range()].len() as u64, header.elements() * header.dtype.element.bytes());
        }
    };
    for name in ["f4_big.npy", "version_3.npy", "fortran.npy"] {
        let bytes = vector(name);
        for len in 0..bytes.len() {
            assert!(bounded(&bytes[..len], npy::Header::parse).is_none(), "{name} cut at {len}");
        }
        mutations(&bytes, 128, check);
    }
}

#[test]
fn broken_npz_archives_are_errors_or_members() {
    let check = |bytes: &[u8]| {
        let peak = peak_of(|| {
            let Ok(archive) = Archive::parse(bytes) else { return };
            for member in &archive.members {
                let _ = member.read(1 << 12);
                assert!(bytes.get(member.range()).is_some());
            }
        });
        assert!(peak <= 16 * bytes.len() + (64 << 10), "{peak} bytes for an input of {}", bytes.len());
    };
    for name in ["stored.npz", "deflated.npz"] {
        let bytes = vector(name);
        for len in 0..bytes.len() {
            assert!(bounded(&bytes[..len], |bytes| Archive::parse(bytes).map(drop)).is_none(), "{name} cut at {len}");
        }
        mutations(&bytes, bytes.len(), check);
        huge_lengths(&bytes, bytes.len(), check);
    }
}

/// Further corruptions of segments are in `tests/segment/hostile.rs`.
#[test]
fn broken_segments_take_proportional_memory() {
    let bytes = vector("../segments/v1_sealed.bin");
    let header = SegmentHeader::parse(&bytes).expect("whole");
    let salt = bitgrain_formats::crc32c(&bytes[..60]);
    let signed = |record: &[u8]| {
        let Some(len) = RecordView::needed(record).ok().and_then(|needed| usize::try_from(needed.head).ok()) else {
            return;
        };
        let mut record = record.to_vec();
        let Some(head) = record.get(4..len) else { return };
        let sum = bitgrain_kernels::crc32c(bitgrain_kernels::Backend::best(), salt, head);
        record[..4].copy_from_slice(&sum.to_le_bytes());
        bounded(&record, |record| RecordView::parse(record, 0, &header).map(drop));
    };
    for (offset, record) in Records::new(&bytes, &header) {
        let start = usize::try_from(offset).expect("small");
        let end = start + usize::try_from(record.total_len()).expect("small");
        mutations(&bytes[start..end], record.head_len, signed);
        huge_lengths(&bytes[start..end], record.head_len, signed);
    }
    let manifest = vector("../segments/v1_manifest.bin");
    huge_lengths(&manifest, manifest.len(), |bytes| drop(bounded(bytes, Manifest::parse)));
    let list = vec![0xff; 1000];
    bounded(&list, |list| UsageEntries::new(list).next().map(drop));
}

#[test]
fn broken_indexes_are_errors_or_indexes() {
    let index = safetensors::Index::new(Some(7), [("a", "1.safetensors"), ("b", "2.safetensors")]).expect("good");
    let bytes = index.to_json().into_bytes();
    mutations(&bytes, bytes.len(), |bytes| drop(bounded(bytes, Index::parse)));
    for len in 0..bytes.len() {
        assert!(bounded(&bytes[..len], Index::parse).is_none(), "cut at {len}");
    }
}

fn foreign_model(name: &str) -> Vec<u8> {
    vector(&format!("../foreign_models/{name}"))
}

#[test]
fn broken_lightgbm_models_are_errors_or_models() {
    let bytes = foreign_model("lightgbm_binary.txt");
    let end = bytes.windows(12).position(|window| window == b"end of trees").expect("there");
    for len in 0..end {
        assert!(bounded(&bytes[..len], lightgbm::Model::parse).is_none(), "cut at {len}");
    }
    mutations(&bytes, end, |bytes| drop(bounded(bytes, lightgbm::Model::parse)));
}

#[test]
fn broken_xgboost_models_are_errors_or_models() {
    for name in ["xgboost_binary.json", "xgboost_binary.ubj"] {
        let bytes = foreign_model(name);
        for len in 0..bytes.len() {
            assert!(bounded(&bytes[..len], xgboost::Model::parse).is_none(), "{name} cut at {len}");
        }
        mutations(&bytes, bytes.len(), |bytes| drop(bounded(bytes, xgboost::Model::parse)));
        huge_lengths(&bytes, bytes.len(), |bytes| drop(bounded(bytes, xgboost::Model::parse)));
    }
}

#[test]
fn ubjson_with_endless_nesting_or_repetition_is_rejected() {
    let open = |item: &[u8], count: usize| [b"{U\x01a", &item.repeat(count)[..]].concat();
    for bytes in
        [open(b"[", 100_000), open(b"{U\x01a", 100_000), open(b"[$Z#l\x7f\xff\xff\xff", 1), open(b"N", 100_000)]
    {
        assert!(bounded(&bytes, xgboost::Model::parse).is_none());
    }
    // A list of empty lists: each takes one byte.
    assert!(bounded(&open(b"[$[#l\x7f\xff\xff\xff", 1), xgboost::Model::parse).is_none());
}

/// Inputs found by fuzzing, read in every run.
#[test]
fn seeds_of_the_fuzzer_are_errors_or_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut count = 0;
    for target in ["parse_gguf", "parse_safetensors", "parse_npy", "parse_lightgbm", "parse_xgboost"] {
        for entry in std::fs::read_dir(folder.join(target)).expect(target) {
            let bytes = std::fs::read(entry.expect("readable").path()).expect("readable");
            check_gguf(&bytes);
            check_safetensors(&bytes);
            bounded(&bytes, Index::parse);
            bounded(&bytes, npy::Header::parse);
            bounded(&bytes, |bytes| Archive::parse(bytes).map(drop));
            bounded(&bytes, lightgbm::Model::parse);
            bounded(&bytes, xgboost::Model::parse);
            count += 1;
        }
    }
    assert!(count > 50, "{count} seeds");
}

/// Files whose smallest parts are repeated, which maximizes memory per byte of the file.
#[test]
fn files_of_many_tiny_entries_take_proportional_memory() {
    let count = 200_000_u32;
    let name = |index: u32| format!("{index:x}");
    let string = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let counts = |tensors: u32, keys: u32| {
        [b"GGUF\x03\0\0\0", &u64::from(tensors).to_le_bytes()[..], &u64::from(keys).to_le_bytes()].concat()
    };
    let mut keys = counts(0, count);
    (0..count).for_each(|index| keys.extend([&string(&name(index))[..], &[0, 0, 0, 0, 7]].concat()));
    assert!(bounded(&keys, gguf::Header::parse).is_some());
    let mut tensors = counts(count, 0);
    (0..count).for_each(|index| {
        tensors.extend(
            [&string(&name(index))[..], &[0; 4], &24_u32.to_le_bytes(), &(32 * u64::from(index)).to_le_bytes()]
                .concat(),
        )
    });
    tensors.resize(tensors.len().next_multiple_of(32) + 32 * count as usize, 0);
    assert!(bounded(&tensors, gguf::Header::parse).is_some());
    let mut strings =
        [&counts(0, 1)[..], &string("k"), &[9, 0, 0, 0, 8, 0, 0, 0], &u64::from(count).to_le_bytes()].concat();
    strings.resize(strings.len() + 8 * count as usize, 0);
    assert!(bounded(&strings, gguf::Header::parse).is_some());

    let entry = |index: u32| format!("\"{index:x}\":{{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}");
    let text = format!("{{{}}}", (0..count).map(entry).collect::<Vec<_>>().join(","));
    let many = [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    assert!(bounded(&many, safetensors::Header::parse).is_some());
    let shape = vec!["0"; count as usize].join(",");
    let text = format!("{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{shape}],\"data_offsets\":[0,0]}}}}");
    let deep = [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    assert!(bounded(&deep, safetensors::Header::parse).is_some());
    let entries: Vec<_> = (0..count).map(|index| format!("\"{index:x}\":\"f\"")).collect();
    let text = format!("{{\"weight_map\":{{{}}}}}", entries.join(","));
    assert!(bounded(text.as_bytes(), Index::parse).is_some());
    let text = format!("{{\"__metadata__\":{{{}}}}}", entries.join(","));
    let notes = [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    assert!(bounded(&notes, safetensors::Header::parse).is_some());
}

#[test]
fn tables_of_tiny_rows_take_proportional_memory() {
    for line in ["1\n", "1 1:1\n", "1:1 1:1 2:2\n"] {
        let text = line.repeat(200_000);
        assert!(bounded(text.as_bytes(), bitgrain_formats::libsvm::Rows::parse).is_some(), "{line}");
    }
    let fields = |bytes: &[u8]| {
        let (mut records, mut fields) = (bitgrain_formats::csv::Records::new(bytes, b','), Vec::new());
        records.next_into(&mut fields).map(|_| fields.len())
    };
    // A record that consists only of separators: its fields are all that is kept.
    assert_eq!(bounded(&b",".repeat(200), fields), Some(201));
}

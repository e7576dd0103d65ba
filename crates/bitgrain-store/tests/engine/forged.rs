//! Records with valid checksums and impossible heads: they are errors and do not cause allocations.

use std::fs;
use std::path::Path;

use bitgrain_codec::{BitWidth, BlockLen};
use bitgrain_formats::segment::{
    Accuracy, Content, Encoding, FrameHead, FrameValues, Head, IdRef, LogEnd, Manifest, Role, ScaleType, SegmentHeader,
    SegmentKind, Stamp, TensorHead, write_record,
};
use bitgrain_store::{AbsentReads, OnDamage, StoreConfig, StoreError, TensorStore};

/// Creates a store in `folder` whose log holds these records, as a crash would leave it.
fn forge(folder: &Path, records: &[(Content<'_>, Vec<u8>)]) {
    forge_from(folder, 1, records);
}

/// Like `forge`, with sequence numbers from `first` on.
fn forge_from(folder: &Path, first: u64, records: &[(Content<'_>, Vec<u8>)]) {
    let store = [7; 16];
    let manifest = Manifest { store, number: 1, log_from: 2, log_end: LogEnd::Open, compacted: Vec::new() };
    fs::write(folder.join("manifest-0000000000000001"), manifest.encode().expect("a short list")).expect("written");
    let kind = SegmentKind::Log;
    let header = SegmentHeader { kind, store, number: 2, previous: 0, base_sequence: first, base_time: 1000 };
    let mut bytes = header.encode().to_vec();
    for ((content, body), sequence) in records.iter().zip(first..) {
        let stamp = Stamp { sequence, batch_left: 0, pending: None, time: 1000 };
        write_record(&mut bytes, &header, &Head { stamp, content: content.clone() }, body).expect("a good record");
    }
    fs::write(folder.join("segment-0000000000000002"), bytes).expect("written");
}

fn tensor(shape: &[usize], tier: u8, encoding: Encoding) -> TensorHead<'static> {
    TensorHead {
        shape: shape.to_vec(),
        tier,
        encoding,
        accuracy: Accuracy::EXACT,
        created: 1000,
        updated: 1000,
        pinned: None,
        max_error: None,
        user: Vec::new(),
        reconstruct: None,
    }
}

fn frame(index: u64, shape: &[usize]) -> FrameHead {
    let (role, values, block) = (Role::Key, FrameValues::Codes(BitWidth::W8), BlockLen::new(64).expect("in range"));
    let accuracy = Accuracy::new(0.5, 0.5);
    FrameHead {
        index,
        role,
        shape: shape.to_vec(),
        tier: 1,
        values,
        block,
        scales: ScaleType::F16,
        accuracy,
        time: 1000,
        rewritten: None,
    }
}

const HUGE: [usize; 2] = [1 << 30, 1 << 30];

#[test]
fn shapes_without_data_take_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |name| IdRef::Name(name);
    forge(
        folder.path(),
        &[
            (Content::Tensor(name("absent"), tensor(&HUGE, 5, Encoding::Absent)), vec![]),
            (Content::Tensor(name("series"), tensor(&HUGE, 1, Encoding::Frames)), vec![]),
            (Content::Tensor(name("mixed"), tensor(&HUGE, 1, Encoding::Frames)), vec![]),
            (Content::Frame(name("mixed"), frame(0, &[2])), vec![0, 0x3c, 1, 2]),
            (Content::Tensor(name("small"), tensor(&[3], 5, Encoding::Absent)), vec![]),
        ],
    );
    let zeros = StoreConfig { absent_reads: AbsentReads::Zeros, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), zeros).expect("opens");
    let values = 1 << 60;
    assert!(matches!(store.get("absent"), Err(StoreError::TooManyZeros { values: v, .. }) if v == values));
    assert!(matches!(store.get_rows("absent", 0..1), Err(StoreError::TooManyZeros { .. })));
    assert!(matches!(store.get_rows("absent", 0..1 << 30), Err(StoreError::TooManyZeros { .. })));
    assert!(matches!(store.get_into("absent", &mut [0.0; 4]), Err(StoreError::ShapeMismatch { got: 4, .. })));
    assert!(matches!(store.get("series"), Err(StoreError::FramesOutOfRange { frames: 0, .. })));
    assert!(matches!(store.get("mixed"), Err(StoreError::FrameShape { got: 2, .. })));
    assert!(matches!(store.get_rows("mixed", 0..1 << 30), Err(StoreError::FrameShape { .. })));
    assert_eq!(store.get("small").expect("zeros").values, [0.0; 3]);
    assert!(store.stats().expect("readable").tensors == 4 && store.verify().expect("readable").is_clean());
    assert!(matches!(store.append("series", &[1], &[1.0], 1), Err(StoreError::FrameShape { .. })));
}

#[test]
fn frames_that_depend_on_a_lost_record_are_reported_as_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let series = |index| (Content::Frame(IdRef::Name("series"), frame(index, &[2])), vec![0, 0x3c, 1, 2]);
    let alone = (Content::Frame(IdRef::Number(9), frame(0, &[2])), vec![0, 0x3c, 1, 2]);
    let head = (Content::Tensor(IdRef::Name("series"), tensor(&[2], 1, Encoding::Frames)), vec![]);
    forge(folder.path(), &[head, series(0), series(2), alone, series(3)]);
    let refused = TensorStore::open(folder.path(), StoreConfig::default()).err();
    assert!(
        matches!(&refused, Some(StoreError::Damaged { id: Some(id), .. }) if *id == "series".into()),
        "{refused:?}"
    );
    let salvage = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), salvage).expect("opens with the rest");
    assert_eq!((store.len(), store.frame_count("series").expect("there")), (1, 1));
    let lost: Vec<_> =
        store.recovery().damages.iter().map(|damage| (damage.id.clone(), damage.segment.as_str())).collect();
    let segment = "segment-0000000000000002";
    let expected = [("series".into(), segment), (9_u128.into(), segment), ("series".into(), segment)];
    assert_eq!(lost, expected.map(|(id, segment)| (Some(id), segment)));
    assert!(store.recovery().damages[0].what.contains("frame 2"), "{:?}", store.recovery().damages);
}

#[test]
fn a_store_without_sequence_numbers_for_new_records_can_only_be_read() {
    let record = (Content::Tensor(IdRef::Name("last"), tensor(&[3], 5, Encoding::Absent)), vec![]);
    for (first, records) in [(u64::MAX - 1, &[record][..]), (u64::MAX, &[])] {
        let folder = tempfile::tempdir().expect("a folder");
        forge_from(folder.path(), first, records);
        for on_damage in [OnDamage::Refuse, OnDamage::Salvage] {
            let config = StoreConfig { on_damage, ..StoreConfig::default() };
            let opened = TensorStore::open(folder.path(), config);
            let Err(StoreError::Damaged { segment, what, .. }) = opened else { panic!("{first} is taken") };
            assert_eq!(segment, "segment-0000000000000002");
            assert!(what.starts_with("sequence number 18446744073709551614"), "{what}");
        }
        let store = TensorStore::open_read_only(folder.path()).expect("reading counts nothing");
        assert_eq!(store.len(), records.len());
    }
}

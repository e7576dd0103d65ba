//! A small segment with every kind of record, in which every field is set at least once.

use bitgrain_codec::{BitWidth, BlockFormat, BlockLen};
use bitgrain_formats::segment::*;

pub(crate) const HEADER: SegmentHeader = SegmentHeader {
    kind: SegmentKind::Log,
    store: *b"a store of tests",
    number: 5,
    previous: 3,
    base_sequence: 1000,
    base_time: 1_700_000_000_000,
};

const LAYER: IdRef<'_> = IdRef::Name("model/layer/0/weight");
const SERIES: IdRef<'_> = IdRef::Name("series");

pub(crate) fn eight() -> BlockLen {
    BlockLen::new(8).expect("a multiple of eight")
}

pub(crate) fn tensor(shape: &[usize], tier: u8, encoding: Encoding) -> TensorHead<'static> {
    TensorHead {
        shape: shape.to_vec(),
        tier,
        encoding,
        accuracy: Accuracy::EXACT,
        created: 0,
        updated: 0,
        pinned: None,
        max_error: None,
        user: Vec::new(),
        reconstruct: None,
    }
}

fn frame(index: u64, role: Role, width: BitWidth, scales: ScaleType) -> FrameHead {
    let (shape, accuracy) = (vec![5, 2], Accuracy::new(0.125, 0.1));
    FrameHead {
        index,
        role,
        shape,
        tier: 1,
        values: FrameValues::Codes(width),
        block: eight(),
        scales,
        accuracy,
        time: 0,
        rewritten: None,
    }
}

/// Contents with their bodies, without times.
fn contents() -> Vec<(Content<'static>, Vec<u8>)> {
    let values: Vec<f32> = (0..12).map(|i| (i as f32 - 4.5) * 0.75).collect();
    let blocks = |format: BlockFormat| format.encode(&values).expect("finite");
    let b8 = BlockFormat::new(BitWidth::W8).with_block_len(eight());
    let two_level = BlockFormat::two_level().with_block_len(eight());
    let limited = TensorHead {
        accuracy: Accuracy::new(0.0625, 0.05),
        pinned: Some(2),
        max_error: Some(0.5),
        user: vec![("unit", "kelvin"), ("", "ünïcode")],
        ..tensor(&[3, 4], 1, Encoding::Blocks(b8))
    };
    let delta = TensorHead {
        reconstruct: Some(Reconstruct::Delta { base: LAYER, format: b8 }),
        ..tensor(&[12], 5, Encoding::Absent)
    };
    let factor = Reconstruct::Factor {
        source: IdRef::Number(1 << 100),
        scale: -0.5,
        permutation: Some(3),
        projection: Some((2, 3)),
    };
    let factor = TensorHead { reconstruct: Some(factor), ..tensor(&[2], 5, Encoding::Absent) };
    let list = {
        let mut list = UsageList::default();
        for (id, last) in [(LAYER, 17), (IdRef::Name("model/layer/1/weight"), 12), (IdRef::Number(7), 99)] {
            let entry = UsageEntry { id, accesses: last * 1000, last, window: last << 60 | 1, ema: 0.75 };
            list.push(&entry).expect("a good entry");
        }
        list.into_bytes()
    };
    let key = [&[0x00, 0x38, 0x00, 0x3c][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]].concat();
    let difference = [&0.25f32.to_le_bytes()[..], &0.5f32.to_le_bytes(), &[0x11, 0x22, 0x31, 0x0a]].concat();
    vec![
        (Content::Tensor(IdRef::Name("a"), tensor(&[2], 0, Encoding::Raw)), vec![0, 0, 128, 63, 0, 0, 0, 192]),
        (Content::Tensor(LAYER, limited), blocks(b8)),
        (Content::Tensor(IdRef::Number(1 << 100), tensor(&[12, 1], 4, Encoding::Blocks(two_level))), blocks(two_level)),
        (Content::Tensor(IdRef::Name("delta"), delta), blocks(b8)),
        (Content::Tensor(IdRef::Name("factor"), factor), (0..36).collect()),
        (Content::Tensor(SERIES, tensor(&[5, 2], 1, Encoding::Frames)), vec![]),
        (Content::Frame(SERIES, frame(0, Role::Key, BitWidth::W8, ScaleType::F16)), key),
        (Content::Frame(SERIES, frame(1, Role::Shared { key: 0 }, BitWidth::W8, ScaleType::F16)), vec![9; 10]),
        (Content::Frame(SERIES, frame(2, Role::DifferenceKey { base: 0 }, BitWidth::W3, ScaleType::F32)), difference),
        (
            Content::Frame(SERIES, frame(3, Role::DifferenceShared { key: 2, base: 0 }, BitWidth::W3, ScaleType::F32)),
            vec![0x1b, 0x00, 0xa5, 0x01],
        ),
        (Content::Tensor(IdRef::Name("scalar"), tensor(&[], 5, Encoding::Absent)), vec![]),
        (Content::Delete(IdRef::Name("a")), vec![]),
        (Content::Usage, list),
    ]
}

/// The records: two of them form a batch, some have different times, some have pending wanted tiers.
pub(crate) fn records() -> Vec<(Head<'static>, Vec<u8>)> {
    let with_stamp = |(i, (mut content, body)): (u64, (Content<'static>, Vec<u8>))| {
        let time = HEADER.base_time + i / 3 * 250;
        match &mut content {
            Content::Tensor(_, tensor) => {
                tensor.created = if i == 2 { time - 86_400_000 } else { time };
                tensor.updated = if i == 2 { time - 5000 } else { time };
            }
            Content::Frame(_, frame) => frame.time = if frame.index == 3 { 40 } else { time },
            Content::Delete(_) | Content::Usage => {}
        }
        let pending = (i == 3 || i == 11).then_some(64 + 100 * i);
        let sequence = HEADER.base_sequence + i + u64::from(i > 8) * 20;
        (Head { stamp: Stamp { sequence, batch_left: u32::from(i == 1), pending, time }, content }, body)
    };
    (0..).zip(contents()).map(with_stamp).collect()
}

/// Frames as f32 values, and policy state: the end of a usage list, and a list without entries.
pub(crate) fn policy_segment() -> Vec<u8> {
    let lossless = |index| FrameHead {
        tier: 0,
        values: FrameValues::Raw,
        block: BlockLen::DEFAULT,
        accuracy: Accuracy::EXACT,
        ..frame(index, Role::Key, BitWidth::W8, ScaleType::F16)
    };
    let values = |start: u8| (0..10u8).flat_map(|i| (f32::from(start) - f32::from(i) * 0.1).to_le_bytes()).collect();
    let key = [&[0x00, 0x38, 0x00, 0x3c][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]].concat();
    let list = |uses: &[(IdRef<'_>, u64)], wanted_tiers: &[(IdRef<'_>, u8)], last_downgrade| {
        let mut list = UsageList::default();
        for &(id, last) in uses {
            list.push(&UsageEntry { id, accesses: last, last, window: 1, ema: 0.25 }).expect("a good entry");
        }
        for &(id, tier) in wanted_tiers {
            list.push_wanted_tier(&WantedTierEntry { id, tier }).expect("a valid tier");
        }
        list.set_last_downgrade(last_downgrade);
        list.into_bytes()
    };
    let (other, number) = (IdRef::Name("model/layer/1/weight"), IdRef::Number(7));
    let contents: Vec<(Content<'_>, Vec<u8>)> = vec![
        (Content::Tensor(SERIES, tensor(&[5, 2], 0, Encoding::Frames)), vec![]),
        (Content::Frame(SERIES, lossless(0)), values(1)),
        (Content::Frame(SERIES, frame(1, Role::Key, BitWidth::W8, ScaleType::F16)), key),
        (Content::Frame(SERIES, lossless(2)), values(3)),
        (Content::Usage, list(&[(LAYER, 17), (other, 12)], &[(LAYER, 1), (other, 2), (number, 4)], Some(1234))),
        (Content::Usage, list(&[(LAYER, 18)], &[(LAYER, 3)], None)),
        (Content::Usage, list(&[], &[], Some(HEADER.base_time))),
    ];
    sealed_segment(contents)
}

/// Tensors and frames as f16 and in the tiers of 6 and 4 bits, with pins and wanted tiers, and re-encoded frames.
pub(crate) fn tiers_segment() -> Vec<u8> {
    let half = |count: u16| (0..count).flat_map(|i| (0x3c00 + 16 * i).to_le_bytes()).collect::<Vec<u8>>();
    let values: Vec<f32> = (0..12).map(|i| (i as f32 - 4.5) * 0.75).collect();
    let of = |width| BlockFormat::new(width).with_block_len(eight());
    let (b6, b4) = (of(BitWidth::W6), of(BitWidth::W4));
    let blocks = |format: BlockFormat| format.encode(&values).expect("finite");
    let pinned = TensorHead { pinned: Some(7), max_error: Some(0.5), ..tensor(&[12], 7, Encoding::Blocks(b6)) };
    let key = [&[0x00, 0x38, 0x00, 0x3c][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]].concat();
    let plain = FrameHead {
        tier: 6,
        values: FrameValues::Half,
        block: BlockLen::DEFAULT,
        ..frame(2, Role::Key, BitWidth::W8, ScaleType::F16)
    };
    let again = |index, role, width| FrameHead {
        tier: 8,
        rewritten: Some(HEADER.base_sequence + 4),
        ..frame(index, role, width, ScaleType::F16)
    };
    let list = {
        let mut list = UsageList::default();
        for (id, tier) in [(IdRef::Name("b4"), 8), (IdRef::Name("b6"), 7), (IdRef::Name("half"), 6)] {
            list.push_wanted_tier(&WantedTierEntry { id, tier }).expect("a valid tier");
        }
        list.into_bytes()
    };
    sealed_segment(vec![
        (Content::Tensor(IdRef::Name("half"), tensor(&[3, 2], 6, Encoding::Half)), half(6)),
        (Content::Tensor(IdRef::Name("b6"), pinned), blocks(b6)),
        (Content::Tensor(IdRef::Name("b4"), tensor(&[12], 8, Encoding::Blocks(b4))), blocks(b4)),
        (Content::Tensor(SERIES, tensor(&[5, 2], 1, Encoding::Frames)), vec![]),
        (Content::Frame(SERIES, frame(0, Role::Key, BitWidth::W8, ScaleType::F16)), key.clone()),
        (Content::Frame(SERIES, frame(1, Role::Shared { key: 0 }, BitWidth::W8, ScaleType::F16)), vec![9; 10]),
        (Content::Frame(SERIES, plain), half(10)),
        (Content::Frame(SERIES, again(0, Role::Key, BitWidth::W4)), key[..9].to_vec()),
        (Content::Frame(SERIES, again(1, Role::Shared { key: 0 }, BitWidth::W4)), vec![0x99; 5]),
        (Content::Usage, list),
    ])
}

/// Writes contents as a sealed segment, with consecutive sequence numbers and times.
fn sealed_segment(contents: Vec<(Content<'_>, Vec<u8>)>) -> Vec<u8> {
    let mut bytes = HEADER.encode().to_vec();
    let mut index = IndexBuilder::new(&HEADER);
    for (i, (mut content, body)) in (0..).zip(contents) {
        let time = HEADER.base_time + i;
        match &mut content {
            Content::Tensor(_, tensor) => (tensor.created, tensor.updated) = (time, time),
            Content::Frame(_, frame) => frame.time = 60 * frame.index,
            Content::Delete(_) | Content::Usage => {}
        }
        let stamp = Stamp { sequence: HEADER.base_sequence + i, batch_left: 0, pending: None, time };
        let head = Head { stamp, content };
        let len = write_record(&mut bytes, &HEADER, &head, &body).expect("a good record");
        index.push(&head, len as u64).expect("a good record");
    }
    bytes.extend(index.finish(&HEADER));
    bytes
}

/// The segment and the end offsets of its records.
pub(crate) fn segment(sealed: bool) -> (Vec<u8>, usize) {
    let mut bytes = HEADER.encode().to_vec();
    let mut index = IndexBuilder::new(&HEADER);
    for (head, body) in records() {
        let len = write_record(&mut bytes, &HEADER, &head, &body).expect("a good record");
        index.push(&head, len as u64).expect("a good record");
    }
    let end = bytes.len();
    assert_eq!(index.end(), end as u64);
    if sealed {
        bytes.extend(index.finish(&HEADER));
    }
    (bytes, end)
}

pub(crate) fn manifest(log_end: LogEnd) -> Manifest {
    Manifest { store: HEADER.store, number: 9, log_from: 5, log_end, compacted: vec![sealed(2), sealed(4)] }
}

pub(crate) fn catalog() -> Catalog {
    let part = |count, len| ObjectPart { writer: [7; 16], count, len };
    let file =
        |name: &str, sealed, parts, tail: &[u8]| CatalogFile { name: name.into(), sealed, parts, tail: tail.into() };
    Catalog {
        number: 12,
        epoch: 3,
        writer: HEADER.store,
        time: 1_700_000_000_000,
        files: vec![
            file("manifest-0000000000000009", false, vec![], b"short"),
            file("segment-0000000000000002", true, vec![part(1, 2000)], b""),
            file("segment-000000000000000a", false, vec![part(2, 70_000), part(4, 5)], b"the end"),
        ],
        dead: vec![DeadObject { name: "segment-0000000000000001".into(), writer: [8; 16], count: 6, since: 5 }],
        fences: vec![Fence { number: 1, time: 1 }, Fence { number: 10, time: 1_600_000_000_000 }],
    }
}

pub(crate) fn sealed(number: u64) -> SealedSegment {
    SealedSegment { number, len: number * 1000, index_crc: 0xdead_beef }
}

/// Frames without data, of a tensor with a reconstruction, and reads of groups of frames.
pub(crate) fn frames_segment() -> Vec<u8> {
    let key = [&[0x00, 0x38, 0x00, 0x3c][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]].concat();
    let policy = Reconstruct::Factor { source: LAYER, scale: 0.5, permutation: None, projection: None };
    let head = TensorHead { reconstruct: Some(policy), ..tensor(&[5, 2], 1, Encoding::Frames) };
    let evicted = FrameHead {
        tier: 5,
        values: FrameValues::Absent,
        block: BlockLen::DEFAULT,
        accuracy: Accuracy::EXACT,
        rewritten: Some(HEADER.base_sequence + 1),
        ..frame(0, Role::Key, BitWidth::W8, ScaleType::F16)
    };
    let usage = |id, last| UsageEntry { id, accesses: last / 2, last, window: 0b101, ema: 0.125 };
    let list = |downgraded: Option<u64>, wanted: Option<u8>| {
        let mut list = UsageList::default();
        list.push(&usage(SERIES, 40)).expect("a good entry");
        for (group, last) in [(0, 40), (1, 38), (70_000, 12)] {
            list.push_frames(&FrameUsageEntry { group, usage: usage(SERIES, last) }).expect("a good entry");
        }
        list.push_frames(&FrameUsageEntry { group: 2, usage: usage(IdRef::Number(7), 13) }).expect("a good entry");
        list.set_last_downgrade(downgraded);
        if let Some(tier) = wanted {
            list.push_wanted_tier(&WantedTierEntry { id: SERIES, tier }).expect("a valid tier");
        }
        list.into_bytes()
    };
    sealed_segment(vec![
        (Content::Tensor(SERIES, head), vec![]),
        (Content::Frame(SERIES, frame(0, Role::Key, BitWidth::W8, ScaleType::F16)), key.clone()),
        (Content::Frame(SERIES, frame(1, Role::Key, BitWidth::W8, ScaleType::F16)), key),
        (Content::Frame(SERIES, evicted), vec![]),
        (Content::Usage, list(Some(1234), Some(2))),
        (Content::Usage, list(None, None)),
    ])
}

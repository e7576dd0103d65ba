//! Single records: drafts, partial reads, rejected writes, and search for records after damage.

use bitgrain_formats::segment::*;

use crate::samples::{self, HEADER};

fn stamp(sequence: u64) -> Stamp {
    Stamp { sequence, batch_left: 0, pending: None, time: HEADER.base_time }
}

fn usage(sequence: u64) -> Head<'static> {
    Head { stamp: stamp(sequence), content: Content::Usage }
}

#[test]
fn a_reused_draft_equals_the_record_that_would_be_written() {
    let mut draft = Draft::new(3 * CHUNK);
    draft.body_mut().fill(7);
    let long = "n".repeat(IdRef::MAX_LEN);
    let deletion = Head { stamp: stamp(1), content: Content::Delete(IdRef::Name(&long)) };
    let others = [(deletion, vec![]), (usage(2), vec![3; CHUNK]), (usage(3), vec![4; CHUNK + 1])];
    for (head, body) in samples::records().into_iter().chain(others) {
        let mut wanted = Vec::new();
        write_record(&mut wanted, &HEADER, &head, &body).expect("a good record");
        draft.reset(body.len());
        draft.body_mut().copy_from_slice(&body);
        draft.checksum();
        // The first draft is discarded, as when a segment is full.
        let other = SegmentHeader { number: 77, ..HEADER };
        assert_ne!(draft.finish(&other, &head).expect("a good record"), wanted);
        assert_eq!(draft.finish(&HEADER, &head).expect("a good record"), wanted);
        assert_eq!(draft.body(), body);
    }
}

#[test]
fn a_changed_draft_gets_new_checksums() {
    let mut draft = Draft::new(10);
    draft.checksum();
    draft.body_mut()[3] = 1;
    let bytes = draft.finish(&HEADER, &usage(1)).expect("a good record");
    let view = RecordView::parse(bytes, 0, &HEADER).expect("a good record");
    assert_eq!(view.check_body(view.body(bytes).expect("all there")), Ok(()));
}

#[test]
fn the_first_bytes_determine_the_length_of_a_record() {
    for (head, body) in samples::records() {
        let mut record = Vec::new();
        write_record(&mut record, &HEADER, &head, &body).expect("a good record");
        let needed = RecordView::needed(&record[..record.len().min(RecordView::PREFIX)]).expect("enough");
        assert_eq!((needed.head, needed.total), ((record.len() - body.len()) as u64, record.len() as u64));
        // The head alone identifies the record.
        let view = RecordView::parse(&record[..record.len() - body.len()], 0, &HEADER).expect("the head is there");
        assert_eq!(view.head, head);
        assert_eq!(view.check_body(&body), Ok(()));
    }
    let longest = Needed { head: 4 + 3 + 10 + (1 << 20) + (4 << 50), total: u64::MAX };
    let prefix = [&[0; 4][..], &[0x80, 0x80, 0x40], &[0xff; 9], &[1]].concat();
    assert_eq!(prefix.len(), RecordView::PREFIX);
    assert_eq!(RecordView::needed(&prefix), Ok(longest));
}

#[test]
fn a_range_of_a_body_is_verified_by_its_chunks() {
    let body: Vec<u8> = (0..3 * CHUNK + 100).map(|i| (i % 251) as u8).collect();
    let mut record = Vec::new();
    write_record(&mut record, &HEADER, &usage(1), &body).expect("a good record");
    let view = RecordView::parse(&record, 0, &HEADER).expect("a good record");
    assert_eq!(view.chunks_of(0..1), 0..CHUNK);
    assert_eq!(view.chunks_of(CHUNK - 1..CHUNK + 1), 0..2 * CHUNK);
    assert_eq!(view.chunks_of(3 * CHUNK + 5..3 * CHUNK + 6), 3 * CHUNK..body.len());
    assert_eq!(view.chunks_of(5..5), 0..CHUNK);
    let mut broken = body.clone();
    broken[2 * CHUNK + 9] ^= 1;
    for (part, fine) in [
        (0..5, true),
        (CHUNK..2 * CHUNK, true),
        (2 * CHUNK - 1..2 * CHUNK + 1, false),
        (3 * CHUNK..3 * CHUNK + 1, true),
    ] {
        let chunks = view.chunks_of(part);
        let checked = view.check_chunks(chunks.start, &broken[chunks]);
        assert_eq!(checked.is_ok(), fine, "{checked:?}");
    }
    let offset = (view.head_len + 2 * CHUNK) as u64;
    assert!(matches!(view.check_body(&broken), Err(SegmentError::Checksum { offset: at, .. }) if at == offset));
    assert!(matches!(view.check_chunks(1, &body[1..CHUNK]), Err(SegmentError::Length { .. })));
    assert!(matches!(view.check_chunks(0, &body[..CHUNK - 1]), Err(SegmentError::Length { .. })));
    assert!(matches!(view.check_body(&body[..CHUNK]), Err(SegmentError::Length { .. })));
}

#[test]
fn a_record_after_damage_is_found() {
    let (mut bytes, end) = samples::segment(false);
    let places: Vec<u64> = Records::new(&bytes, &HEADER).map(|(offset, _)| offset).collect();
    for &place in &places {
        assert_eq!(find_record(&bytes, &HEADER, place), Some(place));
    }
    bytes[places[2] as usize + 20] ^= 0x10;
    assert_eq!(find_record(&bytes, &HEADER, places[2]), Some(places[3]));
    assert_eq!(find_record(&bytes, &HEADER, places[12] + 1), None);
    let mut rest = Records::from(&bytes, &HEADER, places[3]);
    assert_eq!(rest.by_ref().count(), places.len() - 3);
    assert_eq!(rest.end(), &End::Clean { offset: end as u64 });
}

#[test]
fn holes_keep_their_position_in_the_index() {
    let mut index = IndexBuilder::new(&HEADER);
    index.push(&usage(1000), 50).expect("a good head");
    index.push_hole(1000);
    index.push(&usage(1001), 60).expect("a good head");
    let sealed = index.finish(&HEADER);
    let (entries, tail) = sealed.split_last_chunk().expect("a trailer");
    let len = index.end() + sealed.len() as u64;
    let trailer = Trailer::parse(tail, &HEADER, len).expect("good").expect("sealed");
    let mut entries = Index::parse(entries, &trailer, &HEADER).expect("signed").entries();
    let mut read = Vec::new();
    while let Some(entry) = entries.next().expect("good") {
        read.push((entry.kind, entry.offset, entry.length, entry.sequence));
    }
    let wanted =
        [(EntryKind::Usage, 64, 50, 1000), (EntryKind::Hole, 114, 1000, 1000), (EntryKind::Usage, 1114, 60, 1001)];
    assert_eq!(read, wanted);
}

#[test]
fn files_that_readers_reject_are_not_written() {
    let base = || samples::tensor(&[0], 1, Encoding::Raw);
    let too_long = "n".repeat(IdRef::MAX_LEN + 1);
    let text = "t".repeat(MAX_HEAD);
    let factor = Reconstruct::Factor { source: IdRef::Name("s"), scale: f32::NAN, permutation: None, projection: None };
    let tensors = [
        TensorHead { tier: 9, ..base() },
        TensorHead { pinned: Some(9), ..base() },
        TensorHead { max_error: Some(-1.0), ..base() },
        TensorHead { max_error: Some(f32::NAN), ..base() },
        TensorHead { accuracy: Accuracy::new(f32::INFINITY, 0.0), ..base() },
        TensorHead { accuracy: Accuracy::new(-1.0, 0.0), ..base() },
        TensorHead { shape: vec![0; MAX_RANK + 1], ..base() },
        TensorHead { shape: vec![0, usize::MAX, 2], ..base() },
        TensorHead { user: vec![("k", &text)], ..base() },
        TensorHead { reconstruct: Some(factor), ..base() },
        TensorHead { shape: vec![1], ..base() }, // four bytes of values are lacking
    ];
    let mut contents: Vec<_> = tensors.into_iter().map(|tensor| Content::Tensor(IdRef::Name("t"), tensor)).collect();
    contents.extend([Content::Delete(IdRef::Name("")), Content::Delete(IdRef::Name(&too_long))]);
    for content in contents {
        let head = Head { stamp: stamp(1), content };
        let mut out = vec![1, 2, 3];
        assert!(write_record(&mut out, &HEADER, &head, &[]).is_err(), "{:?}", head.content.id());
        assert_eq!(out, [1, 2, 3]);
        assert!(Draft::new(0).finish(&HEADER, &head).is_err());
    }
    let mut list = UsageList::default();
    for (name, ema) in [("", 0.0), ("a", f32::NAN), ("a", 1.1), ("a", -0.1), (&too_long[..], 0.0)] {
        assert!(list.push(&UsageEntry { id: IdRef::Name(name), accesses: 0, last: 0, window: 0, ema }).is_err());
    }
    assert!(list.is_empty());
}

/// Reading only the values of a record returns the same values as reading all of it.
#[test]
fn values_are_the_same_read_alone_or_with_the_record() {
    let mut seen = 0;
    for (head, body) in samples::records() {
        let mut record = Vec::new();
        write_record(&mut record, &HEADER, &head, &body).expect("a good record");
        let id = head.content.id().unwrap_or(IdRef::Name("none"));
        let values = ValuesView::parse(&record, 64, HEADER.salt(), id).expect("a good record");
        let tensor = match &head.content {
            Content::Tensor(_, tensor) if !body.is_empty() && tensor.reconstruct.is_none() => tensor,
            _ => {
                assert_eq!(values, None, "{head:?}");
                continue;
            }
        };
        let values = values.expect("it has values and nothing else");
        let expected = (tensor.tier, tensor.encoding, tensor.accuracy, tensor.count(), &body[..]);
        assert_eq!((values.tier, values.encoding, values.accuracy, values.count, values.body), expected);
        assert_eq!(values.check(), Ok(()));
        for other in [IdRef::Name("b"), IdRef::Number(3)] {
            assert_eq!(ValuesView::parse(&record, 64, HEADER.salt(), other), Ok(None));
        }
        for at in 0..record.len() {
            let mut broken = record.clone();
            broken[at] ^= 0x10;
            let read =
                ValuesView::parse(&broken, 64, HEADER.salt(), id).and_then(|read| read.map_or(Ok(()), |v| v.check()));
            assert!(read.is_err(), "byte {at} of {head:?}");
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

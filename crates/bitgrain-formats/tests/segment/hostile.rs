//! Every truncation and every flipped bit: an error, never a panic and never other data.

use bitgrain_codec::BlockLen;
use bitgrain_formats::crc32c;
use bitgrain_formats::segment::*;
use bitgrain_kernels::Backend;

use crate::samples::{self, HEADER};
use crate::{read_sealed, read_unsealed};

fn for_every_bit(bytes: &[u8], mut check: impl FnMut(usize, &[u8])) {
    let mut copy = bytes.to_vec();
    for bit in 0..bytes.len() * 8 {
        copy[bit / 8] ^= 1 << (bit % 8);
        check(bit / 8, &copy);
        copy[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_flipped_bit_of_a_sealed_segment_is_detected() {
    let (bytes, _) = samples::segment(true);
    assert_eq!(read_sealed(&bytes).map(|records| records.len()), Ok(samples::records().len()));
    for_every_bit(&bytes, |at, broken| {
        // With a complete index, records are compared with it and a damaged record would panic in the test, so read the
        // records first.
        if SegmentHeader::parse(broken).is_ok() && at < samples::segment(false).1 {
            assert!(read_unsealed(broken).is_ok_and(|read| read.len() < samples::records().len()), "byte {at}");
        } else {
            assert!(read_sealed(broken).is_err(), "byte {at}");
        }
    });
}

#[test]
fn a_broken_record_of_an_open_segment_does_not_hide_others_and_is_never_read() {
    let (bytes, end) = samples::segment(false);
    let whole = read_unsealed(&bytes).expect("a good segment");
    for_every_bit(&bytes, |at, broken| {
        let Ok(read) = read_unsealed(broken) else {
            assert!(at < SegmentHeader::LEN, "byte {at} of {end}");
            return;
        };
        let hit = whole.iter().skip(1).filter(|next| next.0 <= at as u64).count();
        assert_eq!(read[..], whole[..hit], "byte {at}");
    });
}

#[test]
fn every_truncation_keeps_the_records_before_it() {
    let (bytes, end) = samples::segment(false);
    let whole = read_unsealed(&bytes).expect("a good segment");
    for len in 0..end {
        let cut = &bytes[..len];
        let Ok(header) = SegmentHeader::parse(cut) else {
            assert!(len < SegmentHeader::LEN);
            continue;
        };
        let read = read_unsealed(cut).expect("the header is there");
        assert_eq!(read[..], whole[..read.len()], "{len} bytes");
        let mut records = Records::new(cut, &header);
        let count = records.by_ref().count();
        let next = whole.get(count).map(|record| record.0);
        match records.end() {
            End::Clean { offset } => assert_eq!((*offset, next), (len as u64, Some(len as u64))),
            End::Torn { offset, .. } => assert_eq!(Some(*offset), next, "{len} bytes"),
            other => panic!("{len} bytes: {other:?}"),
        }
    }
}

/// A sealed segment that is mistaken for an open one would be scanned slowly and truncated.
#[test]
fn a_flipped_bit_of_a_trailer_does_not_unseal_the_segment() {
    let (bytes, _) = samples::segment(true);
    let tail: &[u8; Trailer::LEN] = bytes.last_chunk().expect("a trailer");
    for_every_bit(tail, |at, broken| {
        let broken = broken.try_into().expect("as long as before");
        assert!(Trailer::parse(broken, &HEADER, bytes.len() as u64).is_err(), "byte {at}");
    });
}

#[test]
fn every_truncation_of_a_sealed_segment_is_an_open_one() {
    let (bytes, end) = samples::segment(true);
    for len in end..bytes.len() {
        let cut = &bytes[..len];
        let tail = cut.last_chunk().expect("longer than a trailer");
        assert_eq!(Trailer::parse(tail, &HEADER, len as u64), Ok(None), "{len} bytes");
        assert_eq!(read_unsealed(cut).map(|read| read.len()), Ok(samples::records().len()), "{len} bytes");
    }
}

#[test]
fn every_flipped_bit_and_truncation_of_a_catalog_is_detected() {
    let catalog = samples::catalog();
    let bytes = catalog.encode().expect("short lists");
    for_every_bit(&bytes, |at, broken| assert!(Catalog::parse(broken).is_err(), "byte {at}"));
    for len in 0..bytes.len() {
        assert!(Catalog::parse(&bytes[..len]).is_err(), "{len} bytes");
    }
    let mut later = bytes.clone();
    later[8] = 2;
    let end = later.len() - 4;
    let sum = crc32c(&later[..end]);
    later[end..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(Catalog::parse(&later), Err(SegmentError::FutureVersion { what: "catalog", found: 2, known: 1 }));
}

#[test]
fn a_catalog_has_sorted_names_that_can_be_keys() {
    for name in ["", "a/b", "ü", "a b", &"x".repeat(256)] {
        let catalog =
            Catalog { files: vec![CatalogFile { name: name.into(), ..CatalogFile::default() }], ..Catalog::default() };
        assert!(catalog.encode().is_err(), "{name}");
    }
    let mut catalog = samples::catalog();
    catalog.files.swap(0, 1);
    assert!(matches!(catalog.encode(), Err(SegmentError::Unwritable { .. })));
    catalog.files[1] = catalog.files[0].clone();
    assert!(matches!(catalog.encode(), Err(SegmentError::Unwritable { .. })));
}

#[test]
fn every_flipped_bit_and_truncation_of_a_manifest_is_detected() {
    for log_end in [LogEnd::Open, LogEnd::Closed(None), LogEnd::Closed(Some(samples::sealed(7)))] {
        let manifest = samples::manifest(log_end);
        let bytes = manifest.encode().expect("a short list");
        assert_eq!(Manifest::parse(&bytes), Ok(manifest));
        for_every_bit(&bytes, |at, broken| assert!(Manifest::parse(broken).is_err(), "byte {at}"));
        for len in 0..bytes.len() {
            assert!(Manifest::parse(&bytes[..len]).is_err(), "{len} bytes");
        }
    }
}

#[test]
fn only_a_closed_manifest_names_the_last_log_segment() {
    let signed = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = samples::manifest(LogEnd::Closed(Some(samples::sealed(7)))).encode().expect("a short list");
        let end = bytes.len() - 4;
        change(&mut bytes);
        let sum = crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        Manifest::parse(&bytes)
    };
    assert!(signed(&|_| {}).is_ok());
    let refused = |change: &dyn Fn(&mut [u8])| matches!(signed(change), Err(SegmentError::Value { .. }));
    assert!(refused(&|bytes| bytes[10] = 0), "an open log has no last segment");
    assert!(refused(&|bytes| bytes[10] = 2), "there are two states");
    assert!(refused(&|bytes| bytes[48] = 4), "segments before 5 do not count");
    assert!(refused(&|bytes| bytes[48] = 0), "no segment has a length");
    let wrong = samples::manifest(LogEnd::Closed(Some(samples::sealed(4)))).encode();
    assert!(matches!(wrong, Err(SegmentError::Unwritable { .. })), "{wrong:?}");
}

fn sum_after(salt: u32, bytes: &[u8]) -> [u8; 4] {
    bitgrain_kernels::crc32c(Backend::best(), salt, bytes).to_le_bytes()
}

fn salt() -> u32 {
    crc32c(&HEADER.encode()[..60])
}

/// With matching checksums, a damaged head is rejected for its content, or is one that a writer could have written.
#[test]
fn a_head_with_a_valid_checksum_is_rejected_or_round_trips() {
    for (head, body) in samples::records() {
        let mut record = Vec::new();
        write_record(&mut record, &HEADER, &head, &body).expect("a good record");
        let head_len = record.len() - body.len();
        let (mut taken, mut refused) = (0, 0);
        for at in 4..head_len {
            for new in 0..=255 {
                let mut broken = record.clone();
                broken[at] = new;
                // If the length is damaged, the head ends elsewhere.
                let Some(len) = RecordView::needed(&broken).ok().and_then(|n| usize::try_from(n.head).ok()) else {
                    continue;
                };
                let Some(signed) = broken.get(4..len) else { continue };
                let sum = sum_after(salt(), signed);
                broken[..4].copy_from_slice(&sum);
                let Ok(view) = RecordView::parse(&broken, 0, &HEADER) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                let Ok(body) = view.body(&broken) else { continue };
                let mut again = Vec::new();
                write_record(&mut again, &HEADER, &view.head, body).expect("what was read can be written");
                // The checksums of the body may be the damaged part.
                let table = body.len().div_ceil(CHUNK) * 4;
                let fields = 4..view.head_len - table;
                assert_eq!(again[fields.clone()], broken[fields], "byte {at} is {new}");
            }
        }
        assert!(taken > 100 && refused > 100, "{taken} taken, {refused} refused of {head:?}");
    }
}

#[test]
fn an_index_with_valid_checksums_is_rejected_or_stays_within_the_segment() {
    let (bytes, end) = samples::segment(true);
    let index_end = bytes.len() - Trailer::LEN;
    for at in end..index_end {
        for new in 0..=255 {
            let mut index = bytes[end..index_end].to_vec();
            index[at - end] = new;
            let index_crc = u32::from_le_bytes(sum_after(salt(), &index));
            let trailer = Trailer { index_offset: end as u64, index_len: index.len() as u64, index_crc };
            let mut entries = Index::parse(&index, &trailer, &HEADER).expect("signed").entries();
            let mut place = SegmentHeader::LEN as u64;
            while let Ok(Some(entry)) = entries.next() {
                assert_eq!(entry.offset, place);
                place += entry.length;
                assert!(place <= end as u64, "byte {at} is {new}");
            }
        }
    }
}

#[test]
fn arbitrary_usage_records_are_rejected_or_read() {
    let read = |body: &[u8]| {
        let mut entries = UsageEntries::new(body);
        while let Ok(Some(_)) = entries.next() {}
        let Ok(mut groups) = entries.into_frame_usage() else { return };
        while let Ok(Some(_)) = groups.next() {}
        let Ok(mut wanted_tiers) = groups.into_wanted_tiers() else { return };
        while let Ok(Some(_)) = wanted_tiers.next() {}
    };
    let mut body = samples::records().pop().expect("the last is a list").1;
    // Then the policy state: a time, one group of frames and one wanted tier.
    body.extend([0, 3, 99, 1, 0x02, 0, b'a', 5, 2, 8, 1, 0, 16, 0x02, 0, b'a', 4]);
    for at in 0..body.len() {
        for new in 0..=255 {
            let mut broken = body.clone();
            broken[at] = new;
            read(&broken);
        }
        read(&body[..at]);
    }
}

#[test]
fn a_policy_state_that_no_writer_produces_is_rejected() {
    // An empty record, unknown flags, no groups, missing groups, a truncated time, an unknown tier, an empty id.
    let groups: [&[u8]; 2] = [&[0, 2, 0], &[0, 2, 255, 255, 3, 0x02, 0, b'a', 5, 2, 8, 1, 0, 16]];
    for body in [
        &[0, 0][..],
        &[0, 4, 0x02, 0, b'a', 1],
        groups[0],
        groups[1],
        &[0, 1],
        &[0, 0, 0x02, 0, b'a', 9],
        &[0, 0, 0, 1],
        &[0],
    ] {
        let read =
            UsageEntries::new(body).into_wanted_tiers().and_then(|mut wanted_tiers| wanted_tiers.next().map(drop));
        assert!(read.is_err(), "{body:?}");
    }
}

/// Returns the head of a key frame of two f32 values.
fn raw_frame() -> FrameHead {
    FrameHead {
        index: 0,
        role: Role::Key,
        shape: vec![2],
        tier: 0,
        values: FrameValues::Raw,
        block: BlockLen::DEFAULT,
        scales: ScaleType::F16,
        accuracy: Accuracy::EXACT,
        time: 0,
        rewritten: None,
    }
}

#[test]
fn f32_frames_that_refer_to_others_are_rejected() {
    let head = FrameHead { index: 1, ..raw_frame() };
    let stamp = Stamp { sequence: 1, batch_left: 0, pending: None, time: 0 };
    for (role, scales) in [(Role::Shared { key: 0 }, ScaleType::F16), (Role::Key, ScaleType::F32)] {
        let content = Content::Frame(IdRef::Name("x"), FrameHead { role, scales, ..head.clone() });
        let written = write_record(&mut Vec::new(), &HEADER, &Head { stamp, content }, &[0; 8]);
        assert!(matches!(written, Err(SegmentError::Unwritable { .. })), "{written:?}");
    }
}

/// Files of later versions and of other programs are not reported as damaged.
#[test]
fn later_versions_and_foreign_files_have_their_own_errors() {
    let mut later = HEADER.encode();
    later[8] = 2;
    assert!(matches!(SegmentHeader::parse(&later), Err(SegmentError::Checksum { .. })));
    let sum = crc32c(&later[..60]);
    later[60..].copy_from_slice(&sum.to_le_bytes());
    let future = |what| SegmentError::FutureVersion { what, found: 2, known: 1 };
    assert_eq!(SegmentHeader::parse(&later), Err(future("segment")));
    let foreign = [b"PK\x03\x04....", &[0; 100][..]].concat();
    assert!(matches!(SegmentHeader::parse(&foreign), Err(SegmentError::Foreign { what: "segment", .. })));
    assert!(matches!(Manifest::parse(&foreign), Err(SegmentError::Foreign { what: "manifest", .. })));
    let mut later = samples::manifest(LogEnd::Open).encode().expect("a short list");
    later[8] = 2;
    let end = later.len() - 4;
    let sum = crc32c(&later[..end]);
    later[end..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(Manifest::parse(&later), Err(future("manifest")));
}

#[test]
fn records_of_another_segment_are_not_accepted() {
    let (bytes, _) = samples::segment(false);
    for other in [SegmentHeader { number: 6, ..HEADER }, SegmentHeader { store: [0; 16], ..HEADER }] {
        let mut records = Records::new(&bytes, &other);
        assert!(records.next().is_none());
        assert!(matches!(records.end(), End::Bad { offset: 64, error: SegmentError::Checksum { .. } }));
    }
}

/// Integers have a single encoding, with the minimum number of bytes.
#[test]
fn varints_have_the_shortest_encoding_and_readers_reject_longer_ones() {
    let record = |number: u128| {
        let stamp = Stamp { sequence: HEADER.base_sequence, batch_left: 0, pending: None, time: HEADER.base_time };
        let mut bytes = Vec::new();
        let head = Head { stamp, content: Content::Delete(IdRef::Number(number)) };
        write_record(&mut bytes, &HEADER, &head, &[]).expect("a good record");
        assert_eq!(RecordView::parse(&bytes, 0, &HEADER).expect("a good record").head, head);
        bytes
    };
    let none = record(0).len();
    for (number, len) in [(1, 1), (255, 1), (256, 2), (1 << 64, 9), (1 << 120, 16), (u128::MAX, 16)] {
        assert_eq!(record(number).len() - none, len, "{number}");
    }
    // A leading zero, in a head that is one byte longer.
    let mut padded = record(7);
    let at = padded.len() - 2;
    (padded[at], padded[4]) = (2, padded[4] + 1);
    padded.insert(at + 1, 0);
    let sum = sum_after(salt(), &padded[4..]);
    padded[..4].copy_from_slice(&sum);
    let refused = RecordView::parse(&padded, 0, &HEADER);
    assert!(matches!(refused, Err(SegmentError::Value { what: "id", .. })), "{refused:?}");
}

#[test]
fn a_re_encoded_frame_that_is_older_than_its_first_frame_is_refused() {
    let stamp = Stamp { sequence: 5, batch_left: 0, pending: None, time: 0 };
    for (first, good) in [(4, true), (5, false), (6, false)] {
        let content = Content::Frame(IdRef::Name("x"), FrameHead { rewritten: Some(first), ..raw_frame() });
        let written = write_record(&mut Vec::new(), &HEADER, &Head { stamp, content }, &[0; 8]);
        assert_eq!(written.is_ok(), good, "{first}: {written:?}");
    }
}

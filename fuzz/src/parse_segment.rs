//! Any bytes as a segment, an index, a usage list, a manifest or a catalog: a typed error, or a value that is written back
//! unchanged.
//!
//! Input: a byte for the kind of file, then a segment whose checksums are corrected, so that the code after the checks
//! is reached. Spec: `spec/segment.md`.

use bitgrain::formats::segment::*;

use crate::sums;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Some((&kind, input)) = input.split_first() else { return };
    match kind {
        0 => as_it_is(input),
        1 => uses(input),
        2 => manifest(input),
        3 => with_header(input, index),
        9 => catalog(input),
        _ => with_header(input, records),
    }
}

fn as_it_is(input: &[u8]) {
    let _ = Manifest::parse(input);
    let _ = Catalog::parse(input);
    let Ok(header) = SegmentHeader::parse(input) else { return };
    if let Some(tail) = input.last_chunk() {
        let _ = Trailer::parse(tail, &header, input.len() as u64);
    }
    for (offset, record) in Records::new(input, &header) {
        assert_eq!(find_record(input, &header, offset), Some(offset), "{:?}", record.head);
    }
}

fn uses(body: &[u8]) {
    let mut entries = UsageEntries::new(body);
    let mut list = UsageList::default();
    while let Ok(Some(entry)) = entries.next() {
        list.push(&entry).expect("what was read can be written");
    }
    if let Ok(mut groups) = entries.into_frame_usage() {
        list.set_last_downgrade(groups.last_downgrade);
        while let Ok(Some(group)) = groups.next() {
            list.push_frames(&group).expect("what was read can be written");
        }
        let Ok(mut wanted_tiers) = groups.into_wanted_tiers() else { return };
        while let Ok(Some(wanted)) = wanted_tiers.next() {
            list.push_wanted_tier(&wanted).expect("what was read can be written");
        }
    }
    let again = list.into_bytes();
    assert!(again.len() <= body.len(), "a writer takes the fewest bytes");
}

fn manifest(input: &[u8]) {
    let mut bytes = input.to_vec();
    sums::manifest(&mut bytes);
    if let Ok(manifest) = Manifest::parse(&bytes) {
        assert_eq!(manifest.encode(), Ok(bytes));
    }
}

fn catalog(input: &[u8]) {
    let mut bytes = input.to_vec();
    sums::manifest(&mut bytes); // at the end, as in a manifest
    if let Ok(catalog) = Catalog::parse(&bytes) {
        assert_eq!(catalog.encode(), Ok(bytes));
    }
}

/// Corrects the checksum of the header.
fn with_header(input: &[u8], work: impl FnOnce(&SegmentHeader, u32, &[u8])) {
    let Some((header, rest)) = input.split_first_chunk::<{ SegmentHeader::LEN }>() else { return };
    let mut bytes = *header;
    let salt = sums::header(&mut bytes);
    let Ok(header) = SegmentHeader::parse(&bytes) else { return };
    assert_eq!(header.encode(), bytes);
    work(&header, salt, rest);
}

fn index(header: &SegmentHeader, salt: u32, bytes: &[u8]) {
    let index_crc = sums::salted(salt, bytes);
    let trailer = Trailer { index_offset: 1 << 20, index_len: bytes.len() as u64, index_crc };
    let mut entries = Index::parse(bytes, &trailer, header).expect("the checksum fits").entries();
    let mut place = SegmentHeader::LEN as u64;
    while let Ok(Some(entry)) = entries.next() {
        assert_eq!(entry.offset, place);
        place += entry.length;
    }
}

fn records(header: &SegmentHeader, salt: u32, bytes: &[u8]) {
    let mut record = bytes.to_vec();
    let Some(total) = sums::record(&mut record, salt) else { return };
    record.truncate(total);
    let Ok(view) = RecordView::parse(&record, 0, header) else { return };
    let body = view.body(&record).expect("all there");
    assert_eq!(view.check_body(body), Ok(()));
    if let Content::Tensor(id, tensor) = &view.head.content {
        let values = ValuesView::parse(&record, 0, salt, *id).expect("a good record");
        let data = matches!(tensor.encoding, Encoding::Raw | Encoding::Blocks(_)) && tensor.reconstruct.is_none();
        let read = values.map(|v| (v.tier, v.encoding, v.count, v.body));
        assert_eq!(read, data.then(|| (tensor.tier, tensor.encoding, tensor.count(), body)));
    }
    let mut again = Vec::new();
    write_record(&mut again, header, &view.head, body).expect("what was read can be written");
    assert_eq!(again, record);
    let mut index = IndexBuilder::new(header);
    index.push(&view.head, total as u64).expect("what was read can be written");
}

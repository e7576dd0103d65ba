//! Segments and manifests: golden vectors, every broken bit, round trips and sizes. Spec: `spec/segment.md`.
#![expect(clippy::cast_possible_truncation, reason = "made-up data of a few bytes")]

mod describe;
mod golden;
mod hostile;
mod properties;
mod records;
mod samples;
mod sizes;

use bitgrain_formats::segment::{Entry, Index, Records, SegmentError, SegmentHeader, Trailer};

/// A record in comparable form: position, head as text, body.
type Read = (u64, String, Vec<u8>);

/// Reads a sealed segment and compares its index with its records.
fn read_sealed(segment: &[u8]) -> Result<Vec<Read>, SegmentError> {
    let header = SegmentHeader::parse(segment)?;
    let unsealed = SegmentError::Value { what: "a segment without a trailer", offset: segment.len() as u64 };
    let tail = segment.last_chunk().ok_or(unsealed.clone())?;
    let trailer = Trailer::parse(tail, &header, segment.len() as u64)?.ok_or(unsealed)?;
    let (start, end) = (trailer.index_offset as usize, trailer.index().end as usize);
    let mut entries = Index::parse(&segment[start..end], &trailer, &header)?.entries();
    let mut records = Records::new(&segment[..start], &header);
    let mut read = Vec::new();
    while let Some(entry) = entries.next()? {
        let Some((offset, record)) = records.next() else { panic!("no record for {entry:?}: {:?}", records.end()) };
        assert_eq!(entry, Entry::of(&record.head, offset, record.total_len()));
        let body = record.body(&segment[offset as usize..])?;
        read.push((offset, format!("{:?}", record.head), body.to_vec()));
    }
    assert!(records.next().is_none());
    Ok(read)
}

/// Reads the complete records of a segment that is not sealed.
fn read_unsealed(segment: &[u8]) -> Result<Vec<Read>, SegmentError> {
    let header = SegmentHeader::parse(segment)?;
    let records = Records::new(segment, &header);
    let body = |offset: u64, record: &bitgrain_formats::segment::RecordView<'_>| {
        record.body(&segment[offset as usize..]).expect("checked").to_vec()
    };
    Ok(records.map(|(offset, record)| (offset, format!("{:?}", record.head), body(offset, &record))).collect())
}

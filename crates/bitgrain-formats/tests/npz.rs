//! npz: every rule has an archive that violates it and the expected error.

use bitgrain_formats::npz::{Archive, NpzError};

/// Member of an archive: name, method, stored bytes, claimed size and claimed checksum.
struct Content<'a> {
    name: &'a [u8],
    method: u16,
    held: &'a [u8],
    size: u32,
    crc: u32,
}

const CRC_OF_ABC: u32 = 0x3524_41c2;
const ABC: Content<'_> = Content { name: b"abc.npy", method: 0, held: b"abc", size: 3, crc: CRC_OF_ABC };

fn local(content: &Content<'_>) -> Vec<u8> {
    let mut header = [0; 30];
    header[..4].copy_from_slice(b"PK\x03\x04");
    header[26..28].copy_from_slice(&(content.name.len() as u64).to_le_bytes()[..2]);
    [&header[..], content.name, content.held].concat()
}

fn entry(content: &Content<'_>, offset: u32) -> Vec<u8> {
    let mut header = [0; 46];
    header[..4].copy_from_slice(b"PK\x01\x02");
    header[10..12].copy_from_slice(&content.method.to_le_bytes());
    header[16..20].copy_from_slice(&content.crc.to_le_bytes());
    header[20..24].copy_from_slice(&(content.held.len() as u64).to_le_bytes()[..4]);
    header[24..28].copy_from_slice(&content.size.to_le_bytes());
    header[28..30].copy_from_slice(&(content.name.len() as u64).to_le_bytes()[..2]);
    header[42..46].copy_from_slice(&offset.to_le_bytes());
    [&header[..], content.name].concat()
}

fn end(count: u16, bytes: usize, offset: usize) -> Vec<u8> {
    let mut record = [0; 22];
    record[..4].copy_from_slice(b"PK\x05\x06");
    record[10..12].copy_from_slice(&count.to_le_bytes());
    record[12..16].copy_from_slice(&(bytes as u64).to_le_bytes()[..4]);
    record[16..20].copy_from_slice(&(offset as u64).to_le_bytes()[..4]);
    record.to_vec()
}

/// An archive of `contents`, in order.
fn archive(contents: &[Content<'_>]) -> Vec<u8> {
    let (mut locals, mut entries) = (Vec::new(), Vec::new());
    for content in contents {
        entries.extend(entry(content, u32::try_from(locals.len()).expect("small")));
        locals.extend(local(content));
    }
    let count = u16::try_from(contents.len()).expect("few");
    let end = end(count, entries.len(), locals.len());
    [locals, entries, end].concat()
}

fn error(bytes: &[u8]) -> NpzError {
    Archive::parse(bytes).expect_err("a broken archive")
}

#[test]
fn a_handmade_archive_is_read() {
    let bytes = archive(&[ABC]);
    let archive = Archive::parse(&bytes).expect("good");
    assert_eq!(archive.member("abc").expect("there").read(0).as_deref(), Ok(&b"abc"[..]));
    let commented = [&bytes[..bytes.len() - 2], &[5, 0], b"hello"].concat();
    assert_eq!(Archive::parse(&commented).expect("a comment").members.len(), 1);
}

#[test]
fn a_file_without_a_directory_is_not_an_archive() {
    let bytes = archive(&[ABC]);
    for len in 0..bytes.len() {
        assert_eq!(error(&bytes[..len]), NpzError::NoDirectory { len: len as u64 }, "cut at {len}");
    }
}

#[test]
fn directories_lie_in_the_file_and_have_as_many_entries_as_stated() {
    let bytes = archive(&[ABC]);
    let edited = |at: usize, new: &[u8]| {
        let mut edited = bytes.clone();
        let at = edited.len() - 22 + at;
        edited[at..at + new.len()].copy_from_slice(new);
        edited
    };
    assert!(matches!(error(&edited(12, &u32::MAX.to_le_bytes())), NpzError::Truncated { what: "directory", .. }));
    assert!(matches!(error(&edited(16, &u32::MAX.to_le_bytes())), NpzError::Truncated { what: "directory", .. }));
    assert!(matches!(error(&edited(16, &[1])), NpzError::Misplaced { what: "entry of the directory", offset: 1 }));
    assert_eq!(error(&edited(10, &[2, 0])), NpzError::Count { count: 2, bytes: 53 });
    assert_eq!(error(&edited(4, &[1, 0])), NpzError::MultiPart);
}

#[test]
fn entries_locate_members() {
    let mut far = archive(&[ABC]);
    let at = 40 + 42;
    far[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
    assert!(matches!(error(&far), NpzError::Truncated { what: "header of a member", offset: 1000, left: 0, .. }));
    far[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
    assert_eq!(error(&far), NpzError::Misplaced { what: "header of a member", offset: 1 });
    let mut long = archive(&[ABC]);
    long[28..30].copy_from_slice(&u16::MAX.to_le_bytes());
    assert!(matches!(error(&long), NpzError::PastEnd { member, left: 0, .. } if member == "abc.npy"));
    let mut name = archive(&[ABC]);
    name[40 + 28..40 + 30].copy_from_slice(&u16::MAX.to_le_bytes());
    assert!(matches!(error(&name), NpzError::Truncated { what: "entry of the directory", .. }));
}

#[test]
fn names_are_utf8_and_unique() {
    assert_eq!(error(&archive(&[Content { name: b"\xff", ..ABC }])), NpzError::NotUtf8 { index: 0 });
    assert_eq!(error(&archive(&[ABC, ABC])), NpzError::DuplicateMember { member: "abc.npy".into() });
}

#[test]
fn encrypted_members_and_unknown_compression_are_rejected() {
    let mut locked = archive(&[ABC]);
    locked[40 + 8] = 1;
    assert_eq!(error(&locked), NpzError::Encrypted { member: "abc.npy".into() });
    let method = NpzError::Method { member: "abc.npy".into(), method: 14 };
    assert_eq!(error(&archive(&[Content { method: 14, ..ABC }])), method);
}

#[test]
fn members_that_share_bytes_are_rejected() {
    let locals = local(&ABC);
    let entries = [entry(&ABC, 0), entry(&Content { name: b"two", ..ABC }, 0)].concat();
    let bytes = [locals.clone(), entries.clone(), end(2, entries.len(), locals.len())].concat();
    assert!(matches!(error(&bytes), NpzError::Overlap { start: 0, expected: 40, .. }));
}

#[test]
fn impossible_deflate_ratios_are_rejected_before_inflating() {
    let stored = NpzError::Size { member: "abc.npy".into(), compressed: 3, size: 4 };
    assert_eq!(error(&archive(&[Content { size: 4, ..ABC }])), stored);
    let bomb = Content { method: 8, size: u32::MAX - 1, ..ABC };
    assert!(matches!(error(&archive(&[bomb])), NpzError::Size { compressed: 3, .. }));
}

#[test]
fn members_that_inflate_to_other_data_are_rejected() {
    // One stored block: final, three bytes.
    let held = b"\x01\x03\x00\xfc\xffabc";
    let deflated = |size, crc| archive(&[Content { method: 8, held, size, crc, ..ABC }]);
    let read = |bytes: &[u8]| Archive::parse(bytes).expect("good").members[0].read(100).map(|content| content.to_vec());
    let inflate = |size| Err(NpzError::Inflate { member: "abc.npy".into(), size });
    assert_eq!(read(&deflated(3, CRC_OF_ABC)), Ok(b"abc".to_vec()));
    assert_eq!(read(&deflated(2, CRC_OF_ABC)), inflate(2));
    assert_eq!(read(&deflated(4, CRC_OF_ABC)), inflate(4));
    assert!(matches!(read(&deflated(3, 7)), Err(NpzError::Checksum { expected: 7, found: CRC_OF_ABC, .. })));
    assert!(matches!(read(&archive(&[Content { crc: 7, ..ABC }])), Err(NpzError::Checksum { .. })));
}

#[test]
fn the_64_bit_directory_is_followed() {
    let (locals, entries) = (local(&ABC), entry(&ABC, 0));
    let mut record = [0; 56];
    record[..4].copy_from_slice(b"PK\x06\x06");
    record[32] = 1;
    record[40..48].copy_from_slice(&(entries.len() as u64).to_le_bytes());
    record[48..56].copy_from_slice(&(locals.len() as u64).to_le_bytes());
    let place = (locals.len() + entries.len()) as u64;
    let build = |place: u64, record: &[u8]| {
        let locator = [b"PK\x06\x07", &[0; 4][..], &place.to_le_bytes(), &[1, 0, 0, 0]].concat();
        let mut end = end(u16::MAX, usize::MAX, usize::MAX);
        end[4..8].fill(0xff);
        [&locals[..], &entries, record, &locator, &end].concat()
    };
    assert_eq!(Archive::parse(&build(place, &record)).expect("good").members[0].name, "abc.npy");
    assert!(matches!(error(&build(u64::MAX, &record)), NpzError::Truncated { .. }));
    assert!(matches!(error(&build(0, &record)), NpzError::Misplaced { .. }));
    record[16] = 1;
    assert_eq!(error(&build(place, &record)), NpzError::MultiPart);
    record[16] = 0;
    record[32..40].fill(0xff);
    assert!(matches!(error(&build(place, &record)), NpzError::Count { count: u64::MAX, .. }));
    record[40..48].fill(0xff);
    assert!(matches!(error(&build(place, &record)), NpzError::Truncated { what: "directory", .. }));
}

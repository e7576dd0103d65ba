//! Golden vectors, read and written again byte for byte.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain_formats::segment::*;
use serde_json::Value;

use crate::{describe, samples};

fn path(name: &str, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/segments").join(format!("{name}.{ending}"))
}

fn vector(name: &str) -> (Vec<u8>, Value) {
    let read = |ending| {
        let path = path(name, ending);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    (read("bin"), serde_json::from_slice(&read("json")).expect("JSON"))
}

/// Writes everything that was read, including the index.
fn rewritten(segment: &[u8]) -> Vec<u8> {
    let header = SegmentHeader::parse(segment).expect("a good header");
    let mut bytes = header.encode().to_vec();
    let mut index = IndexBuilder::new(&header);
    for (offset, record) in Records::new(segment, &header) {
        let body = record.body(&segment[offset as usize..]).expect("checked");
        let len = write_record(&mut bytes, &header, &record.head, body).expect("what was read can be written");
        index.push(&record.head, len as u64).expect("what was read can be written");
    }
    bytes.extend(index.finish(&header));
    bytes
}

#[test]
fn the_sealed_segment_round_trips() {
    let (bytes, description) = vector("v1_sealed");
    assert_eq!(describe::segment(&bytes), description);
    assert_eq!(rewritten(&bytes), bytes);
    assert_eq!(samples::segment(true).0, bytes);
}

#[test]
fn lossless_frames_and_the_policy_state_round_trip() {
    let (bytes, description) = vector("v1_policy");
    assert_eq!(describe::segment(&bytes), description);
    assert_eq!(rewritten(&bytes), bytes);
    assert_eq!(samples::policy_segment(), bytes);
}

#[test]
fn tiers_added_later_and_re_encoded_frames_are_read_and_written_as_they_are() {
    let (bytes, description) = vector("v1_tiers");
    assert_eq!(describe::segment(&bytes), description);
    assert_eq!(rewritten(&bytes), bytes);
    assert_eq!(samples::tiers_segment(), bytes);
}

#[test]
fn reads_of_frames_and_frames_without_data_are_read_and_written_as_they_are() {
    let (bytes, description) = vector("v1_frames");
    assert_eq!(describe::segment(&bytes), description);
    assert_eq!(rewritten(&bytes), bytes);
    assert_eq!(samples::frames_segment(), bytes);
}

#[test]
fn the_torn_segment_is_read_up_to_the_tear() {
    let (bytes, description) = vector("v1_torn");
    assert_eq!(describe::segment(&bytes), description);
    let whole = bytes.len() - description["torn"].as_u64().expect("a number") as usize;
    assert_eq!(rewritten(&bytes)[..whole], bytes[..whole]);
    assert_eq!(samples::segment(false).0[..bytes.len()], bytes);
}

#[test]
fn manifests_round_trip() {
    for name in ["v1_manifest", "v1_closed"] {
        let (bytes, description) = vector(name);
        assert_eq!(describe::manifest(&bytes), description);
        assert_eq!(Manifest::parse(&bytes).expect("a good manifest").encode(), Ok(bytes));
    }
}

#[test]
fn catalogs_round_trip() {
    let (bytes, description) = vector("v1_catalog");
    assert_eq!(describe::catalog(&bytes), description);
    assert_eq!(Catalog::parse(&bytes), Ok(samples::catalog()));
    assert_eq!(samples::catalog().encode(), Ok(bytes));
}

/// Writes missing vectors; never replaces an existing one.
#[test]
#[ignore = "writes files"]
fn write_missing_vectors() {
    let (sealed, _) = samples::segment(true);
    let (unsealed, end) = samples::segment(false);
    let torn = &unsealed[..end - 31];
    let policy = samples::policy_segment();
    let tiers = samples::tiers_segment();
    let frames = samples::frames_segment();
    let manifest = samples::manifest(LogEnd::Open).encode().expect("a short list");
    let closed = samples::manifest(LogEnd::Closed(Some(samples::sealed(7)))).encode().expect("a short list");
    let catalog = samples::catalog().encode().expect("short lists");
    for (name, bytes, description) in [
        ("v1_catalog", &catalog[..], describe::catalog(&catalog)),
        ("v1_sealed", &sealed[..], describe::segment(&sealed)),
        ("v1_torn", torn, describe::segment(torn)),
        ("v1_policy", &policy, describe::segment(&policy)),
        ("v1_tiers", &tiers, describe::segment(&tiers)),
        ("v1_frames", &frames, describe::segment(&frames)),
        ("v1_manifest", &manifest, describe::manifest(&manifest)),
        ("v1_closed", &closed, describe::manifest(&closed)),
    ] {
        let text = serde_json::to_string_pretty(&description).expect("JSON") + "\n";
        for (ending, content) in [("bin", bytes), ("json", text.as_bytes())] {
            if let Ok(mut file) = File::create_new(path(name, ending)) {
                file.write_all(content).expect("a writable folder");
            }
        }
    }
}

//! Any bytes as an npy file and as an npz archive: a typed error, or ranges within the input.
//!
//! Input: the file, or the archive. Spec: `spec/containers.md#npy`.

use bitgrain::formats::npy::Header;
use bitgrain::formats::npz::Archive;

/// Maximum inflated size of a member in bytes.
const LIMIT: u64 = 1 << 16;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    check_array(input);
    let Ok(archive) = Archive::parse(input) else { return };
    for member in &archive.members {
        let held = &input[member.range()];
        if let Some(stored) = member.stored() {
            assert_eq!(held, stored);
        }
        if let Ok(content) = member.read(LIMIT) {
            assert_eq!(content.len() as u64, member.size, "{}", member.name);
            check_array(&content);
        }
    }
}

fn check_array(bytes: &[u8]) {
    if let Ok(header) = Header::parse(bytes) {
        assert_eq!(bytes[header.range()].len() as u64, header.elements() * header.dtype.element.bytes());
    }
}

//! Any bytes as a GGUF file: a typed error, or a header that the writer turns into a file with the same header.
//!
//! Input: the file. Spec: `spec/containers.md#gguf`.

use bitgrain::formats::WriteError;
use bitgrain::formats::gguf::{GgufError, Header, TensorSpec, Writer};

/// Alignments for which the round trip is tested; larger ones only write more zeros.
const MAX_ALIGNMENT: u32 = 4096;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Ok(header) = Header::parse(input) else { return };
    for info in &header.tensors {
        assert_eq!(input[info.range()].len() as u64, info.bytes, "{}", info.name);
    }
    if header.alignment <= MAX_ALIGNMENT {
        round_trip(input, &header);
    }
}

fn round_trip(input: &[u8], header: &Header) {
    let specs: Vec<TensorSpec> = header
        .tensors
        .iter()
        .map(|info| TensorSpec { name: info.name.clone(), dims: info.dims.clone(), kind: info.kind })
        .collect();
    let mut writer = match Writer::new(Vec::new(), &header.metadata, &specs) {
        Ok(writer) => writer,
        Err(WriteError::Gguf(GgufError::NameTooLong { .. })) => return,
        Err(error) => panic!("what was read can be written: {error}"),
    };
    for info in &header.tensors {
        writer.write(&input[info.range()]).expect("as many bytes as the header says");
    }
    let file = writer.finish().expect("every tensor is complete");
    let again = Header::parse(&file).expect("our own file");
    // Compared as debug output, because NaN is not equal to itself.
    assert_eq!(format!("{:?}", again.metadata), format!("{:?}", header.metadata));
    assert_eq!(again.data_start, header.data_start);
    for (new, old) in again.tensors.iter().zip(&header.tensors) {
        assert_eq!((&new.name, &new.dims, new.kind), (&old.name, &old.dims, old.kind));
        assert_eq!(file[new.range()], input[old.range()]);
    }
}

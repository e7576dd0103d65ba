//! Any bytes as a safetensors file or index: a typed error, or a value that survives a round trip.
//!
//! Input: the file, or the index. Spec: `spec/containers.md#safetensors`.

use bitgrain::formats::safetensors::{Header, Index, TensorSpec, Writer};

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    if let Ok(index) = Index::parse(input) {
        assert_eq!(Index::parse(index.to_json().as_bytes()).as_ref(), Ok(&index));
    }
    if let Ok(header) = Header::parse(input) {
        round_trip(input, &header);
    }
}

fn round_trip(input: &[u8], header: &Header) {
    let specs: Vec<TensorSpec> = header
        .tensors
        .iter()
        .map(|info| TensorSpec { name: info.name.clone(), dtype: info.dtype, shape: info.shape.clone() })
        .collect();
    let mut writer = Writer::new(Vec::new(), &header.metadata, &specs).expect("what was read can be written");
    let mut covered = 0;
    for info in &header.tensors {
        covered += info.bytes();
        writer.write(&input[info.range()]).expect("as many bytes as the header says");
    }
    assert_eq!(header.data_start + covered, input.len() as u64, "tensors cover the file");
    let file = writer.finish().expect("every tensor is complete");
    let again = Header::parse(&file).expect("our own file");
    assert_eq!(again.metadata, header.metadata);
    assert_eq!(again.tensors.len(), header.tensors.len());
    for (new, old) in again.tensors.iter().zip(&header.tensors) {
        assert_eq!((&new.name, new.dtype, &new.shape), (&old.name, old.dtype, &old.shape));
        assert_eq!(file[new.range()], input[old.range()]);
    }
}

//! Any bytes as a network file: an error, or a network that survives a round trip.
//!
//! Input: a JSON or safetensors file. The checksum in a safetensors file is corrected, so that the code after the check
//! is reached. Spec: `spec/network.md`.

use bitgrain::formats::crc32c;
use bitgrain::formats::safetensors::{Header, TensorInfo, TensorSpec, Writer};
use bitgrain::nn::Network;
use bitgrain::nn::network::InputBatch;
use bitgrain::nn::network::save::{Contents, NetworkFileError};

/// Entries of the metadata.
const NETWORK: &str = "bitgrain.network";
const CHECKSUM: &str = "bitgrain.network.crc32c";

/// Networks with a larger input are not run.
const MAX_INPUT: usize = 1 << 12;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let json = |network: &Network| network.to_json(Contents::All).map(String::into_bytes);
    check(Network::from_json(input), json, Network::from_json);
    let safetensors = |network: &Network| network.to_safetensors(Contents::All);
    check(Network::from_safetensors(input), safetensors, Network::from_safetensors);
    if let Some(repaired) = repaired(input) {
        check(Network::from_safetensors(&repaired), safetensors, Network::from_safetensors);
    }
}

fn check(
    found: Result<Network, NetworkFileError>,
    write: impl Fn(&Network) -> Result<Vec<u8>, NetworkFileError>,
    read: fn(&[u8]) -> Result<Network, NetworkFileError>,
) {
    let Ok(network) = found else { return };
    run_once(&network);
    // A version that is missing in the file may be one that the weights do not allow.
    let Ok(file) = write(&network) else { return };
    let again = read(&file).expect("just written");
    assert_eq!(write(&again).expect("written before"), file);
}

/// One sample of zeros, of length two where any length is accepted.
fn run_once(network: &Network) {
    let dims: Vec<usize> = network.input().dims().iter().map(|dim| dim.unwrap_or(2)).collect();
    let len = dims.iter().try_fold(1_usize, |all, dim| all.checked_mul(*dim));
    let Some(len) = len.filter(|len| *len <= MAX_INPUT) else { return };
    if let Ok(output) = InputBatch::new(vec![0.0; len], &dims).and_then(|batch| network.forward(&batch)) {
        assert_eq!(output.values().len(), output.dims().iter().product::<usize>());
    }
}

/// Returns the same file with a correct checksum; `None` if it is not a safetensors file with a network.
fn repaired(input: &[u8]) -> Option<Vec<u8>> {
    let header = Header::parse(input).ok()?;
    let data = input.get(usize::try_from(header.data_start).ok()?..)?;
    let sum = crc32c(&[header.metadata_value(NETWORK)?.as_bytes(), data].concat());
    let mut metadata = header.metadata.clone();
    metadata.retain(|(key, _)| key != CHECKSUM);
    metadata.push((CHECKSUM.to_owned(), sum.to_string()));
    let tensors = header.tensors.iter();
    let spec = |info: &TensorInfo| TensorSpec { name: info.name.clone(), dtype: info.dtype, shape: info.shape.clone() };
    let specs: Vec<TensorSpec> = tensors.clone().map(spec).collect();
    let mut writer = Writer::new(Vec::new(), &metadata, &specs).ok()?;
    tensors.for_each(|info| writer.write(&input[info.range()]).expect("as many bytes as the header says"));
    writer.finish().ok()
}

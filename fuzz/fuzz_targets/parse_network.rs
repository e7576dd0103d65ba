//! Any bytes, read as the file of a network: an error, or a network that is written and read again as the same.
//! Spec: `spec/network.md`.
#![no_main]

use bitgrain::nn::Network;
use bitgrain::nn::save::{Contents, FileError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let json = |network: &Network| network.to_json(Contents::All).map(String::into_bytes);
    check(Network::from_json(input), json, Network::from_json);
    let safetensors = |network: &Network| network.to_safetensors(Contents::All);
    check(Network::from_safetensors(input), safetensors, Network::from_safetensors);
});

fn check(
    found: Result<Network, FileError>,
    write: impl Fn(&Network) -> Result<Vec<u8>, FileError>,
    read: fn(&[u8]) -> Result<Network, FileError>,
) {
    let Ok(network) = found else { return };
    // A version that is not in the file may be one that the weights do not allow.
    let Ok(file) = write(&network) else { return };
    let again = read(&file).expect("just written");
    assert_eq!(write(&again).expect("written before"), file);
}

//! libFuzzer on `src/parse_network.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_network::run(input));

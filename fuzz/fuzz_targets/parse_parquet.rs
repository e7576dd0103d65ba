//! libFuzzer on `src/parse_parquet.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    // libFuzzer's panic hook aborts, but the reader turns panics of the page decoder into errors. A panic that leaves
    // the target aborts without the hook too.
    init: std::panic::set_hook(Box::new(|_| {})),
    |input: &[u8]| bitgrain_fuzz::parse_parquet::run(input)
);

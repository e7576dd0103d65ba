//! Fuzz targets as functions, one per parser of untrusted bytes. A panic is a finding.
//!
//! `fuzz_targets/` passes each of them to libFuzzer; the test below runs each on its committed seeds in every test run.

pub mod decode_blocks;
pub mod decode_tensor;
mod folder;
pub mod parse_bins;
pub mod parse_checkpoint;
pub mod parse_encoder;
pub mod parse_gguf;
pub mod parse_importance;
pub mod parse_lightgbm;
pub mod parse_model;
pub mod parse_model_json;
pub mod parse_network;
pub mod parse_npy;
pub mod parse_parquet;
pub mod parse_plan;
pub mod parse_safetensors;
pub mod parse_segment;
pub mod parse_store;
pub mod parse_tables;
pub mod parse_xgboost;
mod predictions;
mod sums;

/// A target's function.
pub type Run = fn(&[u8]);

/// All targets by the names of their files.
pub const TARGETS: &[(&str, Run)] = &[
    ("decode_blocks", decode_blocks::run),
    ("decode_tensor", decode_tensor::run),
    ("parse_bins", parse_bins::run),
    ("parse_checkpoint", parse_checkpoint::run),
    ("parse_encoder", parse_encoder::run),
    ("parse_gguf", parse_gguf::run),
    ("parse_importance", parse_importance::run),
    ("parse_lightgbm", parse_lightgbm::run),
    ("parse_model", parse_model::run),
    ("parse_model_json", parse_model_json::run),
    ("parse_network", parse_network::run),
    ("parse_npy", parse_npy::run),
    ("parse_parquet", parse_parquet::run),
    ("parse_plan", parse_plan::run),
    ("parse_safetensors", parse_safetensors::run),
    ("parse_segment", parse_segment::run),
    ("parse_store", parse_store::run),
    ("parse_tables", parse_tables::run),
    ("parse_xgboost", parse_xgboost::run),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::TARGETS;

    fn entries(folder: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.map(|entry| entry.expect("readable").path()).collect()
    }

    fn stems(folder: &str) -> BTreeSet<String> {
        entries(folder).iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
    }

    #[test]
    fn every_target_is_a_function_a_binary_and_a_folder_of_seeds() {
        let listed: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(stems("fuzz_targets"), listed);
        assert_eq!(stems("seeds"), listed);
    }

    #[test]
    fn every_target_accepts_its_committed_seeds() {
        for (name, run) in TARGETS {
            let seeds = entries(&format!("seeds/{name}"));
            assert!(!seeds.is_empty(), "{name} starts from nothing");
            for seed in seeds {
                eprintln!("{name}: {}", seed.display()); // shown if it fails
                run(&fs::read(seed).expect("readable"));
            }
        }
    }

    #[test]
    fn every_target_accepts_an_empty_input_and_prefixes_of_a_seed() {
        for (name, run) in TARGETS {
            let seed = entries(&format!("seeds/{name}")).into_iter().min().expect("a seed");
            let bytes = fs::read(seed).expect("readable");
            (0..8).for_each(|eighth| run(&bytes[..bytes.len() * eighth / 8]));
        }
    }
}

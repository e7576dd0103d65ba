//! One model in all weight formats.

use bitgrain_codec::weight::{DType, WeightFormat};
use bitgrain_nn::network::embed::{EmbedError, SentenceEncoder, cosine, nearest_neighbor, save_npy};

use crate::tiny::{HIDDEN, SENTENCES, Tiny};

fn least_cosine(encoder: &SentenceEncoder, full: &[Vec<f32>]) -> f64 {
    let vectors = encoder.embed(&SENTENCES).expect("vectors");
    vectors.iter().zip(full).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min)
}

#[test]
fn every_format_gives_vectors_close_to_f32() {
    let folder = Tiny::new().write();
    let mut encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let full = encoder.embed(&SENTENCES).expect("vectors");
    let all = encoder.bytes().expect("bytes");
    for format in WeightFormat::all() {
        encoder.morph(format).expect("quantizable");
        let cosine = least_cosine(&encoder, &full);
        let name = format.to_string();
        let bound = match name.as_str() {
            "float64" | "float32" | "int32" | "uint32" | "int64" | "uint64" => 0.999_999,
            "float16" | "int16" | "uint16" => 0.99999,
            "bfloat16" | "int8" | "uint8" | "q8_0" => 0.999,
            // At two bits or fewer, little of a random network is left.
            "binary" | "ternary" | "int2" | "uint2" | "q2_k" | "tq1_0" | "tq2_0" => -1.0,
            _ => 0.9,
        };
        assert!(cosine > bound, "{name}: {cosine}");
        if matches!(name.as_str(), "int8" | "q8_0" | "int4" | "q4_0" | "fp4" | "ternary") {
            assert!(encoder.bytes().expect("bytes") < all / 2, "{name}");
        }
    }
}

#[test]
fn calibration_reduces_the_error_of_vectors_and_does_not_affect_f32() {
    let folder = Tiny::new().write();
    let encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let full = encoder.embed(&SENTENCES).expect("vectors");
    let [mut plain, mut weighed, mut fed] = [encoder.clone(), encoder.clone(), encoder];
    weighed.calibrate(&SENTENCES).expect("finite");
    fed.calibrate_feedback(&SENTENCES).expect("finite");
    for encoder in [&weighed, &fed] {
        assert_eq!(encoder.embed(&SENTENCES).expect("vectors"), full);
    }
    let least = |encoder: &mut SentenceEncoder, format: &str| {
        encoder.morph(format.parse::<WeightFormat>().expect("known format")).expect("quantized");
        least_cosine(encoder, &full)
    };
    let (before, after) = (least(&mut plain, "int4"), least(&mut fed, "int4"));
    assert!(1.0 - after < 0.8 * (1.0 - before), "{after} with feedback, {before} without");
    let (before, after) = (least(&mut plain, "q4_0"), least(&mut weighed, "q4_0"));
    assert!(after != before, "importances change the search for scales");
    assert!(matches!(plain.calibrate::<&str>(&[]), Err(EmbedError::Network(_))));
}

#[test]
fn morphing_back_gives_the_same_bits() {
    let folder = Tiny::new().write();
    let mut encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let full = encoder.embed(&SENTENCES).expect("vectors");
    encoder.morph(DType::Int4).expect("int4");
    assert_ne!(encoder.embed(&SENTENCES).expect("vectors"), full);
    encoder.morph(DType::Float32).expect("float32");
    assert_eq!(encoder.embed(&SENTENCES).expect("vectors"), full);
}

#[test]
fn a_frozen_encoder_keeps_only_its_codes_and_gives_the_same_vectors() {
    let folder = Tiny::new().write();
    let mut encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    let full = encoder.memory();
    encoder.morph(DType::Int4).expect("int4");
    let vectors = encoder.embed(&SENTENCES).expect("vectors");
    assert!(encoder.memory() > full, "f32 and int4");
    encoder.freeze().expect("frozen");
    assert!(encoder.memory() < full / 2, "{} bytes of {full}", encoder.memory());
    assert_eq!(encoder.embed(&SENTENCES).expect("vectors"), vectors);
}

#[test]
fn vectors_do_not_depend_on_the_threads() {
    let folder = Tiny::new().write();
    let mut encoder = SentenceEncoder::open(folder.path()).expect("valid BERT");
    for format in ["float32", "q8_0", "q4_0"] {
        encoder.morph(format.parse::<WeightFormat>().expect("known format")).expect("quantized");
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| encoder.embed(&SENTENCES).expect("vectors"))
        };
        assert_eq!(on(1), on(4), "{format}");
    }
}

#[test]
fn vectors_are_written_as_an_array() {
    let vectors = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.6, 0.8]];
    assert_eq!(nearest_neighbor(&vectors, 0).expect("two others").0, 2);
    assert_eq!(nearest_neighbor(&vectors[..1], 0), None);
    let folder = tempfile::tempdir().expect("temporary directory");
    let path = folder.path().join("v.npy");
    save_npy(&path, &vectors, 2).expect("written");
    let model = bitgrain_nn::ModelFile::open(&path).expect("valid array");
    assert_eq!(model.tensors()[0].shape, [3, 2]);
    assert_eq!(model.tensors()[0].values().expect("numbers"), vectors.concat());
    save_npy(&path, &[], HIDDEN).expect("no rows are an array too");
    assert_eq!(bitgrain_nn::ModelFile::open(&path).expect("valid array").tensors()[0].shape, [0, HIDDEN as u64]);
}

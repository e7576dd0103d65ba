//! A small BERT with random weights, from text to sentence vectors.

use bitgrain_codec::weight::{DType, GgmlBlock, WeightFormat};
use bitgrain_gpu::{DeviceNetwork, GpuError};
use bitgrain_nn::network::embed::{EmbedError, SentenceEncoder, cosine};

use crate::device;
use crate::tiny::{SENTENCES, Tiny};

/// Errors of both sides of an encoder on a device.
#[derive(Debug)]
enum Failure {
    Embed(#[expect(dead_code, reason = "for the message of a panic")] EmbedError),
    Gpu(#[expect(dead_code, reason = "for the message of a panic")] GpuError),
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        Self::Embed(error)
    }
}

fn embed(encoder: &SentenceEncoder, sentences: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
    let network = DeviceNetwork::upload(device(), encoder.network()).map_err(Failure::Gpu)?;
    encoder.embed_with(sentences, |batch| network.forward(batch).map_err(Failure::Gpu))
}

#[test]
fn sentence_vectors_equal_those_of_the_cpu() {
    let folder = Tiny::new().write();
    let mut encoder = SentenceEncoder::open(folder.path()).expect("a valid folder");
    let wanted = encoder.embed(&SENTENCES).expect("finite");
    for (found, wanted) in embed(&encoder, &SENTENCES).expect("finite").iter().zip(&wanted) {
        let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 2e-6, "{off:e}: {found:?}, expected {wanted:?}");
    }
    // The CPU rounds activations to 8 bits as well, and the device does not.
    let formats = [DType::Int8.into(), DType::Int4.into(), DType::Fp8E4M3.into(), WeightFormat::Ggml(GgmlBlock::Q8_0)];
    for format in formats {
        encoder.morph(format).expect("finite weights");
        let wanted = encoder.embed(&SENTENCES).expect("finite");
        for (found, wanted) in embed(&encoder, &SENTENCES).expect("finite").iter().zip(&wanted) {
            let similarity = cosine(found, wanted);
            assert!(similarity > 0.999, "{format}: {similarity}");
        }
    }
}

/// A manual check with all-MiniLM-L6-v2, from the folder in `BITGRAIN_MINILM`.
#[test]
#[ignore = "needs the model: set BITGRAIN_MINILM to its folder"]
fn mini_lm_equals_the_cpu() {
    let folder = std::env::var("BITGRAIN_MINILM").expect("BITGRAIN_MINILM names a folder");
    let mut encoder = SentenceEncoder::open(folder).expect("a valid folder");
    let sentences = ["A man plays the guitar.", "Someone makes music.", "The stock market fell on Monday."];
    for format in [WeightFormat::from(DType::Float32), DType::Int8.into(), DType::Int4.into(), GgmlBlock::Q4_K.into()] {
        encoder.morph(format).expect("finite weights");
        let wanted = encoder.embed(&sentences).expect("finite");
        let before = device().traffic();
        let network = DeviceNetwork::upload(device(), encoder.network()).expect("known layers");
        let uploaded = device().traffic();
        let found =
            encoder.embed_with(&sentences, |batch| network.forward(batch).map_err(Failure::Gpu)).expect("finite");
        println!("{format}: weights {:?}", uploaded.since(before));
        println!("{format}: three sentences {:?}", device().traffic().since(uploaded));
        for (found, wanted) in found.iter().zip(&wanted) {
            let (similarity, off) =
                (cosine(found, wanted), found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max));
            println!("{format}: cosine {similarity:.7}, largest difference {off:e}");
            assert!(
                similarity > if format == DType::Float32.into() { 0.999_999 } else { 0.999 },
                "{format}: {similarity}"
            );
        }
    }
}

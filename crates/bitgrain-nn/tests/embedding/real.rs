//! The real all-MiniLM-L6-v2, if `BITGRAIN_MINILM` names its folder; `oracles/test_embeddings.py` compares more.

use bitgrain_codec::weight::WeightFormat;
use bitgrain_nn::network::embed::{SentenceEncoder, cosine};

const SENTENCES: [&str; 2] = ["A man is playing a guitar.", "The quick brown fox jumps over the lazy dog!"];

/// First values of their vectors, computed at f64 (`oracles/bert.py`).
const STARTS: [[f32; 4]; 2] = [
    [0.021_664_074, -0.004_864_228, -0.009_649_093, -0.063_401_245],
    [0.020_105_588, 0.065_898_29, 0.066_189_82, 0.064_533_62],
];

#[test]
fn the_real_model_gives_the_vectors_of_its_definition() {
    let Some(folder) = std::env::var_os("BITGRAIN_MINILM") else {
        eprintln!("BITGRAIN_MINILM does not name a folder: nothing is compared");
        return;
    };
    let mut encoder = SentenceEncoder::open(folder).expect("all-MiniLM-L6-v2");
    assert_eq!((encoder.dims(), encoder.max_tokens()), (384, 256));
    let full = encoder.embed(&SENTENCES).expect("vectors");
    for (vector, start) in full.iter().zip(STARTS) {
        assert!(vector.iter().zip(start).all(|(found, wanted)| (found - wanted).abs() < 2e-6), "{:?}", &vector[..4]);
    }
    assert!((cosine(&full[0], &full[1]) + 0.060_786).abs() < 1e-5);
    for (format, least) in [("q8_0", 0.999), ("int8", 0.998), ("q4_0", 0.9)] {
        encoder.morph(format.parse::<WeightFormat>().expect("known format")).expect("quantized");
        let vectors = encoder.embed(&SENTENCES).expect("vectors");
        assert!(vectors.iter().zip(&full).all(|(a, b)| cosine(a, b) > least), "{format}");
    }
}

//! Network files: a loaded network has the same outputs as the saved one, and damaged files are rejected.

use std::collections::BTreeSet;

use bitgrain_codec::weight::{Calibration, DType, ScaledFormat, WeightFormat};
use bitgrain_nn::ModelFile;
use bitgrain_nn::model::convert::{FormatChoice, Recipe};
use bitgrain_nn::network::layer::{ActivationFunction, Conv, Layer, LayerNorm, Positions, SequenceOutput};
use bitgrain_nn::network::save::{Contents, NetworkFileError, layers_from_json, layers_to_json};
use bitgrain_nn::network::{InputBatch, Network, NetworkError, Shape};

use crate::{all_formats, batch, network};

type Write = fn(&Network, Contents) -> Vec<u8>;
type Read = fn(&[u8]) -> Result<Network, NetworkFileError>;

/// Writers and readers of both formats.
fn kinds() -> [(Write, Read); 2] {
    [
        (|network, contents| network.to_json(contents).expect("finite").into_bytes(), Network::from_json),
        (|network, contents| network.to_safetensors(contents).expect("finite"), Network::from_safetensors),
    ]
}

fn small() -> Network {
    network(&[32], [Layer::dense(6), Layer::relu(), Layer::dense(3)])
}

#[test]
fn a_saved_network_runs_identically_in_every_format() {
    let x = batch(&[32], 4, 2);
    for format in all_formats() {
        let mut network = small();
        network.morph(format).expect("finite");
        let wanted = network.forward(&x).expect("matching shapes");
        for (write, read) in kinds() {
            for contents in [Contents::All, Contents::Active] {
                let loaded = read(&write(&network, contents)).expect("just written");
                assert_eq!(loaded.forward(&x).expect("matching shapes"), wanted, "{format} {contents:?}");
                assert_eq!(loaded.parameters()[0].format(), format);
                let masters = loaded.parameters()[0].store().master();
                match contents {
                    Contents::All => assert_eq!(masters, network.parameters()[0].store().master(), "{format}"),
                    Contents::Active => {
                        assert_eq!(masters, loaded.parameters()[0].values().expect("codes"), "{format}")
                    }
                }
            }
        }
    }
}

#[test]
fn versions_and_importances_round_trip() {
    let mut network = small();
    let mse = ScaledFormat::new(DType::Int4).with_calibration(Calibration::MeanSquaredError);
    let formats: [WeightFormat; 3] = [DType::Uint8.into(), mse.into(), "q4_k".parse().expect("known")];
    let seen = bitgrain_nn::network::observe::observe(
        &network,
        &[batch(&[32], 8, 1)],
        bitgrain_nn::network::observe::Observer::MinMax,
    );
    seen.expect("matching shapes").apply(&mut network).expect("same network");
    for format in formats {
        network.morph(format).expect("finite");
    }
    for (write, read) in kinds() {
        let loaded = read(&write(&network, Contents::All)).expect("just written");
        for (a, b) in network.parameters().iter().zip(loaded.parameters()) {
            assert_eq!(a.store().importance(), b.store().importance());
            let [a, b] = [a, b].map(|parameter| parameter.store().versions());
            assert_eq!(a.len(), b.len());
            assert!(a.iter().zip(&b).all(|(a, b)| a.format() == b.format() && a.tensor() == b.tensor()));
        }
        assert_eq!(write(&loaded, Contents::All), write(&network, Contents::All), "saving again gives the same file");
    }
}

/// Collects the kinds of layers, including nested ones.
fn note_kinds(layers: &[Layer], kinds: &mut BTreeSet<&'static str>) {
    for layer in layers {
        kinds.insert(layer.kind());
        if let Layer::Residual { layers } | Layer::Sequential { layers } = layer {
            note_kinds(layers, kinds);
        }
        let tag = serde_json::to_value(layer).expect("plain settings")["kind"].clone();
        assert_eq!(tag, layer.kind(), "tag in files");
    }
}

/// The list is separate from the enum, because files are rejected by kind before their settings are parsed.
#[test]
fn the_list_of_kinds_has_every_variant() {
    let error = serde_json::from_str::<Layer>(r#"{"kind": "none"}"#).expect_err("not a kind").to_string();
    let variants: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert_eq!(variants, Layer::KINDS, "{error}");
}

#[test]
fn activations_of_older_files_are_read() {
    let [old, new] = ["curve", "function"]
        .map(|key| layers_from_json(&format!(r#"[{{"kind":"activation","{key}":"gelu"}}]"#)).expect("an activation"));
    assert_eq!((&old, &old[..]), (&new, &[Layer::activation(ActivationFunction::Gelu)][..]));
    assert_eq!(layers_to_json(&old).expect("serializable"), r#"[{"kind":"activation","function":"gelu"}]"#);
    layers_from_json(r#"[{"kind":"activation","curve":"gelu","function":"gelu"}]"#).expect_err("one function twice");
}

#[test]
fn every_kind_of_layer_round_trips() {
    let image = [Layer::conv2d(4, 3), Layer::relu(), Layer::Flatten {}, Layer::dense(8), Layer::Softmax {}];
    let signal = [
        Layer::Conv1d(Conv::new(3, [2]).with_stride([2])),
        Layer::rnn(4, SequenceOutput::Sequence),
        Layer::lstm(4, SequenceOutput::Last),
    ];
    let volume = [Layer::Conv3d(Conv::new(2, [2, 2, 2]))];
    let tokens = [
        Layer::embedding(9, 8),
        Layer::Positions(Positions { length: 5, types: 2 }),
        Layer::LayerNorm(LayerNorm { epsilon: 1e-12 }),
        Layer::residual([Layer::rms_norm(), Layer::causal_attention(2)]),
        Layer::residual([Layer::Sequential { layers: vec![Layer::swiglu(6)] }]),
        Layer::mean_pool(),
    ];
    let cases: [(&[usize], Vec<Layer>); 4] =
        [(&[1, 4, 4], image.into()), (&[2, 8], signal.into()), (&[1, 3, 3, 3], volume.into()), (&[5], tokens.into())];
    let mut saved = BTreeSet::new();
    for (dims, layers) in cases {
        note_kinds(&layers, &mut saved);
        let network = network(dims, layers.clone());
        let x = if dims.len() == 1 {
            InputBatch::new(vec![1.0, 0.0, 8.0, 3.0, 3.0], dims).expect("whole")
        } else {
            batch(dims, 2, 3)
        };
        for (write, read) in kinds() {
            let loaded = read(&write(&network, Contents::All)).expect("just written");
            assert_eq!(loaded.layers(), layers);
            assert_eq!(loaded.forward(&x).expect("matching shapes"), network.forward(&x).expect("matching shapes"));
        }
    }
    assert_eq!(saved, Layer::KINDS.into(), "all kinds are saved and loaded");
    let free = Network::new(Shape::sequence(&[4]), vec![Layer::attention(2)], 1).expect("matching shapes");
    assert_eq!(
        Network::from_json(free.to_json(Contents::All).expect("finite").as_bytes()).expect("just written").input(),
        free.input()
    );
}

#[test]
fn files_of_active_weights_are_as_small_as_their_format() {
    let mut network = network(&[256], [Layer::dense(256)]);
    network.morph(DType::Int4).expect("finite");
    let all = network.to_safetensors(Contents::All).expect("finite").len();
    let active = network.to_safetensors(Contents::Active).expect("finite").len();
    assert!(active < 256 * 256 / 2 + 256 * 4 * 5 + 2048 && all > 256 * 256 * 4, "{active} of {all}");
}

#[test]
fn a_file_can_be_opened_as_a_model() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let path = folder.path().join("network.safetensors");
    let mut network = small();
    let recipe = Recipe::new(FormatChoice::To("int4".parse().expect("known")))
        .rule("2.*", FormatChoice::To("q8_0".parse().expect("known")));
    network.morph_by(&recipe).expect("finite");
    network.save(&path, Contents::All).expect("writable");
    let model = ModelFile::open(&path).expect("valid model");
    let codes = model.tensor("0.weight:int4").expect("there").values().expect("readable");
    assert_eq!(codes, network.parameters()[0].values().expect("codes"));
    assert_eq!(
        model.tensor("2.bias").expect("there").values().expect("readable"),
        network.parameters()[3].store().master()
    );
}

#[test]
fn file_names_select_the_written_format_and_contents_the_read_format() {
    let folder = tempfile::tempdir().expect("temporary directory");
    let network = small();
    for name in ["a.json", "a.safetensors"] {
        let path = folder.path().join(name);
        network.save(&path, Contents::Active).expect("writable");
        let other = folder.path().join("other");
        std::fs::rename(&path, &other).expect("there");
        assert_eq!(Network::open(&other).expect("just written").parameters().len(), 4);
    }
    assert!(matches!(network.save(folder.path().join("a.bin"), Contents::All), Err(NetworkFileError::Name { .. })));
    assert!(matches!(Network::open(folder.path().join("none.json")), Err(NetworkFileError::Io(_))));
    let missing = folder.path().join("none").join("a.json");
    assert!(matches!(network.save(missing, Contents::All), Err(NetworkFileError::Io(_))));
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1, "no partial file is left");
}

#[test]
fn every_flipped_bit_and_truncation_is_detected() {
    let mut network = network(&[8], [Layer::dense(2), Layer::relu()]);
    network.morph(DType::Int4).expect("finite");
    for (write, read) in kinds() {
        let whole = write(&network, Contents::All);
        read(&whole).expect("just written");
        for len in 0..whole.len() - 1 {
            assert!(read(&whole[..len]).is_err(), "cut at {len} of {}", whole.len());
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                // The padding of the header and the note for other readers are not checked.
                if let Ok(loaded) = read(&damaged) {
                    assert_eq!(
                        write(&loaded, Contents::All),
                        whole,
                        "bit {bit} of byte {at} changed the network unnoticed"
                    );
                }
            }
        }
    }
}

#[test]
fn errors_name_the_invalid_part() {
    let text = small().to_json(Contents::All).expect("finite");
    let without_sum = {
        let (body, _) = text.rsplit_once(",\n\"crc32c\"").expect("at the end");
        format!("{body}}}")
    };
    let read = |from: &str, to: &str| {
        assert!(without_sum.contains(from), "{from}");
        Network::from_json(without_sum.replacen(from, to, 1).as_bytes())
    };
    Network::from_json(without_sum.as_bytes()).expect("a checksum may be left out");
    assert!(matches!(
        Network::from_json(text.replacen("\"outputs\": 6", "\"outputs\": 5", 1).as_bytes()),
        Err(NetworkFileError::Checksum { .. })
    ));
    assert!(matches!(read("bitgrain network", "something"), Err(NetworkFileError::NotANetwork { .. })));
    assert!(matches!(read("\"version\": 1", "\"version\": 4"), Err(NetworkFileError::Version { found: 4 })));
    let kind = read("\"kind\": \"dense\"", "\"kind\": \"capsule\"").expect_err("unknown");
    assert_eq!(kind.to_string(), "layer 0: unknown kind `capsule`");
    assert!(matches!(read("\"outputs\": 6", "\"outputs\": \"six\""), Err(NetworkFileError::Layer { .. })));
    assert!(matches!(read("\"outputs\": 6", "\"output\": 6"), Err(NetworkFileError::Layer { .. })));
    let shape = read("\"outputs\": 6", "\"outputs\": 5").expect_err("other rows");
    assert_eq!(
        shape.to_string(),
        "parameter 0 (0-based): expected `0.weight`, 5 rows of 32, found `0.weight`, 6 rows of 32"
    );
    let huge = read("\"outputs\": 6", "\"outputs\": 1000000000000").expect_err("never allocated");
    assert!(matches!(huge, NetworkFileError::Parameter { .. }), "{huge}");
    assert!(matches!(read("\"active\": \"float32\"", "\"active\": \"int3\""), Err(NetworkFileError::Format { .. })));
    assert!(matches!(read("\"count\": 192", "\"count\": 191"), Err(NetworkFileError::Length { .. })));
    assert!(matches!(read("\"base64\": \"", "\"base64\": \"*"), Err(NetworkFileError::Base64 { .. })));
    assert!(matches!(read("\"input\"", "\"inputs\""), Err(NetworkFileError::Json { .. })));
    assert!(matches!(Network::from_json(b"[1]"), Err(NetworkFileError::Json { .. })));
    assert!(matches!(Network::from_safetensors(b"short"), Err(NetworkFileError::Safetensors(_))));
    let mut odd = small();
    odd.set_weights("0.bias", vec![1.5; 6]).expect("matching lengths");
    let text = odd.to_json(Contents::All).expect("finite");
    let (body, _) = text.rsplit_once(",\n\"crc32c\"").expect("at the end");
    // 1.5 is 00 00 c0 3f, six times; 7f c0 in its place is a NaN.
    let odd = format!("{body}}}").replace("AADAPwAAwD8AAMA/AADAPwAAwD8AAMA/", "AADAfwAAwD8AAMA/AADAPwAAwD8AAMA/");
    let error = Network::from_json(odd.as_bytes()).expect_err("a NaN");
    assert!(matches!(error, NetworkFileError::Network(NetworkError::NonFiniteWeight { index: 0, .. })), "{error}");
}

//! Opening: sharded models, Hugging Face folders, npy, importances.

use bitgrain_nn::convert::{Choice, Recipe, quantize};
use bitgrain_nn::{Container, Importance, Model, ModelError};

use super::{Folder, weights, write_safetensors};

fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let len = (header.len() + 1 + 10).next_multiple_of(64) - 10;
    bytes.extend(u16::try_from(len).expect("short").to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = len - 1).bytes());
    bytes.extend(super::bytes(values));
    bytes
}

#[test]
fn shards_are_one_model_and_a_folder_is_found() {
    let folder = Folder::new();
    write_safetensors(&folder.path("a-1.safetensors"), &[weights("first", &[2, 32])]);
    write_safetensors(&folder.path("a-2.safetensors"), &[weights("second", &[2, 64]), weights("stray", &[3])]);
    let index =
        r#"{"metadata":{"total_size":768},"weight_map":{"first":"a-1.safetensors","second":"a-2.safetensors"}}"#;
    std::fs::write(folder.path("model.safetensors.index.json"), index).expect("writable");
    std::fs::write(folder.path("config.json"), r#"{"model_type":"bert"}"#).expect("writable");
    for path in [folder.path("model.safetensors.index.json"), folder.path("")] {
        let model = Model::open(path).expect("a sharded model");
        let names: Vec<_> = model.tensors().iter().map(|t| t.name.as_str()).collect();
        assert_eq!((names, model.container()), (vec!["first", "second"], Container::Safetensors));
        assert_eq!(model.metadata().architecture.as_deref(), Some("bert"));
        assert_eq!(
            model.tensor("second").expect("there").values().expect("readable"),
            weights("second", &[2, 64]).values
        );
    }
    let out = folder.path("out.gguf");
    let recipe = Recipe::new(Choice::To("q8_0".parse().expect("a format")));
    quantize(&Model::open(folder.path("")).expect("a folder"), &out, &recipe, &()).expect("a conversion");
    let keys = Model::open(&out).expect("ours").metadata().gguf.clone();
    assert_eq!(keys.get("general.architecture").and_then(|value| value.as_str()), Some("bert"));
}

#[test]
fn a_model_is_written_in_shards_and_read_as_one() {
    let folder = Folder::new();
    let tensors = [weights("a", &[8, 64]), weights("b", &[8, 64]), weights("c", &[9, 33]), weights("norm", &[64])];
    let model = folder.safetensors("in.safetensors", &tensors);
    let mut recipe = Recipe::new(Choice::To("uint4/32".parse().expect("a format")));
    quantize(&model, &folder.path("whole.safetensors"), &recipe, &()).expect("a conversion");
    recipe.shard_bytes = 700;
    let index = folder.path("small.safetensors.index.json");
    let done = quantize(&model, &index, &recipe, &()).expect("a conversion");
    let shards = ["small-00001-of-00002.safetensors", "small-00002-of-00002.safetensors"];
    let names = folder.names();
    assert!(shards.iter().all(|shard| names.contains(&(*shard).to_owned())), "{names:?}");
    assert_eq!(names.len(), 5, "{names:?}");
    let sizes = shards.map(|shard| std::fs::metadata(folder.path(shard)).expect("written").len());
    assert_eq!(done.file_bytes, sizes.iter().sum::<u64>());
    let (whole, back) = (Model::open(folder.path("whole.safetensors")), Model::open(&index));
    let (whole, back) = (whole.expect("ours"), back.expect("ours"));
    assert_eq!((back.tensors().len(), back.bytes()), (4, whole.bytes()));
    for tensor in whole.tensors() {
        let other = back.tensor(&tensor.name).expect("in a shard");
        assert_eq!((&other.shape, &other.storage), (&tensor.shape, &tensor.storage));
        assert_eq!(other.values().expect("readable"), tensor.values().expect("readable"), "{}", tensor.name);
    }
    let shard = folder.path(shards[1]);
    let refused = quantize(&back, &shard, &recipe, &()).expect_err("a shard of the input");
    assert!(matches!(refused, ModelError::SameFile { .. }), "{refused}");
}

#[test]
fn an_index_that_lies_is_found_out() {
    let folder = Folder::new();
    write_safetensors(&folder.path("a.safetensors"), &[weights("first", &[2, 32])]);
    let index = r#"{"weight_map":{"first":"a.safetensors","second":"a.safetensors"}}"#;
    std::fs::write(folder.path("m.index.json"), index).expect("writable");
    let refused = Model::open(folder.path("m.index.json")).expect_err("`second` is not there");
    assert!(matches!(&refused, ModelError::NotInShard { tensor, .. } if tensor == "second"), "{refused}");
}

#[test]
fn npy_arrays_have_the_name_of_their_file() {
    let folder = Folder::new();
    let values = weights("w", &[3, 32]).values;
    std::fs::write(folder.path("embeddings.npy"), npy("(3, 32)", &values)).expect("writable");
    let model = Model::open(folder.path("embeddings.npy")).expect("an array");
    let tensor = model.tensor("embeddings").expect("named after the file");
    assert_eq!((tensor.shape.as_slice(), tensor.values().expect("readable")), (&[3, 32][..], values));
}

#[test]
fn importances_change_what_is_written_and_must_fit() {
    let folder = Folder::new();
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 256])]);
    let mut importance = weights("w", &[256]);
    importance.values.iter_mut().enumerate().for_each(|(i, v)| *v = if i % 7 == 0 { 50.0 } else { 1.0 });
    write_safetensors(&folder.path("importance.safetensors"), &[importance]);
    let mut files = Vec::new();
    for path in [None, Some(folder.path("importance.safetensors"))] {
        let mut recipe = Recipe::new(Choice::To("q4_k".parse().expect("a format")));
        recipe.importance = path.map(|path| Importance::open(path).expect("importances"));
        quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("a conversion");
        files.push(std::fs::read(folder.path("out.gguf")).expect("written"));
    }
    assert_ne!(files[0], files[1]);
    let mut short = weights("w", &[255]);
    short.values.fill(1.0);
    write_safetensors(&folder.path("short.safetensors"), &[short]);
    let mut recipe = Recipe::new(Choice::To("q4_k".parse().expect("a format")));
    recipe.importance = Some(Importance::open(folder.path("short.safetensors")).expect("importances"));
    let refused = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect_err("one is missing");
    assert!(matches!(refused, ModelError::Importance { found: 255, cols: 256, .. }), "{refused}");
}

#[test]
fn an_imatrix_of_sums_is_divided_by_its_counts() {
    let folder = Folder::new();
    let mut sums = weights("w.in_sum2", &[64]);
    sums.values.fill(6.0);
    let mut counts = weights("w.counts", &[1]);
    counts.values.fill(3.0);
    write_safetensors(&folder.path("imatrix.safetensors"), &[sums, counts]);
    let importance = Importance::open(folder.path("imatrix.safetensors")).expect("importances");
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 64])]);
    let found = importance.of(model.tensor("w").expect("there")).expect("the right length").expect("there");
    assert_eq!((found.len(), found[0], importance.len()), (64, 2.0, 1));
}

#[test]
fn importances_that_are_no_weights_are_named_and_zeros_are_equals() {
    let folder = Folder::new();
    for odd in [f32::NAN, f32::INFINITY, -1.0] {
        let mut importance = weights("w", &[64]);
        importance.values.fill(1.0);
        importance.values[7] = odd;
        write_safetensors(&folder.path("odd.safetensors"), &[importance]);
        let refused = Importance::open(folder.path("odd.safetensors")).expect_err("no weight");
        assert!(matches!(&refused, ModelError::ImportanceValue { tensor, index: 7, .. } if tensor == "w"), "{refused}");
    }
    let mut zeros = weights("w", &[256]);
    zeros.values.fill(0.0);
    write_safetensors(&folder.path("zeros.safetensors"), &[zeros]);
    let model = folder.safetensors("in.safetensors", &[weights("w", &[4, 256])]);
    let importance = Importance::open(folder.path("zeros.safetensors")).expect("importances");
    assert_eq!(importance.covers(&model), 1);
    let mut recipe = Recipe::new(Choice::To("q4_k".parse().expect("a format")));
    recipe.importance = Some(importance);
    let done = quantize(&model, &folder.path("out.gguf"), &recipe, &()).expect("a conversion");
    assert!(done.overall.cosine > 0.99, "{:?}", done.overall);
}

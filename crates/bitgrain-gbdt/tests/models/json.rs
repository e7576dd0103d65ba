//! JSON models: read back to the same bytes; hostile JSON is a typed error.

use bitgrain_gbdt::model::{ImportError, Model, ModelError};
use proptest::prelude::*;

use crate::samples;

#[test]
fn json_reads_back_to_the_same_bytes() {
    for (name, model) in samples::all() {
        let json = model.to_json();
        let read = Model::from_json(json.as_bytes()).expect("our own");
        assert_eq!(read, model, "{name}");
        assert_eq!(read.to_bytes().expect("valid"), model.to_bytes().expect("valid"), "{name}");
        assert_eq!(Model::import(json.as_bytes()), Ok(model), "{name}");
    }
}

#[test]
fn models_of_many_outputs_are_recognized_as_json() {
    let mut model = samples::empty();
    model.output.base_scores = vec![0.1; 5000];
    assert_eq!(Model::import(model.to_json().as_bytes()), Ok(model), "the key comes after 5000 base scores");
}

/// The JSON of a sample with one part replaced.
fn changed(from: &str, to: &str) -> Result<Model, ImportError> {
    let json = samples::binary().to_json();
    assert!(json.contains(from), "{from} in {json}");
    Model::import(json.replacen(from, to, 1).as_bytes())
}

#[test]
fn changed_files_are_errors() {
    let is_json = |result, part: &str| match result {
        Err(ImportError::Json { line, message, .. }) => assert!(line > 0 && message.contains(part), "{message}"),
        other => panic!("{part}: {other:?}"),
    };
    is_json(changed("\"average\": false", "\"average\": 3"), "expected a boolean");
    is_json(changed("\"average\": false", "\"mean\": false"), "unknown field `mean`");
    is_json(changed("\"link\": \"logistic\"", "\"link\": \"probit\""), "unknown variant `probit`");
    is_json(changed("\"slope\": 1.0", "\"slope\": null"), "slope");
    is_json(changed("\"count\": 300", "\"count\": -1"), "invalid value");
    is_json(changed("\"count\": 300", "\"count\": 3e2"), "invalid type");
    let node = |result| matches!(result, Err(ImportError::Node { tree: 0, .. }));
    assert!(node(changed("\"feature\": \"größe\"", "\"feature\": \"unknown\"")));
    assert!(node(changed("\"at_most\": \"inf\"", "\"at_most\": \"nan\"")));
    assert!(node(changed("\"at_most\": \"inf\"", "\"gain\": 0.0")) || changed("\"at_most\": \"inf\",", "").is_err());
    let version = changed("\"bitgrain_model\": 1", "\"bitgrain_model\": 2");
    assert_eq!(version, Err(ImportError::JsonVersion { version: 2 }));
}

#[test]
fn cycles_and_shared_children_are_errors() {
    for (from, to) in
        [("\"split\": 1", "\"split\": 0"), ("\"split\": 2", "\"split\": 1"), ("\"leaf\": 3", "\"leaf\": 1")]
    {
        let result = changed(from, to);
        assert!(matches!(result, Err(ImportError::Model(ModelError::Child { .. }))), "{to}: {result:?}");
    }
}

#[test]
fn huge_codes_do_not_allocate_beyond_the_size_of_the_file() {
    let result = changed("\"in\": [\n            0,", "\"in\": [\n            4294967295,");
    assert!(matches!(result, Err(ImportError::TooMany { .. })), "{result:?}");
    let codes = "4294967294,".repeat(64);
    let result = changed("\"in\": [\n            0,", &format!("\"in\": [\n{codes}"));
    assert!(matches!(result, Err(ImportError::TooMany { .. })), "{result:?}");
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{{\"bitgrain_model\": 1, \"trees\": {}1{}}}", open.repeat(100_000), close.repeat(100_000));
        assert!(matches!(Model::import(deep.as_bytes()), Err(ImportError::Json { .. })));
    }
}

proptest! {
    #[test]
    fn mutated_json_is_an_error_or_a_model(place in any::<prop::sample::Index>(), cut in 0_usize..20, put in "[0-9a-z\\[\\]{}:,\". -]{0,8}") {
        let json = samples::binary().to_json();
        let chars: Vec<char> = json.chars().collect();
        let at = place.index(chars.len());
        let end = (at + cut).min(chars.len());
        let mutated: String = chars[..at].iter().copied().chain(put.chars()).chain(chars[end..].iter().copied()).collect();
        if let Ok(model) = Model::from_json(mutated.as_bytes()) {
            prop_assert_eq!(Model::from_json(model.to_json().as_bytes()), Ok(model));
        }
    }
}

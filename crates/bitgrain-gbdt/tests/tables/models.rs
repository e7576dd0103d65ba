//! From a table to a saved model and back, without repeating the schema.

use bitgrain_gbdt::feature::{Quantizer, Schema};
use bitgrain_gbdt::model::{InputKind, Model};
use bitgrain_gbdt::objective;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::table::Target;
use bitgrain_gbdt::train::{Dataset, Params, Trainer};

use super::from_text;

fn trained(data: &mut Dataset, objective: &str) -> Model {
    let params = Params { n_estimators: 5, min_child_samples: 1, ..Params::default() };
    Trainer::new(params, objective::by_name(objective).expect("an objective")).train(data).expect("trained").model
}

#[test]
fn a_trained_model_has_category_and_class_labels() {
    let rows = "Oslo,1,no\nRome,2,yes\nOslo,3,no\nParis,4,maybe\n".repeat(20);
    let mut table = from_text(&format!("city,n,buys\n{rows}")).expect("a table");
    let target = Target::classes(&table.take("buys").expect("the target")).expect("classes");
    let matrix = table.into_matrix(&[]).expect("a matrix");
    let features = matrix.features().expect("features");
    let data = Dataset::new(&features, target.values, None, &Quantizer::default()).expect("data");
    let mut data = data.with_classes(target.labels);
    let model = trained(&mut data, "multiclass:3");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.bitgrain");
    model.save(&path).expect("saved");
    let loaded = Model::load(&path).expect("loaded");
    assert_eq!(loaded.output.classes, ["maybe", "no", "yes"]);
    let InputKind::Categorical { labels, .. } = &loaded.inputs[0].kind else { panic!("cities are categories") };
    assert_eq!(labels, &["Oslo", "Paris", "Rome"]);

    let rows =
        from_text("n,city\n2,Rome\n4,Paris\n1,Oslo\n").expect("a table").align(&loaded.schema()).expect("aligned");
    let predictor = Predictor::new(&loaded).expect("a model");
    let choices = predictor.class_indices(&rows.features().expect("features")).expect("classes");
    let labels: Vec<&str> = choices.iter().map(|&class| loaded.output.classes[class as usize].as_str()).collect();
    assert_eq!(labels, ["yes", "maybe", "no"]);
}

#[test]
fn labels_survive_validation_sets_rows_and_more_training() {
    let table = from_text("city,n\nOslo,1\nRome,2\nOslo,3\nRome,4\n").expect("a table");
    let matrix = table.into_matrix(&[]).expect("a matrix");
    let features = matrix.features().expect("features");
    let targets = vec![0.0_f32, 1.0, 0.0, 1.0];
    let classes = || vec!["no".to_owned(), "yes".to_owned()];
    let data =
        Dataset::new(&features, targets.clone(), None, &Quantizer::default()).expect("data").with_classes(classes());
    for mut data in [data.like(&features, targets.clone(), None).expect("alike"), data.rows(&[0, 1, 2, 3])] {
        assert_eq!(trained(&mut data, "binary").output.classes, classes());
        assert_eq!(trained(&mut data, "squared").schema(), *matrix.schema());
    }
    let base = trained(&mut data.clone(), "binary");
    // Category codes and class indices only: the model knows their labels.
    let bare = matrix
        .features()
        .expect("features")
        .with_schema(Schema::unnamed(2).with_categorical(&[0]).expect("two").into());
    let bare = bare.expect("two features");
    let again = Dataset::new(&bare, targets, None, &Quantizer::default()).expect("data");
    let mut again = again.start_from(&base, &bare).expect("fits");
    let params = Params { n_estimators: 1, min_child_samples: 1, ..Params::default() };
    let trainer = Trainer::new(params, objective::by_name("binary").expect("binary")).continue_from(&base);
    let more = trainer.train(&mut again).expect("trained").model;
    assert_eq!((more.output.classes, &more.inputs[0].kind), (classes(), &base.inputs[0].kind));
}

#[test]
fn class_labels_that_match_no_output_are_dropped() {
    let table = from_text("n\n1\n2\n3\n").expect("a table");
    let matrix = table.into_matrix(&[]).expect("a matrix");
    let features = matrix.features().expect("features");
    let data = Dataset::new(&features, vec![0.0_f32, 1.0, 2.0], None, &Quantizer::default()).expect("data");
    let mut data = data.with_classes(["a", "b", "c"].map(str::to_owned).to_vec());
    let model = trained(&mut data, "squared");
    assert!(model.output.classes.is_empty());
    model.check().expect("a model that fits together");
}

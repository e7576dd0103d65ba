//! Invalid models and mismatched rows give errors.

use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::{Child, Comparison, Model, Rule};
use bitgrain_gbdt::predict::{PredictError, Predictor, TreeProblem};

use crate::random::{self, Kind, Random};

fn model() -> Model {
    let mut random = Random::new(1);
    let mut model = random::model(&mut random, Kind::Plain, Comparison::F32, 2, 0);
    model.trees = (0..4).map(|_| random::grown(&mut random, Kind::Plain, &model, 9, Random::below)).collect();
    model
}

fn problem(change: impl FnOnce(&mut Model)) -> TreeProblem {
    let mut model = model();
    change(&mut model);
    match Predictor::new(&model) {
        Err(PredictError::Tree { tree: 1, problem }) => problem,
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[test]
fn invalid_trees_are_rejected() {
    let none = problem(|model| model.trees[1].leaves.clear());
    assert_eq!(none, TreeProblem::LeafCount { splits: 8, leaves: 0 });
    let feature = problem(|model| model.trees[1].splits[3].feature = 5);
    assert_eq!(feature, TreeProblem::Feature { split: 3, feature: 5, features: 5 });
    for child in [Child::Split(3), Child::Split(2), Child::Split(8), Child::Leaf(9), Child::Split(u32::MAX)] {
        assert_eq!(problem(|model| model.trees[1].splits[3].left = child), TreeProblem::Child { split: 3 });
    }
    let twice = problem(|model| {
        let (mut at, tree) = (0, &mut model.trees[1]);
        while tree.splits[at].left == tree.splits[0].right {
            at += 1;
        }
        tree.splits[0].left = tree.splits[0].right;
    });
    assert_eq!(twice, TreeProblem::Child { split: 0 });
    let nan = problem(|model| model.trees[1].splits[2].rule = Rule::AtMost(f64::NAN));
    assert_eq!(nan, TreeProblem::Threshold { split: 2 });
    let mut silent = model();
    silent.output.base_scores.clear();
    assert_eq!(Predictor::new(&silent).map(|_| ()), Err(PredictError::NoOutput));
}

#[test]
fn rows_of_the_wrong_length_are_rejected() {
    let predictor = Predictor::new(&model()).expect("a model");
    let features = Features::row_major(&[0.0_f32; 12][..], 3, 4).expect("a matrix");
    let count = PredictError::FeatureCount { expected: 5, found: 4 };
    assert_eq!(predictor.predict(&features), Err(count.clone()));
    assert_eq!(predictor.raw(&features), Err(count.clone()));
    assert_eq!(predictor.leaves(&features), Err(count.clone()));
    assert_eq!(predictor.row(&[0.0; 4], &mut [0.0; 2]), Err(count));
    let length = PredictError::OutputLength { expected: 2, found: 1 };
    assert_eq!(predictor.row(&[0.0; 5], &mut [0.0; 1]), Err(length));
}

#[test]
fn a_model_without_trees_predicts_its_base_scores() {
    let mut model = model();
    model.trees.clear();
    for average in [false, true] {
        model.output.average = average;
        let predictor = Predictor::new(&model).expect("a model");
        for rows in [1, 100] {
            let values = vec![0.0_f64; rows * 5];
            let features = Features::row_major(&values[..], rows, 5).expect("a matrix");
            assert_eq!(predictor.raw(&features), Ok([-0.1, 0.3 - 0.1].repeat(rows)));
            assert_eq!(predictor.leaves(&features), Ok(vec![]));
        }
    }
}

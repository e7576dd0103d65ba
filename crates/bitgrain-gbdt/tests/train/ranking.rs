//! Ranking: queries from the data to the trees.

use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric::{self, MetricInput};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{CrossValidation, SampleStrategy, TrainError, Trainer, Training};
use bitgrain_gbdt::{Dataset, Groups, Params};

use crate::data::Random;
use crate::{on_threads, predictions, small};

pub(crate) const RANKING: [&str; 4] = ["lambdarank", "rank_xendcg", "rank_pairwise", "rank_map"];

const FEATURES: usize = 5;

/// Queries of 1 to 40 rows. Relevance depends on three of the features; the first is the same in all rows of a query.
struct Search {
    values: Vec<f32>,
    labels: Vec<f32>,
    sizes: Vec<usize>,
    /// Position of each row in its query.
    positions: Vec<u32>,
}

impl Search {
    fn new(queries: usize, grades: f32, seed: u64) -> Self {
        let mut random = Random(seed | 1);
        let mut made = Self { values: vec![], labels: vec![], sizes: vec![], positions: vec![] };
        for _ in 0..queries {
            let size = 1 + (random.next() >> 30) as usize % 40;
            let query = random.share();
            for position in (0..).take(size) {
                let row: [f32; FEATURES] = std::array::from_fn(|at| if at == 0 { query } else { random.share() });
                let relevance = row[1] + row[2] * row[3] + query + (random.share() - 0.5) * 0.4;
                made.labels.push(((relevance / 3.0).clamp(0.0, 0.999) * (grades + 1.0)).floor().min(grades));
                made.values.extend(row);
                made.positions.push(position);
            }
            made.sizes.push(size);
        }
        made
    }

    fn features(&self) -> Features<'_> {
        Features::row_major(&self.values[..], self.labels.len(), FEATURES).expect("complete rows")
    }

    fn groups(&self) -> Groups {
        Groups::from_sizes(&self.sizes, self.labels.len()).expect("valid")
    }

    fn data(&self) -> Dataset {
        let data = Dataset::new(&self.features(), self.labels.clone(), None, &Quantizer::default()).expect("valid");
        data.with_groups(self.groups()).expect("all rows")
    }

    fn like(&self, data: &Dataset) -> Dataset {
        let other = data.like(&self.features(), self.labels.clone(), None).expect("the same features");
        other.with_groups(self.groups()).expect("all rows")
    }

    fn measured(&self, name: &str, predictions: &[f64]) -> f64 {
        let targets: Vec<f64> = self.labels.iter().map(|&label| label.into()).collect();
        let groups = self.groups();
        let data = MetricInput { targets: &targets, weights: None, predictions, groups: Some(&groups) };
        metric::by_name(name).expect("a metric").evaluate(&data).expect("defined")
    }
}

fn train(params: Params, objective: &str, data: &mut Dataset, valid: &Dataset) -> Training {
    let objective = by_name(objective).expect("a name");
    let metric = objective.metric();
    let trainer = Trainer::new(params, objective).metric(metric).valid(valid).watch_train();
    trainer.train(data).expect("valid data")
}

#[test]
fn every_ranking_objective_learns_and_reports_the_metric_of_its_predictions() {
    let settings = [
        small(),
        Params { subsample: 0.6, gradient_precision: GradientPrecision::Pair8, ..small() },
        Params { data_sample_strategy: SampleStrategy::Goss, learning_rate: 0.3, ..small() },
    ];
    for (objective, params) in RANKING.iter().flat_map(|name| settings.iter().map(move |params| (name, params))) {
        let grades = if *objective == "rank_map" { 1.0 } else { 4.0 };
        let (made, held) = (Search::new(150, grades, 3), Search::new(60, grades, 4));
        let mut data = made.data();
        let valid = held.like(&data);
        let training = train(params.clone(), objective, &mut data, &valid);
        let name = &training.history[0][0].name;
        let untrained = held.measured(name, &vec![0.0; held.labels.len()]);
        let (on_train, on_valid) = (&training.history[19][0], &training.history[19][1]);
        assert!(on_valid.value > untrained + 0.03, "{objective}: {untrained} to {}", on_valid.value);
        assert_eq!(on_train.value, made.measured(name, &predictions(&training, &made.features())), "{objective}");
        assert_eq!(on_valid.value, held.measured(name, &predictions(&training, &held.features())), "{objective}");
        // The data is as before: training again gives the same.
        assert_eq!(train(params.clone(), objective, &mut data, &valid), training, "{objective}");
        assert_eq!(training.model.output.objective, *objective);
    }
}

#[test]
fn models_do_not_depend_on_the_number_of_threads() {
    let (made, held) = (Search::new(400, 1.0, 5), Search::new(30, 1.0, 6));
    for objective in RANKING {
        let one = |threads: usize| {
            on_threads(threads, || {
                let mut data = made.data();
                let valid = held.like(&data);
                train(Params { subsample: 0.7, ..small() }, objective, &mut data, &valid)
            })
        };
        let first = one(1);
        for threads in [2, 3, 8] {
            assert_eq!(one(threads), first, "{objective} on {threads} threads");
        }
    }
}

#[test]
fn a_feature_of_the_query_alone_cannot_rank_and_trees_ignore_constant_queries() {
    let made = Search::new(100, 4.0, 7);
    let mut data = made.data();
    let training = Trainer::new(small(), by_name("lambdarank").expect("a name")).train(&mut data).expect("valid");
    let constant = Dataset::new(&made.features(), vec![2.0_f32; made.labels.len()], None, &Quantizer::default());
    let mut constant = constant.expect("valid").with_groups(made.groups()).expect("all rows");
    let flat = Trainer::new(small(), by_name("lambdarank").expect("a name")).train(&mut constant).expect("valid");
    assert!(flat.model.trees.iter().all(|tree| tree.splits.is_empty()), "constant labels");
    assert!(training.model.trees.iter().any(|tree| !tree.splits.is_empty()));
}

#[test]
fn early_stopping_follows_the_metric_of_queries() {
    let (made, held) = (Search::new(60, 4.0, 8), Search::new(30, 4.0, 9));
    let mut data = made.data();
    let valid = held.like(&data);
    let params = Params { n_estimators: 400, early_stopping_rounds: Some(5), learning_rate: 0.3, ..small() };
    let trainer = Trainer::new(params, by_name("lambdarank").expect("a name"));
    let trainer = trainer.metric(metric::by_name("ndcg@5").expect("a metric")).valid(&valid);
    let training = trainer.train(&mut data).expect("valid");
    let best = training.best_round.expect("measured");
    assert!(training.history.len() < 400 && training.model.trees.len() == best + 1);
    let most = training.history.iter().map(|round| round[0].value).fold(0.0, f64::max);
    assert_eq!(training.history[best][0].value, most);
}

#[test]
fn folds_never_divide_a_query() {
    let made = Search::new(40, 4.0, 10);
    let (data, groups) = (made.data(), made.groups());
    let folds = CrossValidation { folds: 4, stratified: true, seed: 3 };
    let fold_of = folds.assign_queries(&groups).expect("enough queries");
    for rows in groups.ranges() {
        assert!(fold_of[rows.clone()].iter().all(|fold| *fold == fold_of[rows.start]));
    }
    for fold in 0..4 {
        let queries = groups.ranges().filter(|rows| fold_of[rows.start] == fold).count();
        assert_eq!(queries, 10);
    }
    let trainer = |_| {
        let objective = by_name("lambdarank").expect("a name");
        let metric = objective.metric();
        Trainer::new(small(), objective).metric(metric)
    };
    let result = folds.run(&data, trainer).expect("valid");
    assert_eq!((result.metrics[0].name.as_str(), result.metrics[0].values.len()), ("ndcg@10", 4));
    let few = CrossValidation { folds: 41, ..folds };
    assert_eq!(few.run(&data, trainer).expect_err("too many"), TrainError::GroupFolds { folds: 41, groups: 40 });
}

#[test]
fn custom_gains_reach_the_loss_and_the_metric() {
    let made = Search::new(40, 3.0, 11);
    let run = |gains: &str| {
        let mut data = made.data();
        let mut params = small();
        params.set("label_gain", gains).expect("gains");
        let trainer = Trainer::new(params, by_name("lambdarank").expect("a name"));
        trainer.metric(metric::by_name("ndcg").expect("a metric")).train(&mut data)
    };
    let (powers, linear) = (run("0,1,3,7").expect("valid"), run("0,1,2,3").expect("valid"));
    assert_ne!(powers.model, linear.model);
    assert_ne!(powers.history, linear.history);
    assert_eq!(powers.model.trees, run("none").expect("valid").model.trees, "the default");
    let said = run("0,1,3").expect_err("no gain of label 3").to_string();
    assert!(said.contains("is not a relevance label; expected an integer in 0..3, or a longer label_gain"), "{said}");
}

/// Clicks on relevant rows, of which those at the top are seen more often.
fn clicks(made: &Search, seed: u64) -> Vec<f32> {
    let mut random = Random(seed | 1);
    let seen = |position: u32| 1.0 / (1.0 + position as f32);
    let click = |(label, position): (&f32, &u32)| f32::from(*label >= 2.0 && random.share() < seen(*position));
    made.labels.iter().zip(&made.positions).map(click).collect()
}

#[test]
fn positions_correct_the_bias_of_clicks() {
    // Rows are displayed in the order of the last feature, which has nothing to do with relevance, but seems to.
    let mut made = Search::new(600, 4.0, 12);
    for rows in made.groups().ranges() {
        let mut noise: Vec<f32> = rows.clone().map(|row| made.values[row * FEATURES + FEATURES - 1]).collect();
        noise.sort_by(|a, b| b.total_cmp(a));
        rows.zip(noise).for_each(|(row, noise)| made.values[row * FEATURES + FEATURES - 1] = noise);
    }
    let clicked = clicks(&made, 13);
    let run = |with_positions: bool| {
        let groups = made.groups();
        let groups = if with_positions { groups.with_positions(&made.positions).expect("one each") } else { groups };
        let data = Dataset::new(&made.features(), clicked.clone(), None, &Quantizer::default()).expect("valid");
        let mut data = data.with_groups(groups).expect("all rows");
        let params = Params { n_estimators: 60, ..small() };
        let training = Trainer::new(params, by_name("lambdarank").expect("a name")).train(&mut data).expect("valid");
        made.measured("ndcg@10", &predictions(&training, &made.features()))
    };
    let (plain, corrected) = (run(false), run(true));
    assert!(corrected > plain + 0.01, "{plain} without and {corrected} with positions");
}

#[test]
fn what_ranking_needs_is_named() {
    let made = Search::new(20, 4.0, 14);
    let plain = || Dataset::new(&made.features(), made.labels.clone(), None, &Quantizer::default()).expect("valid");
    for objective in RANKING {
        let mut data = plain();
        let error = Trainer::new(small(), by_name(objective).expect("a name")).train(&mut data).expect_err("no groups");
        assert!(!error.to_string().is_empty());
        if objective != "rank_map" {
            assert!(error.to_string().starts_with("missing queries: `"), "{error}");
        }
    }
    let ndcg = || metric::by_name("ndcg@3").expect("a metric");
    let error = Trainer::new(small(), by_name("squared").expect("a name")).metric(ndcg()).train(&mut plain());
    assert!(error.expect_err("no groups").to_string().starts_with("missing queries: `ndcg@3`"));
    let mut data = made.data();
    let valid = data.like(&made.features(), made.labels.clone(), None).expect("the same features");
    let trainer = Trainer::new(small(), by_name("lambdarank").expect("a name")).metric(ndcg()).valid(&valid);
    assert!(trainer.train(&mut data).expect_err("no groups").to_string().starts_with("missing queries: `ndcg@3`"));
    let short = Groups::from_sizes(&[2], 2).expect("valid");
    assert!(plain().with_groups(short).expect_err("other rows").to_string().starts_with("group sizes do not match"));
    // A regression on rows with queries can be measured by NDCG.
    let trainer = Trainer::new(small(), by_name("squared").expect("a name")).metric(ndcg());
    let training = trainer.train(&mut data).expect("valid");
    assert_eq!(training.history[19][0].value, made.measured("ndcg@3", &predictions(&training, &made.features())));
}

#[test]
fn data_with_queries_is_ranked_by_default() {
    let made = Search::new(20, 4.0, 15);
    assert_eq!(made.data().objective(None).expect("inferred").name(), "lambdarank");
    assert_eq!(made.data().objective(Some("squared")).expect("given").name(), "squared");
}

//! `Dataset`: binned features with targets and weights.

use std::borrow::Cow;
use std::sync::Arc;

use super::init_scores;
use super::slots::Slots;
use super::unseen::Unseen;
use super::{Targets, TrainError, scores};
use crate::feature::{BinCuts, FeatureError, FeatureKind, Features, QuantizedMatrix, Quantizer, Schema, SharedCuts};
use crate::groups::{GroupError, Groups};
use crate::model::{CategorySet, InputKind, Model};
use crate::objective::{self, Objective, ObjectiveError, TargetKind};
use crate::samples::check_weights;

/// Bytes of records of a table that is trained on one thread: growing a tree takes less than a tenth of a millisecond.
const TINY: usize = 1 << 14;

/// Binned features with targets and optional row weights.
///
/// Feature names, category labels and class labels are copied to every model trained on the data.
///
/// ```
/// use bitgrain_gbdt::feature::{Features, Quantizer};
/// use bitgrain_gbdt::train::Dataset;
/// let features = Features::row_major(&[1.0_f32, 5.0, 2.0, f32::NAN, 4.0, 6.0][..], 3, 2)?;
/// let data = Dataset::new(&features, vec![0.0, 1.0, 1.0], None, &Quantizer::default())?;
/// assert_eq!((data.n_rows(), data.bytes_per_row()), (3, 4)); // one byte per feature, padded to four
/// # Ok::<(), bitgrain_gbdt::train::TrainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    pub(super) cuts: Arc<BinCuts>,
    pub(super) schema: Arc<Schema>,
    pub(super) slots: Slots,
    pub(crate) targets: Targets,
    /// Label of each class; empty unless the targets are class indices.
    pub(super) classes: Arc<[String]>,
    pub(crate) weights: Option<Vec<f32>>,
    /// Queries of the rows, for ranking.
    pub(super) groups: Option<Arc<Groups>>,
    /// Missing values without a missing-value bin.
    pub(super) unseen: Unseen,
    /// Initial raw scores, grouped by output.
    pub(super) start: Option<Vec<f64>>,
    /// Whether `start` was given by the caller instead of being the predictions of a model.
    pub(super) init_scores: bool,
}

impl Dataset {
    /// Computes the cuts of the features and bins them.
    ///
    /// # Errors
    /// Returns [`TrainError::Feature`], [`TrainError::TargetCount`] or [`TrainError::TooManyRows`].
    pub fn new(
        features: &Features<'_>,
        targets: impl Into<Targets>,
        weights: Option<Vec<f32>>,
        quantizer: &Quantizer,
    ) -> Result<Self, TrainError> {
        let cuts = quantizer.compute_cuts(features, weights.as_deref())?;
        Self::binned(features, Arc::new(cuts), targets.into(), weights)
    }

    /// Bins other rows with the same cuts, for validation.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::new`].
    pub fn like(
        &self,
        features: &Features<'_>,
        targets: impl Into<Targets>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, TrainError> {
        let data = Self::binned(features, Arc::clone(&self.cuts), targets.into(), weights)?;
        let (schema, classes) = (Arc::clone(&self.schema), Arc::clone(&self.classes));
        Ok(Self { schema, classes, unseen: Unseen::of(features, &self.cuts), ..data })
    }

    /// Creates a dataset from a binned matrix.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::new`], and [`FeatureError::FeatureCount`] if the cuts do not match the matrix.
    pub fn from_matrix(
        matrix: &QuantizedMatrix,
        cuts: &BinCuts,
        names: Vec<String>,
        targets: impl Into<Targets>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, TrainError> {
        if matrix.map() != cuts.map() || names.len() != cuts.map().n_features() {
            let (expected, found) = (cuts.map().n_features(), matrix.map().n_features().min(names.len()));
            return Err(FeatureError::FeatureCount { expected, found }.into());
        }
        let targets = targets.into();
        check_rows(matrix.n_rows(), targets.len(), weights.as_deref())?;
        let slots = Slots::new(matrix);
        let is_categorical = |feature: &usize| cuts.kind(*feature) == FeatureKind::Categorical;
        let categorical: Vec<usize> = (0..names.len()).filter(is_categorical).collect();
        Ok(Self {
            cuts: Arc::new(cuts.clone()),
            schema: Arc::new(Schema::new(names)?.with_categorical(&categorical)?),
            slots,
            targets,
            classes: Arc::default(),
            weights,
            groups: None,
            unseen: Unseen::default(),
            start: None,
            init_scores: false,
        })
    }

    /// Creates a dataset from the parts of a binned table.
    pub(crate) fn stored(
        (cuts, schema): (Arc<BinCuts>, Arc<Schema>),
        slots: Slots,
        targets: Targets,
        classes: Arc<[String]>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, TrainError> {
        check_rows(slots.n_rows, targets.len(), weights.as_deref())?;
        let unseen = Unseen::default();
        Ok(Self {
            cuts,
            schema,
            slots,
            targets,
            classes,
            weights,
            groups: None,
            unseen,
            start: None,
            init_scores: false,
        })
    }

    /// Bins the rows of a worker; `features` is `None` without rows.
    pub(crate) fn of_shard(
        shared: SharedCuts,
        features: Option<&Features<'_>>,
        targets: Targets,
        weights: Option<Vec<f32>>,
        classes: Vec<String>,
    ) -> Result<Self, TrainError> {
        let SharedCuts { cuts, own, schema } = shared;
        let slots = match features {
            Some(features) => {
                check_rows(features.n_rows(), targets.len(), weights.as_deref())?;
                Slots::new(&own.source(features)?)
            }
            None => {
                // One row of missing values, which is removed: a matrix has at least one row.
                let missing = vec![f32::NAN; schema.n_features()];
                let features = Features::row_major(&missing[..], 1, schema.n_features())?;
                Slots::new(&cuts.source(&features)?).rows(&[])
            }
        };
        let unseen = Unseen::default();
        let classes = classes.into();
        Ok(Self {
            cuts,
            schema,
            slots,
            targets,
            classes,
            weights,
            groups: None,
            unseen,
            start: None,
            init_scores: false,
        })
    }

    /// Returns validation data without rows, for a worker that lacks them.
    #[must_use]
    pub fn without_rows(&self) -> Self {
        let groups = self.groups.as_ref().and_then(|_| Groups::from_sizes(&[], 0).ok());
        Self { groups: groups.map(Arc::new), ..self.rows(&[]) }
    }

    fn binned(
        features: &Features<'_>,
        cuts: Arc<BinCuts>,
        targets: Targets,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, TrainError> {
        check_rows(features.n_rows(), targets.len(), weights.as_deref())?;
        let slots = Slots::new(&cuts.source(features)?);
        Ok(Self {
            cuts,
            schema: Arc::clone(features.schema()),
            slots,
            targets,
            classes: Arc::default(),
            weights,
            groups: None,
            unseen: Unseen::default(),
            start: None,
            init_scores: false,
        })
    }

    /// Returns a subset of the rows in the given order. The rows of a query must stay adjacent; see
    /// [`Groups::select`].
    ///
    /// # Panics
    /// If a row index is out of range.
    #[must_use]
    pub fn rows(&self, rows: &[usize]) -> Self {
        let weights = |weights: &Vec<f32>| rows.iter().map(|&row| weights[row]).collect();
        let output = |scores: &[f64]| -> Vec<f64> { rows.iter().map(|&row| scores[row]).collect() };
        let outputs = |start: &Vec<f64>| start.chunks(self.n_rows().max(1)).flat_map(output).collect();
        Self {
            cuts: Arc::clone(&self.cuts),
            schema: Arc::clone(&self.schema),
            slots: self.slots.rows(rows),
            targets: self.targets.rows(rows),
            classes: Arc::clone(&self.classes),
            weights: self.weights.as_ref().map(weights),
            groups: self.groups.as_ref().map(|groups| Arc::new(groups.select(rows))),
            unseen: self.unseen.rows(rows),
            start: self.start.as_ref().map(outputs),
            init_scores: self.init_scores,
        }
    }

    /// Sets the class labels: target `i` is class `labels[i]`.
    #[must_use]
    pub fn with_classes(mut self, labels: impl Into<Arc<[String]>>) -> Self {
        self.classes = labels.into();
        self
    }

    /// Sets the queries of the rows, for ranking.
    ///
    /// # Errors
    /// Returns [`TrainError::Group`] if the groups are of another number of rows.
    pub fn with_groups(mut self, groups: Groups) -> Result<Self, TrainError> {
        if groups.n_rows() != self.n_rows() {
            let (sum, rows) = (groups.n_rows(), self.n_rows());
            return Err(GroupError::SizeSum { groups: groups.len(), sum, rows }.into());
        }
        self.groups = Some(Arc::new(groups));
        Ok(self)
    }

    /// Queries of the rows, if any.
    #[must_use]
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_deref()
    }

    /// Starts from the scores of a model, to continue its training. `features` must hold the rows of this dataset.
    ///
    /// # Errors
    /// Returns [`TrainError::Continue`] if the features do not match the model.
    pub fn start_from(mut self, model: &Model, features: &Features<'_>) -> Result<Self, TrainError> {
        self.start = Some(scores::of_model(model, features)?);
        self.init_scores = false;
        Ok(self)
    }

    /// Starts from given raw scores, such as the logarithm of an exposure or the predictions of another model: one per
    /// row and output, all rows of an output before the next. They are not part of the trained model, so they must be
    /// added to its raw predictions.
    ///
    /// # Errors
    /// Returns [`TrainError::InitScores`] if a score is not finite, or their number is not a multiple of the rows.
    pub fn with_init_scores(mut self, scores: Vec<f64>) -> Result<Self, TrainError> {
        init_scores::check_values(&scores, self.n_rows())?;
        self.start = Some(scores);
        self.init_scores = true;
        Ok(self)
    }

    /// Starts from the scores of a model, for a worker without rows.
    #[must_use]
    pub fn start_without_rows(mut self) -> Self {
        self.start = Some(Vec::new());
        self
    }

    pub(super) fn is_categorical(&self, feature: usize) -> bool {
        self.cuts.kind(feature) == FeatureKind::Categorical
    }

    /// Returns the category codes of some bins.
    pub(super) fn codes_of(&self, feature: usize, bins: &[usize]) -> CategorySet {
        let categories = self.cuts.categories(feature);
        bins.iter().map(|&bin| categories[bin]).collect()
    }

    pub(super) fn input_kind(&self, feature: usize) -> InputKind {
        match self.cuts.kind(feature) {
            FeatureKind::Numeric => InputKind::Numeric,
            FeatureKind::Categorical => InputKind::Categorical {
                known: Some(self.cuts.categories(feature).to_vec()),
                labels: self.schema.labels(feature).to_vec(),
            },
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.slots.n_rows
    }

    /// Returns whether a tree takes less time than another thread needs to start.
    pub(super) fn is_tiny(&self) -> bool {
        self.n_rows() * self.slots.row_bytes() < TINY
    }

    /// Returns whether the bins are read from a file during training instead of being held in memory.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        self.slots.mapped.is_some()
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.schema.n_features()
    }

    /// Creates an objective for these targets by name, or one that fits them: `lambdarank` for data with groups, else
    /// that of [`objective::infer`].
    ///
    /// # Errors
    /// Returns the errors of [`objective::infer`].
    pub fn objective(&self, name: Option<&str>) -> Result<Box<dyn Objective>, ObjectiveError> {
        let name = name.or_else(|| self.groups.as_ref().map(|_| "lambdarank"));
        let largest = || self.targets.rounded().iter().fold(0.0, |most: f64, &target| most.max(target.into()));
        objective::infer(
            name,
            match self.classes.len() {
                0 => TargetKind::Numbers { largest: largest() },
                classes => TargetKind::Classes(classes),
            },
        )
    }

    /// Names, kinds and category labels of the features.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Label of each class; empty unless the targets are class indices.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Cuts of every feature.
    #[must_use]
    pub fn cuts(&self) -> &BinCuts {
        &self.cuts
    }

    /// Target of each row, rounded to the nearest f32.
    #[must_use]
    pub fn targets(&self) -> Cow<'_, [f32]> {
        self.targets.rounded()
    }

    /// Size in bytes of the bins of a row; the average if sparse features are stored by entry.
    #[must_use]
    pub fn bytes_per_row(&self) -> usize {
        self.slots.row_bytes()
    }
}

fn check_rows(rows: usize, targets: usize, weights: Option<&[f32]>) -> Result<(), TrainError> {
    if targets != rows {
        return Err(TrainError::TargetCount { targets, rows });
    }
    if let Some(weights) = weights {
        check_weights(weights, rows).map_err(FeatureError::from)?;
    }
    if u32::try_from(rows).is_err() { Err(TrainError::TooManyRows { rows }) } else { Ok(()) }
}

//! `TrainingTable`: a table split into features, targets and weights.

use std::sync::Arc;

use super::groups::read_groups;
use super::{Column, Matrix, Table, TableError, Target, Task, weights};
use crate::Groups;
use crate::feature::{Quantizer, Schema};
use crate::model::Model;
use crate::objective::{self, ClassWeights, Objective, ObjectiveError, ObjectiveKind, TargetKind};
use crate::train::{Dataset, TrainError};

/// Roles of a table's columns in a training, and the objective.
///
/// ```
/// use bitgrain_gbdt::table::ColumnRoles;
/// let roles = ColumnRoles { weight: Some("rows".into()), ..ColumnRoles::target("price") };
/// assert!(roles.objective.is_none()); // inferred from the target
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnRoles {
    /// Column to predict; `label` of a libsvm file by default.
    pub target: Option<String>,
    /// Column of row weights; those of a libsvm file by default, if it has any.
    pub weight: Option<String>,
    /// Column of queries, for ranking; `qid` of a libsvm file by default, if it has any.
    pub group: Option<String>,
    /// Column of positions at which rows were displayed, for `lambdarank`.
    pub position: Option<String>,
    /// Numeric columns whose values are category codes. Columns of strings are always categories.
    pub categorical: Vec<String>,
    /// Name of the objective; inferred from the target by default.
    pub objective: Option<String>,
    /// Whether rows are weighted so that all classes have the same total weight.
    pub balanced: bool,
}

impl ColumnRoles {
    /// Creates roles with a target column; all other columns are features.
    #[must_use]
    pub fn target(name: impl Into<String>) -> Self {
        Self { target: Some(name.into()), ..Self::default() }
    }
}

/// Features, targets and weights of a table, and the training objective.
///
/// ```
/// use bitgrain_gbdt::table::{ColumnRoles, ReadOptions, Table};
/// use bitgrain_gbdt::{Params, Quantizer, Trainer};
/// let csv = format!("size,city,kind\n{}", "50,Oslo,flat\n80,Rome,house\n".repeat(50));
/// let table = Table::from_csv(csv.as_bytes(), "houses.csv".as_ref(), &ReadOptions::default())?;
/// let table = table.into_training(&ColumnRoles::target("kind"), None)?;
/// assert_eq!(table.objective_name(), "binary");
/// let mut data = table.dataset(&Quantizer::default(), None)?;
/// let model = Trainer::new(Params::default(), table.objective()?).train(&mut data)?.model;
/// assert_eq!(model.output.classes, ["flat", "house"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrainingTable {
    matrix: Matrix,
    target: Target,
    weights: Option<Vec<f32>>,
    groups: Option<Groups>,
    objective: String,
    reason: Option<String>,
    balanced: bool,
}

impl Table {
    /// Splits the table into features, targets and weights. With a model to continue from, its features, classes and
    /// objective are used.
    ///
    /// # Errors
    /// Returns a [`TableError`] if a column is missing or holds values that its role does not allow, and
    /// [`TableError::Objective`] if the objective is unknown or does not match the target.
    pub fn into_training(mut self, roles: &ColumnRoles, base: Option<&Model>) -> Result<TrainingTable, TableError> {
        let RoleColumns { target, weights, groups, objective, reason } = self.read_role_columns(roles, base)?;
        let matrix = match base {
            Some(model) => self.align(&model.schema())?,
            None => self.into_matrix(&roles.categorical)?,
        };
        Ok(TrainingTable { matrix, target, weights, groups, objective, reason, balanced: roles.balanced })
    }

    /// Splits the table with the features, classes and objective of another one.
    ///
    /// # Errors
    /// Returns the errors of [`into_training`](Self::into_training).
    pub fn into_training_like(self, roles: &ColumnRoles, other: &TrainingTable) -> Result<TrainingTable, TableError> {
        self.into_training_as(roles, &other.objective, &other.target.labels, other.matrix.schema())
    }

    /// Splits the table for an objective, with known classes and features.
    pub(super) fn into_training_as(
        mut self,
        roles: &ColumnRoles,
        objective: &str,
        classes: &[String],
        schema: &Arc<Schema>,
    ) -> Result<TrainingTable, TableError> {
        let Roles { target, weights, group, position: _ } = self.take_roles(roles)?;
        let groups = read_groups(objective, roles, group.as_ref(), None)?;
        Ok(TrainingTable {
            groups,
            target: encoded(objective, &target, classes)?,
            matrix: self.align(schema)?,
            weights,
            objective: objective.to_owned(),
            reason: None,
            // Class weights balance training, not evaluation.
            balanced: false,
        })
    }

    /// Takes the columns with a role other than a feature, and infers the objective.
    fn read_role_columns(&mut self, roles: &ColumnRoles, base: Option<&Model>) -> Result<RoleColumns, TableError> {
        let taken = self.take_roles(roles)?;
        let name = objective_name(roles, &taken.target, base);
        taken.read(roles, name, base.map(|model| &model.output.classes[..]).unwrap_or_default())
    }

    /// Takes the columns with a role other than a feature; with the class labels of another table, if there are any.
    pub(super) fn take_role_columns(
        &mut self,
        roles: &ColumnRoles,
        known: Option<&[String]>,
    ) -> Result<RoleColumns, TableError> {
        let taken = self.take_roles(roles)?;
        let name = objective_name(roles, &taken.target, None);
        taken.read(roles, name, known.unwrap_or_default())
    }

    fn take_roles(&mut self, roles: &ColumnRoles) -> Result<Roles, TableError> {
        let target = match (&roles.target, self.sparse()) {
            (Some(name), _) => self.take(name)?,
            (None, Some(_)) => self.take("label")?,
            (None, None) => return Err(TableError::NoTarget { found: self.names() }),
        };
        let weight = match &roles.weight {
            Some(name) => Some(self.take(name)?),
            None if self.sparse().is_some() && self.column("weight").is_some() => Some(self.take("weight")?),
            None => None,
        };
        let group = match &roles.group {
            Some(name) => Some(self.take(name)?),
            None if self.sparse().is_some() && self.column("qid").is_some() => Some(self.take("qid")?),
            None => None,
        };
        let position = roles.position.as_ref().map(|name| self.take(name)).transpose()?;
        Ok(Roles { target, weights: weight.as_ref().map(weights).transpose()?, group, position })
    }
}

impl TrainingTable {
    /// Bins the features. With a model to continue from, scores start with its predictions.
    ///
    /// # Errors
    /// Returns a [`TrainError`] if there are no rows or no features, or the model does not match them.
    pub fn dataset(&self, quantizer: &Quantizer, base: Option<&Model>) -> Result<Dataset, TrainError> {
        let features = self.matrix.features()?;
        let data = Dataset::new(&features, self.target.values.clone(), self.training_weights()?, quantizer)?;
        let data = self.grouped(data.with_classes(self.target.labels.clone()))?;
        match base {
            Some(model) => data.start_from(model, &features),
            None => Ok(data),
        }
    }

    /// Bins the features with the cuts of another dataset, for validation.
    ///
    /// # Errors
    /// Returns the errors of [`dataset`](Self::dataset).
    pub fn dataset_like(&self, other: &Dataset, base: Option<&Model>) -> Result<Dataset, TrainError> {
        let features = self.matrix.features()?;
        let data = self.grouped(other.like(&features, self.target.values.clone(), self.weights.clone())?)?;
        match base {
            Some(model) => data.start_from(model, &features),
            None => Ok(data),
        }
    }

    fn grouped(&self, data: Dataset) -> Result<Dataset, TrainError> {
        match &self.groups {
            Some(groups) => data.with_groups(groups.clone()),
            None => Ok(data),
        }
    }

    /// Returns the weight of each row in training, with class weights.
    ///
    /// # Errors
    /// Returns [`ObjectiveError`] if a class weight is undefined.
    pub fn training_weights(&self) -> Result<Option<Vec<f32>>, ObjectiveError> {
        training_weights(self.balanced, &self.target.values, self.weights.as_ref())
    }

    /// Creates the objective.
    ///
    /// # Errors
    /// Returns an [`ObjectiveError`] for an unknown name, which cannot occur: the name was checked when the table was split.
    pub fn objective(&self) -> Result<Box<dyn Objective>, ObjectiveError> {
        objective::by_name(&self.objective)
    }

    /// Name of the objective, with its parameter.
    #[must_use]
    pub fn objective_name(&self) -> &str {
        &self.objective
    }

    /// Reason for an inferred objective.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Features.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Targets and class labels.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Queries of the rows, if any.
    #[must_use]
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// Weight of each row, if the table has weights. Class weights are not included.
    #[must_use]
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// Class of each row for stratified sampling; `None` for regression.
    #[must_use]
    pub fn strata(&self) -> Option<&[f32]> {
        (!self.target.labels.is_empty()).then_some(&self.target.values[..])
    }

    /// Returns a subset of the rows in the given order. The rows of a query must stay adjacent.
    ///
    /// # Panics
    /// If a row is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let chosen = |values: &[f32]| rows.iter().map(|row| values[*row]).collect::<Vec<f32>>();
        Self {
            matrix: self.matrix.select(rows),
            target: Target { values: chosen(&self.target.values), labels: self.target.labels.clone() },
            weights: self.weights.as_deref().map(chosen),
            groups: self.groups.as_ref().map(|groups| groups.select(rows)),
            objective: self.objective.clone(),
            reason: self.reason.clone(),
            balanced: self.balanced,
        }
    }
}

/// Targets, weights and queries, and the objective.
#[derive(Debug, Clone)]
pub(super) struct RoleColumns {
    pub(super) target: Target,
    pub(super) weights: Option<Vec<f32>>,
    pub(super) groups: Option<Groups>,
    pub(super) objective: String,
    /// Reason for an inferred objective.
    pub(super) reason: Option<String>,
}

impl RoleColumns {
    /// Returns the weights of the rows, with those of their classes.
    pub(super) fn training_weights(&self, balanced: bool) -> Result<Option<Vec<f32>>, ObjectiveError> {
        training_weights(balanced, &self.target.values, self.weights.as_ref())
    }
}

impl Roles {
    fn read(
        self,
        roles: &ColumnRoles,
        (name, reason): (String, Option<String>),
        known: &[String],
    ) -> Result<RoleColumns, TableError> {
        let Self { target, weights, group, position } = self;
        let groups = read_groups(&name, roles, group.as_ref(), position.as_ref())?;
        let target = encoded(&name, &target, known)?;
        let kind = match target.labels.len() {
            0 => TargetKind::Numbers { largest: target.values.iter().fold(0.0, |most, &y| most.max(y.into())) },
            classes => TargetKind::Classes(classes),
        };
        let objective = objective::infer(Some(&name), kind)?.name();
        if roles.balanced && target.labels.is_empty() {
            return Err(TableError::NoClasses { objective });
        }
        Ok(RoleColumns { target, weights, groups, objective, reason })
    }
}

/// Returns the weights of the rows, multiplied by those of their classes if these are balanced.
fn training_weights(
    balanced: bool,
    targets: &[f32],
    weights: Option<&Vec<f32>>,
) -> Result<Option<Vec<f32>>, ObjectiveError> {
    if !balanced {
        return Ok(weights.cloned());
    }
    let mut all = objective::class_weights(targets, &ClassWeights::Balanced)?;
    for (weight, own) in all.iter_mut().zip(weights.into_iter().flatten()) {
        *weight *= own;
    }
    Ok(Some(all))
}

/// Columns with a role other than a feature.
struct Roles {
    target: Column,
    weights: Option<Vec<f32>>,
    group: Option<Column>,
    position: Option<Column>,
}

/// Returns the name of the objective, and the reason if it was inferred.
fn objective_name(roles: &ColumnRoles, target: &Column, base: Option<&Model>) -> (String, Option<String>) {
    if let Some(name) = &roles.objective {
        return (name.clone(), None);
    }
    if let Some(model) = base {
        return (
            model.output.objective.clone(),
            Some("objective of the model that training continues from".to_owned()),
        );
    }
    if let Some(group) = &roles.group {
        return ("lambdarank".to_owned(), Some(format!("`{group}` holds queries")));
    }
    let inferred = Task::infer(target);
    let name = match inferred.task {
        Task::Regression => "squared",
        Task::Binary => "binary",
        Task::Multiclass { .. } => "multiclass",
    };
    (name.to_owned(), Some(inferred.reason))
}

/// Encodes the target: class indices for classifiers, numbers for other objectives. For a binary objective, non-integer
/// numbers are probabilities of class 1.
fn encoded(objective: &str, column: &Column, known: &[String]) -> Result<Target, TableError> {
    let is_probability = || column.data.numbers().is_some() && Task::infer(column).task == Task::Regression;
    match objective::kind_of(objective)? {
        ObjectiveKind::Regression | ObjectiveKind::Ranking => Target::numbers(column),
        ObjectiveKind::Binary if known.is_empty() && is_probability() => Target::numbers(column),
        ObjectiveKind::Binary | ObjectiveKind::Multiclass if known.is_empty() => Target::classes(column),
        ObjectiveKind::Binary | ObjectiveKind::Multiclass => Target::classes_like(column, known),
    }
}

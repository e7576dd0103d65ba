//! `Task`: inference of the learning task from the target.

use std::collections::BTreeSet;

use super::piece::rounded;
use super::{Column, ColumnData};

/// Learning task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Predicts a number.
    Regression,
    /// Predicts one of two classes.
    Binary,
    /// Predicts one of several classes.
    Multiclass {
        /// Number of classes.
        classes: usize,
    },
}

/// Inferred task with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredTask {
    /// Inferred task.
    pub task: Task,
    /// Reason: `the target holds 3 distinct strings`.
    pub reason: String,
}

impl Task {
    /// Maximum number of distinct integers that are taken as classes.
    pub const MAX_CLASSES: usize = 10;

    /// Infers the task of a target: classification for strings and for few distinct integers, else regression.
    ///
    /// ```
    /// use bitgrain_gbdt::table::{Column, ColumnData, Task};
    /// let target = Column { name: "price".into(), data: ColumnData::F32(vec![1.5, 2.0, 3.25]) };
    /// let inferred = Task::infer(&target);
    /// assert_eq!(inferred.task, Task::Regression);
    /// assert_eq!(inferred.reason, "`price` holds non-integer numbers, such as 1.5");
    /// ```
    #[must_use]
    pub fn infer(target: &Column) -> InferredTask {
        let name = &target.name;
        if let ColumnData::Strings(text) = &target.data {
            let classes = text.labels.len();
            return InferredTask {
                task: Self::of(classes),
                reason: format!("`{name}` holds {classes} distinct strings"),
            };
        }
        let mut distinct = BTreeSet::new();
        for value in target.data.numbers().into_iter().flatten().filter(|value| !value.is_nan()) {
            if value.fract() != 0.0 || value.is_infinite() {
                let shown = match target.data {
                    // Format as f32: its shortest digits, not those of the converted f64.
                    ColumnData::F32(_) => rounded(value).to_string(),
                    _ => value.to_string(),
                };
                let reason = format!("`{name}` holds non-integer numbers, such as {shown}");
                return InferredTask { task: Self::Regression, reason };
            }
            // `+ 0.0` turns -0 into 0.
            distinct.insert((value + 0.0).to_bits());
            if distinct.len() > Self::MAX_CLASSES {
                let reason = format!("`{name}` holds more than {} distinct integers", Self::MAX_CLASSES);
                return InferredTask { task: Self::Regression, reason };
            }
        }
        let classes = distinct.len();
        InferredTask { task: Self::of(classes), reason: format!("`{name}` holds {classes} distinct integers") }
    }

    /// Returns the classification task for a number of classes.
    #[must_use]
    pub fn of(classes: usize) -> Self {
        if classes > 2 { Self::Multiclass { classes } } else { Self::Binary }
    }
}

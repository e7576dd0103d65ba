//! What there is to learn, told from the target.

use std::collections::BTreeSet;

use super::piece::rounded;
use super::{Column, ColumnData};

/// What there is to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A number.
    Regression,
    /// One of two classes.
    Binary,
    /// One of several classes.
    Multiclass {
        /// How many.
        classes: usize,
    },
}

/// A task, and why it is thought to be the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredTask {
    /// The task.
    pub task: Task,
    /// Why, in words: `the target holds 3 different texts`.
    pub reason: String,
}

impl Task {
    /// Whole numbers of a target that are taken for classes, at most.
    pub const MAX_CLASSES: usize = 10;

    /// The task of a target: classification of texts and of few whole numbers, regression of other numbers.
    ///
    /// ```
    /// use bitgrain_gbdt::table::{Column, ColumnData, Task};
    /// let target = Column { name: "price".into(), data: ColumnData::F32(vec![1.5, 2.0, 3.25]) };
    /// let inferred = Task::infer(&target);
    /// assert_eq!(inferred.task, Task::Regression);
    /// assert_eq!(inferred.reason, "`price` holds numbers that are not whole, such as 1.5");
    /// ```
    #[must_use]
    pub fn infer(target: &Column) -> InferredTask {
        let name = &target.name;
        if let ColumnData::Text(text) = &target.data {
            let classes = text.labels.len();
            return InferredTask {
                task: Self::of(classes),
                reason: format!("`{name}` holds {classes} different texts"),
            };
        }
        let mut distinct = BTreeSet::new();
        for value in target.data.numbers().into_iter().flatten().filter(|value| !value.is_nan()) {
            if value.fract() != 0.0 || value.is_infinite() {
                let shown = match target.data {
                    // With its own digits, not those of the f64 it becomes.
                    ColumnData::F32(_) => rounded(value).to_string(),
                    _ => value.to_string(),
                };
                let reason = format!("`{name}` holds numbers that are not whole, such as {shown}");
                return InferredTask { task: Self::Regression, reason };
            }
            // -0 is 0.
            distinct.insert((value + 0.0).to_bits());
            if distinct.len() > Self::MAX_CLASSES {
                let reason = format!("`{name}` holds more than {} different whole numbers", Self::MAX_CLASSES);
                return InferredTask { task: Self::Regression, reason };
            }
        }
        let classes = distinct.len();
        InferredTask { task: Self::of(classes), reason: format!("`{name}` holds {classes} different whole numbers") }
    }

    /// The task of telling so many classes apart.
    #[must_use]
    pub fn of(classes: usize) -> Self {
        if classes > 2 { Self::Multiclass { classes } } else { Self::Binary }
    }
}

//! Choice of the objective from its name and the targets.

use super::names::{NAMES, found};
use super::targets::{MAX_CLASSES, class_of};
use super::{Binary, Multiclass, Objective, ObjectiveError, Squared, by_name};

/// Properties of the targets that determine the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TargetKind {
    /// Class indices whose labels are known.
    Classes(usize),
    /// Numbers up to `largest`. Classification objectives take them as class indices.
    Numbers {
        /// The largest number.
        largest: f64,
    },
}

/// Task of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectiveKind {
    /// Predicts numbers.
    Regression,
    /// Predicts one of two classes.
    Binary,
    /// Predicts one of any number of classes.
    Multiclass,
    /// Ranks the rows of a query.
    Ranking,
}

/// scikit-learn's name for the loss of any number of classes.
const ANY_CLASSES: &str = "log_loss";

/// Returns the task of an objective by name.
///
/// ```
/// use bitgrain_gbdt::objective::{ObjectiveKind, kind_of};
/// assert_eq!(kind_of("mae")?, ObjectiveKind::Regression);
/// assert_eq!(kind_of("binary:logistic")?, ObjectiveKind::Binary);
/// assert_eq!(kind_of("softmax")?, ObjectiveKind::Multiclass);
/// # Ok::<(), bitgrain_gbdt::objective::ObjectiveError>(())
/// ```
///
/// # Errors
/// Returns [`ObjectiveError::Unknown`] or [`ObjectiveError::Parameter`].
pub fn kind_of(name: &str) -> Result<ObjectiveKind, ObjectiveError> {
    if is_any_classes(name) {
        return Ok(ObjectiveKind::Multiclass);
    }
    match by_name(name) {
        Err(ObjectiveError::MissingParameter { .. }) => Ok(ObjectiveKind::Multiclass),
        other => {
            let objective = other?;
            Ok(match base_name(&objective.name()) {
                "binary" | "focal" => ObjectiveKind::Binary,
                "multiclass" => ObjectiveKind::Multiclass,
                _ if objective.ranks() => ObjectiveKind::Ranking,
                _ => ObjectiveKind::Regression,
            })
        }
    }
}

/// Creates an objective by name, or one that fits the targets if no name is given.
///
/// The number of classes is optional: `multiclass` takes it from the targets, and `log_loss` means `binary` for two
/// classes and `multiclass` for more.
///
/// ```
/// use bitgrain_gbdt::objective::{TargetKind, infer};
/// let numbers = TargetKind::Numbers { largest: 310.5 };
/// assert_eq!(infer(None, numbers)?.name(), "squared");
/// assert_eq!(infer(None, TargetKind::Classes(2))?.name(), "binary");
/// assert_eq!(infer(Some("log_loss"), TargetKind::Classes(3))?.name(), "multiclass:3");
/// assert!(infer(Some("binary"), TargetKind::Classes(3)).is_err());
/// # Ok::<(), bitgrain_gbdt::objective::ObjectiveError>(())
/// ```
///
/// # Errors
/// Returns the errors of [`by_name`], [`ObjectiveError::OneClass`] if there is one class and no name,
/// [`ObjectiveError::ClassCount`] if the objective is for another number of classes, and [`ObjectiveError::ClassIndex`]
/// if a classification objective gets numbers that are not class indices.
pub fn infer(name: Option<&str>, targets: TargetKind) -> Result<Box<dyn Objective>, ObjectiveError> {
    let Some(name) = name else {
        return match targets {
            TargetKind::Numbers { .. } => Ok(Box::new(Squared)),
            TargetKind::Classes(0 | 1) => Err(ObjectiveError::OneClass),
            TargetKind::Classes(classes) => of_classes(classes),
        };
    };
    if is_any_classes(name) {
        return of_classes(count(targets)?);
    }
    let objective = match by_name(name) {
        Err(ObjectiveError::MissingParameter { .. }) => Box::new(Multiclass::new(count(targets)?.max(2))?),
        other => other?,
    };
    if let TargetKind::Classes(classes) = targets {
        let takes = match base_name(&objective.name()) {
            "binary" | "focal" => 2,
            "multiclass" => objective.n_outputs(),
            _ => return Ok(objective),
        };
        // Data may have fewer classes than the objective: some classes may occur in other rows only.
        if classes > takes || objective.n_outputs() > classes.max(2) {
            return Err(ObjectiveError::ClassCount { objective: objective.name(), takes, classes });
        }
    }
    Ok(objective)
}

/// Creates the objective for a number of classes.
fn of_classes(classes: usize) -> Result<Box<dyn Objective>, ObjectiveError> {
    if classes <= 2 { Ok(Box::new(Binary)) } else { Ok(Box::new(Multiclass::new(classes)?)) }
}

/// Returns the number of classes of the targets.
fn count(targets: TargetKind) -> Result<usize, ObjectiveError> {
    match targets {
        TargetKind::Classes(classes) => Ok(classes),
        TargetKind::Numbers { largest } => match class_of(largest, MAX_CLASSES) {
            Some(class) => Ok(class + 1),
            None => Err(ObjectiveError::ClassIndex { largest }),
        },
    }
}

fn is_any_classes(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case(ANY_CLASSES) && found(NAMES, name).is_some()
}

fn base_name(name: &str) -> &str {
    name.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(name: &str, targets: TargetKind) -> String {
        infer(Some(name), targets).map_or_else(|error| error.to_string(), |objective| objective.name())
    }

    #[test]
    fn the_number_of_classes_decides_in_one_place() {
        let (two, three) = (TargetKind::Classes(2), TargetKind::Classes(3));
        for (name, of_two, of_three) in [
            ("log_loss", "binary", "multiclass:3"),
            ("multiclass", "multiclass:2", "multiclass:3"),
            ("multi:softprob", "multiclass:2", "multiclass:3"),
            ("squared", "squared", "squared"),
        ] {
            assert_eq!(
                (inferred(name, two), inferred(name, three)),
                (of_two.to_owned(), of_three.to_owned()),
                "{name}"
            );
        }
        assert_eq!(inferred("logistic", three), "`binary` predicts 2 classes, but the target has 3; use `multiclass`");
        assert_eq!(
            inferred("multiclass:5", three),
            "`multiclass:5` predicts 5 classes, but the target has 3; use `multiclass`"
        );
    }

    #[test]
    fn numbers_are_class_indices_for_objectives_of_classes() {
        let numbers = |largest| TargetKind::Numbers { largest };
        assert_eq!(inferred("multiclass", numbers(4.0)), "multiclass:5");
        assert_eq!(inferred("multiclass", numbers(0.0)), "multiclass:2");
        assert_eq!(inferred("log_loss", numbers(1.0)), "binary");
        assert_eq!(inferred("log_loss", numbers(2.0)), "multiclass:3");
        for largest in [-1.0, 0.5, 65_536.0, f64::NAN, f64::INFINITY] {
            assert!(inferred("multiclass", numbers(largest)).starts_with("largest target"), "{largest}");
        }
        assert_eq!(inferred("binary", numbers(0.25)), "binary", "probabilities of class 1 are valid targets");
    }

    #[test]
    fn every_name_has_its_kind() {
        for named in NAMES {
            let want = match named.name {
                "binary" | "focal" => ObjectiveKind::Binary,
                "multiclass" => ObjectiveKind::Multiclass,
                name if name == "lambdarank" || name.starts_with("rank_") => ObjectiveKind::Ranking,
                _ => ObjectiveKind::Regression,
            };
            for name in named.aliases.iter().chain([&named.name]).filter(|name| **name != ANY_CLASSES) {
                assert_eq!(kind_of(name), Ok(want), "{name}");
            }
        }
        assert_eq!(kind_of("log_loss"), Ok(ObjectiveKind::Multiclass));
        assert!(kind_of("foo").is_err());
    }
}

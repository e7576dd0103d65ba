//! Checks of initial scores that the caller gives.

use super::{Dataset, TrainError};

fn refused(reason: String) -> TrainError {
    TrainError::InitScores { reason }
}

/// Checks the scores of a dataset.
pub(super) fn check_values(scores: &[f64], n_rows: usize) -> Result<(), TrainError> {
    if n_rows > 0 && (scores.is_empty() || !scores.len().is_multiple_of(n_rows)) {
        let count = scores.len();
        return Err(refused(format!("{count} scores for {n_rows} rows; pass one per row and output")));
    }
    match scores.iter().position(|score| !score.is_finite()) {
        Some(at) => Err(refused(format!("score {} at index {at} (0-based) is not finite", scores[at]))),
        None => Ok(()),
    }
}

/// Checks that all data of a training has initial scores, or none.
pub(super) fn check(data: &Dataset, valid: &[&Dataset], continues: bool, outputs: usize) -> Result<(), TrainError> {
    let all = || std::iter::once(data).chain(valid.iter().copied());
    if continues && all().any(|data| data.init_scores) {
        let fix = "add its raw predictions to the scores instead of continuing from it";
        return Err(refused(format!("the training also continues from a model; {fix}")));
    }
    for (index, valid) in valid.iter().enumerate() {
        if valid.init_scores != data.init_scores {
            let (has, lacks) = ("the training data", format!("validation set {index} (0-based)"));
            let (has, lacks) = if data.init_scores { (has.into(), lacks) } else { (lacks, has.to_owned()) };
            return Err(refused(format!("{has} has them, but {lacks} does not; pass scores for both")));
        }
    }
    for each in all().filter(|each| each.init_scores) {
        let count = each.start.as_ref().map_or(0, Vec::len);
        if count != each.n_rows() * outputs {
            let rows = each.n_rows();
            return Err(refused(format!("{count} scores for {rows} rows; the objective needs {outputs} per row")));
        }
    }
    Ok(())
}

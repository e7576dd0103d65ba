//! Parameters that change between rounds.

use super::{Params, TrainError};
use crate::parameter::{PARAMETERS, ParameterStage};

/// Parameters that are read again in each round. All others determine state that outlives a round.
const CHANGEABLE: [&str; 18] = [
    "learning_rate",
    "num_leaves",
    "max_depth",
    "min_child_samples",
    "min_child_weight",
    "reg_alpha",
    "reg_lambda",
    "min_split_gain",
    "subsample",
    "subsample_freq",
    "colsample_bytree",
    "colsample_bynode",
    "top_rate",
    "other_rate",
    "drop_rate",
    "max_drop",
    "skip_drop",
    "early_stopping_min_delta",
];

/// Function that changes parameters before a round, given its 0-based index.
type Change<'a> = Box<dyn FnMut(usize, &mut Params) + Send + Sync + 'a>;

/// Calls the function of a training and checks its changes.
pub(super) struct Schedule<'a>(Change<'a>);

impl<'a> Schedule<'a> {
    pub(super) fn new(change: impl FnMut(usize, &mut Params) + Send + Sync + 'a) -> Self {
        Self(Box::new(change))
    }

    /// Changes the parameters before a round.
    pub(super) fn apply(&mut self, round: usize, params: &mut Params) -> Result<(), TrainError> {
        let before = params.clone();
        (self.0)(round, params);
        if *params == before {
            return Ok(());
        }
        params.check()?;
        let own = PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training);
        let mut fixed = own.map(|parameter| parameter.name).filter(|name| !CHANGEABLE.contains(name));
        match fixed.find(|name| params.get(name) != before.get(name)) {
            Some(name) => Err(TrainError::FixedParameter { name }),
            None => Ok(()),
        }
    }
}

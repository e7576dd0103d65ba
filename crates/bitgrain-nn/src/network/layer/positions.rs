//! `Positions`: learned embeddings of positions and token types.

use serde::{Deserialize, Serialize};

use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Adds learned vectors to those of a sequence: one per position, and one per token type if there are types. The type
/// is 0 unless the batch sets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Positions {
    /// Maximum sequence length.
    pub length: usize,
    /// Number of token types; 0 to disable them.
    #[serde(default)]
    pub types: usize,
}

impl Positions {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let (len, length) = (site.sequence()?, site.positive("length", self.length)?);
        let too_long = |length| NetworkError::TooLong { layer: site.path().to_owned(), rows: self.length, length };
        if let Some(found) = site.shape.dims()[0].filter(|found| *found > length) {
            return Err(too_long(found));
        }
        let init = Init::Normal(0.02);
        let positions = site.matrix("weight", length, len, init)?;
        let types = if self.types > 0 { Some(site.matrix("types.weight", self.types, len, init)?) } else { None };
        Ok(Box::new(Built { positions, types, len, settings: self.clone(), path: site.path().to_owned() }))
    }
}

#[derive(Debug)]
struct Built {
    positions: Id,
    types: Option<Id>,
    len: usize,
    settings: Positions,
    path: String,
}

impl Step for Built {
    fn forward(&self, mut x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let length = x.dims()[0];
        if length > self.settings.length {
            return Err(NetworkError::TooLong { layer: self.path.clone(), rows: self.settings.length, length });
        }
        let kinds = x.types().map(<[usize]>::to_vec);
        let most = self.settings.types.max(1);
        if let Some((place, id)) = kinds.iter().flatten().enumerate().find(|(_, id)| **id >= most) {
            #[expect(clippy::cast_precision_loss, reason = "for an error message")]
            let id = *id as f32;
            return Err(NetworkError::Token { layer: self.path.clone(), place, id, rows: self.settings.types });
        }
        let mut row = vec![0.0; self.len];
        let mut add = |id: Id, which: &dyn Fn(usize) -> usize| -> Result<(), NetworkError> {
            let rows = run.rows(id)?;
            for (place, out) in x.values_mut().chunks_exact_mut(self.len).enumerate() {
                run.row(&rows, id, which(place), &mut row)?;
                out.iter_mut().zip(&row).for_each(|(out, x)| *out += x);
            }
            Ok(())
        };
        add(self.positions, &|place| place % length)?;
        if let Some(types) = self.types {
            add(types, &|place| kinds.as_ref().map_or(0, |kinds| kinds[place]))?;
        }
        Ok(x)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let length = dy.dims()[0];
        let mut add = |id: Id, which: &dyn Fn(usize) -> usize| {
            let table = back.gradient(id);
            for (place, dy) in dy.values().chunks_exact(self.len).enumerate() {
                let row = &mut table[which(place) * self.len..][..self.len];
                row.iter_mut().zip(dy).for_each(|(sum, dy)| *sum += dy);
            }
        };
        add(self.positions, &|place| place % length);
        if let Some(types) = self.types {
            add(types, &|place| dy.types().map_or(0, |types| types[place]));
        }
        dy
    }
}

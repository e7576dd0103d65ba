//! `Embedding`: a lookup table for integer tokens.

use serde::{Deserialize, Serialize};

use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Replaces each token, an integer stored as f32, by a row of a table. Adds a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// Number of rows; valid tokens are `0..tokens`.
    pub tokens: usize,
    /// Length of a row.
    pub outputs: usize,
}

impl Embedding {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        // Above 2^24, not every integer is representable in f32.
        const MOST: usize = 1 << 24;
        let (tokens, outputs) = (site.positive("tokens", self.tokens)?, site.positive("outputs", self.outputs)?);
        if tokens > MOST {
            return Err(site.setting("tokens", tokens));
        }
        let table = site.matrix("weight", tokens, outputs, Init::glorot(outputs, outputs))?;
        site.shape = site.shape.with_inner(outputs);
        Ok(Box::new(Built { table, tokens, outputs, path: site.path().to_owned() }))
    }
}

#[derive(Debug)]
struct Built {
    table: Id,
    tokens: usize,
    outputs: usize,
    path: String,
}

impl Built {
    fn token(&self, place: usize, id: f32) -> Result<usize, NetworkError> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the original below")]
        let token = id as usize;
        #[expect(clippy::cast_precision_loss, reason = "a token is below 2^24")]
        if token < self.tokens && token as f32 == id {
            return Ok(token);
        }
        Err(NetworkError::Token { layer: self.path.clone(), place, id, rows: self.tokens })
    }
}

impl Step for Built {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let mut values = vec![0.0; x.values().len() * self.outputs];
        let rows = run.rows(self.table)?;
        for (place, (id, out)) in x.values().iter().zip(values.chunks_exact_mut(self.outputs)).enumerate() {
            run.row(&rows, self.table, self.token(place, *id)?, out)?;
        }
        let dims = x.dims().iter().copied().chain([self.outputs]).collect();
        let y = x.with(values, dims);
        run.save(x);
        Ok(y)
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let x = back.saved();
        let table = back.gradient(self.table);
        for (id, dy) in x.values().iter().zip(dy.values().chunks_exact(self.outputs)) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the forward pass checked it")]
            let row = &mut table[*id as usize * self.outputs..][..self.outputs];
            row.iter_mut().zip(dy).for_each(|(sum, dy)| *sum += dy);
        }
        // Tokens are indices, so the output is not differentiable with respect to them.
        x.with_values(vec![0.0; x.values().len()])
    }
}

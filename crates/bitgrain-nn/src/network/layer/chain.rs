//! `Chain`: a sequence of layers, and the residual branch made of one.

use super::Layer;
use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// A sequence of layers.
#[derive(Debug)]
pub(crate) struct Chain(Vec<Box<dyn Step>>);

impl Chain {
    pub(crate) fn build(layers: &[Layer], site: &mut Site<'_>) -> Result<Self, NetworkError> {
        let mut steps = Vec::with_capacity(layers.len());
        for (index, layer) in layers.iter().enumerate() {
            let mut inner = site.inner(index, layer.kind());
            steps.push(layer.build(&mut inner)?);
            if !inner.shape.fits() {
                return Err(inner.setting("output size", &inner.shape));
            }
            site.shape = inner.shape;
        }
        Ok(Self(steps))
    }
}

impl Step for Chain {
    fn forward(&self, x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        self.0.iter().try_fold(x, |x, step| step.forward(x, run))
    }

    fn backward(&self, dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        self.0.iter().rev().fold(dy, |dy, step| step.backward(dy, back))
    }
}

/// Computes `x + f(x)`.
#[derive(Debug)]
pub(super) struct Residual(Chain);

impl Residual {
    pub(super) fn build(layers: &[Layer], site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        let wanted = site.shape.clone();
        let chain = Chain::build(layers, site)?;
        if site.shape != wanted {
            let (layer, found) = (site.path().to_owned(), site.shape.clone());
            return Err(NetworkError::Branch { layer, wanted, found });
        }
        Ok(Box::new(Self(chain)))
    }
}

fn add(sum: &mut InputBatch, more: &InputBatch) {
    sum.values_mut().iter_mut().zip(more.values()).for_each(|(sum, more)| *sum += more);
}

impl Step for Residual {
    fn forward(&self, mut x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let branch = self.0.forward(x.clone(), run)?;
        add(&mut x, &branch);
        Ok(x)
    }

    fn backward(&self, mut dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let branch = self.0.backward(dy.clone(), back);
        add(&mut dy, &branch);
        dy
    }
}

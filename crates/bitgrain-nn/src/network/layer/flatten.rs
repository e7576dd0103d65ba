//! `Flatten`: merges all dimensions of a sample into one.

use crate::network::site::Site;
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError, Shape};

pub(super) fn build(site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
    let dims = site.shape.fixed().ok_or_else(|| site.shape_error("samples of fixed size"))?;
    site.shape = Shape::new(&[dims.iter().product()]);
    Ok(Box::new(Flatten { dims }))
}

/// Changes only the shape; the values stay in place.
#[derive(Debug)]
struct Flatten {
    dims: Vec<usize>,
}

impl Step for Flatten {
    fn forward(&self, x: InputBatch, _: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let flat = vec![x.sample_len()];
        Ok(x.with(x.values().to_vec(), flat))
    }

    fn backward(&self, dy: InputBatch, _: &mut Back<'_>) -> InputBatch {
        dy.with(dy.values().to_vec(), self.dims.clone())
    }
}

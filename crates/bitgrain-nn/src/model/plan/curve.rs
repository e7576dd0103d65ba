//! Trade-off between size and error: the lower convex hull of all choices.
//!
//! The offers on a tensor's own hull form steps, each saving less error per byte than the one before. Taking the steps
//! of all tensors in the order of their savings passes only through optimal points: no other choice of offers with as
//! many bytes has less error.

use super::{Choices, Offer};

/// Sums over all tensors at a point of the trade-off.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Total {
    pub(super) bytes: u64,
    pub(super) error: f64,
    pub(super) squares: f64,
}

impl Total {
    fn with(self, offer: Offer) -> Self {
        let Offer { bytes, error, squares, .. } = offer;
        Self { bytes: self.bytes + bytes, error: self.error + error, squares: self.squares + squares }
    }

    fn without(self, offer: Offer) -> Self {
        let Offer { bytes, error, squares, .. } = offer;
        Self { bytes: self.bytes - bytes, error: self.error - error, squares: self.squares - squares }
    }
}

/// Returns the points along the hull, in order of increasing size.
pub(super) fn curve(tensors: &[Choices<'_>]) -> impl Iterator<Item = Total> {
    let hulls: Vec<Vec<Offer>> = tensors.iter().map(|tensor| hull(&tensor.offers)).collect();
    let start = hulls.iter().fold(Total::default(), |total, hull| total.with(hull[0]));
    let mut steps: Vec<(Offer, Offer)> =
        hulls.iter().flat_map(|hull| hull.windows(2).map(|pair| (pair[0], pair[1]))).collect();
    steps.sort_by(|a, b| steepness(b.0, b.1).total_cmp(&steepness(a.0, a.1)));
    let mut at = start;
    let walk = steps.into_iter().map(move |(from, to)| {
        at = at.with(to).without(from);
        at
    });
    std::iter::once(start).chain(walk)
}

/// Returns the offers on the lower convex hull of `offers`, which must be sorted by size.
fn hull(offers: &[Offer]) -> Vec<Offer> {
    let mut hull: Vec<Offer> = Vec::new();
    for &offer in offers {
        while let [.., before, last] = hull[..]
            && steepness(before, offer) >= steepness(before, last)
        {
            hull.pop();
        }
        hull.push(offer);
    }
    hull
}

/// Returns the error saved per byte when moving to a larger offer.
#[expect(clippy::cast_precision_loss, reason = "a slope for comparison")]
fn steepness(from: Offer, to: Offer) -> f64 {
    (from.error - to.error) / (to.bytes - from.bytes).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::tensors;
    use super::*;

    #[test]
    fn a_hull_excludes_points_above_the_line() {
        let offers = &tensors(&[&[(4, 9.0), (6, 8.0), (8, 1.0), (16, 0.0)]])[0].offers;
        assert_eq!(hull(offers).iter().map(|o| o.bytes).collect::<Vec<_>>(), [4, 8, 16]);
    }

    #[test]
    fn steps_of_all_tensors_are_ordered_by_saved_error() {
        let tensors = tensors(&[&[(10, 9.0), (20, 4.0), (30, 3.0)], &[(10, 9.0), (20, 6.0)]]);
        let found: Vec<_> = curve(&tensors).map(|total| (total.bytes, total.error)).collect();
        assert_eq!(found, [(20, 18.0), (30, 13.0), (40, 10.0), (50, 9.0)]);
    }
}

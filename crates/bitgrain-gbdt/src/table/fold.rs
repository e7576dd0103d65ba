//! Split of rows into training and validation rows.

use crate::Groups;
use crate::random::mixed;

/// Training and validation rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Training rows, ascending.
    pub train: Vec<usize>,
    /// Validation rows, ascending.
    pub valid: Vec<usize>,
}

impl Fold {
    /// Holds out a random share of the rows; with classes, the same share of each.
    ///
    /// ```
    /// use bitgrain_gbdt::table::Fold;
    /// let classes = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    /// let fold = Fold::hold_out(8, Some(&classes), 0.25, 7);
    /// assert_eq!((fold.train.len(), fold.valid.len()), (6, 2));
    /// assert!(fold.valid[0] < 4 && fold.valid[1] >= 4); // one of each class
    /// ```
    #[must_use]
    pub fn hold_out(n_rows: usize, classes: Option<&[f32]>, share: f64, seed: u64) -> Self {
        let mut held = vec![false; n_rows];
        let rows = shuffled(n_rows, classes, seed);
        let mut start = 0;
        while start < rows.len() {
            let same = |row: &&usize| class(classes, **row) == class(classes, rows[start]);
            let end = start + rows[start..].iter().take_while(same).count();
            rows[start..start + part_of(end - start, share)].iter().for_each(|row| held[*row] = true);
            start = end;
        }
        Self::by(&held)
    }

    /// Holds out a random share of the queries with all of their rows.
    #[must_use]
    pub fn hold_out_groups(groups: &Groups, share: f64, seed: u64) -> Self {
        let mut held = vec![false; groups.n_rows()];
        let order = shuffled(groups.len(), None, seed);
        order[..part_of(groups.len(), share)].iter().for_each(|group| held[groups.range(*group)].fill(true));
        Self::by(&held)
    }

    fn by(held: &[bool]) -> Self {
        let (valid, train) = (0..held.len()).partition(|row| held[*row]);
        Self { train, valid }
    }
}

/// Returns all rows, grouped by class, in random order within each class.
fn shuffled(n_rows: usize, classes: Option<&[f32]>, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n_rows).collect();
    rows.sort_by_cached_key(|row| (class(classes, *row), mixed(seed.wrapping_add(mixed(*row as u64)))));
    rows
}

/// Returns a sort key that differs between classes.
fn class(classes: Option<&[f32]>, row: usize) -> u32 {
    classes.and_then(|classes| classes.get(row)).map_or(0, |class| class.to_bits())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the rows fits usize")]
#[expect(clippy::cast_precision_loss, reason = "a rounding error of one row does not matter")]
fn part_of(count: usize, share: f64) -> usize {
    ((count as f64 * share.clamp(0.0, 1.0)).round() as usize).min(count)
}

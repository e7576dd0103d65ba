//! `Groups`: the scale of each weight.

/// Rule that assigns a scale to each weight of a matrix with `cols` columns.
#[derive(Debug, Clone)]
pub(super) enum Groups {
    /// Blocks of `rows` rows and `cols` columns; scales row by row.
    Blocks { rows: usize, cols: usize },
    /// The group of each column, with `count` groups per row.
    Columns { of: Vec<u32>, count: usize },
    /// Runs of this many weights of the flattened matrix.
    Flat(usize),
    /// The index in the flattened matrix modulo this number.
    Modulo(usize),
}

impl Groups {
    /// Returns the number of scales of a matrix.
    pub(super) fn count(&self, rows: usize, cols: usize) -> usize {
        match self {
            Self::Blocks { rows: height, cols: width } => rows.div_ceil(*height) * cols.div_ceil(*width),
            Self::Columns { count, .. } => rows * count,
            Self::Flat(len) => (rows * cols).div_ceil(*len),
            Self::Modulo(count) => *count,
        }
    }

    /// Calls `apply` for runs of weights of one row that share a scale.
    #[inline]
    pub(super) fn for_each(&self, row: usize, values: &mut [f32], mut apply: impl FnMut(usize, &mut [f32])) {
        let cols = values.len();
        match self {
            Self::Blocks { rows, cols: width } => {
                let first = row / rows * cols.div_ceil(*width);
                values.chunks_mut(*width).enumerate().for_each(|(i, run)| apply(first + i, run));
            }
            Self::Columns { of, count } => {
                let first = row * count;
                values.chunks_mut(1).zip(of).for_each(|(value, group)| apply(first + *group as usize, value));
            }
            Self::Flat(len) => {
                let (mut at, mut rest) = (row * cols, values);
                while !rest.is_empty() {
                    let (run, after) = rest.split_at_mut((len - at % len).min(rest.len()));
                    apply(at / len, run);
                    (at, rest) = (at + run.len(), after);
                }
            }
            Self::Modulo(count) => {
                values.chunks_mut(1).enumerate().for_each(|(i, value)| apply((row * cols + i) % count, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(groups: &Groups, row: usize, cols: usize) -> Vec<f32> {
        let mut values = vec![-1.0; cols];
        groups.for_each(row, &mut values, |index, run| run.fill(u8::try_from(index).map_or(f32::NAN, f32::from)));
        values
    }

    #[test]
    fn every_weight_has_the_scale_of_its_group() {
        let blocks = Groups::Blocks { rows: 2, cols: 3 };
        assert_eq!(indices(&blocks, 3, 4), [2.0, 2.0, 2.0, 3.0]);
        assert_eq!(blocks.count(4, 4), 4);
        let columns = Groups::Columns { of: vec![1, 0, 1], count: 2 };
        assert_eq!(indices(&columns, 1, 3), [3.0, 2.0, 3.0]);
        assert_eq!(indices(&Groups::Flat(5), 1, 4), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(Groups::Flat(5).count(2, 4), 2);
        assert_eq!(indices(&Groups::Modulo(3), 1, 4), [1.0, 2.0, 0.0, 1.0]);
    }
}

//! Tree evaluation compared with following one row at a time: every backend, every code, every number of leaves.

use bitgrain_kernels::trees::{
    CodeColumns, Operand, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep, TreeSteps, add_leaf_values, symmetric_leaves,
    tree_leaves, two_tree_leaves,
};
use bitgrain_kernels::{Backend, KernelError};

use crate::{Bits, lengths};

const COLUMNS: usize = 5;

/// Arguments of a choice, which the kernel does not expose.
#[derive(Clone, Copy)]
enum From {
    Leaf(u8),
    Result(usize),
}

impl From {
    /// Returns a leaf or one of the results that exist.
    fn random(random: &mut Bits, written: &[u8]) -> Self {
        match random.next() % 3 {
            0 if !written.is_empty() => Self::Result(written[random.next() as usize % written.len()].into()),
            _ => Self::Leaf(random.next() as u8),
        }
    }

    fn choice(self) -> Operand {
        match self {
            Self::Leaf(leaf) => Operand::leaf(leaf),
            Self::Result(place) => Operand::result(place as u8),
        }
    }
}

fn random_codes(random: &mut Bits, stride: usize) -> Vec<u8> {
    // Extremes in one of four: codes for which signed and unsigned comparisons differ.
    let mut code = || {
        if random.next().is_multiple_of(4) {
            [0, 127, 128, 255][random.next() as usize % 4]
        } else {
            random.next() as u8
        }
    };
    (0..COLUMNS * stride).map(|_| code()).collect()
}

#[test]
fn steps_agree_with_walking_each_row() {
    let mut random = Bits(5);
    let sizes = [(0, 1), (1, 0), (1, 1), (2, 2), (62, 3), (62, 4), (300, 5), (20, 11)];
    for (n_steps, n_rows) in sizes.map(|(steps, groups)| (steps, groups * TREE_ROWS)) {
        for stride in [n_rows, n_rows + 13] {
            let codes = random_codes(&mut random, stride);
            let mut written = Vec::new();
            let mut froms = Vec::new();
            let mut steps = Vec::new();
            for _ in 0..n_steps {
                let (left, right) = (From::random(&mut random, &written), From::random(&mut random, &written));
                let out = (random.next() % TREE_RESULTS as u64) as u8;
                froms.push((left, right));
                written.push(out);
                steps.push(TreeStep {
                    column: (random.next() % COLUMNS as u64) as u32,
                    at_most: random.next() as u8,
                    out,
                    left: left.choice(),
                    right: right.choice(),
                });
            }
            let one_row = |row: usize| {
                let mut results = [0_u8; TREE_RESULTS];
                for (step, &(left, right)) in steps.iter().zip(&froms) {
                    let goes_left = codes[step.column as usize * stride + row] <= step.at_most;
                    results[usize::from(step.out)] = match if goes_left { left } else { right } {
                        From::Leaf(leaf) => leaf,
                        From::Result(place) => results[place],
                    };
                }
                steps.last().map_or(0, |step| results[usize::from(step.out)])
            };
            let want: Vec<u8> = (0..n_rows).map(one_row).collect();
            let two: Vec<TreeStep> = steps.iter().copied().take(n_steps / 2).collect();
            let short = TreeSteps::new(&two[..]).expect("every slot is written first");
            let mut want_short = vec![0; n_rows];
            tree_leaves(Backend::scalar(), &short, CodeColumns::new(&codes, stride), &mut want_short).expect("room");
            let steps = TreeSteps::new(&steps[..]).expect("every slot is written first");
            for &backend in Backend::available() {
                let mut got = vec![77; n_rows];
                assert_eq!(tree_leaves(backend, &steps, CodeColumns::new(&codes, stride), &mut got), Ok(()));
                assert!(got == want, "{backend}: {n_steps} steps, {n_rows} rows");
                // Beside a tree of another length, on either side.
                let (mut got, mut other) = (vec![77; n_rows], vec![77; n_rows]);
                let columns = CodeColumns::new(&codes, stride);
                assert_eq!(two_tree_leaves(backend, [&steps, &short], columns, [&mut got, &mut other]), Ok(()));
                assert!(got == want && other == want_short, "{backend}: {n_steps} steps and {}", two.len());
                let (mut got, mut other) = (vec![77; n_rows], vec![77; n_rows]);
                assert_eq!(two_tree_leaves(backend, [&short, &steps], columns, [&mut other, &mut got]), Ok(()));
                assert!(got == want && other == want_short, "{backend}: {} steps and {n_steps}", two.len());
            }
        }
    }
}

#[test]
fn levels_add_their_weight_where_the_code_is_above() {
    let mut random = Bits(6);
    for n_levels in 0..12 {
        let n_rows = 5 * TREE_ROWS;
        let stride = n_rows + 5;
        let codes = random_codes(&mut random, stride);
        let levels: Vec<TreeLevel> = (0..n_levels)
            .map(|_| TreeLevel {
                column: (random.next() % COLUMNS as u64) as u32,
                at_most: [0, 127, 128, 254, random.next() as u8][random.next() as usize % 5],
                weight: random.next() as u8,
            })
            .collect();
        let leaf = |row: usize| {
            let above = levels.iter().filter(|level| codes[level.column as usize * stride + row] > level.at_most);
            above.fold(0_u8, |leaf, level| leaf.wrapping_add(level.weight))
        };
        let want: Vec<u8> = (0..n_rows).map(leaf).collect();
        for &backend in Backend::available() {
            let mut got = vec![77; n_rows];
            assert_eq!(symmetric_leaves(backend, &levels, CodeColumns::new(&codes, stride), &mut got), Ok(()));
            assert!(got == want, "{backend}: {n_levels} levels");
        }
    }
}

#[test]
fn values_of_leaves_are_added_to_their_rows() {
    let mut random = Bits(7);
    for n_values in [0, 1, 2, 8, 31, 63, 64, 65, 128, 255, 256] {
        // Any bits except those of NaN, whose payload a sum may change.
        let mut number = || Some(f64::from_bits(random.next())).filter(|value| !value.is_nan()).unwrap_or(0.1);
        let values: Vec<f64> = (0..n_values).map(|_| number()).collect();
        for len in lengths() {
            // Some leaves without a value.
            let leaves: Vec<u8> = match len % 3 {
                0 => random.bytes(len),
                _ => random.bytes(len).iter().map(|leaf| leaf % n_values.clamp(1, 255) as u8).collect(),
            };
            let begin: Vec<f64> = (0..len + 3).map(|row| row as f64 * 0.1 - 1e-3).collect();
            let added = |(row, sum): (usize, &f64)| match leaves.get(row) {
                Some(&leaf) => (sum + values.get(usize::from(leaf)).unwrap_or(&0.0)).to_bits(),
                None => sum.to_bits(),
            };
            let want: Vec<u64> = begin.iter().enumerate().map(added).collect();
            for &backend in Backend::available() {
                let mut sums = begin.clone();
                assert_eq!(add_leaf_values(backend, &values, &leaves, &mut sums), Ok(()));
                let got: Vec<u64> = sums.iter().map(|sum| sum.to_bits()).collect();
                assert!(got == want, "{backend}: {n_values} values, {len} rows");
            }
        }
    }
}

#[test]
fn nonexistent_columns_and_indices_are_rejected() {
    let codes = vec![0; 3 * TREE_ROWS];
    let step = |column, out, left| TreeStep { column, at_most: 3, out, left, right: Operand::leaf(0) };
    let level = |column| TreeLevel { column, at_most: 3, weight: 1 };
    for &backend in Backend::available() {
        let columns = CodeColumns::new(&codes, TREE_ROWS);
        let mut out = vec![0; 2 * TREE_ROWS];
        let ragged = Err(KernelError::RaggedBlocks { len: TREE_ROWS - 1, block: TREE_ROWS });
        let none = TreeSteps::new([]).expect("no steps");
        assert_eq!(tree_leaves(backend, &none, columns, &mut out[1..TREE_ROWS]), ragged);
        let small = |required| Err(KernelError::InputTooSmall { required });
        let one = Operand::leaf(1);
        let last = TreeSteps::new([step(2, 0, one)]).expect("a step");
        assert_eq!(tree_leaves(backend, &last, columns, &mut out[..TREE_ROWS]), Ok(()));
        assert_eq!(tree_leaves(backend, &last, columns, &mut out), small(4 * TREE_ROWS));
        assert_eq!(symmetric_leaves(backend, &[level(3)], columns, &mut out[..TREE_ROWS]), small(4 * TREE_ROWS));
        let far = (u32::MAX as usize).saturating_mul(TREE_ROWS).saturating_add(TREE_ROWS);
        assert_eq!(symmetric_leaves(backend, &[level(u32::MAX)], columns, &mut out[..TREE_ROWS]), small(far));
        let beyond = TREE_RESULTS as u8;
        for place in [beyond, 255, 1] {
            // Slot 1 exists, but no step has written it.
            let bad = TreeSteps::new([step(0, 0, one), step(0, 0, Operand::result(place))]);
            assert_eq!(bad.err(), Some(KernelError::UnknownSlot { step: 1, slots: TREE_RESULTS }));
        }
        let uneven = two_tree_leaves(backend, [&last, &last], columns, [&mut out[..TREE_ROWS], &mut []]);
        assert_eq!(uneven, Err(KernelError::OutputTooSmall { required: TREE_ROWS }));
        let bad = TreeSteps::new([step(0, beyond, one)]);
        assert_eq!(bad.err(), Some(KernelError::UnknownSlot { step: 0, slots: TREE_RESULTS }));
        let short = Err(KernelError::OutputTooSmall { required: 5 });
        assert_eq!(add_leaf_values(backend, &[1.0], &[0; 5], &mut [0.0; 4]), short);
    }
}

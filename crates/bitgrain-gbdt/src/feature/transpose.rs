//! Transposition of row-major values to columns.

use std::ops::Range;

/// Rows transposed together: 16 f32 values fill a cache line of a column.
const LANES: usize = 16;

/// Writes `columns` of consecutive rows in column-major order. Row `r` of `values` starts at `r * stride`.
///
/// Works on a few rows at a time, which stay in L1 while their columns are written.
pub(super) fn transpose<T: Copy, U>(
    values: &[T],
    stride: usize,
    rows: Range<usize>,
    columns: impl Iterator<Item = usize> + Clone,
    out: &mut [U],
    convert: impl Fn(T) -> U,
) {
    let n_rows = rows.len();
    for done in (0..n_rows).step_by(LANES) {
        let filled = done..n_rows.min(done + LANES);
        let from = &values[(rows.start + done) * stride..(rows.start + filled.end) * stride];
        for (column, out) in columns.clone().zip(out.chunks_exact_mut(n_rows)) {
            let (from, out) = (&from[column..], &mut out[filled.clone()]);
            match <&mut [U; LANES]>::try_from(&mut *out) {
                // The constant length lets the compiler unroll the loop.
                Ok(out) => *out = std::array::from_fn(|row| convert(from[row * stride])),
                Err(_) => out.iter_mut().enumerate().for_each(|(row, out)| *out = convert(from[row * stride])),
            }
        }
    }
}

/// Like [`transpose`], for rows that are not consecutive.
pub(super) fn transpose_some<T: Copy, U>(
    values: &[T],
    stride: usize,
    rows: &[usize],
    columns: impl Iterator<Item = usize> + Clone,
    out: &mut [U],
    convert: impl Fn(T) -> U,
) {
    for (at, lanes) in rows.chunks(LANES).enumerate() {
        for (column, out) in columns.clone().zip(out.chunks_exact_mut(rows.len())) {
            let out = out[at * LANES..].iter_mut();
            out.zip(lanes).for_each(|(out, &row)| *out = convert(values[row * stride + column]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_any_number_of_rows_are_found() {
        let values: Vec<usize> = (0..100 * 7).collect();
        for n_rows in [0, 1, 15, 16, 17, 33] {
            let (mut all, mut some) = (vec![0; n_rows * 3], vec![0; n_rows * 3]);
            let columns = [6, 0, 2].into_iter();
            let rows: Vec<usize> = (0..n_rows).map(|row| row * 3).collect();
            transpose(&values, 7, 5..5 + n_rows, columns.clone(), &mut all, |v| v + 1);
            transpose_some(&values, 7, &rows, columns.clone(), &mut some, |v| v + 1);
            let at = |column, row: usize| row * 7 + column + 1;
            let want = columns.clone().flat_map(|column| (5..5 + n_rows).map(move |row| at(column, row)));
            assert_eq!(all, want.collect::<Vec<_>>(), "{n_rows} rows");
            let want = columns.flat_map(|column| rows.iter().map(move |&row| at(column, row)));
            assert_eq!(some, want.collect::<Vec<_>>(), "{n_rows} rows");
        }
    }
}

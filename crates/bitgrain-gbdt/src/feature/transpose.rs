//! Some columns of a matrix that lies row after row, as plain arrays.

/// Rows taken together: what they give to a column is a cache line of f32.
const LANES: usize = 16;

/// Writes `columns` of `rows` one column after another. Row `r` of `values` begins at `r * stride`.
///
/// A few rows at a time, which stay in the nearest cache while their columns are written.
pub(super) fn transpose<T: Copy, U>(
    values: &[T],
    stride: usize,
    rows: impl ExactSizeIterator<Item = usize>,
    columns: impl Iterator<Item = usize> + Clone,
    out: &mut [U],
    convert: impl Fn(T) -> U,
) {
    let n_rows = rows.len();
    let mut rows = rows.map(|row| &values[row * stride..][..stride]);
    for done in (0..n_rows).step_by(LANES) {
        let mut lanes = [&values[..0]; LANES];
        let filled = LANES.min(n_rows - done);
        lanes.iter_mut().zip(rows.by_ref().take(filled)).for_each(|(lane, row)| *lane = row);
        for (column, out) in columns.clone().zip(out.chunks_exact_mut(n_rows)) {
            let out = &mut out[done..done + filled];
            // With a constant length, the loop is unrolled.
            match <&mut [U; LANES]>::try_from(&mut *out) {
                Ok(out) => out.iter_mut().zip(&lanes).for_each(|(out, row)| *out = convert(row[column])),
                Err(_) => out.iter_mut().zip(&lanes).for_each(|(out, row)| *out = convert(row[column])),
            }
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
            let mut out = vec![0; n_rows * 3];
            transpose(&values, 7, (0..n_rows).map(|row| row * 3), [6, 0, 2].into_iter(), &mut out, |v| v + 1);
            let want = [6, 0, 2].into_iter().flat_map(|column| (0..n_rows).map(move |row| row * 21 + column + 1));
            assert_eq!(out, want.collect::<Vec<_>>(), "{n_rows} rows");
        }
    }
}

//! Any bytes as a binned table: a typed error, or data that trains.
//!
//! Input: a byte each for the rows per chunk (an exponent of 2), the rows, the bytes of a row, the row columns and the
//! queries; the length of the metadata (two bytes), the metadata, and the rest. The header, the checksums and missing
//! bytes at the end are filled in, so that the code after these checks is reached. Spec: `spec/bins.md`.

use bitgrain::formats::bins::{Header, Metadata};
use bitgrain::formats::crc32c;
use bitgrain::gbdt::table::BinnedTable;
use bitgrain::gbdt::{Params, Trainer};

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let _ = BinnedTable::from_bytes("input.bins".as_ref(), input);
    let [exponent, rows, row_bytes, columns, groups, low, high, rest @ ..] = input else { return };
    let len = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (content, mut rest) = rest.split_at(len);
    let mut metadata = content.to_vec();
    metadata.extend(crc32c(content).to_le_bytes());
    let n_rows = u64::from(*rows) + 1;
    let header = Header {
        n_rows,
        chunk_rows: 1 << (10 + exponent % 11),
        row_bytes: u32::from(*row_bytes),
        metadata_bytes: len as u64,
        column_bytes: 4 * (n_rows * u64::from(*columns) + u64::from(*groups)),
    };
    let Ok(parsed) = Metadata::parse(&metadata, &header) else { return };
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend(metadata);
    let mut take = |len: u64| {
        let len = usize::try_from(len).expect("below 2^20");
        let (taken, after) = rest.split_at(len.min(rest.len()));
        rest = after;
        let mut part = taken.to_vec();
        part.resize(len, 0);
        let sum = crc32c(&part);
        part.extend(sum.to_le_bytes());
        part
    };
    (0..header.n_chunks()).for_each(|chunk| bytes.extend(take(header.chunk_bytes(chunk))));
    bytes.extend(take(header.column_bytes));
    assert_eq!(parsed.to_bytes(), content, "what was read is written back unchanged");
    let Ok(table) = BinnedTable::from_bytes("input.bins".as_ref(), bytes) else { return };
    table.verify().expect("valid checksums");
    let Ok(objective) = table.objective() else { return };
    let params = || Params { n_estimators: 2, num_leaves: 4, min_child_samples: 1, ..Params::default() };
    let trained = |data: Result<_, _>| {
        let mut data = data.ok()?;
        Trainer::new(params(), bitgrain::gbdt::objective::by_name(&objective.name()).ok()?).train(&mut data).ok()
    };
    let (mapped, memory) = (trained(table.dataset_mapped(None)), trained(table.dataset()));
    assert_eq!(mapped.map(|training| training.model), memory.map(|training| training.model));
}

//! Input that cannot be binned, and limits that cannot be kept.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use bitgrain_gbdt::table::{
    BinOptions, BinProgress, BinnedTable, BinnedTableError, BlockColumn, Column, ColumnData, ColumnRoles, Table,
    TableBlocks, TableFiles,
};
use bitgrain_gbdt::train::TrainError;
use bitgrain_gbdt::{Quantizer, Trainer};

use crate::{Random, create, files, options, rows, small};

#[test]
fn files_with_other_columns_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |contents: &[&str]| {
        let write = |(at, content): (usize, &&str)| {
            let path = folder.path().join(format!("{at}.csv"));
            std::fs::write(&path, content).expect("space");
            path
        };
        let paths: Vec<PathBuf> = contents.iter().enumerate().map(write).collect();
        TableFiles::open(&paths, &BinOptions::read_options()).map(drop).map_err(|error| error.to_string())
    };
    assert!(open(&["a,b\n1,2\n", "a,c\n1,2\n"]).expect_err("another column").contains("column `b` is missing"));
    assert!(open(&["a,b\n1,2\n", "a,b,c\n1,2,3\n"]).expect_err("a third column").contains("3 columns instead of 2"));
    assert!(open(&[]).expect_err("no files").contains("no files"));
    open(&["a,b\n1,2\n", "b,a\nx,2\n"]).expect("columns in any order, strings in any file");
}

#[test]
fn a_limit_below_the_state_of_the_rows_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = rows(5000, 13);
    let options = options("y", None, &["kind", "w"]);
    let table = create(&folder.path().join("t.bins"), &files(folder.path(), &[&part]), &options, Quantizer::default());
    let table = table.expect("binned");
    let mut data = table.dataset_mapped(Some(1 << 20)).expect("undamaged");
    let error = Trainer::new(small(), table.objective().expect("known")).train(&mut data).expect_err("too small");
    assert!(matches!(error, TrainError::Memory { limit: 1_048_576, rows: 5000, .. }), "{error}");
}

/// A source whose rows differ from pass to pass.
struct Moody {
    columns: Vec<BlockColumn>,
    pass: usize,
    rows: fn(usize) -> usize,
    word: fn(usize) -> &'static str,
}

impl TableBlocks for Moody {
    fn columns(&self) -> &[BlockColumn] {
        &self.columns
    }

    fn read(
        &mut self,
        wanted: &[usize],
        visit: &mut dyn FnMut(Table) -> Result<(), BinnedTableError>,
    ) -> Result<(), BinnedTableError> {
        let rows = (self.rows)(self.pass);
        let word = (self.word)(self.pass);
        self.pass += 1;
        let numbers = |at: usize| ColumnData::F32((0..rows).map(|row| (row * (at + 3) % 17) as f32).collect());
        let words = || {
            let words = (0..rows).map(|row| Some(if row == 7 { word } else { "w" }));
            ColumnData::Strings(bitgrain_gbdt::table::StringColumn::new(words))
        };
        let data = |at: usize| if self.columns[at].strings { words() } else { numbers(at) };
        let column = |&at: &usize| Column { name: self.columns[at].name.clone(), data: data(at) };
        visit(Table::new(wanted.iter().map(column).collect())?)
    }
}

fn bin(rows: fn(usize) -> usize, word: fn(usize) -> &'static str, stop: bool) -> Result<(), String> {
    let column = |name: &str, strings| BlockColumn { name: name.to_owned(), strings };
    let columns = vec![column("a", false), column("s", true), column("y", false)];
    let folder = tempfile::tempdir().expect("a folder");
    let options = BinOptions::new(ColumnRoles::target("y"));
    let path = folder.path().join("t.bins");
    let mut source = Moody { columns, pass: 0, rows, word };
    let mut go = |_: &BinProgress| if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let result =
        BinnedTable::create(&path, &mut source, &options, &mut go).map(drop).map_err(|error| error.to_string());
    assert_eq!(path.exists(), result.is_ok());
    assert_eq!(folder.path().read_dir().expect("a folder").count(), usize::from(result.is_ok()), "no temporary file");
    result
}

#[test]
fn a_source_must_give_the_same_rows_each_time() {
    bin(|_| 100, |_| "v", false).expect("the same rows");
    assert!(bin(|pass| 100 + pass, |_| "v", false).expect_err("more rows").contains("101 rows in a later pass"));
    assert!(bin(|pass| 100 - pass / 2, |_| "v", false).expect_err("fewer rows").contains("99 rows"));
    let new = bin(|_| 100, |pass| if pass == 2 { "new" } else { "v" }, false).expect_err("another string");
    assert!(new.contains("new string `new`"), "{new}");
    assert!(bin(|_| 100, |_| "v", true).expect_err("stopped").contains("interrupted"));
    assert!(bin(|_| 0, |_| "v", false).expect_err("no rows").contains("empty"));
}

#[test]
fn sparse_tables_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<String> = (0..120).map(|at| format!("c{at}")).collect();
    let mut csv = format!("{},y\n", names.join(","));
    let mut random = Random(77);
    for row in 0..2000 {
        // One of twenty cells has one of thirty values: too many for a bit, and not exclusive.
        let mut cell = || if random.below(20) == 0 { 1 + random.below(30) } else { 0 }.to_string();
        let cells: Vec<String> = (0..120).map(|_| cell()).collect();
        writeln!(csv, "{},{}", cells.join(","), row % 7).expect("a string");
    }
    let path = folder.path().join("sparse.csv");
    std::fs::write(&path, csv).expect("space");
    let error = create(&folder.path().join("t.bins"), &[path], &options("y", None, &[]), Quantizer::default());
    assert!(matches!(error, Err(BinnedTableError::SparseFeatures { .. })), "{error:?}");
}

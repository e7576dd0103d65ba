//! Appending rows.

use std::ops::ControlFlow;

use bitgrain_gbdt::Quantizer;
use bitgrain_gbdt::table::{BinnedTable, TableFiles};

use crate::{HEADER, create, files, in_memory, options, rows, small, train};

#[test]
fn appended_rows_are_those_of_one_table_with_the_same_cuts() {
    // Three appends: within a chunk, to its end, and beyond.
    let all = rows(70_000, 11);
    let ends: Vec<usize> = all.match_indices('\n').map(|(at, _)| at + 1).collect();
    let slice = |from: usize, to: usize| &all[if from == 0 { 0 } else { ends[from - 1] }..ends[to - 1]];
    let folder = tempfile::tempdir().expect("a folder");
    let options = options("y", None, &["kind", "w", "b", "city"]);
    let path = folder.path().join("t.bins");
    let parts = [slice(0, 30_000), slice(30_000, 40_000), slice(40_000, 65_536), slice(65_536, 70_000)];
    let paths = files(folder.path(), &parts);
    let mut table = create(&path, &paths[..1], &options, Quantizer::default()).expect("binned");
    for part in &paths[1..] {
        let mut files = TableFiles::open(std::slice::from_ref(part), &options.0).expect("readable");
        table = table.append(&mut files, &options.1, &mut |_| ControlFlow::Continue(())).expect("appended");
    }
    assert_eq!(BinnedTable::open(&path).expect("written").n_rows(), 70_000);
    table.verify().expect("undamaged");
    // In memory: all rows with the cuts of the first part.
    let (first, objective) = in_memory(&format!("{HEADER}\n{}", parts[0]), &options, &Quantizer::default());
    let whole = bitgrain_gbdt::Table::from_csv(format!("{HEADER}\n{all}").as_bytes(), "all.csv".as_ref(), &options.0);
    let whole = whole.and_then(|table| table.into_training(&options.1, None)).expect("a table");
    let mut like = whole.dataset_like(&first, None).expect("the same features");
    let wanted = train(&small(), objective, &mut like).model;
    let mut data = table.dataset_mapped(None).expect("undamaged");
    assert!(train(&small(), table.objective().expect("known"), &mut data).model == wanted);
}

#[test]
fn rows_that_do_not_match_leave_the_file_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, part) = (folder.path().join("t.bins"), rows(500, 12));
    let weighted = options("kind", Some("w"), &["y"]);
    let paths = files(folder.path(), &[&part]);
    let table = create(&path, &paths, &weighted, Quantizer::default()).expect("binned");
    let before = std::fs::read(&path).expect("written");
    let append = |csv: &str, (read, roles): &(_, _)| {
        let file = folder.path().join("more.csv");
        std::fs::write(&file, csv).expect("space");
        let mut files = TableFiles::open(&[file], read).expect("readable");
        table.append(&mut files, roles, &mut |_| ControlFlow::Continue(())).expect_err("a mismatch").to_string()
    };
    let one = |city: &str, kind: &str| format!("{HEADER}\n1,2,{city},1,2,3,4.5,1,{kind}\n");
    assert!(append(&one("city 1", "low"), &options("kind", None, &["y", "w"])).contains("weights"));
    assert!(append(&one("city 1", "unheard"), &weighted).contains("unheard"));
    assert!(append(&one("7", "low"), &weighted).contains("column `city` holds numbers"));
    assert!(append("a,y\n1,2\n", &weighted).contains("missing column"));
    assert_eq!(std::fs::read(&path).expect("there"), before);
}

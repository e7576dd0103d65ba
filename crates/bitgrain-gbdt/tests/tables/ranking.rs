//! Queries of CSV and libsvm files.

use bitgrain_gbdt::table::{ColumnRoles, Fold, ReadOptions, Table, TableError};
use bitgrain_gbdt::{Groups, TrainingTable};

fn csv(text: &str, roles: &ColumnRoles) -> Result<TrainingTable, TableError> {
    let options = ReadOptions { text: roles.group.iter().cloned().collect(), ..ReadOptions::default() };
    Table::from_csv(text.as_bytes(), "a.csv".as_ref(), &options)?.into_training(roles, None)
}

fn libsvm(text: &str, objective: Option<&str>) -> Result<TrainingTable, TableError> {
    let options = ReadOptions::default();
    let roles = ColumnRoles { objective: objective.map(str::to_owned), ..ColumnRoles::default() };
    Table::from_bytes(text.as_bytes(), "a.libsvm".as_ref(), &options)?.into_training(&roles, None)
}

fn roles() -> ColumnRoles {
    ColumnRoles { group: Some("query".into()), ..ColumnRoles::target("y") }
}

fn sizes(table: &TrainingTable) -> Vec<usize> {
    table.groups().expect("queries").ranges().map(|rows| rows.len()).collect()
}

#[test]
fn a_column_of_numbers_or_strings_names_the_queries() {
    let table = csv("query,x,y\n7,1,0\n7,2,1\n3,1,2\n", &roles()).expect("valid");
    assert_eq!((sizes(&table), table.objective_name()), (vec![2, 1], "lambdarank"));
    assert_eq!(table.matrix().schema().names(), ["x"], "the query is not a feature");
    assert_eq!(table.reason(), Some("`query` holds queries"));
    assert_eq!(sizes(&csv("query,x,y\na,1,0\nb,2,1\nb,1,2\n", &roles()).expect("valid")), [1, 2]);
    // Larger than f64 represents.
    let large = "query,x,y\n9007199254740993,1,0\n9007199254740992,2,1\n";
    assert_eq!(sizes(&csv(large, &roles()).expect("valid")), [1, 1]);
}

#[test]
fn queries_of_libsvm_files_are_used_and_may_be_unusable_for_other_objectives() {
    let text = "0 qid:18446744073709551615 1:1\n1 qid:18446744073709551614 1:2\n2 qid:5 1:3\n2 qid:5 2:1\n";
    assert_eq!(sizes(&libsvm(text, Some("lambdarank")).expect("valid")), [1, 1, 2]);
    let apart = "0 qid:1 1:1\n1 qid:2 1:2\n1 qid:1 1:3\n";
    let said = libsvm(apart, Some("lambdarank")).expect_err("divided").to_string();
    assert!(said.starts_with("column `qid`: rows of query `1` are not adjacent: row 2 (0-based)"), "{said}");
    assert!(libsvm(apart, Some("squared")).expect("not needed").groups().is_none());
    assert_eq!(libsvm(text, None).expect("classes").objective_name(), "multiclass:3");
}

#[test]
fn unusable_columns_are_named() {
    let said = |text: &str, roles: &ColumnRoles| csv(text, roles).expect_err("unusable").to_string();
    assert!(said("query,x,y\n7,1,0\n3,1,0\n7,1,0\n", &roles()).starts_with("column `query`: rows of query `7`"));
    assert!(said("query,x,y\n7,1,0\n,1,0\n", &roles()).contains("missing query in row 1 (0-based)"));
    assert!(said("q,x,y\n7,1,0\n", &roles()).contains("query"));
    let roles = ColumnRoles { position: Some("p".into()), ..roles() };
    assert!(said("query,p,x,y\n7,0.5,1,0\n", &roles).starts_with("column `p`: position 0.5 of row 0 (0-based)"));
    assert!(said("query,p,x,y\n7,-1,1,0\n", &roles).starts_with("column `p`: position -1"));
    assert_eq!(csv("query,p,x,y\n7,2,1,0\n", &roles).expect("valid").matrix().schema().names(), ["x"]);
}

#[test]
fn whole_queries_are_held_out() {
    let groups = Groups::from_sizes(&[3, 1, 5, 2, 4], 15).expect("valid");
    let fold = Fold::hold_out_groups(&groups, 0.4, 1);
    assert_eq!(fold.train.len() + fold.valid.len(), 15);
    let held = |row: usize| fold.valid.contains(&row);
    assert_eq!(groups.ranges().filter(|rows| held(rows.start)).count(), 2);
    assert!(groups.ranges().all(|rows| rows.clone().all(|row| held(row) == held(rows.start))));
}

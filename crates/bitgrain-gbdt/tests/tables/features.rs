//! Conversion of tables to targets, tasks and features, for training and prediction.

use std::sync::Arc;

use bitgrain_gbdt::feature::Schema;
use bitgrain_gbdt::table::{Column, ColumnData, ReadOptions, StringColumn, Table, TableError, Target, Task, weights};

use super::{from_text, message};

fn column(data: ColumnData) -> Column {
    Column { name: "y".to_owned(), data }
}

/// A feature: name, and category labels if it is categorical.
type Part<'a> = (&'a str, Option<&'a [&'a str]>);

fn schema(parts: &[Part<'_>]) -> Arc<Schema> {
    let names = parts.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut schema = Schema::new(names).expect("unique names");
    for (feature, (_, labels)) in parts.iter().enumerate() {
        if let Some(labels) = labels {
            let labels = labels.iter().map(|label| (*label).to_owned()).collect();
            schema = schema.with_labels(feature, labels).expect("a feature");
        }
    }
    Arc::new(schema)
}

/// Returns all values of a matrix, row-major.
fn rows(table: Table, schema: &Arc<Schema>) -> Vec<Vec<String>> {
    let matrix = table.align(schema).expect("aligned");
    let text = |value: f32| if value.is_nan() { "-".to_owned() } else { value.to_string() };
    (0..matrix.n_rows()).map(|row| matrix.row(row).into_iter().map(text).collect()).collect()
}

#[test]
fn tasks_are_inferred_from_targets() {
    let task = |data| Task::infer(&column(data)).task;
    assert_eq!(task(ColumnData::F32(vec![0.0, 1.0, -0.0, f32::NAN])), Task::Binary);
    assert_eq!(task(ColumnData::F32(vec![-1.0, 1.0])), Task::Binary);
    assert_eq!(task(ColumnData::F32(vec![1.0, 2.0, 3.0])), Task::Multiclass { classes: 3 });
    assert_eq!(task(ColumnData::F32(vec![0.5, 1.0])), Task::Regression);
    assert_eq!(task(ColumnData::F64((0..11).map(f64::from).collect())), Task::Regression);
    assert_eq!(task(ColumnData::F64((0..10).map(f64::from).collect())), Task::Multiclass { classes: 10 });
    assert_eq!(
        task(ColumnData::Strings(StringColumn::new(["b", "a", "c"].map(Some)))),
        Task::Multiclass { classes: 3 }
    );
    let many: Vec<String> = (0..50).map(|class| class.to_string()).collect();
    let many = StringColumn::new(many.iter().map(|class| Some(class.as_str())));
    let inferred = Task::infer(&column(ColumnData::Strings(many)));
    assert_eq!(
        (inferred.task, &inferred.reason[..]),
        (Task::Multiclass { classes: 50 }, "`y` holds 50 distinct strings")
    );
}

#[test]
fn classes_are_numbered_in_order_and_keep_their_labels() {
    let target = Target::classes(&column(ColumnData::F32(vec![10.0, -1.0, 2.5, 10.0]))).expect("classes");
    assert_eq!(target.values, [2.0, 0.0, 1.0, 2.0]);
    assert_eq!(target.labels, ["-1", "2.5", "10"]);
    let other = column(ColumnData::Strings(StringColumn::new(["2.5", "10"].map(Some))));
    assert_eq!(Target::classes_like(&other, &target.labels).expect("known").values, [1.0, 2.0]);
    let unknown = column(ColumnData::F64(vec![2.5, 11.0]));
    assert_eq!(
        message(Target::classes_like(&unknown, &target.labels)),
        "column `y`: unknown class `11` in row 1 (0-based); the training data has 3 classes"
    );
}

#[test]
fn targets_and_weights_that_cannot_be_used_name_their_row() {
    let missing = column(ColumnData::F32(vec![1.0, 0.0, f32::NAN]));
    for result in [Target::classes(&missing), Target::numbers(&missing)] {
        assert!(message(result).starts_with("column `y`: target NaN of row 2 (0-based) is missing"));
    }
    let large = column(ColumnData::F64(vec![0.0, 1e300]));
    assert!(message(Target::numbers(&large)).starts_with("column `y`: target 1e300 of row 1 (0-based)"));
    let strings = column(ColumnData::Strings(StringColumn::new(["a", "b"].map(Some))));
    assert_eq!(message(Target::numbers(&strings)), "column `y` holds strings, such as `a`; expected numbers");
    let one = column(ColumnData::F32(vec![3.0, 3.0]));
    assert!(message(Target::classes(&one)).contains("only one class, `3`"));
    let negative = message(weights(&column(ColumnData::F32(vec![1.0, -1.0]))));
    assert!(negative.starts_with("column `y`: sample weight -1 of row 1 (0-based) is invalid"), "{negative}");
}

#[test]
fn strings_and_declared_integers_become_categories() {
    let mut table = from_text("n,city,kind,y\n1.5,Rome,3,1\n,Oslo,0,0\n2,,3,1\n").expect("a table");
    table.take("y").expect("the target");
    let matrix = table.into_matrix(&["kind".to_owned()]).expect("a matrix");
    assert_eq!(matrix.schema().categorical().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(matrix.features().expect("features").names(), ["n", "city", "kind"]);
    assert_eq!(matrix.bytes(), 3 * 3 * 4, "f32 holds all of them");
    assert_eq!((matrix.row(0), matrix.row(1)[1]), (vec![1.5, 1.0, 3.0], 0.0));
    let chosen = matrix.select(&[2, 1, 2]);
    assert_eq!((chosen.n_rows(), chosen.row(0)[2], chosen.row(1)[1]), (3, 3.0, 0.0));
    assert!(Arc::ptr_eq(chosen.schema(), matrix.schema()), "names are shared, not copied");
    let want = [("n", None), ("city", Some(&["Oslo", "Rome"][..])), ("kind", Some(&[][..]))];
    assert_eq!(*matrix.schema(), schema(&want));
}

#[test]
fn invalid_category_codes_and_missing_columns_are_rejected() {
    let table = from_text("n,k\n1,-1\n2,1.5\n").expect("a table");
    let said = message(table.clone().into_matrix(&["k".to_owned()]));
    assert!(said.starts_with("column `k`: value 1.5 of row 1 (0-based) is not a category code"), "{said}");
    let said = message(table.clone().into_matrix(&["x".to_owned()]));
    assert_eq!(said, "missing column: `x`; the table has `n`, `k`");
    assert_eq!(message(table.clone().take("z")), "missing column: `z`; the table has `n`, `k`");
}

#[test]
fn a_table_is_aligned_to_the_columns_and_codes_of_a_model() {
    let text = "extra,city,n\n9,Rome,1\n9,Paris,2\n9,,3\n";
    let inputs = schema(&[("n", None), ("city", Some(&["Oslo", "Rome"]))]);
    assert_eq!(rows(from_text(text).expect("a table"), &inputs), [["1", "1"], ["2", "-"], ["3", "-"]]);
    let said = message(from_text("city,m\nRome,1\n").expect("a table").align(&inputs));
    assert_eq!(said, "missing column: `n`; the table has `city`, `m`");
    let said = message(from_text("city,n\nRome,x\n").expect("a table").align(&inputs));
    assert_eq!(said, "column `n` holds strings, such as `x`; expected numbers");
    // All labels in this file are numbers, so the column is read as numeric.
    let inputs = schema(&[("code", Some(&["1", "2", "x"]))]);
    assert_eq!(rows(from_text("code\n2\n7\n1\n").expect("a table"), &inputs), [["1"], ["-"], ["0"]]);
}

#[test]
fn columns_match_by_position_only_without_names() {
    let nameless = schema(&[("f0", None), ("f1", None)]);
    let lightgbm = schema(&[("Column_0", None), ("Column_1", None)]);
    let named = schema(&[("a", None), ("b", None)]);
    for (text, inputs, fits) in [
        ("1,2\n", &nameless, true),
        ("1,2\n", &named, true),
        ("x,y\n1,2\n", &lightgbm, true),
        ("x,y\n1,2\n", &named, false),
        ("1,2,3\n", &named, false),
        ("b,a\n2,1\n", &named, true),
    ] {
        let aligned = from_text(text).expect("a table").align(inputs);
        assert_eq!(aligned.is_ok(), fits, "{text}");
        if let Ok(matrix) = aligned {
            assert_eq!(matrix.row(0), [1.0, 2.0], "{text}");
        }
    }
}

#[test]
fn sparse_rows_keep_the_features_a_model_has() {
    let options = ReadOptions::default();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.svm");
    std::fs::write(&path, "1 0:5 4:1 9:7\n0 5:8 9:3\n1 1:2\n").expect("written");
    let table = Table::read_with(&path, &options).expect("read");
    let inputs = Arc::new(Schema::unnamed(5));
    let matrix = table.clone().align(&inputs).expect("aligned");
    assert_eq!(matrix.features().expect("entries of five features").n_features(), 5);
    assert_eq!((matrix.row(0), matrix.row(1)), (vec![5.0, 0.0, 0.0, 0.0, 1.0], vec![0.0; 5]));
    assert_eq!(matrix.row(2), [0.0, 2.0, 0.0, 0.0, 0.0]);
    let chosen = matrix.select(&[2, 0]);
    assert_eq!((chosen.n_rows(), chosen.row(0), chosen.row(1)), (2, matrix.row(2), matrix.row(0)));
    assert_eq!(chosen.features().expect("features").n_rows(), 2);
    let wide = Arc::new(Schema::unnamed(12));
    assert_eq!(table.clone().align(&wide).expect("aligned").row(0)[9], 7.0);
    assert!(matches!(table.write(folder.path().join("t.csv")), Err(TableError::Sparse)));
}

//! Interpretation of CSV files.

use bitgrain_gbdt::table::{ColumnData, Numbers, ReadOptions, Table};

use super::{from_text, message, shown};

#[test]
fn types_are_inferred_from_the_whole_file() {
    // Long enough for several parts that are read in parallel; the last row decides the type.
    let rows = 1_200_000;
    let mut text = String::from("whole,late,flag,mixed\n");
    for row in 0..rows {
        text += &format!("{row},{},{},{}\n", row % 7, row % 2 == 0, row % 2 == 1);
    }
    text += "7,x,,5\n";
    let table = from_text(&text).expect("a table");
    assert_eq!(table.n_rows(), rows + 1);
    let ColumnData::F32(whole) = &table.columns()[0].data else { panic!("whole numbers below 2^24 fit f32") };
    assert_eq!((whole[0], whole[rows - 1], whole[rows]), (0.0, (rows - 1) as f32, 7.0));
    let ColumnData::Strings(late) = &table.columns()[1].data else { panic!("one text makes strings of all") };
    assert_eq!(late.labels, ["0", "1", "2", "3", "4", "5", "6", "x"]);
    assert_eq!((late.get(8), late.get(rows)), (Some("1"), Some("x")));
    let ColumnData::F32(flag) = &table.columns()[2].data else { panic!("flags are numbers") };
    assert!((flag[0], flag[1]) == (1.0, 0.0) && flag[rows].is_nan());
    let ColumnData::Strings(mixed) = &table.columns()[3].data else { panic!("flags among numbers are strings") };
    assert_eq!(mixed.labels, ["5", "false", "true"]);
}

#[test]
fn cells_are_numbers_strings_or_missing() {
    let text = "n,t,m\n1.5,a,\n-2e3, b ,NA\n.5,\"c, d\",nan\n,NA,?\ninf,\"\",null\n";
    let table = from_text(text).expect("a table");
    assert_eq!(shown(&table, "n"), "1.5 -2000 0.5 - inf");
    assert_eq!(shown(&table, "t"), "'a' 'b' 'c, d' - -");
    assert_eq!(shown(&table, "m"), "- - - - -");
}

#[test]
fn numbers_that_f32_does_not_hold_stay_f64_unless_rounding_is_asked_for() {
    let text = b"a,b\n0.1,0.5\n16777217,2\n";
    let read = |numbers| {
        let options = ReadOptions { numbers, ..ReadOptions::default() };
        Table::from_csv(text, "t.csv".as_ref(), &options).expect("a table").columns().to_vec()
    };
    let exact = read(Numbers::Exact);
    assert_eq!(exact[0].data, ColumnData::F64(vec![0.1, 16_777_217.0]));
    assert_eq!(exact[1].data, ColumnData::F32(vec![0.5, 2.0]));
    assert_eq!(read(Numbers::F32)[0].data, ColumnData::F32(vec![0.1, 16_777_216.0]));
}

#[test]
fn the_first_line_names_columns_unless_it_holds_values() {
    let names =
        |text: &str| from_text(text).expect("a table").columns().iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("a,b\n1,2\n"), ["a", "b"]);
    assert_eq!(names("\u{feff}a,b\n1,2\n"), ["a", "b"], "a byte order mark");
    assert_eq!(names("1,2\n3,4\n"), ["f0", "f1"]);
    assert_eq!(names("x,2\n3,4\n"), ["f0", "f1"], "one number is enough");
    assert_eq!(names(",a\n0,1\n"), ["f0", "a"], "an index that has no name");
    let options = ReadOptions { header: Some(false), ..ReadOptions::default() };
    let table = Table::from_csv(b"a,b\nc,d\n", "t.csv".as_ref(), &options).expect("a table");
    assert_eq!((table.n_rows(), shown(&table, "f1")), (2, "'b' 'd'".to_owned()));
    let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
    let table = Table::from_csv(b"2020,2021\n3,4\n", "t.csv".as_ref(), &options).expect("a table");
    assert_eq!(shown(&table, "2021"), "4");
}

#[test]
fn the_delimiter_is_the_most_frequent_one_in_the_first_line() {
    for (text, delimiter) in
        [("a;b\n1;2\n", ';'), ("a\tb\n1\t2\n", '\t'), ("a|b\n1|2\n", '|'), ("\"a,;;;\",b\n1,2\n", ',')]
    {
        let table = from_text(text).expect("a table");
        assert_eq!((table.columns().len(), shown(&table, "b")), (2, "2".to_owned()), "{delimiter:?}");
    }
    let options = ReadOptions { delimiter: Some(b' '), ..ReadOptions::default() };
    let table = Table::from_csv(b"a b\n1 2\n", "t.csv".as_ref(), &options).expect("a table");
    assert_eq!(shown(&table, "b"), "2");
}

#[test]
fn columns_can_be_read_as_strings_or_ignored_on_request() {
    let text = b"zip,id,n\n00123,5,1\n01000,6,2\n";
    let options = ReadOptions { text: vec!["zip".into()], skip: vec!["id".into()], ..ReadOptions::default() };
    let table = Table::from_csv(text, "t.csv".as_ref(), &options).expect("a table");
    assert_eq!(table.columns().len(), 2);
    assert_eq!(shown(&table, "zip"), "'00123' '01000'");
    let options = ReadOptions { only: Some(vec!["n".into()]), ..ReadOptions::default() };
    assert_eq!(Table::from_csv(text, "t.csv".as_ref(), &options).expect("a table").columns().len(), 1);
    let options = ReadOptions { only: Some(vec!["n".into(), "other".into()]), ..ReadOptions::default() };
    assert_eq!(Table::from_csv(text, "t.csv".as_ref(), &options).expect("a table").columns().len(), 3);
}

#[test]
fn malformed_files_are_rejected_with_the_line_number() {
    assert_eq!(
        message(from_text("a,b\n1,2\n\n1,2,3\n")),
        "t.csv, line 4: expected 2 fields as in the first line, found 3"
    );
    assert_eq!(
        message(from_text("a,b\n\"x\ny\",2\n1\n")),
        "t.csv, line 4: expected 2 fields as in the first line, found 1"
    );
    assert_eq!(message(from_text("a,b\n1,\"2\n")), "t.csv, line 2: the quote that opens here is never closed");
    assert!(message(from_text("a,b\n1,2\n3,\0\n")).starts_with("t.csv, line 3: NUL byte"));
    assert_eq!(message(from_text("a,b,a\n1,2,3\n")), "two columns are named `a`; rename one of them");
    assert_eq!(message(from_text("")), "t.csv: the file is empty");
    assert_eq!(message(from_text("\r\n\n")), "t.csv: the file is empty");
    let latin = Table::from_csv(b"a,b\n1,x\n2,caf\xe9\n", "t.csv".as_ref(), &ReadOptions::default());
    assert!(message(latin).starts_with("t.csv, line 3: column `b` is not valid UTF-8"));
}

#[test]
fn errors_of_later_parts_count_lines_from_the_start() {
    let mut text = "a,b\n".to_owned() + &"1.25,2.5\n".repeat(900_000);
    text += "1\n";
    text += &"1.25,2.5\n".repeat(900_000);
    text += "1,2,3\n";
    assert_eq!(message(from_text(&text)), "t.csv, line 900002: expected 2 fields as in the first line, found 1");
}

#[test]
fn a_csv_file_with_only_a_header_has_no_rows() {
    let table = from_text("a,b\n").expect("a table");
    assert_eq!((table.n_rows(), table.columns().len()), (0, 2));
    assert!(table.into_matrix(&[]).expect("a matrix").features().is_err());
}

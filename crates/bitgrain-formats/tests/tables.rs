//! CSV and libsvm: accepted input, and errors with their lines.

use bitgrain_formats::csv::{CsvError, Field, Records};
use bitgrain_formats::libsvm::{LibsvmError, Rows};
use proptest::prelude::*;

fn records(data: &[u8]) -> Result<Vec<Vec<String>>, CsvError> {
    let mut all = Vec::new();
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut records = Records::new(data, b',');
    while records.next_into(&mut fields)?.is_some() {
        all.push(fields.iter().map(|field| String::from_utf8_lossy(&field.bytes).into_owned()).collect());
    }
    Ok(all)
}

#[test]
fn fields_are_those_of_rfc_4180() {
    let read = |text: &str| records(text.as_bytes()).expect("well formed");
    assert_eq!(read("a,b\n1,2\n"), [["a", "b"], ["1", "2"]]);
    assert_eq!(read("a,b\r\n1,2"), [["a", "b"], ["1", "2"]], "carriage returns, and no end of line at the end");
    assert_eq!(read("a,,\n,,b"), [["a", "", ""], ["", "", "b"]]);
    assert_eq!(read("\n\r\na\n\n\nb\n\n"), [["a"], ["b"]], "lines without anything");
    assert_eq!(read(" a , b\t\n"), [["a", "b"]], "blanks around fields");
    assert_eq!(read("\" a \",\"\"\n"), [[" a ", ""]], "blanks in quotes");
    assert_eq!(read("\"a,\nb\",\"say \"\"hi\"\"\"\r\n"), [["a,\nb", "say \"hi\""]]);
    assert_eq!(read("5\" pipe,2\n"), [["5\" pipe", "2"]], "a quote in the middle of a field is a letter");
    assert_eq!(read("\"a\"\r"), [["a"]]);
    assert_eq!(read(""), Vec::<Vec<String>>::new());
}

#[test]
fn malformed_csv_names_its_line() {
    assert_eq!(records(b"a\n\"b\nc"), Err(CsvError::OpenQuote { line: 2 }));
    assert_eq!(records(b"a\n\"b\nc\" d\n"), Err(CsvError::AfterQuote { line: 3, found: b' ' }));
    assert_eq!(records(b"a\nb\n\0c"), Err(CsvError::Nul { line: 3 }));
    assert_eq!(records(b"a\n\"b\n\0\"c"), Err(CsvError::Nul { line: 3 }));
}

#[test]
fn a_chunk_is_read_on_its_own_but_line_numbers_count_from_the_start() {
    let data = b"a\nb\n\"c\n";
    let mut fields = Vec::new();
    let mut part = Records::new(data, b',').within(2..4);
    assert_eq!(part.next_into(&mut fields), Ok(Some(2)));
    assert_eq!(*fields[0].bytes, *b"b");
    assert_eq!(part.next_into(&mut fields), Ok(None));
    let mut last = Records::new(data, b',').within(4..99);
    assert_eq!(last.next_into(&mut fields), Err(CsvError::OpenQuote { line: 3 }));
}

proptest! {
    #[test]
    fn quoted_fields_round_trip(
        table in prop::collection::vec(prop::collection::vec("[a-c\",\r\n ]{0,6}", 2..=2), 0..6),
    ) {
        let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
        let line = |record: &Vec<String>| record.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let text: String = table.iter().map(line).collect();
        prop_assert_eq!(records(text.as_bytes()), Ok(table));
    }

    #[test]
    fn any_bytes_are_records_or_an_error(bytes in prop::collection::vec(prop::sample::select(&b"a,\"\n\r\0 "[..]), 0..24)) {
        let _ = records(&bytes);
    }

    #[test]
    fn any_bytes_are_rows_or_an_error(bytes in prop::collection::vec(prop::sample::select(&b"12:.-e #\nqid\xff"[..]), 0..24)) {
        if let Ok(rows) = Rows::parse(&bytes) {
            prop_assert_eq!(rows.row_ptr.len(), rows.labels.len() + 1);
            prop_assert_eq!(rows.columns.len(), rows.values.len());
            prop_assert!(rows.columns.iter().all(|column| (*column as usize) < rows.n_features));
        }
    }
}

#[test]
fn libsvm_rows_have_labels_weights_queries_and_comments() {
    let rows =
        Rows::parse(b"# made by hand\n1:0.5 qid:3 0:1 7:nan\r\n\n  0:2\tqid:7 3:-1e-3 # last\n").expect("well formed");
    assert_eq!((&rows.labels[..], rows.weights.as_deref()), (&[1.0, 0.0][..], Some(&[0.5, 2.0][..])));
    assert_eq!((&rows.row_ptr[..], &rows.columns[..], rows.n_features), (&[0, 2, 3][..], &[0, 7, 3][..], 8));
    assert!(rows.values[1].is_nan());
    assert_eq!((rows.values[0], rows.values[2]), (1.0, -1e-3));
    let empty = Rows::parse(b"1\n0 \n").expect("rows of zeros");
    assert_eq!((empty.row_ptr, empty.n_features), (vec![0, 0, 0], 0));
}

#[test]
fn malformed_libsvm_names_its_line() {
    let error = |text: &str| Rows::parse(text.as_bytes()).expect_err("malformed");
    let found = |text: &str| text.to_owned();
    assert_eq!(error("1 1:1\nyes 1:1"), LibsvmError::Label { line: 2, found: found("yes") });
    assert_eq!(error("1:x 1:1"), LibsvmError::Weight { line: 1, found: found("x") });
    assert_eq!(error("1:1 1:1\n1 1:1"), LibsvmError::SomeWeights { line: 2 });
    assert_eq!(error("1 1:1\n1:1 1:1"), LibsvmError::SomeWeights { line: 2 });
    assert_eq!(error("1 qid:1 1:1\n1 1:1"), LibsvmError::SomeQueries { line: 2 });
    assert_eq!(error("1 1:1\n1 qid:1 1:1"), LibsvmError::SomeQueries { line: 2 });
    assert_eq!(error("1 qid:1 1:1 qid:1"), LibsvmError::TwoQueries { line: 1 });
    for pair in ["1", "a:1", "1:", "1:x", "-1:1", "qid:x", ":"] {
        assert_eq!(error(&format!("1 1:1\n\n1 {pair}")), LibsvmError::Pair { line: 3, found: found(pair) });
    }
    assert_eq!(error("1 1:2 16600:1"), LibsvmError::Gaps { index: 16600, entries: 2 });
    assert_eq!(error("1 16777216:1"), LibsvmError::Index { line: 1, index: 1 << 24, most: Rows::MAX_INDEX });
    assert_eq!(error("1 3:1 3:1"), LibsvmError::Order { line: 1, index: 3, before: 3 });
    assert_eq!(error("1 3:1 2:1"), LibsvmError::Order { line: 1, index: 2, before: 3 });
    let long = "x".repeat(1000);
    assert_eq!(error(&long), LibsvmError::Label { line: 1, found: "x".repeat(40) });
}

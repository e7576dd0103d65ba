//! Detection of file formats, and invalid files.

use std::io::Write;

use bitgrain_gbdt::table::{Table, TableError};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{from_text, message, shown};

fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    (folder, path)
}

#[test]
fn file_formats_are_detected_from_name_and_first_bytes() {
    let libsvm = b"1 1:0.5 3:2\n0 2:1\n";
    for name in ["t.libsvm", "t.svm", "t.txt", "t"] {
        let (_folder, path) = written(name, libsvm);
        let table = Table::read(&path).expect("read");
        assert_eq!(shown(&table, "label"), "1 0", "{name}");
        let sparse = table.sparse().expect("sparse features");
        assert_eq!((&sparse.row_ptr[..], &sparse.columns[..], sparse.n_features), (&[0, 2, 3][..], &[1, 3, 2][..], 4));
    }
    for name in ["t.csv", "t.tsv", "t.txt", "t.data", "t"] {
        let (_folder, path) = written(name, b"a\tb\n1\t2\n");
        assert_eq!(shown(&Table::read(&path).expect("read"), "b"), "2", "{name}");
    }
}

#[test]
fn gzipped_files_are_inflated_in_one_member_or_several() {
    let mut bytes = Vec::new();
    for text in ["a,b\n1,2\n", "3,4\n"] {
        let mut encoder = GzEncoder::new(&mut bytes, Compression::fast());
        encoder.write_all(text.as_bytes()).expect("in memory");
        encoder.finish().expect("in memory");
    }
    for name in ["t.csv.gz", "t.gz", "t.csv"] {
        let (_folder, path) = written(name, &bytes);
        assert_eq!(shown(&Table::read(&path).expect("read"), "b"), "2 4", "{name}");
    }
    let (_folder, path) = written("t.csv.gz", &bytes[..bytes.len() - 12]);
    assert!(matches!(Table::read(&path), Err(TableError::Io { .. })), "cut short");
}

#[test]
fn errors_name_the_file() {
    let missing = std::path::Path::new("no/such/file.csv");
    assert!(message(Table::read(missing)).starts_with("no/such/file.csv: "));
    let (_folder, path) = written("t.svm", b"1 1:1\n1 x\n");
    let said = message(Table::read(&path));
    assert!(said.ends_with("t.svm, line 2: `x` is not of the form `index:value`"), "{said}");
    let (_folder, path) = written("t.svm", b"# nothing\n");
    assert!(message(Table::read(&path)).ends_with("t.svm: the file is empty"));
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let table = from_text("a,b\n1,x\n2,\"y, \"\"z\"\"\"\n,\" w\"\n").expect("a table");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.csv");
    table.write(&path).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    assert_eq!(text, "a,b\n1,x\n2,\"y, \"\"z\"\"\"\n,\" w\"\n");
    assert!(message(table.write(folder.path().join("out.xls"))).ends_with("use .csv, .tsv or .parquet"));
    assert!(matches!(table.write(folder.path().join("none/out.csv")), Err(TableError::Io { .. })));
    // A directory with that name cannot be replaced; the temporary file must be removed again.
    std::fs::create_dir(folder.path().join("taken.csv")).expect("made");
    assert!(table.write(folder.path().join("taken.csv")).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

//! Export to files and import from them.

use std::fs;

use super::{error, folder, json, npy, printed, values};

#[test]
fn exported_files_can_be_imported_again() {
    let folder = folder();
    let folder = folder.path();
    for file in ["all.npz", "all.safetensors"] {
        let found = json(folder, &["export", "s", file]);
        assert_eq!(found["exported"], 3);
        let other = format!("from-{file}");
        printed(folder, &["init", &other]);
        assert_eq!(json(folder, &["import", &other, file, "--lossless"])["imported"], 3);
        for (id, shape) in [("in/v", serde_json::json!([1000])), ("room", serde_json::json!([50, 20]))] {
            let back = json(folder, &["get", &other, id]);
            assert_eq!(back["shape"], shape);
            assert_eq!(values(&back), values(&json(folder, &["get", "s", id])), "{file}: {id}");
        }
    }
    printed(folder, &["get", "s", "in/v", "-o", "v.parquet"]);
    printed(folder, &["put", "s", "back", "v.parquet"]);
    assert_eq!(json(folder, &["stat", "s", "back"])["shape"], serde_json::json!([1000]));
    assert!(error(folder, &["export", "s", "all.npy"]).contains("can hold one tensor"));
    assert!(error(folder, &["export", "s", "all.parquet"]).contains("vectors of equal length"));
    assert!(error(folder, &["export", "s", "all.txt"]).contains("use .npy"));
    assert!(!folder.join("all.npy").exists() && !folder.join("all.txt").exists());
}

#[test]
fn a_tensor_encoded_in_pieces_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // Larger than a piece of an export, and than a row group of Parquet.
    npy(folder, "long.npy", &[5_000_000], |at| (at % 1009) as f32);
    printed(folder, &["init", "s"]);
    printed(folder, &["put", "s", "long", "long.npy", "--lossless"]);
    let whole = fs::read(folder.join("long.npy")).expect("there");
    printed(folder, &["export", "s", "out.npy"]);
    assert!(fs::read(folder.join("out.npy")).expect("there") == whole);
    for file in ["out.safetensors", "out.parquet", "out.npz"] {
        printed(folder, &["export", "s", file, "--prefix", "long"]);
        printed(folder, &["put", "s", "back", file, "--lossless"]);
        printed(folder, &["get", "s", "back", "-o", "back.npy"]);
        assert!(fs::read(folder.join("back.npy")).expect("there") == whole, "{file}");
    }
}

#[test]
fn columns_of_equal_length_form_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("t.csv"), "a,b,c\n1,2,x\n3,4,y\n5,6,z\n").expect("written");
    printed(folder, &["init", "s"]);
    let found = json(folder, &["import", "s", "t.csv", "--lossless"]);
    assert_eq!((found["imported"].as_u64(), found["string_columns_skipped"].as_u64()), (Some(2), Some(1)));
    printed(folder, &["export", "s", "t.parquet"]);
    printed(folder, &["init", "other"]);
    printed(folder, &["import", "other", "t.parquet", "--lossless"]);
    assert_eq!(values(&json(folder, &["get", "other", "b"])), [2.0, 4.0, 6.0]);
    npy(folder, "longer.npy", &[4], |at| at as f32);
    printed(folder, &["import", "s", "longer.npy"]);
    assert!(error(folder, &["export", "s", "t2.parquet"]).contains("column `longer` has 4 rows, expected 3"));
    assert!(!folder.join("t2.parquet").exists());
}

#[test]
fn a_value_beyond_f32_is_reported_as_out_of_range() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("far.csv"), "x\n1.5\n1e300\n2\n").expect("written");
    let said = error(folder, &["put", "s", "far", "far.csv"]);
    assert!(said.contains("index 1 exceeds the range of f32") && !said.contains("not finite"), "{said}");
    // The same for an array of f64.
    let mut file = bitgrain::formats::npy::f32_header(&[3]);
    let at = file.windows(3).position(|three| three == b"<f4").expect("a type");
    file[at + 2] = b'8';
    file.extend([1.0, -1e300, 2.0_f64].into_iter().flat_map(f64::to_le_bytes));
    fs::write(folder.join("far.npy"), file).expect("written");
    assert!(error(folder, &["import", "s", "far.npy"]).contains("index 1 exceeds the range of f32"));
    printed(folder, &["put", "s", "far", "far.npy", "--non-finite", "clamp"]);
}

#[test]
fn two_tensors_for_one_id_are_rejected_before_anything_is_put() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("other")).expect("made");
    npy(folder, "other/v.npy", &[3], |at| at as f32);
    npy(folder, "w.npy", &[3], |at| at as f32);
    let said = error(folder, &["import", "s", "w.npy", "v.npy", "other/v.npy"]);
    assert!(said.contains("`v` is both in v.npy and in other/v.npy"), "{said}");
    assert!(error(folder, &["get", "s", "w"]).contains("unknown tensor id `w`"));
}

#[test]
fn failed_writes_leave_no_files() {
    let folder = folder();
    let folder = folder.path();
    let before = fs::read_dir(folder).expect("a folder").count();
    assert!(error(folder, &["export", "s", "nowhere/all.npz"]).contains("nowhere/all.npz"));
    assert!(error(folder, &["get", "s", "m", "-o", "m.txt"]).contains("m.txt"));
    let far = "#1".repeat(33_000);
    npy(folder, "x.npy", &[1], |_| 1.0);
    printed(folder, &["put", "s", &far[..65_536], "x.npy"]);
    // Names in a zip archive have at most 65,535 bytes.
    error(folder, &["export", "s", "all.npz"]);
    assert_eq!(fs::read_dir(folder).expect("a folder").count(), before + 1);
}

#[cfg(unix)]
#[test]
fn exported_files_have_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let folder = folder.path();
    let mode = |file: &str| fs::metadata(folder.join(file)).expect("there").permissions().mode() & 0o777;
    for file in ["all.npz", "all.safetensors"] {
        printed(folder, &["export", "s", file]);
        assert_eq!(mode(file), mode("m.npy"), "{file}");
    }
}

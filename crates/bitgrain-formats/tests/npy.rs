//! npy: every rule has a file that violates it and the expected error.

use bitgrain_formats::npy::{Dtype, Header, NpyError};
use proptest::collection::vec;
use proptest::prelude::*;

/// A file of version 1 with this header and `data` zeros.
fn file(text: &str, data: usize) -> Vec<u8> {
    let len = u16::try_from(text.len()).expect("short");
    [b"\x93NUMPY\x01\x00", &len.to_le_bytes()[..], text.as_bytes(), &vec![0; data]].concat()
}

fn error(text: &str) -> NpyError {
    Header::parse(&file(text, 64)).expect_err(text)
}

fn with_shape(shape: &str) -> String {
    format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}")
}

#[test]
fn magic_and_version_are_checked() {
    assert_eq!(Header::parse(b"NUMPY\x01\0\0\0\0"), Err(NpyError::Magic { found: *b"NUMPY\x01" }));
    for version in [[0, 0], [1, 1], [4, 0]] {
        let bytes = [b"\x93NUMPY", &version[..], &[0; 8]].concat();
        assert_eq!(Header::parse(&bytes), Err(NpyError::Version { major: version[0], minor: version[1] }));
    }
}

#[test]
fn lengths_are_compared_with_the_remaining_bytes() {
    let long = [b"\x93NUMPY\x02\0", &u32::MAX.to_le_bytes()[..], b"{}"].concat();
    let found = NpyError::Truncated { what: "header", offset: 12, needed: u32::MAX.into(), left: 2 };
    assert_eq!(Header::parse(&long), Err(found));
    assert!(matches!(Header::parse(b"\x93NUM"), Err(NpyError::Truncated { what: "magic", .. })));
    assert!(matches!(Header::parse(b"\x93NUMPY\x01"), Err(NpyError::Truncated { what: "version", .. })));
    assert!(matches!(Header::parse(b"\x93NUMPY\x03\0\0"), Err(NpyError::Truncated { offset: 8, needed: 4, .. })));
}

#[test]
fn npy_headers_have_exactly_three_keys() {
    for text in [
        "",
        "{",
        "[]",
        "{} {}",
        "{'descr' '<f4'}",
        "{'descr': <f4}",
        "{'descr': '<f4",
        "{'descr': '<\\x664'}",
        "{'fortran_order': 0}",
        "{'fortran_order': true}",
        "{'shape': 3}",
        "{'shape': (3)}",
        "{'shape': [3,]}",
        "{'shape': (-1,)}",
        "{'shape': (1.5,)}",
        "{'shape': (,)}",
        "{'shape': (18446744073709551616,)}",
        "{'shape': (1,) 'descr': '<f4'}",
    ] {
        assert!(matches!(error(text), NpyError::Syntax { .. }), "{text}: {}", error(text));
    }
    assert_eq!(error("{'shape': (3)}"), NpyError::Syntax { expected: "`,`", offset: 12, found: Some(b')') });
    assert_eq!(error("{'kind': '<f4'}"), NpyError::UnknownKey { key: "kind".into() });
    assert_eq!(error("{'descr': '<f4', 'descr': '<f4'}"), NpyError::DuplicateKey { key: "descr" });
    assert_eq!(error("{}"), NpyError::MissingKey { key: "descr" });
    assert_eq!(error("{'descr': '<f4', 'shape': ()}"), NpyError::MissingKey { key: "fortran_order" });
    assert_eq!(error("{'descr': [('a', '<f4')]}"), NpyError::Structured);
}

#[test]
fn literals_are_read_as_python_would() {
    for (text, shape) in [("()", &[][..]), ("(3,)", &[3]), ("(3, 4)", &[3, 4]), ("( 3 ,4, )", &[3, 4]), ("(2L,)", &[2])]
    {
        assert_eq!(Header::parse(&file(&with_shape(text), 64)).expect(text).shape, shape);
    }
    let other = "\n{\"shape\": (1,),\t\"fortran_order\":True,\"descr\":\"|u1\" , } \n";
    assert!(Header::parse(&file(other, 1)).expect("good").fortran_order);
}

#[test]
fn types_without_a_byte_order_are_rejected_unless_they_are_bytes() {
    for descr in ["=f4", "|f4", "f4", "", "<", "é", "|b2", "<f16", "<x4"] {
        let found = Dtype::parse(descr).expect_err(descr);
        assert!(matches!(&found, NpyError::Dtype { descr: named, .. } if named == descr), "{found}");
    }
    assert!(["<u1", ">i1", "|b1"].iter().all(|descr| Dtype::parse(descr).is_ok()));
}

#[test]
fn shapes_that_overflow_or_need_more_bytes_are_rejected() {
    let huge = "(4611686018427387904, 2, 0)";
    assert!(matches!(error(&with_shape(huge)), NpyError::TooLarge { .. }));
    assert!(matches!(error(&with_shape("(4611686018427387904,)")), NpyError::TooLarge { .. }));
    assert!(matches!(error(&with_shape("(17,)")), NpyError::PastEnd { needed: 68, left: 64, .. }));
    assert!(Header::parse(&file(&with_shape("(15,)"), 64)).is_ok(), "bytes behind the elements are let pass");
}

proptest! {
    #[test]
    fn any_string_is_an_error_or_a_header(text in "[{}(),:'\" descrfotan_hp0-9<>|=TrueFalse]{0,80}") {
        let _ = Header::parse(&file(&text, 8));
    }

    #[test]
    fn any_bytes_are_an_error_or_a_header(tail in vec(any::<u8>(), 0..200)) {
        let _ = Header::parse(&[b"\x93NUMPY\x03\0", &tail[..]].concat());
    }

    #[test]
    fn any_shape_is_read(shape in vec(0_u64..9, 0..4)) {
        let tuple: String = shape.iter().map(|dim| format!("{dim}, ")).collect();
        let bytes = file(&with_shape(&format!("({tuple})")), 4 * 8 * 8 * 8);
        prop_assert_eq!(Header::parse(&bytes).expect("good").shape, shape);
    }
}

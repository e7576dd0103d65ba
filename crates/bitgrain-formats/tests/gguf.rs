//! GGUF: every rule has a file that violates it and the expected error; written files are read back.

use bitgrain_formats::WriteError;
use bitgrain_formats::gguf::{Array, GgufError, Header, Metadata, TensorSpec, TensorType, Value, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

fn string(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text].concat()
}

/// A key with a value of type `id`.
fn key(name: &str, id: u32, value: &[u8]) -> Vec<u8> {
    [&string(name.as_bytes()), &id.to_le_bytes()[..], value].concat()
}

fn tensor(name: &str, dims: &[u64], id: u32, offset: u64) -> Vec<u8> {
    let count = u32::try_from(dims.len()).expect("few");
    let dims: Vec<u8> = dims.iter().flat_map(|dim| dim.to_le_bytes()).collect();
    [&string(name.as_bytes()), &count.to_le_bytes()[..], &dims, &id.to_le_bytes(), &offset.to_le_bytes()].concat()
}

fn counts(tensors: u64, keys: u64) -> Vec<u8> {
    [b"GGUF", &3_u32.to_le_bytes()[..], &tensors.to_le_bytes(), &keys.to_le_bytes()].concat()
}

/// A file with this header and `data` zeros.
fn file(keys: &[Vec<u8>], tensors: &[Vec<u8>], data: usize) -> Vec<u8> {
    let mut file = [counts(tensors.len() as u64, keys.len() as u64), keys.concat(), tensors.concat()].concat();
    file.resize(file.len().next_multiple_of(32) + data, 0);
    file
}

fn error(bytes: &[u8]) -> GgufError {
    Header::parse(bytes).expect_err("a broken file")
}

/// Returns the error of a file with these tensors and `data` bytes.
fn tensor_error(tensors: &[Vec<u8>], data: usize) -> GgufError {
    error(&file(&[], tensors, data))
}

fn key_error(keys: &[Vec<u8>]) -> GgufError {
    error(&file(keys, &[], 0))
}

const F32: u32 = 0;
const Q4_0: u32 = 2;

#[test]
fn the_error_for_other_files_shows_their_first_bytes() {
    assert_eq!(error(b"ggjt\x03\0\0\0"), GgufError::Magic { found: *b"ggjt" });
    assert!(error(b"PK\x03\x04").to_string().contains("starts with `PK\\x03\\x04"));
}

#[test]
fn versions_2_and_3_are_read_and_others_named() {
    for version in [0, 1, 4, 77] {
        let mut bytes = counts(0, 0);
        bytes[4..8].copy_from_slice(&u32::to_le_bytes(version));
        assert_eq!(error(&bytes), GgufError::Version { version });
    }
    let mut bytes = counts(0, 0);
    bytes[4] = 2;
    assert_eq!(Header::parse(&bytes).expect("version 2").version, 2);
}

#[test]
fn big_endian_files_are_recognized() {
    let bytes = [b"GGUF", &3_u32.to_be_bytes()[..], &[0; 16]].concat();
    assert_eq!(error(&bytes), GgufError::BigEndian { version: 3 });
}

#[test]
fn a_truncated_file_is_reported_with_offset_and_field() {
    let whole = file(&[key("general.name", 8, &string(b"grain"))], &[], 0);
    let cut = error(&whole[..50]);
    assert_eq!(
        cut,
        GgufError::Truncated { what: "value of key `general.name`".into(), offset: 48, needed: 8, left: 2 }
    );
    let late = error(&file(&[], &[tensor("w", &[1], F32, 0)], 4)[..50]);
    assert!(matches!(&late, GgufError::Truncated { what, .. } if what == "offset of tensor `w`"), "{late}");
}

#[test]
fn huge_counts_and_lengths_are_rejected_before_allocation() {
    for huge in [u64::MAX, u64::MAX - 7, 1 << 63, i64::MAX.unsigned_abs(), 1 << 40] {
        assert!(matches!(error(&counts(0, huge)), GgufError::Count { count, .. } if count == huge));
        assert!(matches!(error(&counts(huge, 0)), GgufError::Count { count, .. } if count == huge));
        let name = [counts(0, 1), huge.to_le_bytes().to_vec(), vec![b'a'; 64]].concat();
        assert!(matches!(error(&name), GgufError::Truncated { needed, left: 64, .. } if needed == huge));
        let text = file(&[key("k", 8, &huge.to_le_bytes())], &[], 64);
        assert!(matches!(error(&text), GgufError::Truncated { needed, .. } if needed == huge));
        for id in [0_u32, 3, 6, 8, 12] {
            let array = [&id.to_le_bytes()[..], &huge.to_le_bytes()].concat();
            let found = error(&file(&[key("k", 9, &array)], &[], 64));
            assert!(matches!(&found, GgufError::Count { what, .. } if what == "elements of key `k`"), "{found}");
        }
        let bools = [&7_u32.to_le_bytes()[..], &huge.to_le_bytes()].concat();
        assert!(matches!(error(&file(&[key("k", 9, &bools)], &[], 64)), GgufError::Truncated { .. }));
        assert!(matches!(
            tensor_error(&[tensor("w", &[huge, 1], 24, 0)], 64),
            GgufError::TooLarge { .. } | GgufError::PastEnd { .. }
        ));
        assert!(matches!(
            tensor_error(&[tensor("w", &[1], F32, huge)], 64),
            GgufError::Misaligned { .. } | GgufError::Gap { .. }
        ));
    }
}

#[test]
fn keys_are_unique_and_not_empty() {
    assert_eq!(key_error(&[key("a", 0, &[1]), key("", 0, &[1])]), GgufError::EmptyKey { index: 1 });
    let twice = [key("b", 0, &[1]), key("a", 0, &[1]), key("b", 1, &[1])];
    assert_eq!(key_error(&twice), GgufError::DuplicateKey { key: "b".into() });
}

#[test]
fn strings_that_are_not_utf8_are_rejected_by_name() {
    let bad_key = [counts(0, 1), string(b"a\xff"), vec![0; 32]].concat();
    assert_eq!(error(&bad_key), GgufError::NotUtf8 { what: "key 0".into(), offset: 32 });
    let found = key_error(&[key("general.name", 8, &string(b"\xc3("))]);
    assert!(matches!(&found, GgufError::NotUtf8 { what, .. } if what == "value of key `general.name`"), "{found}");
    let array = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &string(b"ok"), &string(b"\x80")].concat();
    let found = key_error(&[key("tokens", 9, &array)]);
    assert_eq!(found, GgufError::NotUtf8 { what: "string 1 of key `tokens`".into(), offset: 72 });
}

#[test]
fn a_character_split_over_two_strings_is_rejected() {
    let halves = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &string(b"\xc3"), &string(b"\xbc")].concat();
    let found = key_error(&[key("tokens", 9, &halves)]);
    assert!(matches!(&found, GgufError::NotUtf8 { what, .. } if what == "string 0 of key `tokens`"), "{found}");
}

#[test]
fn unknown_value_types_are_rejected_alone_and_in_arrays() {
    assert_eq!(key_error(&[key("k", 13, &[0; 8])]), GgufError::ValueType { key: "k".into(), id: 13 });
    let array = [&99_u32.to_le_bytes()[..], &0_u64.to_le_bytes()].concat();
    assert_eq!(key_error(&[key("k", 9, &array)]), GgufError::ValueType { key: "k".into(), id: 99 });
}

#[test]
fn arrays_of_arrays_are_rejected() {
    let array = [&9_u32.to_le_bytes()[..], &0_u64.to_le_bytes()].concat();
    assert_eq!(key_error(&[key("k", 9, &array)]), GgufError::NestedArray { key: "k".into() });
}

#[test]
fn booleans_are_0_or_1() {
    assert_eq!(key_error(&[key("k", 7, &[2])]), GgufError::Bool { key: "k".into(), index: 0, value: 2 });
    let array = [&7_u32.to_le_bytes()[..], &3_u64.to_le_bytes(), &[1, 0, 255]].concat();
    assert_eq!(key_error(&[key("k", 9, &array)]), GgufError::Bool { key: "k".into(), index: 2, value: 255 });
}

#[test]
fn the_alignment_is_a_u32_and_a_power_of_two() {
    let alignment = |value: u32| key("general.alignment", 4, &value.to_le_bytes());
    for value in [0, 3, 48, u32::MAX] {
        assert_eq!(key_error(&[alignment(value)]), GgufError::Alignment { alignment: value });
    }
    assert_eq!(key_error(&[key("general.alignment", 10, &[32; 8])]), GgufError::AlignmentType { found: "u64" });
    let header = Header::parse(&file(&[alignment(1)], &[], 0)).expect("one is a power of two");
    assert_eq!(header.alignment, 1);
    let far = file(&[alignment(1 << 31)], &[tensor("w", &[1], F32, 0)], 4);
    assert!(matches!(error(&far), GgufError::Truncated { what, .. } if what == "padding before the tensors"));
}

#[test]
fn tensor_names_are_unique() {
    let twice = [tensor("w", &[1], F32, 0), tensor("w", &[1], F32, 32)];
    assert_eq!(tensor_error(&twice, 64), GgufError::DuplicateTensor { tensor: "w".into() });
}

#[test]
fn long_names_are_read_but_not_written() {
    let name = "n".repeat(64);
    let header = Header::parse(&file(&[], &[tensor(&name, &[1], F32, 0)], 4)).expect("harmless");
    assert_eq!(header.tensors[0].name, name);
    let spec = TensorSpec { name: name.clone(), dims: vec![1], kind: TensorType::F32 };
    let found = Writer::new(Vec::new(), &Metadata::default(), &[spec]).expect_err("too long");
    assert!(matches!(found, WriteError::Gguf(GgufError::NameTooLong { len: 64, .. })));
}

#[test]
fn tensors_have_up_to_four_dimensions() {
    let found = tensor_error(&[tensor("w", &[1; 5], F32, 0)], 4);
    assert_eq!(found, GgufError::DimCount { tensor: "w".into(), count: 5 });
    let scalar = Header::parse(&file(&[], &[tensor("w", &[], F32, 0)], 4)).expect("a scalar");
    assert_eq!((scalar.tensors[0].elements(), scalar.tensors[0].bytes), (1, 4));
    let mut many = tensor("w", &[], F32, 0);
    many[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(tensor_error(&[many], 0), GgufError::DimCount { tensor: "w".into(), count: u32::MAX.into() });
}

#[test]
fn dimensions_that_overflow_are_rejected_even_beside_a_zero() {
    for dims in [&[1 << 32, 1 << 31][..], &[1 << 63], &[u64::MAX, 2], &[0, 1 << 40, 1 << 40]] {
        let found = tensor_error(&[tensor("w", dims, 24, 0)], 64);
        assert_eq!(found, GgufError::TooLarge { tensor: "w".into(), dims: dims.into() });
    }
    let bytes = tensor_error(&[tensor("w", &[1 << 62], 28, 0)], 64);
    assert!(matches!(bytes, GgufError::TooLarge { .. }), "elements that fit, bytes that do not: {bytes}");
}

#[test]
fn unknown_tensor_types_are_rejected_by_name() {
    for id in [4, 33, 43, u32::MAX] {
        let found = tensor_error(&[tensor("w", &[32], id, 0)], 64);
        assert_eq!(found, GgufError::TensorType { tensor: "w".into(), id });
    }
}

#[test]
fn rows_are_whole_blocks() {
    let ragged = |row| GgufError::RaggedRow { tensor: "w".into(), row, block: 32, kind: "q4_0" };
    assert_eq!(tensor_error(&[tensor("w", &[33], Q4_0, 0)], 64), ragged(33));
    assert_eq!(tensor_error(&[tensor("w", &[16, 2], Q4_0, 0)], 64), ragged(16)); // 32 weights, but two rows
    assert_eq!(tensor_error(&[tensor("w", &[], Q4_0, 0)], 64), ragged(1));
}

#[test]
fn tensors_follow_each_other_aligned_and_without_gaps() {
    let second = |offset| tensor_error(&[tensor("a", &[9], F32, 0), tensor("b", &[9], F32, offset)], 256);
    let tensor = || "b".to_owned();
    assert_eq!(second(40), GgufError::Misaligned { tensor: tensor(), offset: 40, alignment: 32 });
    assert_eq!(second(32), GgufError::Overlap { tensor: tensor(), offset: 32, expected: 64 });
    assert_eq!(second(96), GgufError::Gap { tensor: tensor(), offset: 96, expected: 64 });
}

#[test]
fn missing_data_is_measured() {
    let found = tensor_error(&[tensor("a", &[8], F32, 0), tensor("b", &[8], F32, 32)], 50);
    assert_eq!(found, GgufError::PastEnd { tensor: "b".into(), start: 96 + 32, bytes: 32, left: 18 });
}

#[test]
fn empty_tensors_are_read_where_the_file_ends() {
    let tensors = [tensor("a", &[1], F32, 0), tensor("none", &[0, 7], F32, 32)];
    let bytes = file(&[], &tensors, 4); // without the padding of `a`
    let header = Header::parse(&bytes).expect("nothing is missing");
    assert_eq!((header.tensors[1].elements(), bytes[header.tensors[1].range()].len()), (0, 0));
}

#[test]
fn bytes_after_the_last_tensor_are_ignored() {
    assert!(Header::parse(&file(&[], &[tensor("a", &[1], F32, 0)], 1000)).is_ok());
}

#[test]
fn shapes_are_outermost_first() {
    let header = Header::parse(&file(&[], &[tensor("a", &[2, 3, 1, 4], 24, 0)], 24)).expect("good");
    let info = header.tensor("a").expect("there");
    assert_eq!((&info.dims[..], &info.shape()[..]), (&[2, 3, 1, 4][..], &[4, 1, 3, 2][..]));
    assert!(header.tensor("b").is_none());
}

fn spec(name: &str, dims: &[u64], kind: TensorType) -> TensorSpec {
    TensorSpec { name: name.into(), dims: dims.into(), kind }
}

#[test]
fn the_writer_counts_the_bytes_of_every_tensor() {
    let specs = [spec("a", &[3], TensorType::I8), spec("none", &[0], TensorType::F32), spec("b", &[2], TensorType::I8)];
    let mut writer = Writer::new(Vec::new(), &Metadata::default(), &specs).expect("good");
    assert_eq!(writer.current(), Some("a"));
    let found = writer.write(&[0; 4]).expect_err("one too many");
    assert!(matches!(found, WriteError::TooManyBytes { tensor, given: 4, left: 3 } if tensor == "a"));
    writer.write(&[1; 3]).expect("exact");
    assert_eq!(writer.current(), Some("b"), "an empty tensor is passed over");
    writer.write(&[2]).expect("half");
    let missing = writer.finish().expect_err("half");
    assert!(matches!(missing, WriteError::MissingBytes { tensor, missing: 1, after: 0 } if tensor == "b"));

    let mut writer = Writer::new(Vec::new(), &Metadata::default(), &specs[..1]).expect("good");
    writer.write(&[1; 3]).expect("exact");
    assert!(matches!(writer.write(&[1]), Err(WriteError::AfterLast { given: 1 })));
    writer.write(&[]).expect("nothing is never too much");
    assert_eq!(writer.current(), None);
    assert_eq!(writer.finish().expect("complete").len() % 32, 0);
}

#[test]
fn the_writer_rejects_whatever_the_reader_rejects() {
    let refused = |metadata: &Metadata, specs: &[TensorSpec]| match Writer::new(Vec::new(), metadata, specs) {
        Err(WriteError::Gguf(error)) => error,
        other => panic!("{other:?}"),
    };
    let none = Metadata::default();
    let mut empty_key = Metadata::default();
    empty_key.set("", 1);
    let mut odd = Metadata::default();
    odd.set("general.alignment", 24);
    let (f32, q4_0) = (TensorType::F32, TensorType::Q4_0);
    assert_eq!(refused(&empty_key, &[]), GgufError::EmptyKey { index: 0 });
    assert_eq!(refused(&odd, &[]), GgufError::Alignment { alignment: 24 });
    assert!(matches!(refused(&none, &[spec("a", &[1], f32), spec("a", &[], f32)]), GgufError::DuplicateTensor { .. }));
    assert!(matches!(refused(&none, &[spec("a", &[1; 5], f32)]), GgufError::DimCount { .. }));
    assert!(matches!(refused(&none, &[spec("a", &[31], q4_0)]), GgufError::RaggedRow { .. }));
    let huge = [spec("a", &[1 << 60], f32), spec("b", &[1 << 61], f32), spec("c", &[1 << 61], f32)];
    assert!(matches!(refused(&none, &huge), GgufError::TooLarge { tensor, .. } if tensor == "c"));
}

#[test]
fn a_failed_output_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let writer = Writer::new(Full, &Metadata::default(), &[]).expect("buffered");
    assert!(matches!(writer.finish(), Err(WriteError::Io(_))));
}

fn value() -> impl Strategy<Value = Value> {
    let array = prop_oneof![
        vec(any::<u8>(), 0..9).prop_map(Array::U8),
        vec(any::<i8>(), 0..9).prop_map(Array::I8),
        vec(any::<u16>(), 0..9).prop_map(Array::U16),
        vec(any::<i16>(), 0..9).prop_map(Array::I16),
        vec(any::<u32>(), 0..9).prop_map(Array::U32),
        vec(any::<i32>(), 0..9).prop_map(Array::I32),
        vec(-1e9_f32..1e9, 0..9).prop_map(Array::F32),
        vec(any::<bool>(), 0..9).prop_map(Array::Bool),
        vec(any::<String>(), 0..9).prop_map(|list| Array::String(list.into_iter().collect())),
        vec(any::<u64>(), 0..9).prop_map(Array::U64),
        vec(any::<i64>(), 0..9).prop_map(Array::I64),
        vec(-1e300..1e300, 0..9).prop_map(Array::F64),
    ];
    prop_oneof![
        any::<u8>().prop_map(Value::U8),
        any::<i8>().prop_map(Value::I8),
        any::<u16>().prop_map(Value::U16),
        any::<i16>().prop_map(Value::I16),
        any::<u32>().prop_map(Value::U32),
        any::<i32>().prop_map(Value::I32),
        (-1e9_f32..1e9).prop_map(Value::F32),
        any::<bool>().prop_map(Value::Bool),
        any::<String>().prop_map(Value::String),
        array.prop_map(Value::Array),
        any::<u64>().prop_map(Value::U64),
        any::<i64>().prop_map(Value::I64),
        (-1e300..1e300).prop_map(Value::F64),
    ]
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let alignment = prop::option::of((0_u32..8).prop_map(|shift| 1 << shift));
    (vec(("[a-z.]{1,12}", value()), 0..8), alignment).prop_map(|(entries, alignment)| {
        let mut metadata = Metadata::default();
        for (key, value) in entries {
            metadata.set(key, value);
        }
        if let Some(alignment) = alignment {
            metadata.set("general.alignment", Value::U32(alignment));
        }
        metadata
    })
}

fn specs() -> impl Strategy<Value = Vec<TensorSpec>> {
    let one = (prop::sample::select(TensorType::ALL.to_vec()), vec(0_u64..4, 0..=4));
    vec(one, 0..6).prop_map(|list| {
        let spec = |(index, (kind, mut dims)): (usize, (TensorType, Vec<u64>))| {
            match dims.first_mut() {
                Some(row) => *row *= kind.block_weights(),
                None if kind.block_weights() > 1 => dims.push(0),
                None => {}
            }
            TensorSpec { name: format!("blk.{index}.weight"), dims, kind }
        };
        list.into_iter().enumerate().map(spec).collect()
    })
}

proptest! {
    #[test]
    fn files_round_trip(metadata in metadata(), specs in specs(), piece in 1_usize..500) {
        let mut writer = Writer::new(Vec::new(), &metadata, &specs).expect("good");
        let content = |index: usize, spec: &TensorSpec| -> Vec<u8> {
            (0..spec.bytes().expect("small")).map(|at| u8::try_from((at + index as u64) % 251).expect("small")).collect()
        };
        for (index, spec) in specs.iter().enumerate() {
            content(index, spec).chunks(piece).try_for_each(|part| writer.write(part)).expect("fits");
        }
        let file = writer.finish().expect("complete");
        let header = Header::parse(&file).expect("our own file");
        prop_assert_eq!((header.version, header.metadata.alignment()), (3, metadata.alignment()));
        prop_assert_eq!(&header.metadata, &metadata);
        prop_assert_eq!(header.tensors.len(), specs.len());
        for (index, (info, spec)) in header.tensors.iter().zip(&specs).enumerate() {
            prop_assert_eq!((&info.name, &info.dims, info.kind), (&spec.name, &spec.dims, spec.kind));
            prop_assert_eq!(info.bytes, info.range().len() as u64);
            prop_assert_eq!(&file[info.range()], &content(index, spec)[..]);
            prop_assert_eq!(info.range().start as u64 % u64::from(header.alignment), 0);
        }
    }

    #[test]
    fn any_bytes_after_the_magic_are_an_error_or_a_header(tail in vec(any::<u8>(), 0..400)) {
        let _ = Header::parse(&[b"GGUF\x03\0\0\0", &tail[..]].concat());
    }
}

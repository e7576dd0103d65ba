//! Files written by the reference packages, read with exact expectations. Created by `spec/make_container_vectors.py`.

use std::path::Path;

use bitgrain_formats::gguf::{Array, GgufError, Metadata, TensorSpec, TensorType, Value, Writer};
use bitgrain_formats::npy::{ByteOrder, Element, NpyError};
use bitgrain_formats::npz::{Archive, Method, NpzError};
use bitgrain_formats::safetensors::Dtype;
use bitgrain_formats::{gguf, npy, safetensors};

fn vector(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/containers").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn expected_metadata(alignment: Option<u32>) -> Metadata {
    let mut metadata = Metadata::default();
    metadata.set("general.architecture", "llama");
    if let Some(alignment) = alignment {
        metadata.set("general.alignment", alignment);
    }
    let strings = ["<s>", "", "▁the"].into_iter().collect();
    for (key, value) in [
        ("t.u8", Value::U8(200)),
        ("t.i8", Value::I8(-100)),
        ("t.u16", Value::U16(60000)),
        ("t.i16", Value::I16(-30000)),
        ("t.u32", Value::U32(4_000_000_000)),
        ("t.i32", Value::I32(-2_000_000_000)),
        ("t.f32", Value::F32(0.15625)),
        ("t.u64", Value::U64((1 << 63) + 1)),
        ("t.i64", Value::I64(-(1 << 62))),
        ("t.f64", Value::F64(-1e300)),
        ("t.bool", Value::Bool(true)),
        ("t.string", Value::String("grün ✓".into())),
        ("a.u8", Value::Array(Array::U8(vec![1, 2, 255]))),
        ("a.i8", Value::Array(Array::I8(vec![-1, 2]))),
        ("a.u16", Value::Array(Array::U16(vec![1, 65535]))),
        ("a.i16", Value::Array(Array::I16(vec![-1, 2]))),
        ("a.u32", Value::Array(Array::U32(vec![1, u32::MAX]))),
        ("a.i32", Value::Array(Array::I32(vec![-1, 2]))),
        ("a.f32", Value::Array(Array::F32(vec![0.5, -0.25]))),
        ("a.u64", Value::Array(Array::U64(vec![u64::MAX]))),
        ("a.i64", Value::Array(Array::I64(vec![i64::MIN]))),
        ("a.f64", Value::Array(Array::F64(vec![1e-300]))),
        ("a.bool", Value::Array(Array::Bool(vec![true, false, true]))),
        ("a.string", Value::Array(Array::String(strings))),
    ] {
        metadata.set(key, value);
    }
    metadata
}

/// Names, dimensions and types of the tensors in the GGUF vectors.
fn expected_tensors() -> Vec<TensorSpec> {
    let blocks: &[u64] = &[256, 1, 2];
    [
        ("plain", &[3, 2][..], TensorType::F32),
        ("half", &[5], TensorType::F16),
        ("blocks.bf16", blocks, TensorType::BF16),
        ("blocks.q4_0", blocks, TensorType::Q4_0),
        ("blocks.q8_0", blocks, TensorType::Q8_0),
        ("blocks.tq2_0", blocks, TensorType::TQ2_0),
        ("blocks.mxfp4", blocks, TensorType::MXFP4),
        ("ids", &[2, 1, 1, 1], TensorType::I32),
        ("long", &[1], TensorType::I64),
        ("double", &[1], TensorType::F64),
        ("small", &[3], TensorType::I8),
        ("short", &[1], TensorType::I16),
    ]
    .map(|(name, dims, kind)| TensorSpec { name: name.into(), dims: dims.into(), kind })
    .into()
}

#[test]
fn gguf_files_of_the_reference_are_read_and_written_back_byte_for_byte() {
    for (name, alignment) in [("every_type.gguf", None), ("aligned_64.gguf", Some(64))] {
        let bytes = vector(name);
        let header = gguf::Header::parse(&bytes).expect(name);
        assert_eq!((header.version, header.alignment), (3, alignment.unwrap_or(32)));
        assert_eq!(header.metadata, expected_metadata(alignment));
        let specs = expected_tensors();
        let found = header.tensors.iter().map(|info| (&info.name, &info.dims, info.kind));
        assert!(found.eq(specs.iter().map(|spec| (&spec.name, &spec.dims, spec.kind))), "{:?}", header.tensors);
        let data = |name: &str| &bytes[header.tensor(name).expect(name).range()];
        assert_eq!(data("plain")[..8], [(-1_f32).to_le_bytes(), (-0.875_f32).to_le_bytes()].concat());
        assert_eq!(data("ids"), [7_i32.to_le_bytes(), (-8_i32).to_le_bytes()].concat());
        assert_eq!((data("small"), data("short")), (&[3, 252, 5][..], &(-300_i16).to_le_bytes()[..]));

        let mut writer = Writer::new(Vec::new(), &header.metadata, &specs).expect(name);
        header.tensors.iter().try_for_each(|info| writer.write(&bytes[info.range()])).expect(name);
        assert_eq!(writer.finish().expect(name), bytes, "{name}");
    }
}

#[test]
fn a_gguf_file_without_tensors_is_read() {
    let bytes = vector("metadata_only.gguf");
    let header = gguf::Header::parse(&bytes).expect("good");
    assert_eq!((header.tensors.len(), header.metadata), (0, expected_metadata(None)));
}

#[test]
fn a_big_endian_gguf_file_is_recognized() {
    assert_eq!(gguf::Header::parse(&vector("big_endian.gguf")), Err(GgufError::BigEndian { version: 3 }));
}

#[test]
fn a_safetensors_file_of_the_reference_is_read_and_written_back_byte_for_byte() {
    let bytes = vector("many.safetensors");
    let header = safetensors::Header::parse(&bytes).expect("good");
    let mut metadata = header.metadata.clone();
    metadata.sort();
    assert_eq!(metadata, [("format", "np"), ("note", "line\nbreak")].map(|(k, v)| (k.to_owned(), v.to_owned())));
    let dtypes: Vec<_> = header.tensors.iter().map(|info| (info.name.as_str(), info.dtype)).collect();
    let expected = [
        ("u64", Dtype::U64),
        ("i64", Dtype::I64),
        ("f64", Dtype::F64),
        ("c64", Dtype::C64),
        ("empty", Dtype::F32),
        ("f32", Dtype::F32),
        ("scalar", Dtype::F32),
        ("u32", Dtype::U32),
        ("i32", Dtype::I32),
        ("bf16", Dtype::BF16),
        ("f16", Dtype::F16),
        ("u16", Dtype::U16),
        ("i16", Dtype::I16),
        ("f8_e4m3", Dtype::F8_E4M3),
        ("f8_e5m2", Dtype::F8_E5M2),
        ("i8", Dtype::I8),
        ("grün \"quoted\"", Dtype::U8),
        ("u8", Dtype::U8),
        ("bool", Dtype::BOOL),
    ];
    assert_eq!(dtypes, expected);
    let data = |name: &str| &bytes[header.tensor(name).expect(name).range()];
    assert_eq!(data("f32"), [1_f32, 0.0, 1.0].map(f32::to_le_bytes).concat());
    assert_eq!(data("bf16"), [0x80, 0x3f, 0, 0, 0x80, 0x3f]);
    assert_eq!((data("scalar"), data("empty")), (&2.5_f32.to_le_bytes()[..], &[][..]));
    assert_eq!(header.tensor("empty").expect("there").shape, [0, 4]);

    let spec = |info: &safetensors::TensorInfo| safetensors::TensorSpec {
        name: info.name.clone(),
        dtype: info.dtype,
        shape: info.shape.clone(),
    };
    let specs: Vec<_> = header.tensors.iter().map(spec).collect();
    let mut ordered: Vec<_> = specs.iter().rev().cloned().collect();
    safetensors::order(&mut ordered);
    assert_eq!(ordered, specs, "our order is that of the reference");
    let mut writer = safetensors::Writer::new(Vec::new(), &header.metadata, &specs).expect("good");
    header.tensors.iter().try_for_each(|info| writer.write(&bytes[info.range()])).expect("good");
    assert_eq!(writer.finish().expect("complete"), bytes);
}

#[test]
fn a_safetensors_file_without_tensors_is_read() {
    let header = safetensors::Header::parse(&vector("none.safetensors")).expect("good");
    assert_eq!((header.tensors.len(), header.metadata.len(), header.data_start), (0, 0, 16));
}

#[test]
fn npy_files_of_every_type_are_read() {
    for (name, element, order) in [
        ("b1_little", Element::Bool, ByteOrder::Little),
        ("i1_little", Element::I8, ByteOrder::Little),
        ("u1_little", Element::U8, ByteOrder::Little),
        ("i2_little", Element::I16, ByteOrder::Little),
        ("i2_big", Element::I16, ByteOrder::Big),
        ("i4_little", Element::I32, ByteOrder::Little),
        ("i8_little", Element::I64, ByteOrder::Little),
        ("u2_little", Element::U16, ByteOrder::Little),
        ("u4_little", Element::U32, ByteOrder::Little),
        ("u8_little", Element::U64, ByteOrder::Little),
        ("u8_big", Element::U64, ByteOrder::Big),
        ("f2_little", Element::F16, ByteOrder::Little),
        ("f4_little", Element::F32, ByteOrder::Little),
        ("f4_big", Element::F32, ByteOrder::Big),
        ("f8_little", Element::F64, ByteOrder::Little),
    ] {
        let bytes = vector(&format!("{name}.npy"));
        let header = npy::Header::parse(&bytes).expect(name);
        assert_eq!((header.dtype.element, header.dtype.order, header.version), (element, order, 1), "{name}");
        assert_eq!((&header.shape[..], header.fortran_order), (&[3, 2][..], false), "{name}");
        assert_eq!(header.range(), 128..bytes.len(), "{name}");
    }
    let bytes = vector("f4_big.npy");
    let range = npy::Header::parse(&bytes).expect("good").range();
    assert_eq!(bytes[range], [1_f32, 0.0, 1.0, 1.0, 0.0, 1.0].map(f32::to_be_bytes).concat());
}

#[test]
fn npy_files_of_every_version_order_and_rank_are_read() {
    for (name, version, fortran) in [("version_2", 2, false), ("version_3", 3, false), ("fortran", 1, true)] {
        let header = npy::Header::parse(&vector(&format!("{name}.npy"))).expect(name);
        assert_eq!(
            (header.version, header.fortran_order, &header.shape[..]),
            (version, fortran, &[2, 3][..]),
            "{name}"
        );
    }
    let (scalar, empty) = (vector("scalar.npy"), vector("empty.npy"));
    assert_eq!(npy::Header::parse(&scalar).expect("good").elements(), 1);
    let empty = npy::Header::parse(&empty).expect("good");
    assert_eq!((empty.elements(), &empty.shape[..]), (0, &[0, 3][..]));
}

#[test]
fn npy_files_of_other_types_are_rejected_by_name() {
    for (name, descr, word) in [
        ("complex", "<c8", "complex"),
        ("bfloat16", "<V2", "bfloat16"),
        ("text", "<U1", "strings"),
        ("object", "|O", "objects"),
    ] {
        let error = npy::Header::parse(&vector(&format!("{name}.npy"))).expect_err(name);
        assert!(
            matches!(&error, NpyError::Dtype { descr: found, reason } if found == descr && reason.contains(word)),
            "{name}: {error}"
        );
    }
    assert_eq!(npy::Header::parse(&vector("record.npy")), Err(NpyError::Structured));
}

#[test]
fn npz_archives_are_read_stored_and_deflated() {
    for (name, method) in [("stored.npz", Method::Stored), ("deflated.npz", Method::Deflated)] {
        let bytes = vector(name);
        let archive = Archive::parse(&bytes).expect(name);
        let names: Vec<_> = archive.members.iter().map(|member| (member.name.as_str(), member.method)).collect();
        assert_eq!(names, [("weights.npy", method), ("ids.npy", method)]);
        let member = archive.member("weights").expect("there");
        assert_eq!(member.size, 128 + 1200);
        let content = member.read(2000).expect(name);
        let header = npy::Header::parse(&content).expect(name);
        assert_eq!((header.dtype.element, &header.shape[..]), (Element::F32, &[3, 100][..]));
        assert!(content[header.range()].chunks(4).zip(0_u16..).all(|(word, i)| word == f32::from(i).to_le_bytes()));
        match method {
            Method::Stored => {
                assert_eq!(member.stored(), Some(&*content));
                assert_eq!(&bytes[member.range()], &*content, "in place");
            }
            Method::Deflated => {
                assert_eq!(member.stored(), None);
                let over = NpzError::OverLimit { member: "weights.npy".into(), size: 1328, limit: 1327 };
                assert_eq!(member.read(1327), Err(over));
            }
        }
        assert!(archive.member("nothing").is_none());
    }
}

#[test]
fn other_compressions_are_rejected_by_number() {
    let bytes = vector("bzip2.npz");
    assert_eq!(Archive::parse(&bytes), Err(NpzError::Method { member: "x.npy".into(), method: 12 }));
}

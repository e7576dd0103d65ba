//! Tensors of npy and npz files.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use bitgrain_codec::weight::DType;
use bitgrain_formats::npy::{ByteOrder, Element, Header};
use bitgrain_formats::npz::Archive;

use super::bytes::Bytes;
use super::{ModelMetadata, ModelTensor, TensorEncoding};
use crate::model::ModelFileError;
use bitgrain_files::MappedFile;

/// Reads an npy file as one tensor named after the file.
pub(crate) fn read_npy(file: MappedFile) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    let path = file.path().to_owned();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let whole = file.map_all().map_err(ModelFileError::io(file.path()))?;
    let header = parse(&path, &whole)?;
    let tensor = if plain(&header) {
        let range = header.range();
        let range = range.start as u64..range.end as u64;
        tensor(name, &header, Bytes::File { file: Arc::new(file), range })
    } else {
        tensor(name, &header, Bytes::Owned(to_row_major(&header, &whole[header.range()])))
    };
    Ok((ModelMetadata { version: Some(header.version.into()), ..ModelMetadata::default() }, vec![tensor]))
}

/// Reads the arrays of an npz file and verifies their checksums. Stored members stay in the file; compressed members
/// are decompressed into memory.
pub(crate) fn read_npz(file: MappedFile) -> Result<(ModelMetadata, Vec<ModelTensor>), ModelFileError> {
    /// Maximum compression ratio of Deflate. A member that claims more is corrupt or a decompression bomb.
    const MOST: u64 = 1032;
    let path = file.path().to_owned();
    let file = Arc::new(file);
    let whole = file.map_all().map_err(ModelFileError::io(file.path()))?;
    let wrong = |source| ModelFileError::Npz { path: path.clone(), source };
    let archive = Archive::parse(&whole).map_err(wrong)?;
    let mut tensors = Vec::with_capacity(archive.members.len());
    for member in archive.members.iter().filter(|member| member.name.ends_with(".npy")) {
        let name = member.name.trim_end_matches(".npy").to_owned();
        let bytes = member.read((whole.len() as u64).saturating_mul(MOST)).map_err(wrong)?;
        let header = parse(&path, &bytes)?;
        let codes = if matches!(bytes, Cow::Borrowed(_)) && plain(&header) {
            let (start, range) = (member.range().start, header.range());
            let range = (start + range.start) as u64..(start + range.end) as u64;
            Bytes::File { file: Arc::clone(&file), range }
        } else {
            Bytes::Owned(to_row_major(&header, &bytes[header.range()]))
        };
        tensors.push(tensor(name, &header, codes));
    }
    Ok((ModelMetadata::default(), tensors))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Header, ModelFileError> {
    Header::parse(bytes).map_err(|source| ModelFileError::Npy { path: path.to_owned(), source })
}

fn tensor(name: String, header: &Header, codes: Bytes) -> ModelTensor {
    ModelTensor {
        name,
        shape: header.shape.clone(),
        storage: storage(header.dtype.element),
        codes,
        scales: None,
        zeros: None,
        view: None,
        packed: None,
    }
}

fn storage(element: Element) -> TensorEncoding {
    let integers = |dtype, name| TensorEncoding::Integers { dtype, name };
    match element {
        Element::F16 => TensorEncoding::plain(DType::Float16),
        Element::F32 => TensorEncoding::plain(DType::Float32),
        Element::F64 => TensorEncoding::plain(DType::Float64),
        Element::I8 => integers(DType::Int8, "I8"),
        Element::I16 => integers(DType::Int16, "I16"),
        Element::I32 => integers(DType::Int32, "I32"),
        Element::I64 => integers(DType::Int64, "I64"),
        Element::U8 => integers(DType::Uint8, "U8"),
        Element::U16 => integers(DType::Uint16, "U16"),
        Element::U32 => integers(DType::Uint32, "U32"),
        Element::U64 => integers(DType::Uint64, "U64"),
        Element::Bool => integers(DType::Uint8, "BOOL"),
    }
}

/// Returns whether the bytes are already little-endian and in row-major order.
fn plain(header: &Header) -> bool {
    let flat = !header.fortran_order || header.shape.len() < 2;
    flat && (header.dtype.order == ByteOrder::Little || header.dtype.element.bytes() == 1)
}

/// Returns the elements in little-endian and row-major order.
fn to_row_major(header: &Header, bytes: &[u8]) -> Arc<[u8]> {
    let width = usize::try_from(header.dtype.element.bytes()).unwrap_or(1);
    let mut out = bytes.to_vec();
    if header.fortran_order && header.shape.len() > 1 {
        let size = |dim: &u64| usize::try_from(*dim).unwrap_or(0);
        let shape: Vec<usize> = header.shape.iter().map(size).collect();
        // The input is column-major: walk the output in order and the input by strides.
        let mut strides = vec![1; shape.len()];
        (1..shape.len()).for_each(|i| strides[i] = strides[i - 1] * shape[i - 1]);
        let mut index = vec![0; shape.len()];
        for chunk in out.chunks_exact_mut(width) {
            let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
            chunk.copy_from_slice(&bytes[at * width..][..width]);
            for (i, dim) in index.iter_mut().zip(&shape).rev() {
                *i += 1;
                if *i < *dim {
                    break;
                }
                *i = 0;
            }
        }
    }
    if header.dtype.order == ByteOrder::Big {
        out.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    out.into()
}

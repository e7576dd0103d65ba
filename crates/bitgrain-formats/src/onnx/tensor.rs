//! Constant tensors.

use super::message::Message;

/// Type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorKind {
    /// 32-bit floats.
    F32,
    /// Bytes.
    U8,
    /// 64-bit integers.
    I64,
    /// Strings.
    Text,
    /// 64-bit floats.
    F64,
}

impl TensorKind {
    /// Number of the type in ONNX.
    pub(super) const fn code(self) -> i64 {
        match self {
            Self::F32 => 1,
            Self::U8 => 2,
            Self::I64 => 7,
            Self::Text => 8,
            Self::F64 => 11,
        }
    }
}

/// A constant tensor of one dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum Tensor {
    /// 64-bit floats.
    F64(Vec<f64>),
    /// Bytes.
    U8(Vec<u8>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Strings.
    Text(Vec<String>),
}

impl Tensor {
    pub(super) fn message(&self, name: &str) -> Message {
        let mut message = Message::default();
        let (len, kind) = match self {
            Self::F64(values) => (values.len(), TensorKind::F64),
            Self::U8(values) => (values.len(), TensorKind::U8),
            Self::I64(values) => (values.len(), TensorKind::I64),
            Self::Text(values) => (values.len(), TensorKind::Text),
        };
        message.integers(1, &[i64::try_from(len).unwrap_or(i64::MAX)]).integer(2, kind.code());
        // Raw data is little-endian on every machine; strings have their own field.
        match self {
            Self::F64(values) => {
                message.bytes(9, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
            }
            Self::I64(values) => {
                message.bytes(9, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
            }
            Self::U8(values) => message.bytes(9, values),
            Self::Text(values) => {
                for value in values {
                    message.text(6, value);
                }
                &mut message
            }
        };
        message.text(8, name);
        message
    }
}

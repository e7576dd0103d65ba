//! `Dtype`: element type and byte order of an array.

use super::NpyError;

/// Element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the type it is named after")]
pub enum Element {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// Byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first; also used for single-byte types.
    Little,
    /// Most significant byte first.
    Big,
}

/// Element type and byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// Element type.
    pub element: Element,
    /// Byte order.
    pub order: ByteOrder,
}

impl Element {
    /// Returns the size of an element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

impl Dtype {
    /// Parses NumPy's `descr` string.
    ///
    /// # Errors
    /// Returns [`NpyError::Dtype`] with the reason if the type is not supported.
    ///
    /// ```
    /// use bitgrain_formats::npy::{ByteOrder, Dtype, Element};
    /// assert_eq!(Dtype::parse(">f4"), Ok(Dtype { element: Element::F32, order: ByteOrder::Big }));
    /// assert!(Dtype::parse("|O").is_err()); // Python objects
    /// ```
    pub fn parse(descr: &str) -> Result<Self, NpyError> {
        let refuse = |reason| Err(NpyError::Dtype { descr: descr.into(), reason });
        let (order, name) = match descr.split_at_checked(1) {
            Some(("<", name)) => (Some(ByteOrder::Little), name),
            Some((">", name)) => (Some(ByteOrder::Big), name),
            Some(("|", name)) => (None, name),
            Some(("=", _)) => return refuse("the byte order is that of an unknown machine"),
            _ => return refuse("it says no byte order"),
        };
        let element = match name {
            "b1" => Element::Bool,
            "i1" => Element::I8,
            "i2" => Element::I16,
            "i4" => Element::I32,
            "i8" => Element::I64,
            "u1" => Element::U8,
            "u2" => Element::U16,
            "u4" => Element::U32,
            "u8" => Element::U64,
            "f2" => Element::F16,
            "f4" => Element::F32,
            "f8" => Element::F64,
            _ => return refuse(reason(name)),
        };
        match order {
            Some(order) if element.bytes() > 1 => Ok(Self { element, order }),
            None if element.bytes() > 1 => refuse("it says no byte order"),
            _ => Ok(Self { element, order: ByteOrder::Little }),
        }
    }
}

/// Returns the reason why a type is not supported.
fn reason(name: &str) -> &'static str {
    match name.as_bytes().first() {
        Some(b'O') => "Python objects, which only unpickling could read",
        Some(b'c') => "complex numbers",
        Some(b'V') => "bytes without a meaning; `V2` is what ml_dtypes writes for bfloat16",
        Some(b'S' | b'a' | b'U' | b'T') => "strings",
        Some(b'M' | b'm') => "dates and times",
        Some(b'f') => "floats of an uncommon width",
        _ => "not a type of NumPy",
    }
}

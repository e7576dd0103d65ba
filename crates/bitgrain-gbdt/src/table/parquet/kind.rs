//! What the values of a Parquet column are to us.

use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::schema::types::ColumnDescriptor;

/// What becomes of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 0 or 1.
    Flag,
    /// A number of 32 or 64 bits, from a signed integer or a float.
    Number,
    /// From an unsigned integer, which is stored as a signed one.
    Unsigned,
    /// An integer, divided by a power of ten; stored as such or as big-endian bytes.
    Decimal {
        /// The power.
        scale: i32,
    },
    /// Two bytes.
    Float16,
    /// Nanoseconds since 1970, in 96 bits.
    Moment,
    /// A text.
    Text,
}

impl Kind {
    /// The kind of a column, or what it holds that is neither number nor text.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        if column.max_rep_level() > 0 {
            return Err("lists".to_owned());
        }
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        let decimal = match logical {
            Some(LogicalType::Decimal(decimal)) => Some(decimal.scale),
            _ => (converted == ConvertedType::DECIMAL).then(|| column.type_scale()),
        };
        if let Some(scale) = decimal {
            return Ok(Self::Decimal { scale });
        }
        let unsigned = matches!(
            converted,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ) || matches!(logical, Some(LogicalType::Integer(int)) if !int.is_signed);
        match column.physical_type() {
            Type::BOOLEAN => Ok(Self::Flag),
            Type::INT32 | Type::INT64 if unsigned => Ok(Self::Unsigned),
            // Dates and times count as numbers do: from an origin, in a unit.
            Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE => Ok(Self::Number),
            Type::INT96 => Ok(Self::Moment),
            Type::FIXED_LEN_BYTE_ARRAY if logical == Some(&LogicalType::Float16) => Ok(Self::Float16),
            Type::FIXED_LEN_BYTE_ARRAY => Err(format!("{} bytes in each row", column.type_length())),
            Type::BYTE_ARRAY => match logical {
                Some(other @ (LogicalType::Bson | LogicalType::Variant(_) | LogicalType::Geometry(_))) => {
                    Err(format!("{other:?}"))
                }
                // Bytes of no type may be texts; if they are not, their reader says so.
                _ => Ok(Self::Text),
            },
        }
    }
}

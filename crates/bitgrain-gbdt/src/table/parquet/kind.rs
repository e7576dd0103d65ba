//! Mapping of Parquet column types.

use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::schema::types::ColumnDescriptor;

/// Conversion of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Boolean, as 0 or 1.
    Flag,
    /// Signed integer or float of 32 or 64 bits.
    Number,
    /// Unsigned integer, stored as a signed one.
    Unsigned,
    /// Integer divided by a power of ten; stored as an integer or as big-endian bytes.
    Decimal {
        /// Exponent of the power of ten.
        scale: i32,
    },
    /// Half-precision float of two bytes.
    Float16,
    /// INT96 timestamp, in nanoseconds since 1970.
    Moment,
    /// String.
    Text,
}

impl Kind {
    /// Returns the kind of a column, or a description of an unsupported type.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        if column.max_rep_level() > 0 {
            return Err("list".to_owned());
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
            // Dates and times are read as numbers: units since their epoch.
            Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE => Ok(Self::Number),
            Type::INT96 => Ok(Self::Moment),
            Type::FIXED_LEN_BYTE_ARRAY if logical == Some(&LogicalType::Float16) => Ok(Self::Float16),
            Type::FIXED_LEN_BYTE_ARRAY => Err(format!("fixed-size binary of {} bytes", column.type_length())),
            Type::BYTE_ARRAY => match logical {
                Some(other @ (LogicalType::Bson | LogicalType::Variant(_) | LogicalType::Geometry(_))) => {
                    Err(format!("{other:?}"))
                }
                // Untyped bytes may be strings; otherwise reading them fails with an error.
                _ => Ok(Self::Text),
            },
        }
    }
}

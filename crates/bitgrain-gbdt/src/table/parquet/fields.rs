//! Field types of the structs in `parquet.thrift` that the Parquet reader knows.
//!
//! The reader assumes that a field it knows has the type of the specification, regardless of the type that the file declares. A
//! validation that requires these types therefore consumes the same bytes for each field as the reader.

use self::Wire::{Binary, Boolean, Byte, Double, Integer, List, Struct};

/// Wire type of a value in Thrift's compact protocol.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wire {
    Boolean,
    Byte,
    /// 16, 32 or 64 bits, or an enum: all are varints.
    Integer,
    Double,
    Binary,
    List(&'static Wire),
    Struct(Fields),
}

/// Types of a struct's fields by id.
pub(super) type Fields = &'static [(i16, Wire)];

impl Wire {
    /// Returns whether a type number of the protocol encodes this wire type.
    pub(super) const fn is(self, kind: u8) -> bool {
        match self {
            Boolean => matches!(kind, 1 | 2),
            Byte => kind == 3,
            Integer => matches!(kind, 4..=6),
            Double => kind == 7,
            Binary => kind == 8,
            List(_) => matches!(kind, 9 | 10),
            Struct(_) => kind == 12,
        }
    }
}

pub(super) const FILE_METADATA: Fields = &[
    (1, Integer),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, Integer),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Binary),
    (7, List(&Struct(COLUMN_ORDER))),
];

pub(super) const PAGE_HEADER: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Struct(DATA_PAGE_HEADER)),
    (6, Struct(EMPTY)),
    (7, Struct(DICTIONARY_PAGE_HEADER)),
    (8, Struct(DATA_PAGE_HEADER_V2)),
];

const EMPTY: Fields = &[];

const SCHEMA_ELEMENT: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Binary),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, Integer),
    (9, Integer),
    (10, Struct(LOGICAL_TYPE)),
];

const LOGICAL_TYPE: Fields = &[
    (1, Struct(EMPTY)),
    (2, Struct(EMPTY)),
    (3, Struct(EMPTY)),
    (4, Struct(EMPTY)),
    (5, Struct(&[(1, Integer), (2, Integer)])),
    (6, Struct(EMPTY)),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(&[(1, Byte), (2, Boolean)])),
    (11, Struct(EMPTY)),
    (12, Struct(EMPTY)),
    (13, Struct(EMPTY)),
    (14, Struct(EMPTY)),
    (15, Struct(EMPTY)),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, Integer)])),
    (19, Struct(EMPTY)),
];

const TIME: Fields = &[(1, Boolean), (2, Struct(&[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))]))];

const ROW_GROUP: Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, Integer),
    (3, Integer),
    (4, List(&Struct(&[(1, Integer), (2, Boolean), (3, Boolean)]))),
    (5, Integer),
    (6, Integer),
    (7, Integer),
];

const COLUMN_CHUNK: Fields =
    &[(1, Binary), (2, Integer), (3, Struct(COLUMN_METADATA)), (4, Integer), (5, Integer), (6, Integer), (7, Integer)];

const COLUMN_METADATA: Fields = &[
    (1, Integer),
    (2, List(&Integer)),
    (3, List(&Binary)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, List(&Struct(KEY_VALUE))),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Integer), (2, Integer), (3, Integer)]))),
    (14, Integer),
    (15, Integer),
    (16, Struct(&[(1, Integer), (2, List(&Integer)), (3, List(&Integer))])),
    (17, Struct(&[(1, Struct(BOUNDING_BOX)), (2, List(&Integer))])),
];

const BOUNDING_BOX: Fields =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];

const KEY_VALUE: Fields = &[(1, Binary), (2, Binary)];

const COLUMN_ORDER: Fields = &[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))];

const STATISTICS: Fields = &[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
    (7, Boolean),
    (8, Boolean),
    (9, Integer),
];

const DATA_PAGE_HEADER: Fields = &[(1, Integer), (2, Integer), (3, Integer), (4, Integer), (5, Struct(STATISTICS))];

const DICTIONARY_PAGE_HEADER: Fields = &[(1, Integer), (2, Integer), (3, Boolean)];

const DATA_PAGE_HEADER_V2: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Boolean),
    (8, Struct(STATISTICS)),
];

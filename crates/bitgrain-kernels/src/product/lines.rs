//! Aligned lines of codes, scales and floats.

/// 64 bytes of codes, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct CodeLine(pub [u8; 64]);

/// Sixteen scales in half precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct HalfLine(pub [u16; 16]);

/// Sixteen floats, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct FloatLine(pub [f32; 16]);

impl FloatLine {
    /// A line of zeros.
    pub const ZERO: Self = Self([0.0; 16]);
}

/// Sixteen signed integers, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct WordLine(pub [i32; 16]);

impl WordLine {
    /// A line of zeros.
    pub const ZERO: Self = Self([0; 16]);
}

/// Sixteen f64 in two cache lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct DoubleLine(pub [f64; 16]);

impl DoubleLine {
    /// A line of zeros.
    pub const ZERO: Self = Self([0.0; 16]);
}

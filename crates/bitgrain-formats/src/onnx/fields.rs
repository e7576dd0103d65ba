//! Fields of protocol buffer messages, with every length bounded by the message.

use std::ops::Range;

use super::OnnxError;

/// Value of a field. Ranges are offsets in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Integer(u64),
    Bytes(Range<usize>),
    /// A number of four or eight bytes.
    Fixed(Range<usize>),
}

/// Calls `take` with number and value of every field of the message in `range`.
pub(super) fn for_each(
    file: &[u8],
    range: Range<usize>,
    mut take: impl FnMut(u64, Value) -> Result<(), OnnxError>,
) -> Result<(), OnnxError> {
    let mut at = range.start;
    while at < range.end {
        let start = at;
        let truncated = || OnnxError::Truncated { offset: start as u64 };
        let key = varint(file, &mut at, range.end).ok_or_else(truncated)?;
        let value = match key & 7 {
            0 => Value::Integer(varint(file, &mut at, range.end).ok_or_else(truncated)?),
            1 => Value::Fixed(run(&mut at, range.end, 8).ok_or_else(truncated)?),
            2 => {
                let len = varint(file, &mut at, range.end).ok_or_else(truncated)?;
                Value::Bytes(run(&mut at, range.end, len).ok_or_else(truncated)?)
            }
            5 => Value::Fixed(run(&mut at, range.end, 4).ok_or_else(truncated)?),
            wire => {
                let wire = u8::try_from(wire).unwrap_or(u8::MAX);
                return Err(OnnxError::WireType { offset: start as u64, wire });
            }
        };
        take(key >> 3, value)?;
    }
    Ok(())
}

/// Skips `len` bytes and returns their range.
fn run(at: &mut usize, end: usize, len: u64) -> Option<Range<usize>> {
    let len = usize::try_from(len).ok().filter(|len| *len <= end - *at)?;
    *at += len;
    Some(*at - len..*at)
}

/// Reads the integers of a packed field.
pub(super) fn varints(file: &[u8], range: Range<usize>) -> Result<Vec<u64>, OnnxError> {
    let (mut at, mut out) = (range.start, Vec::new());
    while at < range.end {
        let offset = at as u64;
        out.push(varint(file, &mut at, range.end).ok_or(OnnxError::Truncated { offset })?);
    }
    Ok(out)
}

/// Reads an integer of at most ten bytes, seven bits each.
fn varint(file: &[u8], at: &mut usize, end: usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let byte = *file.get(*at).filter(|_| *at < end)?;
        *at += 1;
        value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_encoding_guide() {
        let file = b"\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05\x1d\x00\x00\x80\x3f";
        let mut found = Vec::new();
        for_each(file, 0..file.len(), |field, value| {
            found.push((field, value));
            Ok(())
        })
        .expect("well-formed");
        let wanted =
            [(1, Value::Integer(150)), (2, Value::Bytes(5..12)), (6, Value::Bytes(14..20)), (3, Value::Fixed(21..25))];
        assert_eq!(found, wanted);
        assert_eq!(varints(file, 14..20), Ok(vec![3, 270, 86942]));
    }

    #[test]
    fn truncated_fields_and_unknown_wire_types_are_refused() {
        let none = |_, _| Ok(());
        for bytes in
            [&b"\x08"[..], b"\x08\x96", b"\x12\x07test", b"\x0d\x00", b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
        {
            let error = for_each(bytes, 0..bytes.len(), none);
            assert_eq!(error, Err(OnnxError::Truncated { offset: 0 }), "{bytes:?}");
        }
        assert_eq!(for_each(b"\x0b", 0..1, none), Err(OnnxError::WireType { offset: 0, wire: 3 }));
    }
}

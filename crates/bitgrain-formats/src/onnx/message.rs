//! Protocol buffer messages: fields with a number, written one after another.

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// Wire types: a variable-length integer, and bytes with a length.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;

impl Message {
    /// Adds an integer.
    pub(super) fn integer(&mut self, field: u64, value: i64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        self.varint(value.cast_unsigned());
        self
    }

    /// Adds bytes: a string, raw data or an encoded message.
    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) -> &mut Self {
        self.varint(field << 3 | LENGTH);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds a string.
    pub(super) fn text(&mut self, field: u64, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(&mut self, field: u64, value: &Self) -> &mut Self {
        self.bytes(field, &value.bytes)
    }

    /// Adds integers in one packed field, which every reader accepts in place of one field per integer.
    pub(super) fn integers(&mut self, field: u64, values: &[i64]) -> &mut Self {
        let mut packed = Self::default();
        values.iter().for_each(|value| packed.varint(value.cast_unsigned()));
        self.message(field, &packed)
    }

    /// Returns the encoded message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_encoding_guide() {
        let mut message = Message::default();
        message.integer(1, 150).text(2, "testing").integers(6, &[3, 270, 86942]).integer(3, -1);
        let wanted =
            b"\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(message.into_bytes(), wanted);
    }
}

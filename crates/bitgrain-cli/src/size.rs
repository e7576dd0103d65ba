//! `Bytes`: sizes as people write them: `60MB`, `1.5 GiB`, `4096`.

use std::str::FromStr;

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

const UNITS: [(&str, f64); 12] = [
    ("tib", 1_099_511_627_776.0),
    ("tb", 1e12),
    ("t", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let plain =
            lower.strip_suffix('b').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(&lower);
        let unit = UNITS.iter().find_map(|(unit, bytes)| Some((plain.strip_suffix(unit)?, *bytes)));
        let (number, unit) = unit.unwrap_or((plain, 1.0));
        let bytes = number.trim().parse::<f64>().ok().map(|number| number * unit);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        match bytes {
            Some(bytes) if (1.0..9e18).contains(&bytes) => Ok(Self(bytes as u64)),
            _ => Err(format!("`{text}` is no size; write for example 60MB, 1.5GiB or 4096")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Bytes>().map(|size| size.0);
        assert_eq!(read("60MB"), Ok(60_000_000));
        assert_eq!(read("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(read("4096"), Ok(4096));
        assert_eq!(read("512b"), Ok(512));
        for wrong in ["", "MB", "-1MB", "1e99GB", "60 apples", "nan"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

//! Names of the store's files.

/// Kind and number of a file, parsed from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileName {
    /// Lists the segments that belong to the store.
    Manifest(u64),
    /// Contains records.
    Segment(u64),
}

impl FileName {
    /// Parses a file name; returns `None` for files that do not belong to the store.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (kind, digits) = name.split_once('-')?;
        let number = u64::from_str_radix(digits, 16).ok()?;
        let found = match kind {
            "manifest" => Self::Manifest(number),
            "segment" => Self::Segment(number),
            _ => return None,
        };
        // Only the canonical spelling: `+1`, upper case or fewer digits would allow two names for one number.
        (found.to_string() == name).then_some(found)
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Manifest(number) => write!(f, "manifest-{number:016x}"),
            Self::Segment(number) => write!(f, "segment-{number:016x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_no_others() {
        for file in [FileName::Manifest(1), FileName::Segment(u64::MAX)] {
            assert_eq!(FileName::parse(&file.to_string()), Some(file));
        }
        for other in [
            "LOCK",
            "segment-1",
            "segment-00000000000000AB",
            "segment-0000000000000001.tmp",
            "manifest-+000000000000001",
        ] {
            assert_eq!(FileName::parse(other), None, "{other}");
        }
    }
}

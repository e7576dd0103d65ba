//! Names of the store's files.

/// What a file is by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileName {
    /// Says which segments count.
    Manifest(u64),
    /// Holds records.
    Segment(u64),
}

impl FileName {
    /// What `name` stands for; none if it is not ours.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (kind, digits) = name.split_once('-')?;
        let number = u64::from_str_radix(digits, 16).ok()?;
        let found = match kind {
            "manifest" => Self::Manifest(number),
            "segment" => Self::Segment(number),
            _ => return None,
        };
        // Exactly as written: not `+1`, not capitals, not fewer digits.
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

//! `Archive`: members listed in the directory of an npz file.

use super::directory::{Directory, Entry, content_start};
use super::{Member, Method, NpzError};
use crate::duplicate::duplicate;

/// Flag of encrypted members.
const ENCRYPTED: u16 = 1;

/// Entries to reserve memory for up front.
const RESERVE: usize = 1024;

/// Members of an archive.
///
/// ```
/// use bitgrain_formats::npz::{Archive, NpzError};
/// let empty = [b"PK\x05\x06", &[0; 18][..]].concat(); // an archive without members
/// assert!(Archive::parse(&empty)?.members.is_empty());
/// assert_eq!(Archive::parse(b"PK"), Err(NpzError::NoDirectory { len: 2 }));
/// # Ok::<(), NpzError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Archive<'a> {
    /// Members in directory order, without duplicate names.
    pub members: Vec<Member<'a>>,
}

impl<'a> Archive<'a> {
    /// Lists the members of an archive, given all bytes of the file; their contents are not touched.
    ///
    /// # Errors
    /// Returns an [`NpzError`] with the cause and its position; the rules are in `spec/containers.md#npz`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NpzError> {
        let directory = Directory::find(bytes)?;
        let mut rest = directory.entries(bytes)?;
        let end = directory.offset + rest.len() as u64;
        let mut members = Vec::with_capacity(usize::try_from(directory.count).unwrap_or(RESERVE).min(RESERVE));
        let mut spans = Vec::new();
        for index in 0..directory.count {
            let (entry, after) = Entry::read(rest, end - rest.len() as u64)?;
            let member = Self::read_member(bytes, &entry, index)?;
            spans.push((entry.local_offset, member.range().end as u64, members.len()));
            members.push(member);
            rest = after;
        }
        if let Some(member) = duplicate(members.iter().map(|member| member.name.as_str())) {
            return Err(NpzError::DuplicateMember { member: member.into() });
        }
        spans.sort_unstable();
        match spans.windows(2).find(|pair| pair[1].0 < pair[0].1) {
            Some(&[(_, expected, _), (start, _, later)]) => {
                Err(NpzError::Overlap { member: members[later].name.clone(), start, expected })
            }
            _ => Ok(Self { members }),
        }
    }

    /// Returns the member called `name` or `name.npy`, by linear search.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member<'a>> {
        let exact = self.members.iter().find(|member| member.name == name);
        exact.or_else(|| self.members.iter().find(|member| member.name.strip_suffix(".npy") == Some(name)))
    }

    fn read_member(bytes: &'a [u8], entry: &Entry<'_>, index: u64) -> Result<Member<'a>, NpzError> {
        let name = str::from_utf8(entry.name).map_err(|_| NpzError::NotUtf8 { index })?.to_owned();
        if entry.flags & ENCRYPTED != 0 {
            return Err(NpzError::Encrypted { member: name });
        }
        let method = match entry.method {
            0 => Method::Stored,
            8 => Method::Deflated,
            method => return Err(NpzError::Method { member: name, method }),
        };
        let start = content_start(bytes, entry.local_offset)?;
        let from = usize::try_from(start).ok().and_then(|start| Some((start, bytes.get(start..)?)));
        let held =
            usize::try_from(entry.compressed).ok().zip(from).and_then(|(len, (at, from))| Some((at, from.get(..len)?)));
        let Some((at, held)) = held else {
            let left = (bytes.len() as u64).saturating_sub(start);
            return Err(NpzError::PastEnd { member: name, start, needed: entry.compressed, left });
        };
        let member = Member { name, method, size: entry.size, held, start: at, crc: entry.crc };
        member.check_size()?;
        Ok(member)
    }
}

//! `CheckedPages`: rejects pages whose value counts exceed their contents.
//!
//! The decoders of dictionaries and of delta-encoded strings allocate as many values as a page declares, which aborts
//! the process if memory does not suffice.

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};

/// Page reader that rejects pages which declare more values than they can hold.
pub(super) struct CheckedPages<R> {
    pages: R,
    /// Definition level of non-null values; if it is not 0, pages start with levels.
    max_level: i16,
    /// Whether a dictionary was read.
    has_dictionary: bool,
}

impl<R> CheckedPages<R> {
    pub(super) fn new(pages: R, max_level: i16) -> Self {
        Self { pages, max_level, has_dictionary: false }
    }
}

impl<R: PageReader> Iterator for CheckedPages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: PageReader> PageReader for CheckedPages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            check(page, self.max_level)?;
            self.has_dictionary |= matches!(page, Page::DictionaryPage { .. });
            // The decoder expects a dictionary and panics without one.
            let by_index = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
            if by_index && !self.has_dictionary {
                return Err(ParquetError::General("corrupt page: indices without a dictionary".into()));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

fn check(page: &Page, max_level: i16) -> Result<()> {
    let damaged = |what: &str| ParquetError::General(format!("corrupt page: {what}"));
    let count = page.num_values() as usize;
    let start = match page {
        // A value takes at least one bit.
        Page::DictionaryPage { buf, .. } if count / 8 > buf.len() => {
            return Err(damaged("the dictionary declares more values than it has bytes for"));
        }
        Page::DictionaryPage { .. } => return Ok(()),
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
        }
        Page::DataPage { .. } if max_level == 0 => 0,
        Page::DataPage { buf, def_level_encoding: Encoding::RLE, .. } => {
            let len = buf.first_chunk().ok_or_else(|| damaged("missing levels"))?;
            4 + u64::from(u32::from_le_bytes(*len))
        }
        Page::DataPage { .. } => {
            let bits = i16::BITS - max_level.leading_zeros();
            (u64::from(page.num_values()) * u64::from(bits)).div_ceil(8)
        }
    };
    let lists = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let bytes = usize::try_from(start).ok().and_then(|start| page.buffer().get(start..));
    let mut rest = bytes.ok_or_else(|| damaged("levels extend past its end"))?;
    for _ in 0..lists {
        let len = delta_len(rest, count).ok_or_else(|| damaged("more lengths than values"))?;
        rest = rest.get(len..).unwrap_or_default();
    }
    Ok(())
}

/// Size in bytes of a list of delta-encoded integers; `None` if it has more than `limit` or is corrupt.
fn delta_len(bytes: &[u8], limit: usize) -> Option<usize> {
    let mut at = 0;
    let varint = |at: &mut usize| {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = *bytes.get(*at)?;
            *at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let (block, minis) = (varint(&mut at)?, varint(&mut at)?);
    let total = usize::try_from(varint(&mut at)?).ok().filter(|total| *total <= limit)?;
    varint(&mut at)?; // the first value
    let each = usize::try_from(block.checked_div(minis)?).ok().filter(|each| *each > 0)?;
    let minis = usize::try_from(minis).ok()?;
    let mut left = total.saturating_sub(1);
    while left > 0 {
        varint(&mut at)?; // the smallest difference
        let widths = bytes.get(at..)?.get(..minis)?;
        at += minis;
        for width in widths {
            // Widths after the last value are unspecified.
            at = at.checked_add(if left > 0 { usize::from(*width).checked_mul(each)? / 8 } else { 0 })?;
            left = left.saturating_sub(each);
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 values in blocks of 128 with 4 miniblocks: first 5, then 7 deltas of 3 bits each in the first miniblock.
    fn list() -> Vec<u8> {
        let mut bytes = vec![0x80, 1, 4, 8, 10, 0, 3, 99, 99, 99];
        bytes.extend([0; 12]);
        bytes
    }

    #[test]
    fn a_list_ends_after_the_chunk_with_its_last_value() {
        let bytes = list();
        assert_eq!(delta_len(&bytes, 8), Some(bytes.len()));
        assert_eq!(delta_len(&[0x80, 1, 4, 1, 10], 8), Some(5), "one value needs no block");
        assert_eq!(delta_len(&[0x80, 1, 4, 0, 0], 8), Some(5));
    }

    #[test]
    fn a_dictionary_has_a_bit_for_each_value() {
        let page = |num_values| Page::DictionaryPage {
            buf: vec![0; 4].into(),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        assert!(check(&page(32), 0).is_ok());
        assert!(check(&page(40), 0).is_err());
        assert!(check(&page(u32::MAX), 0).is_err());
    }

    #[test]
    fn indices_need_a_dictionary() {
        let dictionary = || Page::DictionaryPage {
            buf: vec![0; 4].into(),
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let indices = || Page::DataPage {
            buf: vec![1, 2, 1].into(),
            num_values: 1,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let read = |pages: Vec<Page>| CheckedPages::new(Pages(pages.into_iter()), 0).collect::<Result<Vec<_>>>();
        assert_eq!(read(vec![dictionary(), indices()]).expect("valid pages").len(), 2);
        let Err(error) = read(vec![indices()]) else { panic!("there is no dictionary") };
        assert!(error.to_string().contains("indices without a dictionary"), "{error}");
    }

    struct Pages(std::vec::IntoIter<Page>);

    impl Iterator for Pages {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.get_next_page().transpose()
        }
    }

    impl PageReader for Pages {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn more_values_than_the_page_has_are_rejected() {
        assert_eq!(delta_len(&list(), 7), None);
        assert_eq!(delta_len(&[0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], 1 << 20), None);
        assert_eq!(delta_len(&[0x80, 1, 0, 8, 0], 8), None);
        assert_eq!(delta_len(&list()[..9], 8), None);
    }
}

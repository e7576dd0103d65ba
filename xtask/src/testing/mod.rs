//! Tables of `docs/testing.md`: counts from the sources, and records of long runs in `docs/testing/`.
//!
//! A table is between `<!-- table NAME -->` and `<!-- end -->`; the rest of the page is written by hand.

mod counts;
mod records;

use crate::error::TaskError;

/// The page, from the workspace root.
pub(crate) const PAGE: &str = "docs/testing.md";

/// Returns the page with its tables generated again.
///
/// # Errors
/// Returns [`TaskError::Unreadable`] if a source or a record cannot be read, or [`TaskError::Record`] if a record is
/// invalid or a table is unknown.
pub(crate) fn render(page: &str) -> Result<String, TaskError> {
    let mut output = String::with_capacity(page.len());
    let mut parts = page.split("<!-- table ");
    output.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let malformed = || TaskError::Record { path: PAGE.into(), cause: "a table without an end".into() };
        let (name, rest) = part.split_once(" -->").ok_or_else(malformed)?;
        let (_, after) = rest.split_once("<!-- end -->").ok_or_else(malformed)?;
        let table = table(name)?;
        output.push_str(&format!("<!-- table {name} -->\n{table}<!-- end -->{after}"));
    }
    Ok(output)
}

fn table(name: &str) -> Result<String, TaskError> {
    match name {
        "tests" => counts::table(),
        "runs" => records::runs(),
        "fuzz" => records::fuzz(),
        _ => Err(TaskError::Record { path: PAGE.into(), cause: format!("unknown table `{name}`") }),
    }
}

/// Formats a count with thousands separators.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut output = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            output.push(',');
        }
        output.push(digit);
    }
    output
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::step::root;

    #[test]
    fn the_page_matches_its_sources_and_records() {
        let page = fs::read_to_string(root().join(PAGE)).expect("the page exists");
        let rendered = render(&page).expect("every record is readable");
        assert!(page == rendered, "docs/testing.md is out of date; run `cargo xtask testing` and commit it");
    }

    #[test]
    fn an_unknown_table_is_an_error() {
        assert!(render("<!-- table nothing -->\n<!-- end -->").is_err());
        assert!(render("<!-- table tests -->\n").is_err());
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 12_345_678].map(grouped), ["0", "999", "1,000", "12,345,678"]);
    }
}

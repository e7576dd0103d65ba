//! Links in Markdown, outside of code.

/// Replaces every link target outside of code blocks.
///
/// Handles inline links `[text](target)`, images, and the HTML attributes `src` and `srcset`.
pub(super) fn with_links(text: &str, mut replace: impl FnMut(&str) -> String) -> String {
    let mut output = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if inside || fence {
            output.push_str(line);
        } else {
            output.push_str(&in_line(line, &mut replace));
        }
    }
    output
}

fn in_line(line: &str, replace: &mut impl FnMut(&str) -> String) -> String {
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((start, end)) = next_target(rest) {
        output.push_str(&rest[..start]);
        output.push_str(&replace(&rest[start..end]));
        rest = &rest[end..];
    }
    output + rest
}

/// Returns the range of the first link target.
fn next_target(text: &str) -> Option<(usize, usize)> {
    [("](", ')'), (" src=\"", '"'), (" srcset=\"", '"')]
        .into_iter()
        .filter_map(|(opening, closing)| {
            let start = text.find(opening)? + opening.len();
            Some((start, start + text[start..].find(closing)?))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_images_are_replaced_but_not_in_code_blocks() {
        let text = "a [b](c.md#d), ![e](f.svg)\n<img src=\"g.svg\">\n```text\n[x](y.md)\n```\n[h](i.md)\n";
        let mut seen = Vec::new();
        let output = with_links(text, |target| {
            seen.push(target.to_owned());
            format!("<{target}>")
        });
        assert_eq!(seen, ["c.md#d", "f.svg", "g.svg", "i.md"]);
        assert!(output.contains("[b](<c.md#d>)") && output.contains("\n[x](y.md)\n"), "{output}");
    }
}

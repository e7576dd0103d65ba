//! Assembles the playground: one HTML file with its style, scripts, module and digit network inside.
//!
//! A page of several files needs a server, because browsers do not load modules and workers from a folder. One file can be
//! opened, copied and used offline.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::digits;
use crate::error::TaskError;
use crate::site::files::read;
use crate::step::root;

/// Scripts of the page, in the order in which they are joined.
const SCRIPTS: [&str; 7] = ["page.js", "chart.js", "table.js", "weights.js", "search.js", "digit.js", "main.js"];

/// Scripts of the worker, which follow the package's own.
const WORKER: [&str; 1] = ["worker.js"];

/// Writes `playground.html` into a folder, from the package in `package`; returns its path.
///
/// # Errors
/// Returns [`TaskError::Unreadable`] for a missing file, or [`TaskError::Output`].
pub(crate) fn write(package: &Path, folder: &Path) -> Result<PathBuf, TaskError> {
    let source = root().join("bindings/wasm/playground");
    let joined = |names: &[&str]| -> Result<String, TaskError> {
        let scripts = names.iter().map(|name| Ok(scoped(&read(&source.join(name))?)));
        Ok(scripts.collect::<Result<Vec<_>, TaskError>>()?.concat())
    };
    let worker =
        format!("\"use strict\";\n{}{}", without_exports(&read(&package.join("bitgrain.js"))?), joined(&WORKER)?);
    let module = base64(&fs::read(package.join("bitgrain_bg.wasm"))?);
    let network = base64(&fs::read(digits()?)?);
    let mut page = read(&source.join("index.html"))?;
    for (mark, content) in [
        ("/* style */", read(&source.join("style.css"))?),
        ("/* scripts */", joined(&SCRIPTS)?),
        // Not executable where it stands: the page starts a worker from this text.
        ("/* worker */", worker.replace("</script", "<\\/script")),
        ("AGdigits==", network),
        ("AGFzbQ==", module),
    ] {
        page = page.replacen(mark, &content, 1);
    }
    fs::create_dir_all(folder)?;
    let path = folder.join("playground.html");
    fs::write(&path, page)?;
    Ok(path)
}

/// Makes the package's script a classic one: Chromium does not start workers from modules in a page without a server.
fn without_exports(script: &str) -> String {
    let lines = script.lines().filter(|line| !line.starts_with("export {"));
    lines.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect()
}

/// Gives a script its own scope, as a module has, in which the exports of the scripts before it are visible.
fn scoped(script: &str) -> String {
    let mut exports = Vec::new();
    let mut body = String::new();
    for line in script.lines().filter(|line| !line.starts_with("import ")) {
        let exported = line.strip_prefix("export ");
        if let Some(declaration) = exported {
            let words = declaration.split(|c: char| !c.is_alphanumeric() && c != '_');
            exports.extend(
                words.map(str::to_owned).find(|word| !["async", "function", "const", "class"].contains(&word.as_str())),
            );
        }
        body += exported.unwrap_or(line);
        body.push('\n');
    }
    match exports.join(", ") {
        // In a block, so that the last script may await.
        names if names.is_empty() => format!("{{\n{body}}}\n"),
        names => format!("const {{ {names} }} = (() => {{\n{body}return {{ {names} }};\n}})();\n"),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let place = (word >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[place]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_base64() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn scripts_keep_their_names_to_themselves() {
        let script =
            scoped("import { x } from \"./x.js\";\nlet state;\nexport async function f() {}\nexport class G {}\n");
        assert_eq!(
            script,
            "const { f, G } = (() => {\nlet state;\nasync function f() {}\nclass G {}\nreturn { f, G };\n})();\n"
        );
        assert_eq!(scoped("await 1;\n"), "{\nawait 1;\n}\n");
    }

    #[test]
    fn every_script_of_the_playground_is_in_the_page() {
        let source = root().join("bindings/wasm/playground");
        let mut found: Vec<_> = fs::read_dir(source).expect("readable").flatten().map(|e| e.file_name()).collect();
        found.retain(|name| name.to_string_lossy().ends_with(".js"));
        found.sort();
        let mut known = [&SCRIPTS[..], &WORKER[..]].concat();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}

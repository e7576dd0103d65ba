//! Tests on other platforms: AArch64 and s390x under QEMU, WebAssembly in Node, the npm package in Node and Chromium, kernels
//! for GPUs on a software adapter.
//!
//! A platform needs a compiler with its standard library, a linker and an emulator. Missing parts are installed from
//! Debian's packages where this process may do so; otherwise the platform is skipped with a message.

mod gpu;
mod packages;
mod platform;
mod toolchain;

use std::io::Write;

use crate::error::TaskError;
use crate::npm;
pub(crate) use packages::install;
use platform::PLATFORMS;
pub(crate) use toolchain::Toolchain;

/// Outcome of a platform whose tests did not fail.
enum Outcome {
    Passed,
    Skipped(String),
}

/// Tests every platform and prints one line per platform at the end.
///
/// # Errors
/// Returns [`TaskError::Failed`] for the first test that fails, after which no other platform is tested.
pub(crate) fn test(out: &mut impl Write) -> Result<(), TaskError> {
    let mut lines = Vec::new();
    for platform in &PLATFORMS {
        lines.push(match platform.test()? {
            Outcome::Passed => format!("{}: passed ({})", platform.name, platform.contents),
            Outcome::Skipped(reason) => format!("{}: skipped; {reason}", platform.name),
        });
    }
    lines.extend(package()?);
    lines.push(match gpu::test()? {
        Outcome::Passed => format!("gpu: passed ({})", gpu::CONTENTS),
        Outcome::Skipped(reason) => format!("gpu: skipped; {reason}"),
    });
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Tests the npm package in Node and its page in Chromium; returns a line for each. The compiler and Node were installed
/// for the tests of WebAssembly.
fn package() -> Result<[String; 2], TaskError> {
    let Some(toolchain) = Toolchain::find(npm::TRIPLE) else {
        return Ok(["npm", "browser"].map(|name| format!("{name}: skipped; no compiler for {}", npm::TRIPLE)));
    };
    let package = npm::build(toolchain)?;
    npm::test_node()?;
    let page = npm::write_page(&package, &npm::folder()?)?;
    let browser = match npm::test_browser(&page)? {
        None => "browser: passed (the playground in Chromium against the native command)".to_owned(),
        Some(reason) => format!("browser: skipped; {reason}"),
    };
    Ok(["npm: passed (the package in Node)".to_owned(), browser])
}

/// Returns the sentence that ends a run without these platforms.
pub(crate) fn not_tested() -> String {
    let names: Vec<_> = PLATFORMS.iter().map(|platform| platform.name).chain(["npm", "browser", "gpu"]).collect();
    format!("not tested on {}; `cargo xtask test --platforms` adds them", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_platforms_names_each_of_them_and_the_option() {
        let sentence = not_tested();
        assert!(
            ["aarch64", "wasm32", "s390x", "npm", "browser", "gpu", "--platforms"]
                .iter()
                .all(|word| sentence.contains(word)),
            "{sentence}"
        );
    }
}

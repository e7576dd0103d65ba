//! Tests on other platforms: AArch64 and s390x under QEMU, WebAssembly in Node.
//!
//! A platform needs a compiler with its standard library, a linker and an emulator. Missing parts are installed from
//! Debian's packages where this process may do so; otherwise the platform is skipped with a message.

mod packages;
mod platform;
mod toolchain;

use std::io::Write;

use crate::error::TaskError;
use platform::PLATFORMS;

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
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the sentence that ends a run without these platforms.
pub(crate) fn not_tested() -> String {
    let names: Vec<_> = PLATFORMS.iter().map(|platform| platform.name).collect();
    format!("not tested on {}; `cargo xtask test --platforms` adds them", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_platforms_names_each_of_them_and_the_option() {
        let sentence = not_tested();
        assert!(["aarch64", "wasm32", "s390x", "--platforms"].iter().all(|word| sentence.contains(word)), "{sentence}");
    }
}

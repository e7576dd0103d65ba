//! Builds the npm package: two modules, their JavaScript and TypeScript files, and the files around them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TRIPLE, folder};
use crate::error::TaskError;
use crate::platforms::Toolchain;
use crate::site::files;
use crate::step::{Step, root, target};

/// Each module: its folder in the package, and its arguments for cargo. The small one is for pages that only decode tensors,
/// where the download takes longer than the work: its kernels are optimized for size.
const MODULES: [(&str, &[&str]); 2] = [
    ("", &[]),
    (
        "codec",
        &[
            "--no-default-features",
            "--config",
            "profile.npm.package.bitgrain-kernels.opt-level=\"s\"",
            "--config",
            "profile.npm.package.bitgrain-codec.opt-level=\"s\"",
        ],
    ),
];

/// Builds the package with a toolchain and returns its folder.
///
/// # Errors
/// Returns [`TaskError::Failed`] if a build fails.
pub(crate) fn build(toolchain: Toolchain) -> Result<PathBuf, TaskError> {
    let package = folder()?.join("node_modules/bitgrain");
    files::remove(&package)?;
    for (name, arguments) in MODULES {
        compile(toolchain, arguments)?;
        let place = package.join(name);
        fs::create_dir_all(&place)?;
        generate(&toolchain.folder()?.join(TRIPLE).join("npm/bitgrain_wasm.wasm"), &place)?;
        for file in ["node.js", "web.js"] {
            fs::copy(root().join("bindings/wasm/package").join(file), place.join(file))?;
        }
    }
    for file in ["bindings/wasm/package/package.json", "bindings/wasm/README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        let path = root().join(file);
        fs::copy(&path, package.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(package)
}

/// Compiles a module. The library of both has the same name, so the second replaces the first.
fn compile(toolchain: Toolchain, arguments: &[&str]) -> Result<(), TaskError> {
    let mut step = toolchain
        .cargo()?
        .args(["build", "--profile", "npm", "--locked", "-p", "bitgrain-wasm", "--target", TRIPLE])
        .args(arguments)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");
    if toolchain == Toolchain::Debian {
        step = step.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-22");
        // Without the library of tests, and without the panic runtime that unwinds.
        step = step.args(["-Zbuild-std=core,alloc,std,panic_abort"]);
    }
    step.run()
}

/// Generates the JavaScript and TypeScript files of a module.
fn generate(module: &Path, place: &Path) -> Result<(), TaskError> {
    let bindgen = ["--no-default-features", "--features", "bindgen", "--bin", "bitgrain-bindgen"];
    let step = Step::cargo().args(["run", "--quiet", "--locked", "-p", "bitgrain-wasm"]).args(bindgen);
    step.args(["--".as_ref(), module.as_os_str(), place.as_os_str()]).run()
}

/// Trains the digit network of the playground, which takes a second; returns its file.
///
/// # Errors
/// Returns [`TaskError::Failed`] if the build fails.
pub(super) fn digits() -> Result<PathBuf, TaskError> {
    let file = target()?.join("digits.safetensors");
    let run =
        ["run", "--quiet", "--profile", "test", "--locked", "-p", "bitgrain-nn", "--example", "digit_network", "--"];
    Step::cargo().args(run).args([&file]).run()?;
    Ok(file)
}

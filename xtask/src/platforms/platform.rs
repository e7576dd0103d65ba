//! `Platform`: target, tools and tests of one platform.

use super::Outcome;
use super::packages;
use super::toolchain::Toolchain;
use crate::error::TaskError;
use crate::step::{Step, root};

/// A platform whose tests run on this machine.
pub(crate) struct Platform {
    pub(crate) name: &'static str,
    /// Contents of the tests, for the summary.
    pub(crate) contents: &'static str,
    pub(super) triple: &'static str,
    /// Programs that must be on the search path; each prints its version with `--version`.
    programs: &'static [&'static str],
    /// Files that must exist.
    files: &'static [&'static str],
    /// Debian packages with these programs and files.
    packages: &'static [&'static str],
    /// Packages that the Debian compiler needs in addition.
    compiler_packages: &'static [&'static str],
    /// Cargo settings of the target: the part of the variable's name after the target, and the value. `{root}` in a value
    /// stands for the workspace.
    settings: &'static [(&'static str, &'static str)],
    /// Cargo settings with the Debian compiler only.
    compiler_settings: &'static [(&'static str, &'static str)],
    commands: &'static [Command],
}

/// A cargo command.
struct Command {
    arguments: &'static [&'static str],
    /// CPU that QEMU emulates, or an empty string for its default.
    cpu: &'static str,
    /// Tests that cannot pass under emulation.
    skip: &'static [&'static str],
}

/// In the order in which they are tested: the vector backends first.
pub(crate) const PLATFORMS: [Platform; 3] = [
    Platform {
        name: "aarch64",
        contents: "kernels with NEON, dotprod and i8mm under QEMU",
        triple: "aarch64-unknown-linux-gnu",
        programs: &["qemu-aarch64-static", "aarch64-linux-gnu-gcc"],
        files: &["/usr/aarch64-linux-gnu/lib/libc.so.6"],
        packages: &["qemu-user-static", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        compiler_packages: &[],
        settings: &[("LINKER", "aarch64-linux-gnu-gcc"), ("RUNNER", "qemu-aarch64-static -L /usr/aarch64-linux-gnu")],
        compiler_settings: &[],
        commands: &[
            // A CPU without the instructions of `dotprod` and `i8mm`: their backends would repeat the tests of NEON.
            Command { arguments: &["test", "-p", "bitgrain-kernels", "--tests"], cpu: "cortex-a72", skip: &[] },
            Command { arguments: &["test", "-p", "bitgrain-kernels", "--lib"], cpu: "max", skip: &[] },
            Command {
                arguments: &["test", "-p", "bitgrain-kernels", "--test", "equivalence", "product"],
                cpu: "max",
                skip: &[],
            },
            Command {
                arguments: &["test", "-p", "bitgrain-kernels", "--test", "equivalence", "planes_and_tiles"],
                cpu: "max",
                skip: &[],
            },
            Command {
                arguments: &["test", "-p", "bitgrain-kernels", "--test", "equivalence", "integer_dots"],
                cpu: "max",
                skip: &[],
            },
            Command {
                arguments: &["test", "-p", "bitgrain-kernels", "--test", "equivalence", "score_rows"],
                cpu: "max",
                skip: &[],
            },
            Command {
                arguments: &["test", "-p", "bitgrain-kernels", "--test", "equivalence", "crc32c"],
                cpu: "max",
                skip: &[],
            },
        ],
    },
    Platform {
        name: "wasm32",
        contents: "kernels with simd128 in Node",
        triple: "wasm32-unknown-unknown",
        programs: &["node"],
        files: &[],
        packages: &["nodejs"],
        compiler_packages: &["lld-22"],
        settings: &[("RUSTFLAGS", "-C target-feature=+simd128"), ("RUNNER", "node {root}/xtask/src/platforms/run.mjs")],
        compiler_settings: &[("LINKER", "wasm-ld-22")],
        commands: &[Command { arguments: &["test", "-p", "bitgrain-kernels", "--tests"], cpu: "", skip: &[] }],
    },
    Platform {
        name: "s390x",
        contents: "codec, formats and store on a big-endian CPU under QEMU",
        triple: "s390x-unknown-linux-gnu",
        programs: &["qemu-s390x-static", "s390x-linux-gnu-gcc"],
        files: &["/usr/s390x-linux-gnu/lib/libc.so.6"],
        packages: &["qemu-user-static", "gcc-s390x-linux-gnu", "libc6-dev-s390x-cross"],
        compiler_packages: &[],
        settings: &[("LINKER", "s390x-linux-gnu-gcc"), ("RUNNER", "qemu-s390x-static -L /usr/s390x-linux-gnu")],
        compiler_settings: &[],
        commands: &[Command {
            arguments: &["test", "-p", "bitgrain-codec", "-p", "bitgrain-formats", "-p", "bitgrain-store", "--tests"],
            cpu: "",
            skip: &[
                // QEMU 7.2 multiplies two f32 to an f64 wrongly (instruction MDEBR), and with it sums of products.
                "fidelity",
                "half_quadratic_calibration_reduces_its_own_norm",
                "importance_moves_the_error",
                "estimates_are_unbiased",
                "approximate::",
                "answers_do_not_depend_on_the_storage",
                // Starts itself again, which the emulator cannot do without help from the kernel.
                "killing_a_process",
                // Has a time limit.
                "is_fast",
            ],
        }],
    },
];

impl Platform {
    /// Installs missing parts, then runs the tests.
    ///
    /// # Errors
    /// Returns [`TaskError::Failed`] if the tests fail.
    pub(super) fn test(&self) -> Result<Outcome, TaskError> {
        let has_tools = || {
            self.programs.iter().all(|program| Step::new(program).args(["--version"]).succeeds())
                && self.files.iter().all(|file| std::path::Path::new(file).exists())
        };
        if !has_tools() {
            packages::install(self.packages);
            if !has_tools() {
                return Ok(skipped(self.packages));
            }
        }
        let toolchain = match Toolchain::find(self.triple) {
            Some(toolchain) => toolchain,
            None => {
                let packages = [Toolchain::PACKAGES, self.compiler_packages].concat();
                packages::install(&packages);
                match Toolchain::find(self.triple) {
                    Some(toolchain) => toolchain,
                    None => return Ok(skipped(&packages)),
                }
            }
        };
        for command in self.commands {
            self.step(toolchain, command)?.run()?;
        }
        Ok(Outcome::Passed)
    }

    fn step(&self, toolchain: Toolchain, command: &Command) -> Result<Step, TaskError> {
        let mut step = toolchain.cargo()?.args(command.arguments).args(["--locked", "--target", self.triple]);
        // Emulated instructions cost more than optimizing them away.
        step = step.env("CARGO_PROFILE_TEST_OPT_LEVEL", "2").with_fixed_cases();
        if !command.cpu.is_empty() {
            step = step.env("QEMU_CPU", command.cpu);
        }
        let extra = if toolchain == Toolchain::Debian { self.compiler_settings } else { &[] };
        let root = root().canonicalize()?;
        for (key, value) in self.settings.iter().chain(extra) {
            let target = self.triple.to_uppercase().replace('-', "_");
            let value = value.replace("{root}", &root.to_string_lossy());
            step = step.env(&format!("CARGO_TARGET_{target}_{key}"), &value);
        }
        step = step.args(toolchain.arguments());
        if !command.skip.is_empty() {
            step = step.args(["--"]).args(command.skip.iter().flat_map(|test| ["--skip", test]));
        }
        Ok(step)
    }
}

fn skipped(packages: &[&str]) -> Outcome {
    Outcome::Skipped(format!("install {} to add it", packages.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_target_linker_and_runner() {
        let step = PLATFORMS[0].step(Toolchain::Active, &PLATFORMS[0].commands[0]).expect("the workspace exists");
        let typed = step.to_string();
        assert!(typed.contains("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc"), "{typed}");
        assert!(
            typed.contains("qemu-aarch64-static") && typed.contains("--target aarch64-unknown-linux-gnu"),
            "{typed}"
        );
        assert!(!typed.contains("build-std"), "{typed}");
    }

    #[test]
    fn the_debian_compiler_builds_the_standard_library_in_a_separate_folder() {
        let step = PLATFORMS[1].step(Toolchain::Debian, &PLATFORMS[1].commands[0]).expect("the workspace exists");
        let typed = step.to_string();
        assert!(typed.contains("-Zbuild-std") && typed.contains("wasm-ld-22"), "{typed}");
        assert!(typed.contains("CARGO_TARGET_DIR="), "{typed}");
    }

    #[test]
    fn the_documentation_lists_every_skipped_test() {
        let page = std::fs::read_to_string(root().join("docs/platforms.md")).expect("the page exists");
        for name in PLATFORMS.iter().flat_map(|platform| platform.commands).flat_map(|command| command.skip) {
            assert!(page.contains(&format!("`{name}`")), "docs/platforms.md does not mention `{name}`");
        }
    }

    #[test]
    fn the_runner_of_wasm_exists() {
        assert!(root().join("xtask/src/platforms/run.mjs").is_file());
    }
}

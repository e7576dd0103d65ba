//! Measurements of the kernels on other platforms: rates in Node, and numbers of instructions under QEMU.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::error::TaskError;
use crate::step::{Step, target};

/// Times the kernels in Node with and without `simd128`, and natively.
///
/// # Errors
/// Returns [`TaskError::NotStarted`] without Node, or [`TaskError::Failed`] if a build or a kernel fails.
pub(crate) fn wasm() -> Result<(), TaskError> {
    const TRIPLE: &str = "wasm32-unknown-unknown";
    let mut programs = Vec::new();
    for (name, flags) in [("scalar", ""), ("simd128", "-C target-feature=+simd128")] {
        example(TRIPLE).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags).run()?;
        // The second build overwrites the file of the first.
        let copy = target()?.join(format!("speed-{name}.wasm"));
        fs::copy(built(TRIPLE, "speed.wasm")?, &copy)?;
        programs.push(copy);
    }
    Step::new("node").args(["bench/wasm.mjs"]).args(&programs).run()?;
    Step::cargo().args(["run", "--release", "--locked", "-p", "bitgrain-kernels", "--example", "speed"]).run()
}

/// A CPU whose instructions are counted.
struct Emulated {
    triple: &'static str,
    emulator: &'static [&'static str],
}

const ARM: Emulated = Emulated {
    triple: "aarch64-unknown-linux-gnu",
    emulator: &["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", "-cpu", "max"],
};
const X86: Emulated = Emulated { triple: "x86_64-unknown-linux-gnu", emulator: &["qemu-x86_64-static", "-cpu", "max"] };

/// Values per call of a kernel.
const VALUES: f64 = 16_384.0;

/// Counts the instructions per value of each kernel on NEON and AVX2. QEMU's log has one line per instruction; the
/// difference between two calls and one is that of the kernel alone.
///
/// # Errors
/// Returns [`TaskError::NotStarted`] without QEMU, or [`TaskError::Failed`] if a build or a kernel fails.
pub(crate) fn instructions(out: &mut impl Write) -> Result<(), TaskError> {
    for cpu in [&ARM, &X86] {
        example(cpu.triple).env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc").run()?;
    }
    let list = Step::new(built(X86.triple, "speed")?).args(["--kernels"]).output().unwrap_or_default();
    writeln!(out, "| kernel | backend | instructions per value | avx2 | ratio |\n|---|---|---|---|---|")?;
    for (kernel, line) in list.lines().enumerate() {
        let name = line.split_once(' ').map_or(line, |(_, name)| name);
        let avx2 = per_value(&X86, "avx2", kernel)?;
        // Only products of bytes have special instructions.
        let backends: &[_] =
            if name.contains("dot") || name.contains("product") { &["neon", "dotprod", "i8mm"] } else { &["neon"] };
        for backend in backends {
            let count = per_value(&ARM, backend, kernel)?;
            writeln!(out, "| {name} | {backend} | {count:.2} | {avx2:.2} | {:.1} |", count / avx2)?;
        }
    }
    Ok(())
}

fn per_value(cpu: &Emulated, backend: &str, kernel: usize) -> Result<f64, TaskError> {
    Ok((executed(cpu, backend, kernel, 2)? - executed(cpu, backend, kernel, 1)?) / VALUES)
}

/// Returns the number of instructions of a program that calls a kernel some times.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn executed(cpu: &Emulated, backend: &str, kernel: usize, times: u32) -> Result<f64, TaskError> {
    let log = target()?.join("instructions.log");
    let [program, arguments @ ..] = cpu.emulator else { return Ok(0.0) };
    Step::new(program)
        .args(arguments)
        .args(["-singlestep", "-d", "nochain,exec", "-D"])
        .args([&log])
        .args([built(cpu.triple, "speed")?])
        .args([kernel.to_string(), backend.to_owned(), times.to_string()])
        .run()?;
    let lines = fs::read(&log)?.iter().filter(|byte| **byte == b'\n').count();
    fs::remove_file(&log)?;
    Ok(lines as f64)
}

fn example(triple: &str) -> Step {
    let arguments = ["build", "--release", "--locked", "-p", "bitgrain-kernels", "--example", "speed", "--target"];
    Step::cargo().args(arguments).args([triple])
}

fn built(triple: &str, file: &str) -> Result<PathBuf, TaskError> {
    Ok(target()?.join(triple).join("release/examples").join(file))
}

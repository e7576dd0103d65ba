//! CPU detection without std: on Linux from the auxiliary vector, elsewhere from the features of the build.

/// Instructions for products of bytes and for checksums that the running CPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cpu {
    /// Sums of four products, and CRC-32C: Cortex-A75 and later, every Apple M.
    pub(crate) dotprod: bool,
    /// Products of matrices of 2 by 8 bytes: Neoverse V1, Cortex-X2, Apple M2 and later.
    pub(crate) i8mm: bool,
}

impl Cpu {
    pub(crate) fn read() -> Self {
        const ASIMDDP: u64 = 1 << 20;
        const CRC32: u64 = 1 << 7;
        const I8MM: u64 = 1 << 13;
        let [hwcap, hwcap2] = capabilities();
        // Apple's targets are compiled for a CPU with these instructions.
        Self {
            dotprod: (cfg!(target_feature = "dotprod") || hwcap & ASIMDDP != 0)
                && (cfg!(target_feature = "crc") || hwcap & CRC32 != 0),
            i8mm: cfg!(target_feature = "i8mm") || hwcap2 & I8MM != 0,
        }
    }
}

/// Returns the two words of capabilities that Linux passes to each process; zeros if they cannot be read.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn capabilities() -> [u64; 2] {
    const AT_HWCAP: u64 = 16;
    const AT_HWCAP2: u64 = 26;
    // About twenty pairs of numbers.
    let mut bytes = [0; 1024];
    let len = read_file(c"/proc/self/auxv", &mut bytes);
    let mut words = [0; 2];
    for pair in bytes[..len].as_chunks::<8>().0.as_chunks::<2>().0 {
        let [key, value] = pair.map(u64::from_le_bytes);
        match key {
            AT_HWCAP => words[0] = value,
            AT_HWCAP2 => words[1] = value,
            _ => {}
        }
    }
    words
}

/// Detection on other systems is not implemented.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn capabilities() -> [u64; 2] {
    [0; 2]
}

/// Reads the start of a file with system calls, because libc needs std. Returns the number of bytes, 0 on errors.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn read_file(path: &core::ffi::CStr, out: &mut [u8]) -> usize {
    const AT_FDCWD: usize = usize::MAX - 99;
    const OPENAT: usize = 56;
    const CLOSE: usize = 57;
    const READ: usize = 63;
    // SAFETY: `openat` reads the path up to its null byte; 0 is `O_RDONLY`.
    let file = unsafe { system_call(OPENAT, AT_FDCWD, path.as_ptr().addr(), 0) };
    let Ok(descriptor) = usize::try_from(file) else { return 0 };
    // SAFETY: `read` writes at most `out.len()` bytes to `out`.
    let len = unsafe { system_call(READ, descriptor, out.as_mut_ptr().expose_provenance(), out.len()) };
    // SAFETY: `close` takes a descriptor, which this function opened.
    unsafe { system_call(CLOSE, descriptor, 0, 0) };
    usize::try_from(len).unwrap_or(0)
}

/// # Safety
/// The arguments must be valid for the call.
#[cfg(any(target_os = "linux", target_os = "android"))]
unsafe fn system_call(number: usize, a: usize, b: usize, c: usize) -> isize {
    let answer: isize;
    // SAFETY: the caller passes valid arguments; the kernel preserves all registers except x0.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => answer,
            in("x1") b,
            in("x2") c,
            in("x3") 0,
            options(nostack),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        extern crate std;
        use std::arch::is_aarch64_feature_detected as has;
        assert!(has!("neon"));
        let dotprod = has!("dotprod") && has!("crc");
        assert_eq!(Cpu::read(), Cpu { dotprod, i8mm: has!("i8mm") });
    }
}

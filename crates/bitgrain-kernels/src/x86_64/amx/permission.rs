//! Permission to use tile registers: they enlarge a thread's saved state several times, so Linux requires a request.

/// Requests tile registers from Linux for the whole process. Fails for a process with an alternative signal stack that
/// is too small, and on kernels before 5.16.
#[cfg(target_os = "linux")]
pub(crate) fn request() -> bool {
    const SYS_ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let answer: isize;
    // SAFETY: the call takes two numbers and does not access our memory; `syscall` overwrites RCX and R11.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") SYS_ARCH_PRCTL => answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

/// Permission on other systems is not implemented.
#[cfg(not(target_os = "linux"))]
pub(crate) fn request() -> bool {
    false
}

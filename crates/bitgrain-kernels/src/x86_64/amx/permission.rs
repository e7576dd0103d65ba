//! Tile registers are used by the leave of the system: they make what it saves for a thread several times as large.

/// Asks Linux for tile registers, on behalf of the whole process. It says no to a process with an alternative signal
/// stack that is too small for them, and so do kernels before 5.16.
#[cfg(target_os = "linux")]
pub(crate) fn ask() -> bool {
    const SYS_ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let answer: isize;
    // SAFETY: the call takes two numbers and touches no memory of ours; RCX and R11 are what `syscall` overwrites.
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

/// How other systems are asked was not tried.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ask() -> bool {
    false
}

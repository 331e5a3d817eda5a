//! What the system says about this process.

use std::ops::{Add, Sub};

use crate::result::{Cpu, Switches};

/// What threads have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub cpu: Cpu,
    pub switches: Switches,
}

impl Usage {
    fn zip(self, other: Usage, figure: impl Fn(u64, u64) -> u64) -> Usage {
        let (cpu, switches) = (other.cpu, other.switches);
        Usage {
            cpu: Cpu {
                user: figure(self.cpu.user, cpu.user),
                system: figure(self.cpu.system, cpu.system),
            },
            switches: Switches {
                voluntary: figure(self.switches.voluntary, switches.voluntary),
                involuntary: figure(self.switches.involuntary, switches.involuntary),
            },
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        self.zip(other, |one, more| one + more)
    }
}

impl Sub for Usage {
    type Output = Usage;

    fn sub(self, earlier: Usage) -> Usage {
        self.zip(earlier, |now, before| now - before)
    }
}

/// What the calling thread has used so far; the process where the system has nothing finer.
#[cfg(unix)]
pub fn usage() -> Option<Usage> {
    #[cfg(target_os = "linux")]
    const WHO: libc::c_int = libc::RUSAGE_THREAD;
    #[cfg(not(target_os = "linux"))]
    const WHO: libc::c_int = libc::RUSAGE_SELF;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a `rusage`, which the call fills when it returns 0.
    let usage = unsafe {
        if libc::getrusage(WHO, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let nanoseconds =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Some(Usage {
        cpu: Cpu { user: nanoseconds(usage.ru_utime), system: nanoseconds(usage.ru_stime) },
        switches: Switches {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        },
    })
}

#[cfg(not(unix))]
pub fn usage() -> Option<Usage> {
    None
}

/// Whether [`usage`] is of one thread, so that several threads' figures add up.
pub const USAGE_IS_PER_THREAD: bool = cfg!(target_os = "linux");

/// Largest resident set so far, in bytes.
#[cfg(target_os = "linux")]
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(target_os = "macos")]
pub fn peak_rss_bytes() -> Option<u64> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a `rusage`, which the call fills when it returns 0.
    unsafe {
        (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) == 0)
            .then(|| usage.assume_init().ru_maxrss as u64)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn peak_rss_bytes() -> Option<u64> {
    None
}

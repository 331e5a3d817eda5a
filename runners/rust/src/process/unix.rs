//! Linux and macOS: `getrusage`, and on Linux /proc for the peak.

use super::Usage;
use crate::result::{PageFaults, Switches};

/// Whether [`usage`] has context switches and page faults.
pub const EVENTS_ARE_COUNTED: bool = true;

/// What all threads have used so far. Not `RUSAGE_THREAD`, which on Linux lacks what the thread did
/// since the last tick; asked for the process, the system brings the calling thread up to date.
pub fn usage() -> Option<Usage> {
    let usage = rusage()?;
    let nanoseconds =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Some(Usage {
        cpu_ns: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
        switches: Switches {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        },
        page_faults: PageFaults { minor: usage.ru_minflt as u64, major: usage.ru_majflt as u64 },
    })
}

fn rusage() -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a `rusage`, which the call fills when it returns 0.
    unsafe {
        (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) == 0).then(|| usage.assume_init())
    }
}

/// Largest resident set so far, in bytes. Not `ru_maxrss` on Linux: that starts from the size of
/// the process that spawned this one.
#[cfg(target_os = "linux")]
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Largest resident set so far, in bytes, as macOS counts it.
#[cfg(not(target_os = "linux"))]
pub fn peak_rss_bytes() -> Option<u64> {
    rusage().map(|usage| usage.ru_maxrss as u64)
}

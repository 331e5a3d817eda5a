//! Windows: times of the process in units of 100 ns, and the peak of the working set.

use std::mem::size_of;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

use super::Usage;

/// Whether [`usage`] has context switches and page faults.
pub const EVENTS_ARE_COUNTED: bool = false;

/// What all threads have used so far. Windows counts no context switches, and page faults in one
/// number.
pub fn usage() -> Option<Usage> {
    let [mut created, mut ended, mut system, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is this process's own, and all pointers are to live FILETIMEs.
    let known = unsafe {
        GetProcessTimes(GetCurrentProcess(), &mut created, &mut ended, &mut system, &mut user)
    };
    let nanoseconds = |time: FILETIME| {
        100 * (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime))
    };
    (known != 0)
        .then(|| Usage { cpu_ns: nanoseconds(user) + nanoseconds(system), ..Usage::default() })
}

/// Largest working set so far, in bytes.
pub fn peak_rss_bytes() -> Option<u64> {
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS { cb: size, ..Default::default() };
    // SAFETY: the handle is this process's own, and `size` is that of the structure behind it.
    let known = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, size) };
    (known != 0).then_some(counters.PeakWorkingSetSize as u64)
}

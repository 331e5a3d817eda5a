//! What the system says about this process.

use std::ops::{Add, Sub};

use crate::result::{PageFaults, Switches};

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

pub use system::{EVENTS_ARE_COUNTED, peak_rss_bytes, usage};

/// What all threads of the process have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU nanoseconds, user and system.
    pub cpu_ns: u64,
    pub switches: Switches,
    pub page_faults: PageFaults,
}

/// What the process used, of which each thread took a look before and after its work: from the
/// first look to the last, since it only grows.
pub fn used(looks: &[(Usage, Usage)]) -> Usage {
    let first = looks.iter().map(|look| look.0).reduce(|one, other| one.zip(other, u64::min));
    let last = looks.iter().map(|look| look.1).reduce(|one, other| one.zip(other, u64::max));
    last.unwrap_or_default() - first.unwrap_or_default()
}

impl Usage {
    fn zip(self, other: Usage, figure: impl Fn(u64, u64) -> u64) -> Usage {
        let Usage { cpu_ns, switches, page_faults } = other;
        Usage {
            cpu_ns: figure(self.cpu_ns, cpu_ns),
            switches: Switches {
                voluntary: figure(self.switches.voluntary, switches.voluntary),
                involuntary: figure(self.switches.involuntary, switches.involuntary),
            },
            page_faults: PageFaults {
                minor: figure(self.page_faults.minor, page_faults.minor),
                major: figure(self.page_faults.major, page_faults.major),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_in_bytes_and_grows_with_what_is_touched() {
        const MORE: usize = 64 << 20;
        let before = peak_rss_bytes().unwrap();
        assert!((1 << 20..1 << 34).contains(&before), "{before}");
        std::hint::black_box(vec![1u8; MORE]);
        let after = peak_rss_bytes().unwrap();
        assert!(after >= MORE as u64, "{after} after {MORE} bytes, {before} before");
    }

    #[test]
    fn looks_span_from_the_first_to_the_last() {
        let at = |minor| Usage {
            page_faults: PageFaults { minor, major: 2 * minor },
            ..Usage::default()
        };
        let faults = used(&[(at(3), at(5)), (at(2), at(9))]).page_faults;
        assert_eq!((faults.minor, faults.major), (7, 14));
    }

    #[test]
    #[cfg(unix)]
    fn touching_new_memory_is_a_minor_page_fault() {
        let before = usage().unwrap();
        std::hint::black_box(vec![1u8; 8 << 20]);
        let spent = usage().unwrap() - before;
        assert!(spent.page_faults.minor > 0, "{spent:?}");
    }

    #[test]
    fn work_uses_processor_time() {
        let before = usage().unwrap();
        let used = loop {
            let work: u64 = (0..1_000_000).map(std::hint::black_box).sum();
            assert_ne!(work, 0);
            let used = usage().unwrap() - before;
            if used.cpu_ns > 0 {
                break used;
            }
        };
        assert!(used.cpu_ns < 60_000_000_000, "{used:?}");
    }

    /// Linux tells of a running thread what it had used at the last tick, unless asked rightly.
    #[test]
    #[cfg(unix)]
    fn work_counts_up_to_the_moment_of_the_look() {
        const WORK: std::time::Duration = std::time::Duration::from_micros(500);
        const LOOKS_NS: u64 = 20_000; // two looks by either clock, which tells microseconds
        let own = || {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the pointer is to a live timespec.
            let told = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
            assert_eq!(told, 0);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        // An interrupt between two looks is charged to one of them, so most must agree, not all.
        let agree = (0..20).filter(|_| {
            let (start, before) = (own(), usage().unwrap());
            let work = std::time::Instant::now();
            while work.elapsed() < WORK {}
            // In this order: the thread's clock brings the system up to date.
            let used = (usage().unwrap() - before).cpu_ns;
            let spent = own() - start;
            used + LOOKS_NS >= spent
        });
        let times = agree.count();
        assert!(times > 10, "{times} of 20 times");
    }
}

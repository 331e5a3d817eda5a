//! What the system says about this process.

use std::ops::{Add, Sub};

use crate::result::{Cpu, PageFaults, Switches};

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

pub use system::{EVENTS_ARE_COUNTED, USAGE_IS_PER_THREAD, peak_rss_bytes, usage};

/// What threads have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub cpu: Cpu,
    pub switches: Switches,
    pub page_faults: PageFaults,
}

/// What threads used, each of which looked before and after its work. Where they all saw the
/// process's figures, which only grow, it is from the first look to the last.
pub fn used(looks: &[(Usage, Usage)], per_thread: bool) -> Usage {
    if per_thread {
        return looks.iter().fold(Usage::default(), |sum, &(before, after)| sum + (after - before));
    }
    let first = looks.iter().map(|look| look.0).reduce(|one, other| one.zip(other, u64::min));
    let last = looks.iter().map(|look| look.1).reduce(|one, other| one.zip(other, u64::max));
    last.unwrap_or_default() - first.unwrap_or_default()
}

impl Usage {
    fn zip(self, other: Usage, figure: impl Fn(u64, u64) -> u64) -> Usage {
        let Usage { cpu, switches, page_faults } = other;
        Usage {
            cpu: Cpu {
                user: figure(self.cpu.user, cpu.user),
                system: figure(self.cpu.system, cpu.system),
            },
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
    fn threads_add_up_and_looks_at_the_process_span_from_first_to_last() {
        let at = |minor| Usage {
            page_faults: PageFaults { minor, major: 2 * minor },
            ..Usage::default()
        };
        let looks = [(at(3), at(5)), (at(2), at(9))];
        let faults = |per_thread| used(&looks, per_thread).page_faults;
        assert_eq!((faults(true).minor, faults(true).major), (9, 18));
        assert_eq!((faults(false).minor, faults(false).major), (7, 14));
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
            if used.cpu.user + used.cpu.system > 0 {
                break used;
            }
        };
        assert!(used.cpu.user < 60_000_000_000, "{used:?}");
    }
}

//! What the system says about this process.

use std::ops::{Add, Sub};

use crate::result::{Cpu, Switches};

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

pub use system::{SWITCHES_ARE_COUNTED, USAGE_IS_PER_THREAD, peak_rss_bytes, usage};

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

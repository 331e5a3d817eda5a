//! Operations looked at one by one: when each is due, how long it took, whether it may be busy.

use std::thread;
use std::time::{Duration, Instant};

use crate::histogram::Histogram;

/// How long before an operation is due sleeping ends and spinning begins, in nanoseconds.
const SPIN_NS: u64 = 200_000;

/// What is asked of the loop besides performing its operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    pub latencies: bool,
    pub tolerate_busy: bool,
    pub pace: Option<Pace>,
    /// Whether operations are planned when the sequence says.
    pub recorded: bool,
}

impl Manner {
    fn is_paced(&self) -> bool {
        self.pace.is_some() || self.recorded
    }
}

/// An open loop: operation i is due (i + offset) / rate seconds after the start.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub rate: f64,
    pub offset: f64,
}

/// Nanoseconds since an iteration's start.
pub trait Clock {
    fn now(&self) -> u64;
    fn sleep(&self, nanoseconds: u64);
}

impl Clock for Instant {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.elapsed().as_nanos() as u64
    }

    fn sleep(&self, nanoseconds: u64) {
        thread::sleep(Duration::from_nanos(nanoseconds));
    }
}

/// What is recorded of the operations.
#[derive(Debug, Default)]
pub struct Recording {
    manner: Manner,
    latencies: Option<Histogram>,
    pacing: Option<Histogram>,
}

impl Recording {
    pub fn new(manner: Manner) -> Self {
        let latencies = manner.latencies.then(Histogram::default);
        let pacing = manner.is_paced().then(Histogram::default);
        Recording { manner, latencies, pacing }
    }

    /// Whether anything is asked, so that the plain loop does not do.
    pub fn is_needed(&self) -> bool {
        let Manner { latencies, tolerate_busy, .. } = self.manner;
        latencies || tolerate_busy || self.manner.is_paced()
    }

    pub fn tolerates_busy(&self) -> bool {
        self.manner.tolerate_busy
    }

    /// Waits until the operation with this number in the part is due; returns from when its
    /// latency counts.
    #[inline(always)]
    pub fn begin(&mut self, clock: &impl Clock, number: u64) -> u64 {
        match &self.manner.pace {
            Some(pace) => {
                let planned = ((number as f64 + pace.offset) / pace.rate * 1e9) as u64;
                self.begin_at(clock, planned)
            }
            _ if self.manner.latencies => clock.now(),
            _ => 0,
        }
    }

    /// Waits until this time, from which the latency of the operation counts.
    #[inline(always)]
    pub fn begin_at(&mut self, clock: &impl Clock, planned: u64) -> u64 {
        if let (Some(late), Some(pacing)) = (wait(clock, planned), &mut self.pacing) {
            pacing.record(late);
        }
        planned
    }

    /// Takes down the operation that has just ended.
    #[inline(always)]
    pub fn end(&mut self, clock: &impl Clock, begun: u64) {
        if let Some(latencies) = &mut self.latencies {
            latencies.record(clock.now().saturating_sub(begun));
        }
    }

    /// Latencies, and by how much those that waited began late.
    pub fn into_histograms(self) -> (Option<Histogram>, Option<Histogram>) {
        (self.latencies, self.pacing)
    }

    /// Forgets what a warm-up iteration recorded.
    pub fn clear(&mut self) {
        for histogram in [&mut self.latencies, &mut self.pacing].into_iter().flatten() {
            histogram.clear();
        }
    }
}

/// Sleeps, then spins until `planned`; returns by how much it was missed, unless it was over already.
#[inline]
fn wait(clock: &impl Clock, planned: u64) -> Option<u64> {
    let left = planned.checked_sub(clock.now())?;
    if left > SPIN_NS {
        clock.sleep(left - SPIN_NS);
    }
    loop {
        let now = clock.now();
        if now >= planned {
            return Some(now - planned);
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that goes on by itself when it is asked, and by sleeping.
    #[derive(Default)]
    struct Fake {
        now: Cell<u64>,
        tick: u64,
        slept: Cell<u64>,
    }

    impl Fake {
        fn pass(&self, nanoseconds: u64) {
            self.now.set(self.now.get() + nanoseconds);
        }
    }

    impl Clock for Fake {
        fn now(&self) -> u64 {
            self.pass(self.tick);
            self.now.get()
        }

        fn sleep(&self, nanoseconds: u64) {
            self.slept.set(self.slept.get() + nanoseconds);
            self.pass(nanoseconds);
        }
    }

    fn histogram(values: &[u64]) -> Vec<(usize, u64)> {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&value| histogram.record(value));
        histogram.buckets()
    }

    fn paced(rate: f64, offset: f64) -> Recording {
        let pace = Some(Pace { rate, offset });
        Recording::new(Manner { latencies: true, pace, ..Manner::default() })
    }

    /// Performs operations that take these nanoseconds.
    fn perform(recording: &mut Recording, clock: &Fake, durations: &[u64]) {
        for (number, duration) in (0..).zip(durations) {
            let begun = recording.begin(clock, number);
            clock.pass(*duration);
            recording.end(clock, begun);
        }
    }

    #[test]
    fn a_stall_shows_in_all_that_had_to_wait() {
        let (clock, mut recording) = (Fake { tick: 1, ..Fake::default() }, paced(1000.0, 0.0));
        // Due at 0, 1, 2, 3, 4 ms; the first takes 2.5 ms, the others 0.1 ms.
        perform(&mut recording, &clock, &[2_500_000, 100_000, 100_000, 100_000, 100_000]);
        // They end at 2.5, 2.6, 2.7, 3.1, 4.1 ms; the ticks of the clock are less than a bucket.
        let latencies = histogram(&[2_500_000, 1_600_000, 700_000, 100_000, 100_000]);
        assert_eq!(recording.latencies.unwrap().buckets(), latencies);
        // The first three were due already: nobody waited for their time.
        assert_eq!(recording.pacing.unwrap().buckets(), histogram(&[0, 0]));
    }

    #[test]
    fn it_sleeps_until_shortly_before_and_spins_for_the_rest() {
        let clock = Fake { tick: 300, ..Fake::default() };
        let mut recording = paced(1000.0, 0.5);
        let begun = recording.begin(&clock, 0);
        assert_eq!(begun, 500_000, "half a period after the start");
        assert_eq!(clock.slept.get(), 500_000 - 300 - SPIN_NS);
        assert_eq!(recording.pacing.unwrap().buckets(), histogram(&[clock.now.get() - 500_000]));
        assert!((500_000..500_300).contains(&clock.now.get()));
    }

    #[test]
    fn without_a_rate_latencies_count_from_the_start() {
        let clock = Fake::default();
        let mut recording = Recording::new(Manner { latencies: true, ..Manner::default() });
        perform(&mut recording, &clock, &[10, 2000, 10]);
        assert_eq!(recording.latencies.as_ref().unwrap().buckets(), histogram(&[10, 10, 2000]));
        assert!(recording.pacing.is_none());
        recording.clear();
        assert_eq!(recording.latencies.unwrap().buckets(), []);
    }

    #[test]
    fn a_plain_loop_needs_no_recording() {
        assert!(!Recording::new(Manner::default()).is_needed());
        assert!(Recording::new(Manner { tolerate_busy: true, ..Manner::default() }).is_needed());
        assert!(paced(1.0, 0.0).is_needed());
    }
}

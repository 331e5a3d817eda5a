//! How much is measured, and whose part of it is this process's.

use std::ops::Range;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub operations_per_iteration: u64,
    #[serde(default)]
    pub warmup_iterations: u64,
    #[serde(default)]
    pub warmup_ns: u64,
    #[serde(default = "one")]
    pub iterations: u64,
    #[serde(default = "one")]
    pub workers: u64,
    #[serde(default)]
    pub thread: Home,
    /// Operations a second of each worker, at planned times.
    pub rate: Option<f64>,
    #[serde(default)]
    pub latencies: bool,
    #[serde(default)]
    pub tolerate_busy: bool,
    pub share: Option<Share>,
    /// How many operations, from the first, are done once more afterwards, in the manner of verify
    /// mode.
    #[serde(default)]
    pub digest: u64,
    pub event_loop: Option<EventLoop>,
    pub sequence: Option<Sequence>,
}

/// Where a lone worker is: several have threads of their own.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    #[default]
    Main,
    Worker,
}

/// Operations that differ: operation i performs the group of steps `order[i mod length]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// How many steps each group has.
    pub groups: Vec<usize>,
    pub order: Vec<usize>,
    /// Who performs each; empty where the workers divide the operations.
    #[serde(default)]
    pub workers: Vec<u64>,
    /// When each is planned; empty where each follows the last.
    #[serde(default)]
    pub planned_us: Vec<u64>,
}

/// A timer beside the operations, which are tasks of an event loop; nothing here has one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read so that a job is refused, and not unreadable")]
pub struct EventLoop {
    timer_ms: u64,
    thread: String,
}

/// This process's workers: `first` and those after it, of all in all processes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    #[serde(default)]
    pub first: u64,
    #[serde(default = "one")]
    pub of: u64,
}

impl Measure {
    /// The whole of which this process's workers are a share.
    pub fn share(&self) -> Share {
        self.share.unwrap_or(Share { first: 0, of: self.workers })
    }

    /// Whether operations have planned times.
    pub fn paced(&self) -> bool {
        let recorded = |sequence: &Sequence| !sequence.planned_us.is_empty();
        self.rate.is_some() || self.sequence.as_ref().is_some_and(recorded)
    }

    /// The operations of this process's worker `number` in the first iteration: ⌊N·w/k⌋ up to
    /// ⌊N·(w+1)/k⌋.
    pub fn part(&self, number: u64) -> Range<u64> {
        let Share { first, of } = self.share();
        let bound = |worker: u64| {
            let product = u128::from(self.operations_per_iteration) * u128::from(worker);
            (product / u128::from(of)) as u64
        };
        bound(first + number)..bound(first + number + 1)
    }

    /// The operations of all workers of this process in the first iteration.
    pub fn operations(&self) -> Range<u64> {
        self.part(0).start..self.part(self.workers - 1).end
    }
}

pub(super) fn one() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(json: serde_json::Value) -> Measure {
        serde_json::from_value(json).unwrap()
    }

    fn parts(operations: u64, workers: u64) -> Vec<Range<u64>> {
        let plan = measure(
            serde_json::json!({"operations_per_iteration": operations, "workers": workers}),
        );
        (0..workers).map(|number| plan.part(number)).collect()
    }

    #[test]
    fn parts_are_floors_and_leave_nothing_out() {
        assert_eq!(parts(10, 3), [0..3, 3..6, 6..10]);
        assert_eq!(parts(2, 4), [0..0, 0..1, 1..1, 1..2]);
        assert_eq!(parts(7, 1).first(), Some(&(0..7)));
        assert_eq!(parts(u64::MAX, 2)[1], u64::MAX / 2..u64::MAX);
    }

    #[test]
    fn a_share_is_the_part_of_the_same_worker_of_the_whole() {
        let share = measure(serde_json::json!({"operations_per_iteration": 10, "workers": 2,
            "share": {"first": 1, "of": 4}}));
        assert_eq!(
            [share.part(0), share.part(1)],
            [parts(10, 4)[1].clone(), parts(10, 4)[2].clone()]
        );
        assert_eq!(share.operations(), 2..7);
    }
}

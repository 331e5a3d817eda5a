//! The iterations of an invocation: how many, their times, and that all of them give the same.

use crate::failure::Failure;
use crate::job::Measure;
use crate::process::Usage;
use crate::result::Counts;

/// One iteration as seen from outside.
#[derive(Debug)]
pub struct Iteration {
    pub nanoseconds: u64,
    pub counts: Counts,
    pub usage: Option<Usage>,
    /// Bytes that all threads allocated.
    pub allocated: u64,
    /// Operations that ended with SQLITE_BUSY, which was tolerated.
    pub busy: u64,
}

#[derive(Debug)]
pub struct Iterations<'j> {
    plan: &'j Measure,
    pub warmup_ns: Vec<u64>,
    pub iterations_ns: Vec<u64>,
    /// Those of the last iteration.
    pub counts: Counts,
    /// What all iterations without a busy operation must give.
    expected: Option<Counts>,
    pub usage: Option<Usage>,
    /// Bytes that measured iterations allocated.
    pub allocated: u64,
    /// Those of each measured iteration, where they may differ.
    pub answers: Vec<Counts>,
}

impl<'j> Iterations<'j> {
    pub fn new(plan: &'j Measure) -> Self {
        Iterations {
            plan,
            warmup_ns: Vec::new(),
            iterations_ns: Vec::new(),
            counts: Counts::default(),
            expected: None,
            usage: Some(Usage::default()),
            allocated: 0,
            answers: Vec::new(),
        }
    }

    /// Whether the next iteration is a warm-up: until both minima are reached.
    pub fn warming(&self) -> bool {
        (self.warmup_ns.len() as u64) < self.plan.warmup_iterations
            || self.warmup_ns.iter().sum::<u64>() < self.plan.warmup_ns
    }

    pub fn done(&self) -> bool {
        self.iterations_ns.len() as u64 >= self.plan.iterations
    }

    /// Takes an iteration in; fails when it gave something else than those before.
    pub fn record(&mut self, iteration: Iteration) -> Result<(), Failure> {
        let number = self.warmup_ns.len() + self.iterations_ns.len() + 1;
        self.counts = iteration.counts;
        let first = if iteration.busy > 0 || self.plan.changing {
            iteration.counts
        } else {
            *self.expected.get_or_insert(iteration.counts)
        };
        let same = if self.plan.mixed {
            iteration.counts.affected == first.affected
        } else {
            iteration.counts == first
        };
        if !same {
            let show = |counts: Counts| {
                let Counts { rows, affected, checksum } = counts;
                format!("{rows} rows, {affected} affected rows, checksum {checksum}")
            };
            let (found, expected) = (show(iteration.counts), show(first));
            let message = format!("iteration {number} returned {found}; the first {expected}");
            return Err(Failure::new(message));
        }
        if self.warming() {
            self.warmup_ns.push(iteration.nanoseconds);
            return Ok(());
        }
        self.iterations_ns.push(iteration.nanoseconds);
        self.answers.extend(self.plan.changing.then_some(iteration.counts));
        self.allocated += iteration.allocated;
        self.usage = self.usage.zip(iteration.usage).map(|(sum, usage)| sum + usage);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{PageFaults, Switches};

    fn plan(warmup_iterations: u64, warmup_ns: u64, iterations: u64) -> Measure {
        let plan = serde_json::json!({
            "operations_per_iteration": 1,
            "warmup_iterations": warmup_iterations,
            "warmup_ns": warmup_ns,
            "iterations": iterations,
        });
        serde_json::from_value(plan).unwrap()
    }

    fn iteration(nanoseconds: u64, checksum: u32) -> Iteration {
        let counts = Counts { rows: 1, affected: 0, checksum };
        let switches = Switches { voluntary: 5, involuntary: 3 };
        let page_faults = PageFaults { minor: 7, major: 4 };
        let usage = Some(Usage { cpu_ns: 3, switches, page_faults });
        Iteration { nanoseconds, counts, usage, allocated: 9, busy: 0 }
    }

    fn run(plan: &Measure, nanoseconds: u64) -> (usize, usize, u64) {
        let mut iterations = Iterations::new(plan);
        while !iterations.done() {
            iterations.record(iteration(nanoseconds, 7)).unwrap();
        }
        let Usage { cpu_ns, switches, page_faults } = iterations.usage.unwrap();
        let measured = iterations.iterations_ns.len() as u64;
        assert_eq!(
            (iterations.allocated, switches.voluntary, switches.involuntary),
            (9 * measured, 5 * measured, 3 * measured)
        );
        assert_eq!((page_faults.minor, page_faults.major), (7 * measured, 4 * measured));
        (iterations.warmup_ns.len(), iterations.iterations_ns.len(), cpu_ns)
    }

    #[test]
    fn the_warm_up_reaches_both_minima() {
        assert_eq!(run(&plan(2, 0, 3), 10), (2, 3, 9));
        assert_eq!(run(&plan(2, 45, 3), 10), (5, 3, 9));
        assert_eq!(run(&plan(0, 0, 1), 10), (0, 1, 3));
    }

    #[test]
    fn an_iteration_that_differs_fails_by_its_number() {
        let plan = plan(1, 0, 5);
        let mut iterations = Iterations::new(&plan);
        iterations.record(iteration(1, 7)).unwrap();
        iterations.record(iteration(1, 7)).unwrap();
        let failure = iterations.record(iteration(1, 8)).unwrap_err();
        assert_eq!(
            failure.into_details().message,
            "iteration 3 returned 1 rows, 0 affected rows, checksum 8; \
             the first 1 rows, 0 affected rows, checksum 7"
        );
    }

    #[test]
    fn usage_is_unknown_once_one_iteration_does_not_know_it() {
        let plan = plan(0, 0, 2);
        let mut iterations = Iterations::new(&plan);
        iterations.record(iteration(1, 7)).unwrap();
        iterations.record(Iteration { usage: None, ..iteration(1, 7) }).unwrap();
        assert!(iterations.usage.is_none());
    }

    #[test]
    fn an_iteration_may_differ_where_an_operation_was_busy() {
        let plan = plan(0, 0, 9);
        let mut iterations = Iterations::new(&plan);
        iterations.record(Iteration { busy: 1, ..iteration(1, 5) }).unwrap();
        iterations.record(iteration(1, 7)).unwrap();
        iterations.record(Iteration { busy: 2, ..iteration(1, 8) }).unwrap();
        iterations.record(iteration(1, 7)).unwrap();
        assert!(iterations.record(iteration(1, 8)).is_err());
    }

    #[test]
    fn iterations_of_mixed_workers_may_differ_but_not_in_affected_rows() {
        let plan = Measure { mixed: true, ..plan(1, 0, 3) };
        let mut iterations = Iterations::new(&plan);
        for (rows, checksum) in [(1, 5), (2, 7), (3, 9)] {
            let counts = Counts { rows, affected: 4, checksum };
            iterations.record(Iteration { counts, ..iteration(1, 0) }).unwrap();
        }
        assert_eq!((iterations.counts.rows, iterations.counts.checksum), (3, 9));
        assert!(iterations.answers.is_empty());
        let counts = Counts { affected: 5, ..iterations.counts };
        assert!(iterations.record(Iteration { counts, ..iteration(1, 0) }).is_err());
    }

    #[test]
    fn iterations_whose_rows_change_may_differ_and_each_measured_one_is_told() {
        let plan = Measure { changing: true, ..plan(1, 0, 2) };
        let mut iterations = Iterations::new(&plan);
        for checksum in [5, 7, 9] {
            iterations.record(iteration(1, checksum)).unwrap();
        }
        let told: Vec<u32> = iterations.answers.iter().map(|counts| counts.checksum).collect();
        assert_eq!((told, iterations.counts.checksum), (vec![7, 9], 9));
    }
}

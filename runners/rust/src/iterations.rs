//! The iterations of an invocation: how many, their times, and what they returned.

use crate::job::Measure;
use crate::process::Usage;
use crate::result::{Counts, PageCache};

/// One iteration as seen from outside.
#[derive(Debug)]
pub struct Iteration {
    pub nanoseconds: u64,
    pub counts: Counts,
    pub usage: Option<Usage>,
    /// Bytes that all threads allocated.
    pub allocated: u64,
    /// What all connections found in their caches.
    pub page_cache: PageCache,
}

#[derive(Debug)]
pub struct Iterations<'j> {
    plan: &'j Measure,
    pub warmup_ns: Vec<u64>,
    pub iterations_ns: Vec<u64>,
    pub usage: Option<Usage>,
    /// Bytes that measured iterations allocated.
    pub allocated: u64,
    /// What they found in their caches.
    pub page_cache: PageCache,
    /// What each iteration returned, warm-up first.
    pub answers: Vec<Counts>,
}

impl<'j> Iterations<'j> {
    pub fn new(plan: &'j Measure) -> Self {
        Iterations {
            plan,
            warmup_ns: Vec::new(),
            iterations_ns: Vec::new(),
            usage: Some(Usage::default()),
            allocated: 0,
            page_cache: PageCache::default(),
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

    /// How many operations of all processes came before the next iteration.
    pub fn operations(&self) -> u64 {
        self.answers.len() as u64 * self.plan.operations_per_iteration
    }

    /// Takes an iteration in.
    pub fn record(&mut self, iteration: Iteration) {
        self.answers.push(iteration.counts);
        if self.warming() {
            self.warmup_ns.push(iteration.nanoseconds);
            return;
        }
        self.iterations_ns.push(iteration.nanoseconds);
        self.allocated += iteration.allocated;
        self.page_cache = self.page_cache + iteration.page_cache;
        self.usage = self.usage.zip(iteration.usage).map(|(sum, usage)| sum + usage);
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
        Iteration {
            nanoseconds,
            counts,
            usage,
            allocated: 9,
            page_cache: PageCache { hits: 2, misses: 1 },
        }
    }

    fn run(plan: &Measure, nanoseconds: u64) -> (usize, usize, u64) {
        let mut iterations = Iterations::new(plan);
        while !iterations.done() {
            iterations.record(iteration(nanoseconds, 7));
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
    fn each_iteration_is_told_warm_up_first() {
        let plan = plan(1, 0, 2);
        let mut iterations = Iterations::new(&plan);
        for checksum in [5, 7, 9] {
            iterations.record(iteration(1, checksum));
        }
        let told: Vec<u32> = iterations.answers.iter().map(|counts| counts.checksum).collect();
        assert_eq!(told, [5, 7, 9]);
        assert_eq!(iterations.operations(), 3);
    }

    #[test]
    fn usage_is_unknown_once_one_iteration_does_not_know_it() {
        let plan = plan(0, 0, 2);
        let mut iterations = Iterations::new(&plan);
        iterations.record(iteration(1, 7));
        iterations.record(Iteration { usage: None, ..iteration(1, 7) });
        assert!(iterations.usage.is_none());
    }
}

//! What each worker, and the writer beside them, does in an iteration.

use std::ops::Range;

use crate::job::{Job, Share, Step, Transaction};
use crate::recording::{Manner, Pace};
use crate::result::Role;

#[derive(Clone, Debug)]
pub struct Part<'j> {
    pub role: Role,
    pub steps: &'j [Step],
    pub transaction: Transaction,
    /// SQL before each iteration, off the clock.
    pub reset: &'j [String],
    pub operations: Range<u64>,
    pub manner: Manner,
}

impl<'j> Part<'j> {
    /// The parts of this process: its workers', then the writer's.
    pub fn all(job: &'j Job) -> Vec<Self> {
        (0..job.measure.workers)
            .map(|number| Part::worker(job, number))
            .chain(Part::writer(job))
            .collect()
    }

    /// The part of this process's worker `number`; the first one's reset serves all.
    pub fn worker(job: &'j Job, number: u64) -> Self {
        let plan = &job.measure;
        let Share { first, of } = plan.share();
        let offset = (first + number) as f64 / of as f64;
        Part {
            role: Role::Worker,
            steps: &job.steps,
            transaction: job.transaction,
            reset: if number == 0 { &job.reset } else { &[] },
            operations: plan.part(number),
            manner: manner(job, plan.rate, offset),
        }
    }

    pub fn writer(job: &'j Job) -> Option<Self> {
        job.writer.as_ref().map(|writer| Part {
            role: Role::Writer,
            steps: &writer.steps,
            transaction: writer.transaction,
            reset: &[],
            operations: 0..writer.operations,
            manner: manner(job, writer.rate, 0.0),
        })
    }
}

fn manner(job: &Job, rate: Option<f64>, offset: f64) -> Manner {
    let plan = &job.measure;
    Manner {
        latencies: plan.latencies,
        tolerate_busy: plan.tolerate_busy,
        pace: rate.map(|rate| Pace { rate, offset }),
    }
}

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
    /// Those of the first iteration.
    pub operations: Range<u64>,
    /// How much further on they are in each next one.
    pub stride: u64,
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

    /// The part of this process's worker `number`.
    pub fn worker(job: &'j Job, number: u64) -> Self {
        let plan = &job.measure;
        let Share { first, of } = plan.share();
        let offset = (first + number) as f64 / of as f64;
        Part {
            role: Role::Worker,
            steps: &job.steps,
            transaction: job.transaction,
            operations: plan.part(number),
            stride: plan.operations_per_iteration,
            manner: manner(job, plan.rate, offset),
        }
    }

    pub fn writer(job: &'j Job) -> Option<Self> {
        job.writer.as_ref().map(|writer| Part {
            role: Role::Writer,
            steps: &writer.steps,
            transaction: writer.transaction,
            operations: 0..writer.operations,
            stride: writer.operations,
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

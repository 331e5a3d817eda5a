//! What each worker, and the writer beside them, does in an iteration.

use std::ops::Range;

use crate::job::{Job, Share, Step, Transaction};
use crate::order::Order;
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
    /// Where operations perform different steps.
    pub order: Option<Order>,
}

impl<'j> Part<'j> {
    /// The parts of this process: its workers', then the writer's.
    pub fn all(job: &'j Job) -> Vec<Self> {
        (0..job.measure.workers)
            .map(|number| Part::worker(job, number))
            .chain(Part::writer(job))
            .collect()
    }

    /// The work of all workers, as one connection does it in the manner of verify mode.
    pub fn whole(job: &'j Job) -> Self {
        let order = job.measure.sequence.as_ref().map(|sequence| Order::new(sequence, None));
        Part { order, ..Part::worker(job, 0) }
    }

    /// How many operations it performs in this iteration, from 0.
    pub fn performed(&self, iteration: u64) -> u64 {
        let Range { start, end } = self.operations;
        let done = iteration * self.stride;
        self.order.as_ref().map_or(end - start, |order| order.count(done + start..done + end))
    }

    /// The part of this process's worker `number`.
    pub fn worker(job: &'j Job, number: u64) -> Self {
        let plan = &job.measure;
        let sequence = plan.sequence.as_ref();
        let named = sequence.is_some_and(|sequence| !sequence.workers.is_empty());
        let Share { first, of } = plan.share();
        let offset = (first + number) as f64 / of as f64;
        Part {
            role: Role::Worker,
            steps: &job.steps,
            transaction: job.transaction,
            operations: if named { plan.operations() } else { plan.part(number) },
            stride: plan.operations_per_iteration,
            manner: Manner {
                recorded: plan.rate.is_none() && plan.paced(),
                ..manner(job, plan.rate, offset)
            },
            order: sequence.map(|sequence| Order::new(sequence, Some(number))),
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
            order: None,
        })
    }
}

fn manner(job: &Job, rate: Option<f64>, offset: f64) -> Manner {
    let plan = &job.measure;
    Manner {
        latencies: plan.latencies,
        tolerate_busy: plan.tolerate_busy,
        pace: rate.map(|rate| Pace { rate, offset }),
        recorded: false,
    }
}

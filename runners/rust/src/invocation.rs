//! From a job to its result.

use crate::driver::Driver;
use crate::failure::Failure;
use crate::identity::{DriverFacts, Identity};
use crate::job::{Job, Mode};
use crate::result::{Report, Work};
use crate::support;
use crate::{verify, workers};

/// A driver that a program can be told to use.
#[derive(Clone, Copy)]
pub struct Entry {
    pub facts: &'static DriverFacts,
    pub perform: fn(&Job, Option<&str>) -> Report,
}

impl Entry {
    pub const fn of<D: Driver>() -> Self {
        Entry { facts: D::FACTS, perform: perform::<D> }
    }
}

/// Performs a job, in a build of this variant; whatever happens is in the report.
fn perform<D: Driver>(job: &Job, variant: Option<&str>) -> Report {
    let flags = job.database.as_ref().map_or(&[][..], |database| &database.flags);
    let identity = Identity::of(D::FACTS, variant, &job.connection.engine, flags);
    if let Some(reason) = support::unsupported(job, D::FACTS) {
        return Report::unsupported(&job.cell, identity, reason);
    }
    match work::<D>(job) {
        Ok(mut work) => {
            // Of the thread of an iteration: a driver with threads of its own allocates there, too.
            work.allocated_bytes.take_if(|_| !D::FACTS.figures.contains(&"allocated_bytes"));
            Report::ok(&job.cell, identity, work)
        }
        Err(failure) => Report::failed(&job.cell, identity, failure),
    }
}

fn work<D: Driver>(job: &Job) -> Result<Work, Failure> {
    let Some(database) = &job.database else {
        return Ok(Work::default());
    };
    job.connection.engine.configure()?;
    match job.mode {
        Mode::Verify => verify::verify::<D>(job, database),
        Mode::Measure => workers::measure::<D>(job, database),
    }
}

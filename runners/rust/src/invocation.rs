//! From a job to its result.

use crate::driver::Driver;
use crate::drivers::{ffi::Ffi, rusqlite::Rusqlite};
use crate::failure::Failure;
use crate::identity::{DriverName, Identity};
use crate::job::{Job, Mode};
use crate::result::{Report, Work};
use crate::support;
use crate::{verify, workers};

/// Performs a job; whatever happens is in the report.
pub fn perform(job: &Job, driver: DriverName, variant: Option<&str>) -> Report {
    let flags = job.database.as_ref().map_or(&[][..], |database| &database.flags);
    let identity = Identity::of(driver, variant, &job.connection.engine, flags);
    if let Some(reason) = support::unsupported(job, driver) {
        return Report::unsupported(&job.cell, identity, reason);
    }
    let outcome = match driver {
        DriverName::Rusqlite => work::<Rusqlite>(job),
        DriverName::Ffi => work::<Ffi>(job),
    };
    match outcome {
        Ok(work) => Report::ok(&job.cell, identity, work),
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

//! Verifying: operations on one connection, one after the other, with the digest of all rows.

use std::ops::Range;

use crate::access::Access;
use crate::checksum::Checksum;
use crate::digest::Witness;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::inspect;
use crate::job::{Database, Job};
use crate::parts::Part;
use crate::phase::{nanoseconds, phase};
use crate::result::{Phases, Work};
use crate::session::{Session, connect};

/// One iteration; then the writer's operations, which enter neither counts nor digest.
pub fn verify<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let access = Access::new(job, database);
    let (connection, open) = phase(|| connect::<D>(&access))?;
    let operations = job.measure.operations();
    let (mut work, prepare) = witnessed::<D>(&connection, job, &access, operations)?;
    let ((), close) = phase(|| D::close(connection))?;
    work.phases_ns = Phases::of(open, prepare, close);
    Ok(work)
}

/// Operations with all that follows them, on an open connection, and how long their preparation
/// took.
pub fn witnessed<D: Driver>(
    connection: &D::Connection,
    job: &Job,
    access: &Access,
    operations: Range<u64>,
) -> Result<(Work, u64), Failure> {
    let part = Part::whole(job);
    let prepare = || Session::<D, Witness>::prepare(connection, &part, access);
    let (mut session, prepare) = phase(prepare)?;
    let mut witness = Witness::default();
    let mut answers = Vec::new();
    let mut elapsed = 0;
    let count = operations.end - operations.start;
    session.begin()?;
    for operation in operations {
        let reset = job.reset_before(operation);
        if !reset.is_empty() {
            session.commit()?;
            session.reset(reset)?;
            session.begin()?;
        }
        let lap = session.timed(operation..operation + 1, &mut witness)?;
        answers.push(lap.counts);
        elapsed += nanoseconds(lap.elapsed());
    }
    session.commit()?;
    drop(session);
    write::<D>(job)?;
    let mut work = Work { iterations_ns: vec![elapsed], ..Work::of(count, &answers) };
    inspect::finish::<D, Witness>(connection, job, access, &mut witness, &mut work)?;
    work.digest = Some(witness.digest());
    Ok((work, prepare))
}

/// The writer's operations, once.
fn write<D: Driver>(job: &Job) -> Result<(), Failure> {
    let Some((part, database)) = Part::writer(job).zip(job.database.as_ref()) else {
        return Ok(());
    };
    let access = Access::new(job, database);
    let connection = connect::<D>(&access)?;
    let mut session = Session::<D, _>::prepare(&connection, &part, &access)?;
    session.timed(part.operations, &mut Checksum::default())?;
    drop(session);
    D::close(connection)
}

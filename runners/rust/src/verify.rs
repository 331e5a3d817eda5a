//! Verifying: one iteration on one connection, with the digest of all rows.

use crate::access::Access;
use crate::checksum::Checksum;
use crate::digest::Witness;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::inspect;
use crate::job::{Database, Job};
use crate::parts::Part;
use crate::phase::{nanoseconds, phase};
use crate::result::{Counts, Phases, Work};
use crate::session::{Session, connect};

/// The workers' parts one after the other; then the writer's, which enters neither counts nor
/// digest.
pub fn verify<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let access = Access::new(job, database, false);
    let (connection, open) = phase(|| connect::<D>(&access))?;
    let (mut work, prepare) = witnessed::<D>(&connection, job, &access)?;
    let ((), close) = phase(|| D::close(connection))?;
    work.phases_ns = Phases::of(open, prepare, close);
    Ok(work)
}

/// That iteration with all that follows it, on an open connection, and how long its preparation
/// took.
pub fn witnessed<D: Driver>(
    connection: &D::Connection,
    job: &Job,
    access: &Access,
) -> Result<(Work, u64), Failure> {
    let part = Part::worker(job, 0);
    let prepare = || Session::<D, Witness>::prepare(connection, &part, access);
    let (mut session, prepare) = phase(prepare)?;
    let mut witness = Witness::default();
    let mut counts = Counts::default();
    let mut elapsed = 0;
    session.reset()?;
    session.begin()?;
    for number in 0..job.measure.workers {
        let lap = session.timed(job.measure.part(number), &mut witness)?;
        counts.add(&lap.counts);
        elapsed += nanoseconds(lap.elapsed());
    }
    session.commit()?;
    drop(session);
    write::<D>(job)?;
    let mut work = Work { counts, iterations_ns: vec![elapsed], ..Work::default() };
    inspect::finish::<D, Witness>(connection, job, access, &mut witness, &mut work)?;
    work.digest = Some(witness.digest());
    Ok((work, prepare))
}

/// The writer's operations, once.
fn write<D: Driver>(job: &Job) -> Result<(), Failure> {
    let Some((part, database)) = Part::writer(job).zip(job.database.as_ref()) else {
        return Ok(());
    };
    let access = Access::new(job, database, false);
    let connection = connect::<D>(&access)?;
    let mut session = Session::<D, _>::prepare(&connection, &part, &access)?;
    session.timed(part.operations, &mut Checksum::default())?;
    drop(session);
    D::close(connection)
}

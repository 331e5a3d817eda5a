//! Measuring and verifying on the main thread.

use std::time::{Duration, Instant};

use crate::access::Access;
use crate::checksum::{Checksum, Sink};
use crate::digest::Witness;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::inspect;
use crate::job::{Database, Job};
use crate::result::{Counts, Phases, Work};
use crate::series::{Lap, Series};
use crate::session::{Session, share};

/// Warm-up and measured iterations on one connection.
pub fn measure<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    on_one_connection::<D, Checksum>(job, database, |session, sink| {
        let mut series = Series::new(&job.measure);
        while !series.done() {
            let operations = 0..job.measure.operations_per_iteration;
            session.reset()?;
            session.begin()?;
            let pass = session.timed(operations, sink)?;
            session.commit()?;
            let nanoseconds = nanoseconds(pass.end - pass.start);
            series.record(Lap { nanoseconds, counts: pass.counts, cpu: pass.cpu })?;
        }
        Ok(Work {
            counts: series.counts.unwrap_or_default(),
            warmup_ns: series.warmup_ns,
            iterations_ns: series.iterations_ns,
            cpu_ns: series.cpu,
            ..Work::default()
        })
    })
    .map(|(work, _)| work)
}

/// One iteration, the workers' shares one after the other, with the digest of all rows.
pub fn verify<D: Driver>(job: &Job, database: &Database) -> Result<Work, Failure> {
    let (mut work, witness) = on_one_connection::<D, Witness>(job, database, |session, sink| {
        session.reset()?;
        session.begin()?;
        let mut counts = Counts::default();
        let mut elapsed = 0;
        let workers = job.measure.workers;
        for worker in 0..workers {
            let operations = share(job.measure.operations_per_iteration, worker, workers);
            let pass = session.timed(operations, sink)?;
            counts.add(&pass.counts);
            elapsed += nanoseconds(pass.end - pass.start);
        }
        session.commit()?;
        Ok(Work { counts, iterations_ns: vec![elapsed], ..Work::default() })
    })?;
    work.digest = Some(witness.digest());
    Ok(work)
}

/// Opens, prepares, lets `body` work, reads back and inspects, closes.
fn on_one_connection<D: Driver, S: Sink>(
    job: &Job,
    database: &Database,
    body: impl FnOnce(&mut Session<'_, D, S>, &mut S) -> Result<Work, Failure>,
) -> Result<(Work, S), Failure> {
    let access = Access::new(job, database, false);
    let mut sink = S::default();
    let (connection, open) = phase(|| D::open(&access))?;
    let (session, prepare) = phase(|| Session::prepare(&connection, job, &access))?;
    let mut session = session;
    let mut work = body(&mut session, &mut sink)?;
    drop(session);
    inspect::finish::<D, S>(&connection, job, &access, &mut sink, &mut work)?;
    let ((), close) = phase(|| D::close(connection))?;
    work.phases_ns =
        Phases { load: None, open: Some(open), prepare: Some(prepare), close: Some(close) };
    Ok((work, sink))
}

/// What a phase gives, and its nanoseconds.
pub fn phase<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<(T, u64), Failure> {
    let start = Instant::now();
    let value = body()?;
    Ok((value, nanoseconds(start.elapsed())))
}

pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("no run lasts five centuries")
}

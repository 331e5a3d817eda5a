//! What is read off the clock after the last iteration: proofs, pragmas, engine options and plans.

use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Driver, Tally};
use crate::failure::Failure;
use crate::job::{Job, Operation, Shape, StatementKind, Step};
use crate::parameters::{Parameter, Pool};
use crate::result::{Effective, Proof, Work};

const PRAGMAS: [&str; 12] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "temp_store",
    "foreign_keys",
    "busy_timeout",
    "page_size",
    "locking_mode",
    "wal_autocheckpoint",
    "encoding",
    "query_only",
];

/// Runs the read-back queries into `sink` and, where asked, reads pragmas, engine options and plans.
pub fn finish<D: Driver, S: Sink>(
    connection: &D::Connection,
    job: &Job,
    access: &Access,
    sink: &mut S,
    work: &mut Work,
) -> Result<(), Failure> {
    if !job.readback.is_empty() {
        work.readback = Some(prove::<D, S>(connection, job, access, sink)?);
    }
    if job.inspect {
        work.effective = effective::<D>(connection)?;
        work.plans =
            job.steps.iter().map(|step| plan::<D>(connection, step)).collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn prove<D: Driver, S: Sink>(
    connection: &D::Connection,
    job: &Job,
    access: &Access,
    sink: &mut S,
) -> Result<Proof, Failure> {
    let mut tally = Tally { sink: std::mem::take(sink), ..Tally::default() };
    for query in &job.readback {
        let step = Step {
            operation: Operation::All,
            sql: query.sql.clone(),
            parameters: None,
            names: Vec::new(),
            columns: query.columns.clone(),
            repeat: 1,
            fails: None,
            shape: Shape::Object,
            integers: Default::default(),
            statement: StatementKind::Prepared,
            texts: 1,
            values: Default::default(),
            pool: Pool::default(),
        };
        D::compile(connection, &step, access)?.run(0..1, 1, false, &mut tally)?;
    }
    let checksum = tally.sink.take_checksum();
    *sink = tally.sink;
    Ok(Proof { rows: tally.rows, checksum })
}

fn effective<D: Driver>(connection: &D::Connection) -> Result<Effective, Failure> {
    // WAL's synchronous is settled by the first read transaction only.
    D::query(connection, "SELECT count(*) FROM sqlite_schema")?;
    let engine = Some(D::in_effect(connection));
    let mut effective = Effective { engine, ..Effective::default() };
    for name in PRAGMAS {
        let rows = D::query(connection, &format!("PRAGMA {name}"))?;
        let value = match rows.first().and_then(|row| row.first()) {
            Some(Parameter::Integer(number)) => Some((*number).into()),
            Some(Parameter::Text(text)) => Some((&**text).into()),
            _ => None,
        };
        effective.pragmas.insert(name.to_owned(), value);
    }
    Ok(effective)
}

fn plan<D: Driver>(connection: &D::Connection, step: &Step) -> Result<Vec<String>, Failure> {
    if step.operation.has_no_sql()
        || matches!(step.operation, Operation::Open | Operation::OpenFile | Operation::Execute)
    {
        return Ok(Vec::new());
    }
    let rows = D::query(connection, &format!("EXPLAIN QUERY PLAN {}", step.sql))?;
    // id, parent, notused, detail
    let details = rows.into_iter().filter_map(|mut row| match row.pop() {
        Some(Parameter::Text(detail)) => Some(detail.into()),
        _ => None,
    });
    Ok(details.collect())
}

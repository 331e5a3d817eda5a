//! The floor: SQLite's C API with nothing in between. Values are bound without a copy and read in
//! place; no row is materialised, whatever the shape.

mod columns;
mod executors;
mod handles;
mod sources;
mod values;

use self::columns::Columns;
use self::executors::{All, Compile, Execute, Failing, Get, Open, Rows, Run};
use self::handles::{Database, Statement};
use self::sources::{Adhoc, Prepared, Source};
use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Behaviour, Bracket, Driver, Executor, InTransaction, Table, check_counts};
use crate::drivers::files::ReadFile;
use crate::engine::{self, InEffect};
use crate::failure::Failure;
use crate::identity::DriverFacts;
use crate::job::{Operation, StatementKind, Step};
use crate::result::PageCache;

pub struct Ffi;

impl Driver for Ffi {
    const FACTS: &'static DriverFacts = &DriverFacts {
        option: "ffi",
        runner: "rust-ffi",
        name: "libsqlite3-sys",
        version: env!("LIBSQLITE3_SYS_VERSION"),
        title: "SQLite's C API",
        operations: super::OPERATIONS,
        shapes: &["object", "array", "typed"],
        statements: &["prepared", "adhoc"],
        bindings: &["positional", "named"],
        flags: super::FLAGS,
        lacks: &["per_operation", "unread"],
        figures: &["allocated_bytes", "collections", "page_cache"],
    };
    type Connection = Database;
    type Bracket<'c> = Around<'c>;

    fn open(access: &Access) -> Result<Database, Failure> {
        Database::open(access)
    }

    fn execute(connection: &Database, sql: &str) -> Result<(), Failure> {
        connection.execute(sql)
    }

    fn query(connection: &Database, sql: &str) -> Result<Table, Failure> {
        let statement = connection.prepare(sql)?;
        let mut rows = Table::new();
        while statement.step()? {
            rows.push(values::owned(&statement));
        }
        Ok(rows)
    }

    fn in_transaction(connection: &Database) -> bool {
        connection.in_transaction()
    }

    fn in_effect(connection: &Database) -> InEffect {
        // SAFETY: the connection is open through the call.
        unsafe { InEffect::read(connection.raw()) }
    }

    fn page_cache(connection: &Database) -> PageCache {
        // SAFETY: the connection is open through the call.
        unsafe { engine::page_cache(connection.raw()) }
    }

    fn compile<'c, S: Sink + 'c>(
        connection: &'c Database,
        step: &'c Step,
        access: &'c Access,
    ) -> Result<Box<dyn Executor<S> + 'c>, Failure> {
        match step.operation {
            Operation::Prepare => return Ok(Box::new(Compile { connection, step })),
            Operation::Open | Operation::OpenFile => {
                return Ok(Box::new(Open { access, step, columns: Columns::new(&step.columns) }));
            }
            Operation::InTransaction => return Ok(Box::new(InTransaction::<Self>(connection))),
            Operation::ReadFile => return Ok(Box::new(ReadFile { step })),
            _ => {}
        }
        let statement = connection.prepare_step(step)?;
        check_counts(step, statement.column_count(), statement.parameter_count())?;
        Ok(match step.statement {
            StatementKind::Prepared => specialise(connection, Prepared(statement), step),
            _ => specialise(connection, Adhoc { connection, step }, step),
        })
    }

    fn bracket(connection: &Database, behaviour: Behaviour) -> Result<Around<'_>, Failure> {
        let begin = match behaviour {
            Behaviour::Deferred => "BEGIN DEFERRED",
            Behaviour::Immediate => "BEGIN IMMEDIATE",
        };
        Ok(Around { begin: connection.prepare(begin)?, commit: connection.prepare("COMMIT")? })
    }

    fn close(connection: Database) -> Result<(), Failure> {
        connection.close()
    }
}

fn specialise<'c, S: Sink + 'c>(
    connection: &'c Database,
    source: impl Source + 'c,
    step: &'c Step,
) -> Box<dyn Executor<S> + 'c> {
    let columns = Columns::new(&step.columns);
    match step.operation {
        _ if let Some(code) = step.fails => Box::new(Failing { source, step, code }),
        Operation::Run => Box::new(Run { connection, source, step }),
        Operation::Execute => Box::new(Execute { source }),
        Operation::Get => Box::new(Rows { source, step, columns, reading: Get }),
        _ => Box::new(Rows { source, step, columns, reading: All }),
    }
}

/// A transaction around each operation, by prepared statements. What an error leaves open goes
/// with the connection.
pub struct Around<'c> {
    begin: Statement<'c>,
    commit: Statement<'c>,
}

impl Bracket for Around<'_> {
    #[inline(always)]
    fn around(&mut self, operation: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        execute(&self.begin)?;
        operation()?;
        execute(&self.commit)
    }
}

#[inline(always)]
fn execute(statement: &Statement<'_>) -> Result<(), Failure> {
    let outcome = statement.complete();
    statement.reset();
    outcome
}

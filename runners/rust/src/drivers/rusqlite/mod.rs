//! rusqlite, used as its experts use it: held statements, owned rows, its transaction API.

mod executors;
mod shapes;
mod sources;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use self::executors::{All, Compile, Execute, Failing, Get, Iterate, Open, Rows, Run};
use self::shapes::{Array, Object, Typed};
use self::sources::{Adhoc, Cached, CachedInTurn, Prepared, Source};
use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Behaviour, Bracket, Driver, Executor, InTransaction, Table, check_counts};
use crate::drivers::files::ReadFile;
use crate::engine::{self, InEffect};
use crate::failure::Failure;
use crate::identity::DriverFacts;
use crate::job::{Operation, Shape, StatementKind, Step};
use crate::parameters::Parameter;
use crate::result::PageCache;

pub struct Rusqlite;

impl Driver for Rusqlite {
    const FACTS: &'static DriverFacts = &DriverFacts {
        option: "rusqlite",
        runner: "rust",
        name: "rusqlite",
        version: env!("RUSQLITE_VERSION"),
        title: "rusqlite",
        operations: super::OPERATIONS,
        shapes: &["object", "array", "typed"],
        statements: &["prepared", "cached", "adhoc"],
        bindings: &["positional", "named"],
        flags: super::FLAGS,
        lacks: &["per_operation", "unread", "single-thread"],
        figures: &["allocated_bytes", "collections", "page_cache"],
    };
    type Connection = Connection;
    type Bracket<'c> = Around<'c>;

    fn open(access: &Access) -> Result<Connection, Failure> {
        Ok(open(access)?)
    }

    fn execute(connection: &Connection, sql: &str) -> Result<(), Failure> {
        connection.execute_batch(sql).map_err(|error| Failure::from(error).with_sql(sql))
    }

    fn query(connection: &Connection, sql: &str) -> Result<Table, Failure> {
        table(connection, sql).map_err(|error| Failure::from(error).with_sql(sql))
    }

    fn in_transaction(connection: &Connection) -> bool {
        !connection.is_autocommit()
    }

    fn in_effect(connection: &Connection) -> InEffect {
        // SAFETY: the connection is open through the call.
        unsafe { InEffect::read(connection.handle()) }
    }

    fn page_cache(connection: &Connection) -> PageCache {
        // SAFETY: the connection is open through the call.
        unsafe { engine::page_cache(connection.handle()) }
    }

    fn compile<'c, S: Sink + 'c>(
        connection: &'c Connection,
        step: &'c Step,
        access: &'c Access,
    ) -> Result<Box<dyn Executor<S> + 'c>, Failure> {
        match step.operation {
            Operation::Prepare => return Ok(Box::new(Compile { connection, step })),
            Operation::Open | Operation::OpenFile => {
                return Ok(Box::new(Open { access, step, shape: Object::new(&step.columns) }));
            }
            Operation::InTransaction => return Ok(Box::new(InTransaction::<Self>(connection))),
            Operation::ReadFile => return Ok(Box::new(ReadFile { step })),
            _ => {}
        }
        let with_sql = |error: rusqlite::Error| Failure::from(error).with_sql(&step.sql);
        let statement = connection.prepare(&step.sql).map_err(with_sql)?;
        check_counts(step, statement.column_count(), statement.parameter_count())?;
        let sql = &step.sql;
        Ok(match step.statement {
            StatementKind::Prepared => with_source(Prepared(statement), step),
            StatementKind::Cached if step.texts > 1 => {
                with_source(CachedInTurn::new(connection, sql, step.texts), step)
            }
            StatementKind::Cached => with_source(Cached { connection, sql }, step),
            StatementKind::Adhoc => with_source(Adhoc { connection, sql }, step),
        })
    }

    fn bracket(connection: &Connection, behaviour: Behaviour) -> Result<Around<'_>, Failure> {
        let behaviour = match behaviour {
            Behaviour::Deferred => TransactionBehavior::Deferred,
            Behaviour::Immediate => TransactionBehavior::Immediate,
        };
        Ok(Around { connection, behaviour })
    }

    fn close(connection: Connection) -> Result<(), Failure> {
        Ok(connection.close().map_err(|(_, error)| error)?)
    }
}

fn open(access: &Access) -> rusqlite::Result<Connection> {
    open_named(access, &access.name)
}

/// Opens another database in the same way.
fn open_named(access: &Access, name: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::from_bits_retain(access.flags);
    let connection = Connection::open_with_flags(name, flags)?;
    for pragma in &access.pragmas {
        connection.execute_batch(pragma)?;
    }
    Ok(connection)
}

fn table(connection: &Connection, sql: &str) -> rusqlite::Result<Table> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    // Plans are asked for with their parameters unbound.
    let rows = statement
        .raw_query()
        .mapped(|row| (0..width).map(|column| Ok(row.get_ref(column)?.into())).collect());
    rows.collect()
}

impl From<ValueRef<'_>> for Parameter {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Parameter::Null,
            ValueRef::Integer(value) => Parameter::Integer(value),
            ValueRef::Real(value) => Parameter::Real(value),
            ValueRef::Text(value) => Parameter::Text(String::from_utf8_lossy(value).into()),
            ValueRef::Blob(value) => Parameter::Blob(value.into()),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::from_sqlite(error.to_string(), extended_code(&error))
    }
}

/// SQLite's extended result code, where the error is SQLite's.
pub fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => Some(code.extended_code),
        rusqlite::Error::SqlInputError { error: code, .. } => Some(code.extended_code),
        _ => None,
    }
}

/// A transaction around each operation; what is left open by an error is rolled back on drop.
pub struct Around<'c> {
    connection: &'c Connection,
    behaviour: TransactionBehavior,
}

impl Bracket for Around<'_> {
    #[inline(always)]
    fn around(&mut self, operation: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let transaction = Transaction::new_unchecked(self.connection, self.behaviour)?;
        operation()?;
        Ok(transaction.commit()?)
    }
}

fn with_source<'c, S: Sink + 'c>(
    source: impl Source + 'c,
    step: &'c Step,
) -> Box<dyn Executor<S> + 'c> {
    let columns = &step.columns;
    match step.shape {
        _ if let Some(code) = step.fails => Box::new(Failing { source, step, code }),
        _ if step.operation == Operation::Run => Box::new(Run { source, step }),
        _ if step.operation == Operation::Execute => Box::new(Execute { source, step }),
        Shape::Object => with_shape(source, step, Object::new(columns)),
        Shape::Array => with_shape(source, step, Array::new(columns)),
        Shape::Typed => with_shape(source, step, Typed::new(columns)),
    }
}

fn with_shape<'c, S: Sink + 'c>(
    source: impl Source + 'c,
    step: &'c Step,
    shape: impl shapes::Shape + 'c,
) -> Box<dyn Executor<S> + 'c> {
    let kept = Default::default();
    match step.operation {
        Operation::Get => Box::new(Rows { source, step, shape, reading: Get, kept }),
        Operation::All => Box::new(Rows { source, step, shape, reading: All, kept }),
        _ => Box::new(Rows { source, step, shape, reading: Iterate, kept }),
    }
}

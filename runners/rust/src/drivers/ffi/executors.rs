//! The executions of each operation.

use libsqlite3_sys as ffi;

use super::columns::Columns;
use super::handles::{Database, Statement};
use super::sources::Source;
use super::values;
use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Execution, Tally, not_as_said};
use crate::drivers::files;
use crate::failure::Failure;
use crate::job::{Operation, Step};

/// `get` and, reading in place, `all` as `iterate`.
pub struct Rows<'c, Q, R, S> {
    pub source: Q,
    pub step: &'c Step,
    pub columns: Columns<'c, S>,
    pub reading: R,
}

/// How far an execution is stepped.
pub trait Reading {
    /// Steps a bound statement; returns the number of rows.
    fn execute<S: Sink>(
        &self,
        statement: &Statement<'_>,
        columns: &Columns<'_, S>,
        sink: &mut S,
    ) -> Result<u64, Failure>;
}

pub struct Get;

impl Reading for Get {
    #[inline(always)]
    fn execute<S: Sink>(
        &self,
        statement: &Statement<'_>,
        columns: &Columns<'_, S>,
        sink: &mut S,
    ) -> Result<u64, Failure> {
        if !statement.step()? {
            return Ok(0);
        }
        columns.read(statement, sink)?;
        Ok(1)
    }
}

pub struct All;

impl Reading for All {
    #[inline(always)]
    fn execute<S: Sink>(
        &self,
        statement: &Statement<'_>,
        columns: &Columns<'_, S>,
        sink: &mut S,
    ) -> Result<u64, Failure> {
        let mut count = 0;
        while statement.step()? {
            columns.read(statement, sink)?;
            count += 1;
        }
        Ok(count)
    }
}

impl<Q: Source, R: Reading, S: Sink> Execution<S> for Rows<'_, Q, R, S> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let Rows { source, step, columns, reading } = self;
        let count = source.with(|statement| {
            // SAFETY: the pool lives as long as the job.
            unsafe { values::bind(statement, step.pool.row(number))? };
            reading.execute(statement, columns, &mut tally.sink)
        })?;
        tally.rows += count;
        tally.sink.returned(count);
        Ok(())
    }
}

/// `run`.
pub struct Run<'c, Q> {
    pub connection: &'c Database,
    pub source: Q,
    pub step: &'c Step,
}

impl<Q: Source, S: Sink> Execution<S> for Run<'_, Q> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let Run { connection, source, step } = self;
        source.with(|statement| {
            // SAFETY: the pool lives as long as the job.
            unsafe { values::bind(statement, step.pool.row(number))? };
            statement.complete()
        })?;
        let affected = connection.changes();
        tally.affected += affected;
        tally.sink.affected(affected);
        Ok(())
    }
}

/// `execute`.
pub struct Execute<Q> {
    pub source: Q,
}

impl<Q: Source, S: Sink> Execution<S> for Execute<Q> {
    #[inline(always)]
    fn execute(&mut self, _number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        self.source.with(|statement| statement.complete())?;
        tally.sink.returned(0);
        Ok(())
    }
}

/// `run` of a statement that must fail with this primary code.
pub struct Failing<'c, Q> {
    pub source: Q,
    pub step: &'c Step,
    pub code: i32,
}

impl<Q: Source, S: Sink> Execution<S> for Failing<'_, Q> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let Failing { source, step, code: expected } = self;
        source.with(|statement| {
            // SAFETY: the pool lives as long as the job.
            unsafe { values::bind(statement, step.pool.row(number))? };
            match statement.attempt() {
                ffi::SQLITE_DONE | ffi::SQLITE_ROW => Err(not_as_said(step, *expected, None)),
                code if code & 0xFF == *expected => Ok(()),
                code => Err(not_as_said(step, *expected, Some(statement.failure(code)))),
            }
        })?;
        tally.sink.integer((*expected).into());
        tally.sink.returned(0);
        Ok(())
    }
}

/// `prepare`: compile and finalize.
pub struct Compile<'c> {
    pub connection: &'c Database,
    pub step: &'c Step,
}

impl<S: Sink> Execution<S> for Compile<'_> {
    #[inline(always)]
    fn execute(&mut self, _number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        drop(self.connection.prepare(&self.step.sql)?);
        tally.sink.returned(0);
        Ok(())
    }
}

/// `open` and `open-file`: a second connection, its pragmas, one `get`, close.
pub struct Open<'c, S> {
    pub access: &'c Access,
    pub step: &'c Step,
    pub columns: Columns<'c, S>,
}

impl<S: Sink> Execution<S> for Open<'_, S> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let file = self.step.operation == Operation::OpenFile;
        let connection = if file {
            Database::open_named(self.access, files::path(self.step, number)?)?
        } else {
            Database::open(self.access)?
        };
        let statement = connection.prepare_step(self.step)?;
        if !file {
            // SAFETY: the pool lives as long as the job.
            unsafe { values::bind(&statement, self.step.pool.row(number))? };
        }
        let count = Get.execute(&statement, &self.columns, &mut tally.sink)?;
        drop(statement);
        connection.close()?;
        tally.rows += count;
        tally.sink.returned(count);
        Ok(())
    }
}

//! The executions of each operation, compiled for each source × operation × shape × sink.

use rusqlite::types::Null;
use rusqlite::{BindIndex, Connection, Result, Statement};

use super::extended_code;
use super::shapes::{Object, Shape};
use super::sources::Source;
use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Execution, Tally, not_as_said};
use crate::failure::Failure;
use crate::job::{Operation, Step};
use crate::parameters::Parameter;

/// `get`, `all` and `iterate`.
pub struct Rows<'c, Q, H: Shape, R> {
    pub source: Q,
    pub step: &'c Step,
    pub shape: H,
    pub reading: R,
    /// Memory that executions share.
    pub kept: H::Rows,
}

/// How the rows of one execution are read.
pub trait Reading {
    /// Returns the number of rows.
    fn execute<H: Shape, S: Sink>(
        &self,
        statement: &mut Statement<'_>,
        shape: &H,
        kept: &mut H::Rows,
        sink: &mut S,
    ) -> Result<u64>;
}

/// First row or none.
pub struct Get;

impl Reading for Get {
    #[inline(always)]
    fn execute<H: Shape, S: Sink>(
        &self,
        statement: &mut Statement<'_>,
        shape: &H,
        kept: &mut H::Rows,
        sink: &mut S,
    ) -> Result<u64> {
        let mut rows = statement.raw_query();
        let Some(row) = rows.next()? else {
            return Ok(0);
        };
        shape.one(row, kept, sink)?;
        Ok(1)
    }
}

/// All rows in a collection of their own, then every value.
pub struct All;

impl Reading for All {
    #[inline(always)]
    fn execute<H: Shape, S: Sink>(
        &self,
        statement: &mut Statement<'_>,
        shape: &H,
        _kept: &mut H::Rows,
        sink: &mut S,
    ) -> Result<u64> {
        shape.all(statement, sink)
    }
}

/// Rows one at a time, no collection.
pub struct Iterate;

impl Reading for Iterate {
    #[inline(always)]
    fn execute<H: Shape, S: Sink>(
        &self,
        statement: &mut Statement<'_>,
        shape: &H,
        kept: &mut H::Rows,
        sink: &mut S,
    ) -> Result<u64> {
        let mut count = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            shape.one(row, kept, sink)?;
            count += 1;
        }
        Ok(count)
    }
}

impl<Q: Source, H: Shape, R: Reading, S: Sink> Execution<S> for Rows<'_, Q, H, R> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let Rows { source, step, shape, reading, kept } = self;
        let outcome = source.with(number, |statement| {
            bind(statement, step, number)?;
            reading.execute(statement, shape, kept, &mut tally.sink)
        });
        let count = outcome.map_err(|error| Failure::from(error).with_sql(&step.sql))?;
        tally.rows += count;
        tally.sink.returned(count);
        Ok(())
    }
}

/// Binds the row of an execution, each value as its own type, as a call with typed arguments does.
#[inline(always)]
fn bind(statement: &mut Statement<'_>, step: &Step, number: u64) -> Result<()> {
    let parameters = step.pool.row(number);
    if step.names.is_empty() {
        let mut places = (1..).zip(parameters);
        return places.try_for_each(|(place, parameter)| bind_one(statement, place, parameter));
    }
    // rusqlite looks each name up, as with `named_params!`.
    let mut named = step.names.iter().zip(parameters);
    named.try_for_each(|(name, parameter)| bind_one(statement, name.as_str(), parameter))
}

#[inline(always)]
fn bind_one(statement: &mut Statement<'_>, at: impl BindIndex, value: &Parameter) -> Result<()> {
    match value {
        Parameter::Null => statement.raw_bind_parameter(at, Null),
        Parameter::Integer(value) => statement.raw_bind_parameter(at, *value),
        Parameter::Real(value) => statement.raw_bind_parameter(at, *value),
        Parameter::Text(value) => statement.raw_bind_parameter(at, &**value),
        Parameter::Blob(value) => statement.raw_bind_parameter(at, &**value),
    }
}

/// `run`.
pub struct Run<'c, Q> {
    pub source: Q,
    pub step: &'c Step,
}

impl<Q: Source, S: Sink> Execution<S> for Run<'_, Q> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let outcome = self.source.with(number, |statement| {
            bind(statement, self.step, number)?;
            statement.raw_execute()
        });
        let affected = outcome.map_err(|error| Failure::from(error).with_sql(&self.step.sql))?;
        tally.affected += affected as u64;
        tally.sink.affected(affected as u64);
        Ok(())
    }
}

/// `execute`.
pub struct Execute<'c, Q> {
    pub source: Q,
    pub step: &'c Step,
}

impl<Q: Source, S: Sink> Execution<S> for Execute<'_, Q> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let outcome = self.source.with(number, |statement| statement.raw_execute());
        outcome.map_err(|error| Failure::from(error).with_sql(&self.step.sql))?;
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
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let outcome = self.source.with(number, |statement| {
            bind(statement, self.step, number)?;
            statement.raw_execute()
        });
        let code = outcome.as_ref().err().and_then(extended_code);
        if code.map(|code| code & 0xFF) != Some(self.code) {
            let failure = outcome.err().map(Failure::from);
            return Err(not_as_said(self.step, self.code, failure));
        }
        tally.sink.integer(self.code.into());
        tally.sink.returned(0);
        Ok(())
    }
}

/// `prepare`: compile and finalize.
pub struct Compile<'c> {
    pub connection: &'c Connection,
    pub step: &'c Step,
}

impl<S: Sink> Execution<S> for Compile<'_> {
    #[inline(always)]
    fn execute(&mut self, _number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let finalized = self.connection.prepare(&self.step.sql).and_then(Statement::finalize);
        finalized.map_err(|error| Failure::from(error).with_sql(&self.step.sql))?;
        tally.sink.returned(0);
        Ok(())
    }
}

/// `open` and `open-file`: a second connection, its pragmas, one `get`, close.
pub struct Open<'c> {
    pub access: &'c Access,
    pub step: &'c Step,
    pub shape: Object<'c>,
}

impl<S: Sink> Execution<S> for Open<'_> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> std::result::Result<(), Failure> {
        let outcome = self.once(number, &mut tally.sink);
        let count = outcome.map_err(|error| Failure::from(error).with_sql(&self.step.sql))?;
        tally.rows += count;
        tally.sink.returned(count);
        Ok(())
    }
}

impl Open<'_> {
    fn once<S: Sink>(&self, number: u64, sink: &mut S) -> Result<u64> {
        let file = match self.step.pool.row(number) {
            [Parameter::Text(path)] if self.step.operation == Operation::OpenFile => Some(path),
            _ => None,
        };
        let name = file.map_or(self.access.name.as_str(), |path| path);
        let connection = super::open_named(self.access, name)?;
        let mut statement = connection.prepare(&self.step.sql)?;
        if file.is_none() {
            bind(&mut statement, self.step, number)?;
        }
        let count = Get.execute(&mut statement, &self.shape, &mut Vec::new(), sink)?;
        drop(statement);
        connection.close().map_err(|(_, error)| error)?;
        Ok(count)
    }
}

//! The executions of a step.

use futures_util::TryStreamExt;
use sqlitmus_rust::checksum::Sink;
use sqlitmus_rust::driver::{Execution, Tally, check_counts, not_as_said};
use sqlitmus_rust::failure::Failure;
use sqlitmus_rust::job::{Operation, StatementKind, Step};
use sqlitmus_rust::parameters::Parameter;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Either, Error, Executor as _, SqlSafeStr, Sqlite, Statement as _};

use crate::rows::Field;
use crate::{Connection, failure};

/// A step and its text, which lives as long as the program, as that of most users does.
pub struct Statement<'c> {
    connection: &'c Connection,
    step: &'c Step,
    sql: &'static str,
}

impl<'c> Statement<'c> {
    pub fn new(connection: &'c Connection, step: &'c Step) -> Result<Self, Failure> {
        let sql: &'static str = Box::leak(step.sql.clone().into_boxed_str());
        let counts = connection.wait(async |inner| {
            let statement = inner.prepare(sql.into_sql_str()).await?;
            let parameters = match statement.parameters() {
                Some(Either::Right(count)) => count,
                Some(Either::Left(types)) => types.len(),
                None => 0,
            };
            Ok((statement.columns().len(), parameters))
        });
        let (columns, parameters) = counts.map_err(|failure| failure.with_sql(sql))?;
        check_counts(step, columns, parameters)?;
        Ok(Statement { connection, step, sql })
    }

    /// The query of an execution, its values bound.
    #[inline(always)]
    fn query(&self, number: u64) -> Query<'c, Sqlite, SqliteArguments> {
        let query = sqlx::query(self.sql).persistent(self.step.statement != StatementKind::Adhoc);
        self.step.pool.row(number).iter().fold(query, |query, value| match value {
            Parameter::Null => query.bind(None::<i64>),
            Parameter::Integer(value) => query.bind(*value),
            Parameter::Real(value) => query.bind(*value),
            Parameter::Text(value) => query.bind(&**value),
            Parameter::Blob(value) => query.bind(&**value),
        })
    }

    #[inline(always)]
    async fn executed<S: Sink>(
        &self,
        inner: &mut SqliteConnection,
        number: u64,
        tally: &mut Tally<S>,
    ) -> Result<(), Failure> {
        if let Some(code) = self.step.fails {
            return self.fail(inner, number, code, tally).await;
        }
        let outcome = match self.step.operation {
            Operation::Run => {
                let done = self.query(number).execute(inner).await;
                done.map(|done| {
                    tally.affected += done.rows_affected();
                    tally.sink.affected(done.rows_affected());
                })
            }
            _ => self.rows(inner, number, &mut tally.sink).await.map(|count| {
                tally.rows += count;
                tally.sink.returned(count);
            }),
        };
        outcome.map_err(|error| failure(error).with_sql(self.sql))
    }

    /// `get`, `all` and `iterate`; the number of rows.
    #[inline(always)]
    async fn rows<S: Sink>(
        &self,
        inner: &mut SqliteConnection,
        number: u64,
        sink: &mut S,
    ) -> Result<u64, Error> {
        let mut fields = Vec::new();
        let columns = &self.step.columns;
        let push = |row: SqliteRow, fields: &mut Vec<Field>| {
            let mut places = columns.iter().enumerate();
            places.try_for_each(|(place, column)| {
                fields.push(Field::of(&row, place, column)?);
                Ok::<_, Error>(())
            })
        };
        let mut count = 0;
        match self.step.operation {
            Operation::Get => {
                if let Some(row) = self.query(number).fetch_optional(inner).await? {
                    push(row, &mut fields)?;
                    count = 1;
                }
            }
            Operation::All => {
                // As a record's fields, end to end: a `Vec` of records allocates no more.
                let records = self.query(number).try_map(|row| push(row, &mut fields));
                count = records.fetch_all(inner).await?.len() as u64;
            }
            _ => {
                let mut rows = self.query(number).fetch(inner);
                while let Some(row) = rows.try_next().await? {
                    push(row, &mut fields)?;
                    fields.drain(..).for_each(|field| field.read(sink));
                    count += 1;
                }
            }
        }
        fields.into_iter().for_each(|field| field.read(sink));
        Ok(count)
    }

    /// `run` of a statement that must fail with this primary code.
    async fn fail<S: Sink>(
        &self,
        inner: &mut SqliteConnection,
        number: u64,
        code: i32,
        tally: &mut Tally<S>,
    ) -> Result<(), Failure> {
        let failure = self.query(number).execute(inner).await.err().map(failure);
        if failure.as_ref().and_then(Failure::primary_code) != Some(code) {
            return Err(not_as_said(self.step, code, failure));
        }
        tally.sink.integer(code.into());
        tally.sink.returned(0);
        Ok(())
    }
}

impl<S: Sink> Execution<S> for Statement<'_> {
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let inner = &mut *self.connection.inner.borrow_mut();
        self.connection.runtime.block_on(self.executed(inner, number, tally))
    }
}

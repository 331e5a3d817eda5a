//! What a driver gives: connections, compiled steps, transactions. All of it is chosen before the
//! clock starts; on the clock there is one indirect call per step and operation.

use std::ops::Range;

use crate::access::Access;
use crate::checksum::Sink;
use crate::engine::InEffect;
use crate::failure::Failure;
use crate::identity::DriverFacts;
use crate::job::Step;
use crate::parameters::Parameter;
use crate::result::PageCache;

/// What operations have produced; the checksum is that of those that have ended.
#[derive(Clone, Default)]
pub struct Tally<S> {
    pub sink: S,
    pub rows: u64,
    pub affected: u64,
    pub checksum: u32,
}

impl<S: Sink> Tally<S> {
    /// The next operation's checksum starts at zero again.
    #[inline(always)]
    pub fn end_operation(&mut self) {
        self.checksum = self.checksum.wrapping_add(self.sink.take_checksum());
    }
}

/// A step compiled for its operation, shape, statement kind and sink.
pub trait Execution<S> {
    /// Performs the execution with this number.
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure>;
}

/// `in-transaction`.
pub struct InTransaction<'c, D: Driver>(pub &'c D::Connection);

impl<D: Driver, S: Sink> Execution<S> for InTransaction<'_, D> {
    #[inline(always)]
    fn execute(&mut self, _number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        tally.sink.integer(D::in_transaction(self.0).into());
        tally.sink.returned(0);
        Ok(())
    }
}

/// The loop over executions, compiled for each [`Execution`].
pub trait Executor<S> {
    /// Performs `repeat` executions for each of these operations, which end with them if this is
    /// their only step.
    fn run(
        &mut self,
        operations: Range<u64>,
        repeat: u64,
        alone: bool,
        tally: &mut Tally<S>,
    ) -> Result<(), Failure>;
}

impl<S: Sink, E: Execution<S>> Executor<S> for E {
    fn run(
        &mut self,
        operations: Range<u64>,
        repeat: u64,
        alone: bool,
        tally: &mut Tally<S>,
    ) -> Result<(), Failure> {
        // A tally of its own stays in registers; and in a second loop executions would not be inlined.
        let mut own = std::mem::take(tally);
        let mut number = operations.start * repeat;
        for _ in operations {
            for _ in 0..repeat {
                self.execute(number, &mut own)?;
                number += 1;
            }
            if alone {
                own.end_operation();
            }
        }
        *tally = own;
        Ok(())
    }
}

/// The two transactions that can stand around an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Behaviour {
    Deferred,
    Immediate,
}

/// Runs operations inside a transaction each.
pub trait Bracket {
    fn around(&mut self, operation: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure>;
}

/// A rectangular result, for what is read off the clock.
pub type Table = Vec<Vec<Parameter>>;

pub trait Driver {
    const FACTS: &'static DriverFacts;
    type Connection;
    type Bracket<'c>: Bracket
    where
        Self::Connection: 'c;

    /// Opens a connection and sets its pragmas.
    fn open(access: &Access) -> Result<Self::Connection, Failure>;

    /// Executes SQL text without parameters and drops its rows.
    fn execute(connection: &Self::Connection, sql: &str) -> Result<(), Failure>;

    /// All rows of a query without parameters.
    fn query(connection: &Self::Connection, sql: &str) -> Result<Table, Failure>;

    /// Whether a transaction is open, as the driver says.
    fn in_transaction(connection: &Self::Connection) -> bool;

    /// The engine options in effect, seen from this connection.
    fn in_effect(connection: &Self::Connection) -> InEffect;

    /// How often pages were found in its cache since this was last asked, and how often not.
    fn page_cache(connection: &Self::Connection) -> PageCache;

    /// Prepares and specialises a step.
    fn compile<'c, S: Sink + 'c>(
        connection: &'c Self::Connection,
        step: &'c Step,
        access: &'c Access,
    ) -> Result<Box<dyn Executor<S> + 'c>, Failure>;

    fn bracket(
        connection: &Self::Connection,
        behaviour: Behaviour,
    ) -> Result<Self::Bracket<'_>, Failure>;

    fn close(connection: Self::Connection) -> Result<(), Failure>;
}

/// Why an execution that must fail did not do so as the job says.
#[cold]
pub fn not_as_said(step: &Step, expected: i32, outcome: Option<Failure>) -> Failure {
    match outcome {
        Some(failure) => failure,
        None => {
            let message = format!("the statement succeeded; the job says it fails with {expected}");
            Failure::new(message)
        }
    }
    .with_sql(&step.sql)
}

/// Refuses a statement whose columns or parameters are not as many as the job declares.
pub fn check_counts(step: &Step, columns: usize, parameters: usize) -> Result<(), Failure> {
    let counts =
        [("columns", columns, step.columns.len()), ("parameters", parameters, step.pool.width())];
    for (what, has, declared) in counts {
        if has != declared {
            let message = format!("the statement has {has} {what}, the job declares {declared}");
            return Err(Failure::new(message).with_sql(&step.sql));
        }
    }
    Ok(())
}

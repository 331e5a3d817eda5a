//! One connection at work: its compiled steps, its transactions and its iterations.

use std::ops::Range;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use libsqlite3_sys as ffi;

use crate::access::Access;
use crate::allocations::allocated;
use crate::checksum::Sink;
use crate::driver::{Behaviour, Bracket, Driver, Executor, Tally};
use crate::failure::Failure;
use crate::job::Transaction;
use crate::order::Order;
use crate::parts::Part;
use crate::process::{self, Usage};
use crate::recording::Recording;
use crate::result::{Counts, PageCache};

pub struct Session<'c, D: Driver + 'c, S> {
    connection: &'c D::Connection,
    reading: bool,
    bracket: Option<D::Bracket<'c>>,
    steps: Vec<Step<'c, S>>,
    order: Option<Order>,
}

struct Step<'c, S> {
    repeat: u64,
    executor: Box<dyn Executor<S> + 'c>,
}

/// One timed pass over a range of operations: a thread's part of an iteration.
#[derive(Debug)]
pub struct Lap {
    pub start: Instant,
    pub end: Instant,
    /// The start since the beginning of Unix time.
    pub began: Duration,
    pub counts: Counts,
    /// What the process had used before and after.
    pub usage: Option<(Usage, Usage)>,
    /// Bytes that this thread allocated.
    pub allocated: u64,
    pub page_cache: PageCache,
    /// Operations that ended with SQLITE_BUSY.
    pub busy: u64,
}

impl Lap {
    pub fn elapsed(&self) -> Duration {
        self.end - self.start
    }

    /// Start and end in microseconds of Unix time.
    pub fn span_us(&self) -> (f64, f64) {
        let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
        (microseconds(self.began), microseconds(self.began + self.elapsed()))
    }
}

/// Opens one of the job's own connections and sets it up.
pub fn connect<D: Driver>(access: &Access) -> Result<D::Connection, Failure> {
    let connection = D::open(access)?;
    access.setup.iter().try_for_each(|sql| D::execute(&connection, sql))?;
    Ok(connection)
}

impl<'c, D: Driver, S: Sink + 'c> Session<'c, D, S> {
    /// Prepares all steps and transactions of a part on a connection.
    pub fn prepare(
        connection: &'c D::Connection,
        part: &Part<'c>,
        access: &'c Access,
    ) -> Result<Self, Failure> {
        let behaviour = match part.transaction {
            Transaction::Deferred => Some(Behaviour::Deferred),
            Transaction::Immediate => Some(Behaviour::Immediate),
            Transaction::None | Transaction::Read => None,
        };
        let steps = part.steps.iter().map(|step| {
            let executor = D::compile(connection, step, access)?;
            Ok(Step { repeat: step.repeat, executor })
        });
        Ok(Session {
            connection,
            reading: part.transaction == Transaction::Read,
            bracket: behaviour.map(|behaviour| D::bracket(connection, behaviour)).transpose()?,
            steps: steps.collect::<Result<_, Failure>>()?,
            order: part.order.clone(),
        })
    }

    /// Runs reset statements; off the clock.
    pub fn reset(&self, statements: &[String]) -> Result<(), Failure> {
        statements.iter().try_for_each(|sql| D::execute(self.connection, sql))
    }

    /// Begins the read transaction where one is asked; off the clock. The read takes the snapshot.
    pub fn begin(&self) -> Result<(), Failure> {
        if self.reading {
            D::execute(self.connection, "BEGIN")?;
            D::query(self.connection, "SELECT count(*) FROM sqlite_schema")?;
        }
        Ok(())
    }

    /// Ends what [`Session::begin`] began; off the clock.
    pub fn commit(&self) -> Result<(), Failure> {
        if self.reading { D::execute(self.connection, "COMMIT") } else { Ok(()) }
    }

    /// Performs these operations on the clock.
    pub fn timed(&mut self, operations: Range<u64>, sink: &mut S) -> Result<Lap, Failure> {
        self.clocked(sink, |session, _, tally| session.perform(operations, tally))
    }

    /// The same, with a look at each operation.
    pub fn recorded(
        &mut self,
        operations: Range<u64>,
        sink: &mut S,
        recording: &mut Recording,
    ) -> Result<Lap, Failure> {
        let mut busy = 0;
        let lap = self.clocked(sink, |session, start, tally| {
            busy = session.perform_each(operations, start, recording, tally)?;
            Ok(())
        })?;
        Ok(Lap { busy, ..lap })
    }

    #[inline(always)]
    fn clocked(
        &mut self,
        sink: &mut S,
        body: impl FnOnce(&mut Self, Instant, &mut Tally<S>) -> Result<(), Failure>,
    ) -> Result<Lap, Failure> {
        let mut tally = Tally { sink: std::mem::take(sink), ..Tally::default() };
        D::page_cache(self.connection); // counts from here on
        let held = allocated();
        let before = process::usage();
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = Instant::now();
        let outcome = body(self, start, &mut tally);
        let end = Instant::now();
        let usage = before.zip(process::usage());
        let allocated = allocated() - held;
        let page_cache = D::page_cache(self.connection);
        outcome?;
        let Tally { rows, affected, checksum, sink: filled } = tally;
        *sink = filled;
        let counts = Counts { rows, affected, checksum };
        Ok(Lap { start, end, began, counts, usage, allocated, page_cache, busy: 0 })
    }

    fn perform(&mut self, operations: Range<u64>, tally: &mut Tally<S>) -> Result<(), Failure> {
        let steps = &mut self.steps;
        if let Some(order) = &self.order {
            for operation in operations {
                let place = order.at(operation);
                if place.mine {
                    let steps = &mut steps[place.steps.clone()];
                    match &mut self.bracket {
                        Some(bracket) => bracket.around(|| one_operation(steps, place.turn, tally)),
                        None => one_operation(steps, place.turn, tally),
                    }?;
                }
            }
            return Ok(());
        }
        if let Some(bracket) = &mut self.bracket {
            for operation in operations {
                bracket.around(|| one_operation(steps, operation, tally))?;
            }
            return Ok(());
        }
        if let [step] = steps.as_mut_slice() {
            return step.executor.run(operations, step.repeat, true, tally);
        }
        for operation in operations {
            one_operation(steps, operation, tally)?;
        }
        Ok(())
    }

    /// Returns how many operations were busy.
    fn perform_each(
        &mut self,
        operations: Range<u64>,
        start: Instant,
        recording: &mut Recording,
        tally: &mut Tally<S>,
    ) -> Result<u64, Failure> {
        let mut busy = 0;
        let first = operations.start;
        for (number, operation) in (0..).zip(operations) {
            let mut steps = self.steps.as_mut_slice();
            let (mut turn, mut planned) = (operation, None);
            if let Some(order) = &self.order {
                let place = order.at(operation);
                if !place.mine {
                    continue;
                }
                steps = &mut steps[place.steps.clone()];
                (turn, planned) = (place.turn, order.planned(operation, first));
            }
            let begun = match planned {
                Some(planned) => recording.begin_at(&start, planned),
                None => recording.begin(&start, number),
            };
            let kept = recording.tolerates_busy().then(|| tally.clone());
            let outcome = match &mut self.bracket {
                Some(bracket) => bracket.around(|| one_operation(steps, turn, tally)),
                None => one_operation(steps, turn, tally),
            };
            if let Err(failure) = outcome {
                let Some(kept) = kept.filter(|_| failure.primary_code() == Some(ffi::SQLITE_BUSY))
                else {
                    return Err(failure);
                };
                self.give_up()?;
                *tally = kept;
                busy += 1;
            }
            recording.end(&start, begun);
        }
        Ok(busy)
    }

    /// Rolls back what a busy operation has left open; the read transaction around all stays.
    #[cold]
    fn give_up(&self) -> Result<(), Failure> {
        if !self.reading && D::in_transaction(self.connection) {
            D::execute(self.connection, "ROLLBACK")?;
        }
        Ok(())
    }
}

#[inline(always)]
fn one_operation<S: Sink>(
    steps: &mut [Step<'_, S>],
    operation: u64,
    tally: &mut Tally<S>,
) -> Result<(), Failure> {
    for step in steps {
        step.executor.run(operation..operation + 1, step.repeat, false, tally)?;
    }
    tally.end_operation();
    Ok(())
}

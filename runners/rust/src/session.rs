//! One connection at work: its compiled steps, its transactions and its iterations.

use std::ops::Range;
use std::time::Instant;

use crate::access::Access;
use crate::checksum::Sink;
use crate::driver::{Behaviour, Bracket, Driver, Executor, Tally};
use crate::failure::Failure;
use crate::job::{Job, Transaction};
use crate::process;
use crate::result::{Counts, Cpu};

pub struct Session<'c, D: Driver + 'c, S> {
    connection: &'c D::Connection,
    reset: &'c [String],
    reading: bool,
    bracket: Option<D::Bracket<'c>>,
    steps: Vec<Step<'c, S>>,
}

struct Step<'c, S> {
    repeat: u64,
    executor: Box<dyn Executor<S> + 'c>,
}

/// One timed pass over a range of operations.
#[derive(Debug)]
pub struct Pass {
    pub start: Instant,
    pub end: Instant,
    pub counts: Counts,
    pub cpu: Option<Cpu>,
}

/// The operations of worker `worker` of `workers`: ⌊N·w/k⌋ up to ⌊N·(w+1)/k⌋.
pub fn share(operations: u64, worker: u64, workers: u64) -> Range<u64> {
    let bound = |worker: u64| {
        let product = u128::from(operations) * u128::from(worker);
        (product / u128::from(workers)) as u64
    };
    bound(worker)..bound(worker + 1)
}

impl<'c, D: Driver, S: Sink + 'c> Session<'c, D, S> {
    /// Prepares all steps and transactions of a job on a connection.
    pub fn prepare(
        connection: &'c D::Connection,
        job: &'c Job,
        access: &'c Access,
    ) -> Result<Self, Failure> {
        let behaviour = match job.transaction {
            Transaction::Deferred => Some(Behaviour::Deferred),
            Transaction::Immediate => Some(Behaviour::Immediate),
            Transaction::None | Transaction::Read => None,
        };
        let steps = job.steps.iter().map(|step| {
            let executor = D::compile(connection, step, access)?;
            Ok(Step { repeat: step.repeat, executor })
        });
        Ok(Session {
            connection,
            reset: &job.reset,
            reading: job.transaction == Transaction::Read,
            bracket: behaviour.map(|behaviour| D::bracket(connection, behaviour)).transpose()?,
            steps: steps.collect::<Result<_, Failure>>()?,
        })
    }

    /// Runs the reset statements; off the clock.
    pub fn reset(&self) -> Result<(), Failure> {
        self.reset.iter().try_for_each(|sql| D::execute(self.connection, sql))
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
    pub fn timed(&mut self, operations: Range<u64>, sink: &mut S) -> Result<Pass, Failure> {
        let mut tally = Tally { sink: std::mem::take(sink), rows: 0, affected: 0 };
        let before = process::cpu();
        let start = Instant::now();
        let outcome = self.perform(operations, &mut tally);
        let end = Instant::now();
        let cpu = before.zip(process::cpu()).map(|(before, after)| Cpu {
            user: after.user - before.user,
            system: after.system - before.system,
        });
        outcome?;
        let Tally { rows, affected, sink: mut filled } = tally;
        let checksum = filled.take_checksum();
        *sink = filled;
        Ok(Pass { start, end, counts: Counts { rows, affected, checksum }, cpu })
    }

    fn perform(&mut self, operations: Range<u64>, tally: &mut Tally<S>) -> Result<(), Failure> {
        let steps = &mut self.steps;
        if let Some(bracket) = &mut self.bracket {
            for operation in operations {
                bracket.around(|| one_operation(steps, operation, tally))?;
            }
            return Ok(());
        }
        // Execution numbers run on from one operation to the next: one step is one loop.
        if let [step] = steps.as_mut_slice() {
            let executions = operations.start * step.repeat..operations.end * step.repeat;
            return step.executor.run(executions, tally);
        }
        for operation in operations {
            one_operation(steps, operation, tally)?;
        }
        Ok(())
    }
}

#[inline(always)]
fn one_operation<S>(
    steps: &mut [Step<'_, S>],
    operation: u64,
    tally: &mut Tally<S>,
) -> Result<(), Failure> {
    for step in steps {
        let first = operation * step.repeat;
        step.executor.run(first..first + step.repeat, tally)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_floors_and_leave_nothing_out() {
        let shares = |operations, workers| {
            (0..workers).map(|worker| share(operations, worker, workers)).collect::<Vec<_>>()
        };
        assert_eq!(shares(10, 3), [0..3, 3..6, 6..10]);
        assert_eq!(shares(2, 4), [0..0, 0..1, 1..1, 1..2]);
        assert_eq!(share(7, 0, 1), 0..7);
        assert_eq!(share(u64::MAX, 1, 2), u64::MAX / 2..u64::MAX);
    }
}

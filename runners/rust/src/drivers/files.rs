//! Files that no driver reads.

use std::fs;
use std::ops::Range;

use crate::checksum::Sink;
use crate::driver::{Executor, Tally};
use crate::failure::Failure;
use crate::job::Step;
use crate::parameters::Parameter;

/// `read-file`.
pub struct ReadFile<'c> {
    pub step: &'c Step,
}

impl<S: Sink> Executor<S> for ReadFile<'_> {
    fn run(&mut self, executions: Range<u64>, tally: &mut Tally<S>) -> Result<(), Failure> {
        for execution in executions {
            let [Parameter::Text(path)] = self.step.pool.row(execution) else {
                return Err(Failure::new("read-file has no path"));
            };
            let content = fs::read(&**path)
                .map_err(|error| Failure::new(format!("{path}: cannot be read: {error}")))?;
            tally.sink.blob(&content);
            tally.rows += 1;
            tally.sink.returned(1);
        }
        Ok(())
    }
}

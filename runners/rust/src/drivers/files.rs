//! Files that no driver reads.

use std::fs;

use crate::checksum::Sink;
use crate::driver::{Execution, Tally};
use crate::failure::Failure;
use crate::job::Step;
use crate::parameters::Parameter;

/// `read-file`.
pub struct ReadFile<'c> {
    pub step: &'c Step,
}

/// The path that an execution of a step names.
pub fn path(step: &Step, execution: u64) -> Result<&str, Failure> {
    match step.pool.row(execution) {
        [Parameter::Text(path)] => Ok(path),
        _ => Err(Failure::new("the step has no path")),
    }
}

impl<S: Sink> Execution<S> for ReadFile<'_> {
    #[inline(always)]
    fn execute(&mut self, number: u64, tally: &mut Tally<S>) -> Result<(), Failure> {
        let path = path(self.step, number)?;
        let content = fs::read(path)
            .map_err(|error| Failure::new(format!("{path}: cannot be read: {error}")))?;
        tally.sink.blob(&content);
        tally.rows += 1;
        tally.sink.returned(1);
        Ok(())
    }
}

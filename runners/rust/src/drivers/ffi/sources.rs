//! Where the statement of an execution comes from.

use super::handles::{Database, Statement};
use crate::failure::Failure;
use crate::job::Step;

pub trait Source {
    fn with<R>(
        &mut self,
        body: impl FnOnce(&Statement<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure>;
}

/// Prepared once, before the clock; reset after each execution.
pub struct Prepared<'c>(pub Statement<'c>);

impl Source for Prepared<'_> {
    #[inline(always)]
    fn with<R>(
        &mut self,
        body: impl FnOnce(&Statement<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let outcome = body(&self.0);
        self.0.reset();
        outcome
    }
}

/// Prepared and finalized at each execution.
pub struct Adhoc<'c> {
    pub connection: &'c Database,
    pub step: &'c Step,
}

impl Source for Adhoc<'_> {
    #[inline(always)]
    fn with<R>(
        &mut self,
        body: impl FnOnce(&Statement<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        body(&self.connection.prepare_step(self.step)?)
    }
}

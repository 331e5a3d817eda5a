//! Where the statement of an execution comes from.

use rusqlite::{Connection, Result, Statement};

pub trait Source {
    fn with<R>(&mut self, body: impl FnOnce(&mut Statement<'_>) -> Result<R>) -> Result<R>;
}

/// Prepared once, before the clock.
pub struct Prepared<'c>(pub Statement<'c>);

impl Source for Prepared<'_> {
    #[inline(always)]
    fn with<R>(&mut self, body: impl FnOnce(&mut Statement<'_>) -> Result<R>) -> Result<R> {
        body(&mut self.0)
    }
}

/// Through rusqlite's own cache at each execution.
pub struct Cached<'c> {
    pub connection: &'c Connection,
    pub sql: &'c str,
}

impl Source for Cached<'_> {
    #[inline(always)]
    fn with<R>(&mut self, body: impl FnOnce(&mut Statement<'_>) -> Result<R>) -> Result<R> {
        body(&mut *self.connection.prepare_cached(self.sql)?)
    }
}

/// Prepared and finalized at each execution.
pub struct Adhoc<'c> {
    pub connection: &'c Connection,
    pub sql: &'c str,
}

impl Source for Adhoc<'_> {
    #[inline(always)]
    fn with<R>(&mut self, body: impl FnOnce(&mut Statement<'_>) -> Result<R>) -> Result<R> {
        body(&mut self.connection.prepare(self.sql)?)
    }
}

//! Where the statement of an execution comes from.

use rusqlite::{Connection, Result, Statement};

pub trait Source {
    fn with<R>(
        &mut self,
        execution: u64,
        body: impl FnOnce(&mut Statement<'_>) -> Result<R>,
    ) -> Result<R>;
}

/// Prepared once, before the clock.
pub struct Prepared<'c>(pub Statement<'c>);

impl Source for Prepared<'_> {
    #[inline(always)]
    fn with<R>(
        &mut self,
        _execution: u64,
        body: impl FnOnce(&mut Statement<'_>) -> Result<R>,
    ) -> Result<R> {
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
    fn with<R>(
        &mut self,
        _execution: u64,
        body: impl FnOnce(&mut Statement<'_>) -> Result<R>,
    ) -> Result<R> {
        body(&mut *self.connection.prepare_cached(self.sql)?)
    }
}

/// The same, of several texts in turn.
pub struct CachedInTurn<'c> {
    pub connection: &'c Connection,
    texts: Box<[String]>,
}

impl<'c> CachedInTurn<'c> {
    /// `texts` is a power of two.
    pub fn new(connection: &'c Connection, sql: &str, texts: u64) -> Self {
        let texts = (0..texts).map(|k| format!("{sql} -- {k}")).collect();
        CachedInTurn { connection, texts }
    }
}

impl Source for CachedInTurn<'_> {
    #[inline(always)]
    fn with<R>(
        &mut self,
        execution: u64,
        body: impl FnOnce(&mut Statement<'_>) -> Result<R>,
    ) -> Result<R> {
        let sql = &self.texts[execution as usize & (self.texts.len() - 1)];
        body(&mut *self.connection.prepare_cached(sql)?)
    }
}

/// Prepared and finalized at each execution.
pub struct Adhoc<'c> {
    pub connection: &'c Connection,
    pub sql: &'c str,
}

impl Source for Adhoc<'_> {
    #[inline(always)]
    fn with<R>(
        &mut self,
        _execution: u64,
        body: impl FnOnce(&mut Statement<'_>) -> Result<R>,
    ) -> Result<R> {
        body(&mut self.connection.prepare(self.sql)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_uses_the_text_of_its_number() {
        let connection = Connection::open_in_memory().unwrap();
        let mut source = CachedInTurn::new(&connection, "SELECT 1", 2);
        let mut text = |n| source.with(n, |statement| Ok(statement.expanded_sql())).unwrap();
        assert_eq!(text(2).as_deref(), Some("SELECT 1 -- 0"));
        assert_eq!(text(7).as_deref(), Some("SELECT 1 -- 1"));
    }
}

//! What went wrong in a job that could be read, as the result reports it.

use serde::Serialize;

/// A failure; boxed so that the results of hot functions stay one word.
#[derive(Debug)]
pub struct Failure(Box<Details>);

#[derive(Debug, Serialize)]
pub struct Details {
    pub message: String,
    /// SQLite's extended result code.
    pub sqlite_code: Option<i32>,
    pub sql: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Failure::from_sqlite(message, None)
    }

    pub fn from_sqlite(message: impl Into<String>, sqlite_code: Option<i32>) -> Self {
        Failure(Box::new(Details { message: message.into(), sqlite_code, sql: None }))
    }

    /// Names the statement, unless one is named already.
    pub fn with_sql(mut self, sql: &str) -> Self {
        self.0.sql.get_or_insert_with(|| sql.to_owned());
        self
    }

    /// SQLite's primary result code.
    pub fn primary_code(&self) -> Option<i32> {
        self.0.sqlite_code.map(|code| code & 0xFF)
    }

    pub fn into_details(self) -> Details {
        *self.0
    }
}

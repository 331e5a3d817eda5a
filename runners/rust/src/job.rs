//! The job as JSON gives it. Unknown keys and wrong types are errors that name the JSON path.

mod measure;
mod reading;
mod step;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::measure::{Home, Measure, Sequence, Share};
pub use self::reading::read;
pub use self::step::{Column, Integers, Operation, Shape, StatementKind, Step, Type, Values};
use crate::engine::Engine;

/// The version of the contract.
pub const VERSION: u32 = 2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    #[serde(default = "version")]
    pub contract: u32,
    pub mode: Mode,
    pub cell: String,
    pub database: Option<Database>,
    #[serde(default)]
    pub connection: Connection,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub transaction: Transaction,
    pub writer: Option<Writer>,
    #[serde(default)]
    pub reset: Vec<String>,
    pub reset_every: Option<u64>,
    #[serde(default)]
    pub readback: Vec<Readback>,
    #[serde(default = "yes")]
    pub inspect: bool,
    pub measure: Measure,
    pub output: PathBuf,
}

impl Job {
    /// The SQL that is due before an operation, off the clock.
    pub fn reset_before(&self, operation: u64) -> &[String] {
        match self.reset_every {
            Some(every) if operation.is_multiple_of(every) => &self.reset,
            _ => &[],
        }
    }

    /// Whether it waits before each iteration until it is released.
    pub fn waits(&self) -> bool {
        self.mode == Mode::Measure && self.measure.share.is_some()
    }

    /// Whether it changes SQLite for the whole process, or takes over stdin and stdout.
    pub fn needs_own_process(&self) -> bool {
        self.waits() || self.connection.engine != Engine::default()
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Verify,
    Measure,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    pub path: String,
    #[serde(default)]
    pub mode: OpenMode,
    #[serde(default)]
    pub uri: BTreeMap<String, String>,
    #[serde(default)]
    pub flags: Vec<Flag>,
}

impl Database {
    /// Whether each connection has a database of its own.
    pub fn in_memory(&self) -> bool {
        self.path == ":memory:"
    }
}

/// A flag of `sqlite3_open_v2`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    NoMutex,
    FullMutex,
    PrivateCache,
    SharedCache,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum OpenMode {
    #[default]
    ReadWrite,
    ReadOnly,
}

/// A pragma's or an engine option's value.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or an integer")]
pub enum Setting {
    Integer(i64),
    Text(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    #[serde(default)]
    pub pragmas: Vec<(String, Setting)>,
    #[serde(default)]
    pub engine: Engine,
    #[serde(default)]
    pub setup: Vec<String>,
    #[serde(default)]
    pub per_operation: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Transaction {
    #[default]
    None,
    Deferred,
    Immediate,
    Read,
}

/// A writer beside the workers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writer {
    pub steps: Vec<Step>,
    #[serde(default)]
    pub transaction: Transaction,
    pub operations: u64,
    pub rate: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readback {
    pub sql: String,
    pub columns: Vec<Column>,
}

fn version() -> u32 {
    VERSION
}

fn yes() -> bool {
    true
}

//! What the drivers can be asked for, as data and as an answer to a job.

use serde::Serialize;

use crate::engine::{self, Threading};
use crate::identity::DriverName;
use crate::job::{Integers, Job, Operation, StatementKind, Step, Values};

#[derive(Debug, Serialize)]
pub struct Features {
    pub levels: &'static [&'static str],
    pub operations: &'static [&'static str],
    pub shapes: &'static [&'static str],
    pub integers: &'static [&'static str],
    pub statements: &'static [&'static str],
    pub bindings: &'static [&'static str],
    pub transactions: &'static [&'static str],
    pub engine: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub lacks: &'static [&'static str],
    pub figures: &'static [&'static str],
}

impl Features {
    pub fn of(driver: DriverName) -> Self {
        Features {
            levels: &["core", "workers", "load", "extras"],
            operations: &[
                "get",
                "all",
                "iterate",
                "run",
                "prepare",
                "open",
                "open-file",
                "in-transaction",
                "execute",
                "read-file",
            ],
            shapes: &["object", "array", "typed"],
            integers: &["number"],
            statements: match driver {
                DriverName::Rusqlite => &["prepared", "cached", "adhoc"],
                DriverName::Ffi => &["prepared", "adhoc"],
            },
            bindings: &["positional", "named"],
            transactions: &["none", "deferred", "immediate", "read"],
            engine: engine::options(),
            flags: &["no-mutex", "full-mutex", "private-cache", "shared-cache"],
            lacks: match driver {
                DriverName::Rusqlite => &["per_operation", "unread", "single-thread"],
                DriverName::Ffi => &["per_operation", "unread"],
            },
            figures: &["allocated_bytes", "collections", "page_cache"],
        }
    }
}

/// The parameters that SQLite's own file: URIs have; it ignores all others.
const URI_PARAMETERS: [&str; 6] = ["cache", "immutable", "mode", "nolock", "psow", "vfs"];

/// Why this driver cannot do the job; `None` when it can.
pub fn unsupported(job: &Job, driver: DriverName) -> Option<String> {
    let uri = job.database.iter().flat_map(|database| database.uri.keys());
    let mut unknown = uri.filter(|key| !URI_PARAMETERS.contains(&key.as_str()));
    if let Some(key) = unknown.next() {
        return Some(format!("SQLite ignores the URI parameter {key:?}"));
    }
    if let Some(reason) = unsupported_engine(job, driver) {
        return Some(reason);
    }
    if job.measure.event_loop.is_some() {
        return Some("Rust has no event loop of its own".into());
    }
    if job.connection.per_operation {
        let name = match driver {
            DriverName::Rusqlite => "rusqlite",
            DriverName::Ffi => "SQLite's C API",
        };
        return Some(format!("{name} has no pool of connections; its users keep them"));
    }
    let steps = job.steps.iter().chain(job.writer.iter().flat_map(|writer| &writer.steps));
    let mut reasons = steps.filter_map(|step| unsupported_step(step, driver));
    reasons.next().map(str::to_owned)
}

fn unsupported_engine(job: &Job, driver: DriverName) -> Option<String> {
    let engine = &job.connection.engine;
    let threads = job.measure.workers + u64::from(job.writer.is_some());
    match engine.threading {
        _ if engine.refused.is_some() => engine.refused.clone(),
        Some(_) if !engine::options().contains(&"threading") => {
            Some("this SQLite was compiled without mutexes, so it has no threading mode".into())
        }
        Some(Threading::SingleThread) if driver == DriverName::Rusqlite => {
            Some("rusqlite opens no connection while SQLite is in its single-thread mode".into())
        }
        Some(Threading::SingleThread) if threads > 1 => {
            Some(format!("SQLite's single-thread mode is unsafe with {threads} threads"))
        }
        _ => None,
    }
}

fn unsupported_step(step: &Step, driver: DriverName) -> Option<&'static str> {
    if step.integers == Integers::Bigint {
        return Some("integers are 64-bit already");
    }
    if step.values == Values::Unread {
        return Some("this runner reads every value of the rows that it is given");
    }
    // What opens a connection or compiles a statement has nothing to keep.
    let fresh =
        matches!(step.operation, Operation::Prepare | Operation::Open | Operation::OpenFile);
    match step.statement {
        StatementKind::Cached if driver == DriverName::Ffi => {
            Some("the C API has no statement cache")
        }
        StatementKind::Cached if fresh => Some("prepare and open take no cached statement"),
        _ => None,
    }
}

//! What the drivers can be asked for, as data and as an answer to a job.

use serde::Serialize;

use crate::engine::{self, Threading};
use crate::identity::DriverFacts;
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
    pub fn of(driver: &DriverFacts) -> Self {
        Features {
            levels: &["core", "workers", "load", "extras"],
            operations: driver.operations,
            shapes: driver.shapes,
            integers: &["number"],
            statements: driver.statements,
            bindings: driver.bindings,
            transactions: &["none", "deferred", "immediate", "read"],
            engine: engine::options(),
            flags: driver.flags,
            lacks: driver.lacks,
            figures: driver.figures,
        }
    }
}

/// The parameters that SQLite's own file: URIs have; it ignores all others.
const URI_PARAMETERS: [&str; 6] = ["cache", "immutable", "mode", "nolock", "psow", "vfs"];

/// Why this driver cannot do the job; `None` when it can.
pub fn unsupported(job: &Job, driver: &DriverFacts) -> Option<String> {
    let title = driver.title;
    let uri = job.database.iter().flat_map(|database| database.uri.keys());
    let mut unknown = uri.filter(|key| !URI_PARAMETERS.contains(&key.as_str()));
    if let Some(key) = unknown.next() {
        return Some(format!("SQLite ignores the URI parameter {key:?}"));
    }
    let parameters = job.database.iter().any(|database| !database.uri.is_empty());
    if parameters && driver.lacks.contains(&"uri") {
        return Some(format!("{title} takes parameters of a URI as options of its own"));
    }
    let flags = job.database.iter().flat_map(|database| &database.flags);
    if let Some(flag) = flags.map(name).find(|flag| !driver.flags.contains(&flag.as_str())) {
        return Some(format!("{title} has no open flag {flag}"));
    }
    if let Some(reason) = unsupported_engine(job, driver) {
        return Some(reason);
    }
    if job.measure.event_loop.is_some() {
        return Some("Rust has no event loop of its own".into());
    }
    if job.connection.per_operation {
        return Some(format!("{title} has no pool of connections; its users keep them"));
    }
    let steps = job.steps.iter().chain(job.writer.iter().flat_map(|writer| &writer.steps));
    let mut reasons = steps.filter_map(|step| unsupported_step(step, driver));
    reasons.next()
}

fn unsupported_engine(job: &Job, driver: &DriverFacts) -> Option<String> {
    let engine = &job.connection.engine;
    let threads = job.measure.workers + u64::from(job.writer.is_some());
    match engine.threading {
        _ if engine.refused.is_some() => engine.refused.clone(),
        Some(_) if !engine::options().contains(&"threading") => {
            Some("this SQLite was compiled without mutexes, so it has no threading mode".into())
        }
        Some(Threading::SingleThread) if driver.lacks.contains(&"single-thread") => {
            let title = driver.title;
            Some(format!("{title} opens no connection while SQLite is in its single-thread mode"))
        }
        Some(Threading::SingleThread) if threads > 1 => {
            Some(format!("SQLite's single-thread mode is unsafe with {threads} threads"))
        }
        _ => None,
    }
}

fn unsupported_step(step: &Step, driver: &DriverFacts) -> Option<String> {
    let title = driver.title;
    if step.integers == Integers::Bigint {
        return Some("integers are 64-bit already".into());
    }
    if step.values == Values::Unread {
        return Some("this runner reads every value of the rows that it is given".into());
    }
    let (operation, shape) = (name(step.operation), name(step.shape));
    if !driver.operations.contains(&operation.as_str()) {
        return Some(format!("this runner has no operation {operation} for {title}"));
    }
    if !driver.shapes.contains(&shape.as_str()) {
        return Some(format!("this runner has no shape {shape} for {title}"));
    }
    if !step.names.is_empty() && !driver.bindings.contains(&"named") {
        return Some(format!("{title} binds by place alone"));
    }
    // What opens a connection or compiles a statement has nothing to keep.
    let fresh =
        matches!(step.operation, Operation::Prepare | Operation::Open | Operation::OpenFile);
    match step.statement {
        StatementKind::Cached if !driver.statements.contains(&"cached") => {
            Some(format!("{title} has no statement cache"))
        }
        StatementKind::Cached if fresh => Some("prepare and open take no cached statement".into()),
        _ => None,
    }
}

/// The name of an enumeration's value in the contract.
fn name(value: impl Serialize) -> String {
    let json = serde_json::to_value(value).expect("plain data serialises");
    json.as_str().unwrap_or_default().to_owned()
}

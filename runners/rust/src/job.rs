//! The job as JSON gives it. Unknown keys and wrong types are errors that name the JSON path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::engine::Engine;
use crate::parameters::{Parameters, Pool};

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
    #[serde(default)]
    pub reset: Vec<String>,
    #[serde(default)]
    pub readback: Vec<Readback>,
    #[serde(default = "yes")]
    pub inspect: bool,
    pub measure: Measure,
    pub output: PathBuf,
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
    pub worker_pragmas: Vec<(String, Setting)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub operation: Operation,
    pub sql: String,
    pub parameters: Option<Parameters>,
    #[serde(default)]
    pub columns: Vec<Column>,
    #[serde(default = "one")]
    pub repeat: u64,
    #[serde(default)]
    pub shape: Shape,
    #[serde(default)]
    pub integers: Integers,
    #[serde(default)]
    pub statement: StatementKind,
    /// `parameters`, decoded to the driver's own types by [`read`].
    #[serde(skip)]
    pub pool: Pool,
}

impl Step {
    /// The declared types of the result's columns.
    pub fn types(&self) -> Vec<Type> {
        self.columns.iter().map(|column| column.r#type).collect()
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Get,
    All,
    Iterate,
    Run,
    Prepare,
    Open,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    #[default]
    Object,
    Array,
    Typed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Integers {
    #[default]
    Number,
    Bigint,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum StatementKind {
    #[default]
    Prepared,
    Cached,
    Adhoc,
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

/// A declared type: of a result column or of a parameter.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Integer,
    Real,
    Text,
    Blob,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    pub r#type: Type,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readback {
    pub sql: String,
    pub columns: Vec<Column>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub operations_per_iteration: u64,
    #[serde(default)]
    pub warmup_iterations: u64,
    #[serde(default)]
    pub warmup_ns: u64,
    #[serde(default = "one")]
    pub iterations: u64,
    #[serde(default = "one")]
    pub workers: u64,
    pub rate: Option<f64>,
}

fn version() -> u32 {
    1
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

/// Reads a job. The error says where in the JSON something is wrong and what was expected there.
pub fn read(text: &str) -> Result<Job, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut job: Job = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        format!("{path}: {}", error.into_inner())
    })?;
    json.end().map_err(|error| format!("after the job: {error}"))?;
    check(&job)?;
    for (number, step) in job.steps.iter_mut().enumerate() {
        if let Some(parameters) = step.parameters.take() {
            step.pool = Pool::decode(parameters)
                .map_err(|error| format!("steps[{number}].parameters.{error}"))?;
        }
    }
    Ok(job)
}

fn check(job: &Job) -> Result<(), String> {
    if job.contract != 1 {
        return Err(format!("contract: expected 1, found {}", job.contract));
    }
    if job.database.is_none() && !job.steps.is_empty() {
        return Err("database: expected a database because there are steps, found null".into());
    }
    let repeats = job.steps.iter().enumerate();
    let counts =
        repeats.map(|(number, step)| (format!("steps[{number}].repeat"), step.repeat)).chain([
            ("measure.iterations".into(), job.measure.iterations),
            ("measure.workers".into(), job.measure.workers),
        ]);
    for (path, count) in counts {
        if count == 0 {
            return Err(format!("{path}: expected at least 1, found 0"));
        }
    }
    let connection = &job.connection;
    for (key, pragmas) in
        [("pragmas", &connection.pragmas), ("worker_pragmas", &connection.worker_pragmas)]
    {
        for (number, (name, _)) in pragmas.iter().enumerate() {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
            if name.is_empty() || !name.chars().all(plain) {
                return Err(format!(
                    "connection.{key}[{number}][0]: expected a pragma's name, found {name:?}"
                ));
            }
        }
    }
    Ok(())
}

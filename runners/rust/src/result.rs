//! The result object and its file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Add;
use std::path::Path;

use serde::Serialize;

use crate::engine::InEffect;
use crate::failure::{Details, Failure};
use crate::histogram::Histogram;
use crate::identity::Identity;
use crate::job::VERSION;

#[derive(Debug, Serialize)]
pub struct Report {
    pub contract: u32,
    pub cell: String,
    pub status: Status,
    pub reason: Option<String>,
    pub error: Option<Details>,
    pub identity: Identity,
    pub sqlite_version: Option<String>,
    #[serde(flatten)]
    pub work: Work,
    pub peak_rss_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    Unsupported,
    Failed,
}

/// What a job's work produced; empty where it did none.
#[derive(Debug, Default, Serialize)]
pub struct Work {
    pub effective: Effective,
    pub plans: Vec<Vec<String>>,
    pub operations: u64,
    #[serde(flatten)]
    pub counts: Counts,
    pub readback: Option<Proof>,
    pub digest: Option<String>,
    pub warmup_ns: Vec<u64>,
    pub iterations_ns: Vec<u64>,
    pub phases_ns: Phases,
    pub cpu_ns: Option<u64>,
    pub workers: Vec<Worker>,
    pub switches: Option<Switches>,
    pub page_faults: Option<PageFaults>,
    pub allocated_bytes: Option<u64>,
    pub collections: Option<u64>,
    pub page_cache: Option<PageCache>,
    /// Rows, affected rows and checksum of each iteration, or of each operation in verify mode.
    pub answers: Vec<(u64, u64, u32)>,
}

impl Work {
    /// What came of so many operations: the sum of these answers.
    pub fn of(operations: u64, answers: &[Counts]) -> Self {
        let mut counts = Counts::default();
        answers.iter().for_each(|answer| counts.add(answer));
        let told = answers.iter().map(|answer| (answer.rows, answer.affected, answer.checksum));
        Work { operations, counts, answers: told.collect(), ..Work::default() }
    }
}

/// How often pages were found in SQLite's cache, and how often not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct PageCache {
    pub hits: u64,
    pub misses: u64,
}

impl Add for PageCache {
    type Output = PageCache;

    fn add(self, other: PageCache) -> PageCache {
        PageCache { hits: self.hits + other.hits, misses: self.misses + other.misses }
    }
}

/// What operations returned.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    pub rows: u64,
    pub affected: u64,
    pub checksum: u32,
}

impl Counts {
    /// Adds those of other operations.
    pub fn add(&mut self, others: &Counts) {
        self.rows += others.rows;
        self.affected += others.affected;
        self.checksum = self.checksum.wrapping_add(others.checksum);
    }
}

#[derive(Debug, Default, Serialize)]
pub struct Effective {
    pub pragmas: BTreeMap<String, Option<serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<InEffect>,
}

#[derive(Debug, Serialize)]
pub struct Proof {
    pub rows: u64,
    pub checksum: u32,
}

/// Nanoseconds outside the iterations. `load` stays unknown: the kernel gives the start of a
/// process in hundredths of a second.
#[derive(Debug, Default, Serialize)]
pub struct Phases {
    pub load: Option<u64>,
    pub open: Option<u64>,
    pub prepare: Option<u64>,
    pub close: Option<u64>,
}

impl Phases {
    pub fn of(open: u64, prepare: u64, close: u64) -> Self {
        Phases { load: None, open: Some(open), prepare: Some(prepare), close: Some(close) }
    }
}

/// Context switches.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Switches {
    pub voluntary: u64,
    pub involuntary: u64,
}

/// Page faults: served from memory, and waiting for a disk.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PageFaults {
    pub minor: u64,
    pub major: u64,
}

/// One worker's part of all iterations, or the writer's, and the times of the measured ones.
#[derive(Debug, Serialize)]
pub struct Worker {
    pub role: Role,
    pub operations: u64,
    pub rows: u64,
    pub checksum: u32,
    pub iterations_ns: Vec<u64>,
    pub spans_us: Vec<(f64, f64)>,
    pub latencies: Option<Histogram>,
    pub pacing: Option<Histogram>,
    pub busy: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Worker,
    Writer,
}

impl Report {
    fn new(cell: &str, status: Status, identity: Identity, work: Work) -> Self {
        Report {
            contract: VERSION,
            cell: cell.to_owned(),
            status,
            reason: None,
            error: None,
            identity,
            sqlite_version: Some(crate::describe::version()),
            work,
            peak_rss_bytes: crate::process::peak_rss_bytes(),
        }
    }

    pub fn ok(cell: &str, identity: Identity, work: Work) -> Self {
        Report::new(cell, Status::Ok, identity, work)
    }

    pub fn unsupported(cell: &str, identity: Identity, reason: String) -> Self {
        let report = Report::new(cell, Status::Unsupported, identity, Work::default());
        Report { reason: Some(reason), ..report }
    }

    pub fn failed(cell: &str, identity: Identity, failure: Failure) -> Self {
        let report = Report::new(cell, Status::Failed, identity, Work::default());
        Report { error: Some(failure.into_details()), ..report }
    }

    /// Writes the report beside `output` and renames it, so that no reader sees half of it.
    pub fn write(&self, output: &Path) -> io::Result<()> {
        let mut temporary = output.as_os_str().to_owned();
        temporary.push(format!(".{}", std::process::id()));
        fs::write(&temporary, serde_json::to_vec(self)?)?;
        fs::rename(&temporary, output)
    }
}

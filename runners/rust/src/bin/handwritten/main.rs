//! `handwritten --driver=rusqlite|ffi --job FILE`: what an expert in the driver would write for
//! three workloads, with SQL, columns and types in the source. The measure of the runner's own
//! overhead; its loops share no code with the runner's. From the job it takes the database, the
//! pragmas, the parameter pool, the counts, the barrier and the output.

mod direct;
mod wrapped;

use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs, io};

use sqlitmus_rust::access::Access;
use sqlitmus_rust::barrier::released;
use sqlitmus_rust::drivers::DRIVERS;
use sqlitmus_rust::engine::Engine;
use sqlitmus_rust::failure::Failure;
use sqlitmus_rust::identity::{DriverFacts, Identity};
use sqlitmus_rust::iterations::{Iteration, Iterations};
use sqlitmus_rust::job::{self, Job, Transaction};
use sqlitmus_rust::parameters::Parameter;
use sqlitmus_rust::result::{Counts, PageCache, Report, Work};

/// One workload in one driver, ready to run.
pub trait Loop {
    /// SQL off the clock.
    fn execute(&self, sql: &str) -> Result<(), Failure>;
    /// All operations of an iteration, from this one on; on the clock.
    fn iteration(&mut self, first: usize) -> Result<Counts, Failure>;
}

/// The three workloads with their parameters.
pub enum Workload {
    GetPk(Vec<i64>),
    All(Vec<i64>),
    /// Its flag says whether values are bound by name.
    InsertTransaction(Vec<Sink>, bool),
}

/// A row to insert.
pub struct Sink {
    pub a: i64,
    pub b: String,
    pub c: f64,
    pub d: Vec<u8>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [driver, "--job", file] = words.as_slice() else {
        eprintln!("usage: handwritten --driver=rusqlite|ffi --job FILE");
        return ExitCode::from(2);
    };
    let name = driver.strip_prefix("--driver=");
    let driver = DRIVERS.map(|driver| driver.facts).into_iter().find(|d| Some(d.option) == name);
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let job = text.and_then(|text| job::read(&text));
    let (Some(driver), Ok(job)) = (driver, &job) else {
        eprintln!("job {file}: {}", job.err().unwrap_or("unknown driver".into()));
        return ExitCode::from(2);
    };
    let identity = Identity::of(driver, None, &Engine::default(), &[]);
    let report = match perform(job, driver) {
        Ok(work) => Report::ok(&job.cell, identity, work),
        Err(failure) => Report::failed(&job.cell, identity, failure),
    };
    let failed = report.error.is_some();
    match report.write(&job.output) {
        Ok(()) => ExitCode::from(u8::from(failed)),
        Err(error) => {
            eprintln!("cannot write the result to {}: {error}", job.output.display());
            ExitCode::FAILURE
        }
    }
}

fn perform(job: &Job, driver: &DriverFacts) -> Result<Work, Failure> {
    let database = job.database.as_ref().ok_or_else(|| Failure::new("the job has no database"))?;
    let access = Access::new(job, database);
    let workload = workload(job)?;
    let operations = job.measure.operations_per_iteration;
    match driver.option {
        "rusqlite" => {
            let connection = wrapped::open(&access)?;
            run(job, wrapped::prepare(&connection, workload, operations)?)
        }
        _ => run(job, direct::prepare(&access, workload, operations)?),
    }
}

fn run(job: &Job, mut workload: Box<dyn Loop + '_>) -> Result<Work, Failure> {
    let reading = job.transaction == Transaction::Read;
    let mut iterations = Iterations::new(&job.measure);
    while !iterations.done() {
        let first = iterations.operations();
        for sql in job.reset_before(first) {
            workload.execute(sql)?;
        }
        if reading {
            workload.execute("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        }
        if job.waits() {
            released(io::stdout(), &mut io::stdin().lock())?;
        }
        let start = Instant::now();
        let counts = workload.iteration(first as usize);
        let nanoseconds = start.elapsed().as_nanos() as u64;
        if reading {
            workload.execute("COMMIT")?;
        }
        iterations.record(Iteration {
            nanoseconds,
            counts: counts?,
            usage: None,
            allocated: 0,
            page_cache: PageCache::default(),
        });
    }
    let work = Work::of(iterations.operations(), &iterations.answers);
    Ok(Work { warmup_ns: iterations.warmup_ns, iterations_ns: iterations.iterations_ns, ..work })
}

/// The workload that the cell's name begins with, and the pool of its first step.
fn workload(job: &Job) -> Result<Workload, Failure> {
    let unknown = || Failure::new(format!("{:?} has no hand-written loop", job.cell));
    let step = job.steps.first().ok_or_else(unknown)?;
    let rows = (0..step.pool.length() as u64).map(|execution| step.pool.row(execution));
    let name = job.cell.split(['@', '/']).next().unwrap_or_default();
    let workload = match name {
        "get-pk" => rows.map(key).collect::<Option<_>>().map(Workload::GetPk),
        "all" => rows.map(key).collect::<Option<_>>().map(Workload::All),
        "insert-transaction" => {
            let named = !step.names.is_empty();
            rows.map(sink)
                .collect::<Option<_>>()
                .map(|rows| Workload::InsertTransaction(rows, named))
        }
        _ => return Err(unknown()),
    };
    workload.ok_or_else(|| Failure::new(format!("{name} has other parameter types than these")))
}

fn key(row: &[Parameter]) -> Option<i64> {
    match row {
        [Parameter::Integer(key)] => Some(*key),
        _ => None,
    }
}

fn sink(row: &[Parameter]) -> Option<Sink> {
    use Parameter::{Blob, Integer, Real, Text};
    match row {
        [Integer(a), Text(b), Real(c), Blob(d)] => {
            Some(Sink { a: *a, b: b.to_string(), c: *c, d: d.to_vec() })
        }
        _ => None,
    }
}

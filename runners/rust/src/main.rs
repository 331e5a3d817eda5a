//! `sqlitmus-rust --driver=rusqlite|ffi (describe | --job FILE)`

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use sqlitmus_rust::describe::describe;
use sqlitmus_rust::identity::DriverName;
use sqlitmus_rust::result::Status;
use sqlitmus_rust::{invocation, job};

const USAGE: &str = "usage: sqlitmus-rust --driver=rusqlite|ffi (describe | --job FILE)";
const FAILED: u8 = 1;
const UNREADABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let driver = words.first().and_then(|word| word.strip_prefix("--driver="));
    match (driver.and_then(DriverName::parse), words.get(1..)) {
        (Some(driver), Some(["describe"])) => {
            let description = describe(driver);
            println!("{}", serde_json::to_string(&description).expect("plain data serialises"));
            ExitCode::SUCCESS
        }
        (Some(driver), Some(["--job", file])) => perform(driver, Path::new(file)),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(UNREADABLE)
        }
    }
}

fn perform(driver: DriverName, file: &Path) -> ExitCode {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let job = match text.and_then(|text| job::read(&text)) {
        Ok(job) => job,
        Err(problem) => {
            eprintln!("job {}: {problem}", file.display());
            return ExitCode::from(UNREADABLE);
        }
    };
    let report = invocation::perform(&job, driver);
    if let Err(error) = report.write(&job.output) {
        eprintln!("cannot write the result to {}: {error}", job.output.display());
        return ExitCode::from(FAILED);
    }
    match report.status {
        Status::Ok | Status::Unsupported => ExitCode::SUCCESS,
        Status::Failed => ExitCode::from(FAILED),
    }
}

//! `PROGRAM --driver=NAME [--variant=NAME] (describe | --job FILE | --jobs FOLDER)`

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::describe::describe;
use crate::invocation::Entry;
use crate::job;
use crate::result::Status;

const DONE: u8 = 0;
const FAILED: u8 = 1;
const UNREADABLE: u8 = 2;

/// Does what this process's arguments say, with one of these drivers.
pub fn main(program: &str, drivers: &[Entry]) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut words = arguments.iter().map(String::as_str).peekable();
    let name = words.next().and_then(|word| word.strip_prefix("--driver="));
    let driver = drivers.iter().find(|driver| Some(driver.facts.option) == name);
    let variant = words.next_if(|word| word.starts_with("--variant="));
    let variant = variant.and_then(|word| word.strip_prefix("--variant="));
    match (driver, words.collect::<Vec<_>>().as_slice()) {
        (Some(driver), ["describe"]) => {
            let description = describe(driver.facts, variant);
            println!("{}", serde_json::to_string(&description).expect("plain data serialises"));
            ExitCode::SUCCESS
        }
        (Some(driver), ["--job", file]) => perform(driver, variant, Path::new(file), true).into(),
        (Some(driver), ["--jobs", folder]) => {
            perform_all(driver, variant, Path::new(folder)).into()
        }
        _ => {
            let names: Vec<_> = drivers.iter().map(|driver| driver.facts.option).collect();
            eprintln!(
                "usage: {program} --driver={} [--variant=NAME] \
                 (describe | --job FILE | --jobs FOLDER)",
                names.join("|")
            );
            ExitCode::from(UNREADABLE)
        }
    }
}

/// The jobs of a folder in the order of their names; the worst of their exit codes.
fn perform_all(driver: &Entry, variant: Option<&str>, folder: &Path) -> u8 {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return UNREADABLE;
        }
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|file| perform(driver, variant, file, false)).max().unwrap_or(DONE)
}

/// Performs the job in a file and writes its result; the exit code.
fn perform(driver: &Entry, variant: Option<&str>, file: &Path, alone: bool) -> u8 {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    let job = match text.and_then(|text| job::read(&text)) {
        Ok(job) if alone || !job.needs_own_process() => job,
        Ok(_) => {
            eprintln!("{}: connection.engine and measure.share need --job", file.display());
            return UNREADABLE;
        }
        Err(problem) => {
            eprintln!("{}: {problem}", file.display());
            return UNREADABLE;
        }
    };
    let report = (driver.perform)(&job, variant);
    if let Err(error) = report.write(&job.output) {
        eprintln!("cannot write the result to {}: {error}", job.output.display());
        return FAILED;
    }
    match report.status {
        Status::Ok | Status::Unsupported => DONE,
        Status::Failed => FAILED,
    }
}

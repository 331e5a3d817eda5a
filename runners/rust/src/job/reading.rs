//! From JSON to a job that can be performed: what types alone cannot say is checked here.

use std::collections::HashSet;

use super::{
    Column, Job, Measure, Mode, Operation, Sequence, Setting, StatementKind, Step, Transaction,
    Type, VERSION, Writer,
};
use crate::parameters::Pool;

/// Reads a job. The error says where in the JSON something is wrong and what was expected there.
pub fn read(text: &str) -> Result<Job, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut job: Job = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        format!("{path}: {}", error.into_inner())
    })?;
    json.end().map_err(|error| format!("after the job: {error}"))?;
    if job.contract != VERSION {
        return Err(format!("contract: expected {VERSION}, found {}", job.contract));
    }
    if job.database.is_none() && !job.steps.is_empty() {
        return Err("database: expected a database because there are steps, found null".into());
    }
    pragmas(&job.connection.pragmas)?;
    measure(&job.measure)?;
    reset(&job)?;
    job.measure.sequence.as_ref().map_or(Ok(()), |order| sequence(&job, order))?;
    steps("steps", &mut job.steps)?;
    around("transaction", job.transaction, &job.steps)?;
    job.writer.as_mut().map_or(Ok(()), writer)?;
    Ok(job)
}

fn pragmas(pragmas: &[(String, Setting)]) -> Result<(), String> {
    for (number, (name, _)) in pragmas.iter().enumerate() {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!(
                "connection.pragmas[{number}][0]: expected a pragma's name, found {name:?}"
            ));
        }
    }
    Ok(())
}

fn measure(measure: &Measure) -> Result<(), String> {
    positive("measure.iterations", measure.iterations)?;
    positive("measure.workers", measure.workers)?;
    rate("measure.rate", measure.rate)?;
    if let Some(share) = measure.share {
        positive("measure.share.of", share.of)?;
        if share.first.saturating_add(measure.workers) > share.of {
            return Err(format!(
                "measure.share: expected first + workers to be at most of, found {} + {} and {}",
                share.first, measure.workers, share.of
            ));
        }
    }
    Ok(())
}

fn sequence(job: &Job, sequence: &Sequence) -> Result<(), String> {
    let (plan, length) = (&job.measure, sequence.order.len());
    let wrong =
        |key: &str, expected: String| Err(format!("measure.sequence.{key}: expected {expected}"));
    let steps = job.steps.len();
    if sequence.groups.contains(&0) || sequence.groups.iter().sum::<usize>() != steps {
        return wrong("groups", format!("numbers of steps, {steps} together"));
    }
    let groups = sequence.groups.len();
    if length == 0 || sequence.order.iter().any(|&group| group >= groups) {
        return wrong("order", format!("numbers of groups, below {groups}"));
    }
    let (workers, times) = (&sequence.workers, &sequence.planned_us);
    let all = plan.share().of == plan.workers;
    if !workers.is_empty() && (workers.len() != length || !all) {
        return wrong("workers", format!("{length} numbers, of one process"));
    }
    if workers.iter().any(|&worker| worker >= plan.workers) {
        return wrong("workers", format!("numbers below {}", plan.workers));
    }
    if times.is_empty() {
        return Ok(());
    }
    let whole = job.mode == Mode::Verify
        || (length as u64).checked_rem(plan.operations_per_iteration) == Some(0);
    if times.len() != length || plan.rate.is_some() || !whole {
        return wrong("planned_us", format!("{length} times of whole iterations, and no rate"));
    }
    Ok(())
}

/// An iteration begins wherever a reset is due.
fn reset(job: &Job) -> Result<(), String> {
    let Some(every) = job.reset_every else {
        let message = "reset_every: expected after how many operations reset is due, found null";
        return if job.reset.is_empty() { Ok(()) } else { Err(message.into()) };
    };
    positive("reset_every", every)?;
    let count = job.measure.operations_per_iteration;
    if job.mode == Mode::Measure && !every.is_multiple_of(count) {
        return Err(format!("reset_every: expected whole iterations of {count}, found {every}"));
    }
    Ok(())
}

fn writer(writer: &mut Writer) -> Result<(), String> {
    if writer.steps.is_empty() {
        return Err("writer.steps: expected at least one step, found none".into());
    }
    if writer.transaction == Transaction::Read {
        let message = "writer.transaction: expected none, deferred or immediate, found read";
        return Err(message.into());
    }
    positive("writer.operations", writer.operations)?;
    rate("writer.rate", writer.rate)?;
    steps("writer.steps", &mut writer.steps)?;
    around("writer.transaction", writer.transaction, &writer.steps)
}

/// A transaction cannot stand within a transaction.
fn around(path: &str, transaction: Transaction, steps: &[Step]) -> Result<(), String> {
    let executes = steps.iter().any(|step| step.operation == Operation::Execute);
    if executes && transaction != Transaction::None {
        return Err(format!("{path}: expected none beside execute, which can begin one itself"));
    }
    Ok(())
}

/// Checks steps and decodes their parameters.
fn steps(path: &str, steps: &mut [Step]) -> Result<(), String> {
    for (number, step) in steps.iter_mut().enumerate() {
        let path = format!("{path}[{number}]");
        positive(&format!("{path}.repeat"), step.repeat)?;
        if step.operation.has_no_sql() != step.sql.is_empty() {
            let expected = if step.sql.is_empty() { "a statement" } else { "none" };
            return Err(format!(
                "{path}.sql: expected {expected}; in-transaction and read-file have none, found {:?}",
                step.sql
            ));
        }
        match step.fails {
            Some(_) if step.operation != Operation::Run => {
                return Err(format!("{path}.fails: expected only where the operation is run"));
            }
            Some(code) if code < 1 => {
                return Err(format!("{path}.fails: expected at least 1, found {code}"));
            }
            _ => {}
        }
        names(&format!("{path}.names"), step)?;
        if !step.texts.is_power_of_two() {
            return Err(format!("{path}.texts: expected a power of two, found {}", step.texts));
        }
        if step.texts > 1 && step.statement != StatementKind::Cached {
            return Err(format!("{path}.texts: expected 1 where the statement is not cached"));
        }
        if step.operation == Operation::Execute {
            if step.parameters.is_some() {
                return Err(format!("{path}.parameters: expected none for execute"));
            }
            if !step.columns.is_empty() {
                return Err(format!("{path}.columns: expected none for execute"));
            }
        }
        if matches!(step.operation, Operation::OpenFile | Operation::ReadFile) {
            file(&path, step)?;
        }
        if let Some(parameters) = step.parameters.take() {
            step.pool =
                Pool::decode(parameters).map_err(|error| format!("{path}.parameters.{error}"))?;
        }
    }
    Ok(())
}

/// One for each parameter, and different without the prefix.
fn names(path: &str, step: &Step) -> Result<(), String> {
    if step.names.is_empty() {
        return Ok(());
    }
    if !step.operation.takes_names() {
        return Err(format!(
            "{path}: expected none, because this operation binds no values by name"
        ));
    }
    for (number, name) in step.names.iter().enumerate() {
        let mut letters = name.chars();
        let prefixed = letters.next().is_some_and(|prefix| ":@$".contains(prefix))
            && letters.next().is_some_and(|first| first.is_ascii_alphabetic());
        if !prefixed || !letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return Err(format!(
                "{path}[{number}]: expected letters, digits and _ after one of :, @ and $, found {name:?}"
            ));
        }
    }
    let bare: HashSet<&str> = step.names.iter().map(|name| &name[1..]).collect();
    let width = step.parameters.as_ref().map_or(0, |parameters| parameters.types().len());
    if step.names.len() != width || bare.len() != width {
        let expected = format!("{width}, which differ without their prefix");
        return Err(format!("{path}: expected {expected}, found {:?}", step.names));
    }
    Ok(())
}

/// Its one parameter is the path; the one column of a file that is read is the content.
fn file(path: &str, step: &Step) -> Result<(), String> {
    if step.parameters.as_ref().is_none_or(|parameters| parameters.types() != [Type::Text]) {
        return Err(format!("{path}.parameters: expected one text, the path of the file"));
    }
    match step.columns.as_slice() {
        _ if step.operation == Operation::OpenFile => Ok(()),
        [Column { r#type: Type::Blob, nullable: false, .. }] => Ok(()),
        _ => Err(format!("{path}.columns: expected one blob that cannot be NULL, the file")),
    }
}

fn positive(path: &str, count: u64) -> Result<(), String> {
    if count == 0 { Err(format!("{path}: expected at least 1, found 0")) } else { Ok(()) }
}

fn rate(path: &str, rate: Option<f64>) -> Result<(), String> {
    match rate {
        Some(rate) if rate <= 0.0 => Err(format!("{path}: expected more than 0, found {rate}")),
        _ => Ok(()),
    }
}

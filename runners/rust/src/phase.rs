//! The times of what is done outside the iterations.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// What a phase gives, and its nanoseconds.
pub fn phase<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<(T, u64), Failure> {
    let start = Instant::now();
    let value = body()?;
    Ok((value, nanoseconds(start.elapsed())))
}

pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("no run lasts five centuries")
}

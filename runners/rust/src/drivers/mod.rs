//! The drivers: the only code that runs on the clock.

#[cfg(feature = "rusqlite")]
use crate::invocation::Entry;

pub mod ffi;
pub mod files;
#[cfg(feature = "rusqlite")]
pub mod rusqlite;

/// Both drivers of this crate.
#[cfg(feature = "rusqlite")]
pub const DRIVERS: [Entry; 2] = [Entry::of::<rusqlite::Rusqlite>(), Entry::of::<ffi::Ffi>()];

/// What either driver of this crate does.
const OPERATIONS: &[&str] = &[
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
];

const FLAGS: &[&str] = &["no-mutex", "full-mutex", "private-cache", "shared-cache"];

//! The drivers: the only code that runs on the clock.

pub mod ffi;
pub mod files;
pub mod rusqlite;

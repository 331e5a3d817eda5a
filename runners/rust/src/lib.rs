//! The Rust runners of sqlitmus: two drivers on one linked SQLite, and what a crate of another
//! driver takes ([`command`], [`driver`]).
//!
//! `drivers/` holds the hot loops; everything else is the contract around them
//! (`runners/contract/CONTRACT.md`).

/// SQLite as both this crate and that of another driver link it.
pub use libsqlite3_sys as sqlite;

pub mod access;
pub mod allocations;
pub mod barrier;
pub mod checksum;
pub mod command;
pub mod describe;
pub mod digest;
pub mod driver;
pub mod drivers;
pub mod engine;
pub mod failure;
pub mod histogram;
pub mod identity;
pub mod inspect;
pub mod invocation;
pub mod iterations;
pub mod job;
pub mod meeting;
pub mod member;
pub mod order;
pub mod parameters;
pub mod parts;
pub mod phase;
pub mod process;
pub mod recording;
pub mod result;
pub mod session;
pub mod support;
pub mod verify;
pub mod workers;

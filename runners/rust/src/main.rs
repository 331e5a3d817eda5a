//! The runners of rusqlite and of SQLite's C API: see [`sqlitmus_rust::command`].

use std::process::ExitCode;

use sqlitmus_rust::command;
use sqlitmus_rust::drivers::DRIVERS;

fn main() -> ExitCode {
    command::main("sqlitmus-rust", &DRIVERS)
}

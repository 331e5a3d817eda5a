//! A database of a test's own, and jobs on it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
pub use sqlitmus_rust::drivers::DRIVERS;
use sqlitmus_rust::invocation::Entry;
use sqlitmus_rust::job;

/// A database in a directory of its own, removed afterwards.
pub struct Fixture(pub PathBuf);

impl Fixture {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sqlitmus {name} {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let fixture = Fixture(folder);
        let connection = rusqlite::Connection::open(fixture.path()).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode=WAL;
                 CREATE TABLE t(id INTEGER PRIMARY KEY, r, s TEXT, b BLOB);
                 INSERT INTO t VALUES (1, 0.0, 'one', x'01'), (2, NULL, '', x''), (3, 7, 'x', NULL),
                     (0, 1e19, 'zero', zeroblob(9));",
            )
            .unwrap();
        fixture
    }

    pub fn path(&self) -> PathBuf {
        self.0.join("d?b#.db")
    }

    /// A job on this database with these members on top.
    fn job(&self, members: Value) -> Value {
        let mut job = json!({
            "mode": "measure",
            "cell": "test",
            "database": {"path": self.path()},
            "measure": {"operations_per_iteration": 5, "iterations": 3},
            "output": "unused"
        });
        job.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        job
    }

    pub fn perform(&self, driver: Entry, members: Value) -> Value {
        let job = job::read(&self.job(members).to_string()).unwrap();
        serde_json::to_value((driver.perform)(&job, None)).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

pub fn insert() -> Value {
    json!([{"operation": "run", "sql": "INSERT INTO t(s) VALUES ('new')"}])
}

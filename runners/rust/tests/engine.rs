//! Engine options on both drivers, in a process each: SQLite takes them once.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

/// A folder for a job and its files, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sqlitmus {name} {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// The result of a job with these engine options, and whether the exit code was 0.
    fn perform(&self, driver: &str, engine: &Value, workers: u64) -> (Value, bool) {
        let (file, output) = (self.0.join("job.json"), self.0.join("result.json"));
        let database = self.0.join("empty.db");
        fs::write(&database, "").unwrap();
        let job = json!({
            "mode": "measure",
            "cell": "test",
            "database": {"path": database},
            "connection": {"engine": engine},
            "steps": [{"operation": "get", "sql": "SELECT 1 AS n",
                "columns": [{"name": "n", "type": "integer"}]}],
            "measure": {"operations_per_iteration": 6, "workers": workers},
            "output": output
        });
        fs::write(&file, job.to_string()).unwrap();
        let mut runner = Command::new(env!("CARGO_BIN_EXE_sqlitmus-rust"));
        let driver = format!("--driver={driver}");
        let status = runner.arg(driver).arg("--job").arg(&file).status().unwrap();
        (serde_json::from_slice(&fs::read(&output).unwrap()).unwrap(), status.success())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn options_read_back_as_asked_and_the_default_is_told() {
    let folder = Folder::new("engine options");
    let in_effect =
        |threading: &str, memstatus: i64| json!({"threading": threading, "memstatus": memstatus});
    let cases = [
        (json!({}), in_effect("multi-thread", 1)),
        (json!({"threading": "serialized"}), in_effect("serialized", 1)),
        (json!({"threading": "multi-thread"}), in_effect("multi-thread", 1)),
        (json!({"threading": "single-thread"}), in_effect("single-thread", 1)),
        (json!({"memstatus": 0}), in_effect("multi-thread", 0)),
        (json!({"memstatus": 1}), in_effect("multi-thread", 1)),
        (json!({"threading": "serialized", "memstatus": 0}), in_effect("serialized", 0)),
        (json!({"threading": "single-thread", "memstatus": 0}), in_effect("single-thread", 0)),
    ];
    for driver in ["rusqlite", "ffi"] {
        for (engine, expected) in &cases {
            for workers in [1, 3] {
                let (result, done) = folder.perform(driver, engine, workers);
                assert!(done, "{result}");
                let single = engine["threading"] == "single-thread";
                if single && (driver == "rusqlite" || workers > 1) {
                    assert_eq!(result["status"], "unsupported", "{result}");
                    continue;
                }
                assert_eq!(result["status"], "ok", "{result}");
                assert_eq!(result["effective"]["engine"], *expected, "{driver}, {engine}");
                let mutex = if engine["threading"] == "serialized" { "FULL" } else { "NO" };
                let flag = format!("SQLITE_OPEN_{mutex}MUTEX");
                assert_eq!(result["identity"]["flags"][2], flag, "{driver}, {engine}");
            }
        }
    }
}

//! The barrier between processes, driven through pipes, and processes that share the work.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A folder for a database, jobs and results, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sqlitmus {name} {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let connection = rusqlite::Connection::open(folder.join("d.db")).unwrap();
        let sql = "PRAGMA journal_mode=WAL;
                   CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER);
                   WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 16)
                   INSERT INTO t SELECT i, i * i FROM c";
        connection.execute_batch(sql).unwrap();
        Folder(folder)
    }

    /// Writes a job that reads rows by key; returns the files of job and result.
    fn job(&self, name: &str, measure: Value) -> (PathBuf, PathBuf) {
        let files =
            (self.0.join(format!("{name}.json")), self.0.join(format!("{name}.result.json")));
        let keys: Vec<Value> = (1..=16).map(|key| json!([key])).collect();
        let job = json!({
            "mode": "measure",
            "cell": "test",
            "database": {"path": self.0.join("d.db")},
            "steps": [{"operation": "get", "sql": "SELECT id, n FROM t WHERE id = ?",
                "parameters": {"types": ["integer"], "rows": keys},
                "columns": [{"name": "id", "type": "integer"}, {"name": "n", "type": "integer"}]}],
            "measure": measure,
            "output": files.1
        });
        fs::write(&files.0, job.to_string()).unwrap();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn start(driver: &str, job: &PathBuf) -> Child {
    let mut runner = Command::new(env!("CARGO_BIN_EXE_sqlitmus-rust"));
    runner.arg(format!("--driver={driver}")).arg("--job").arg(job);
    runner.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn result(file: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn each_iteration_waits_for_its_line() {
    let folder = Folder::new("barrier");
    for driver in ["rusqlite", "ffi"] {
        for workers in [1, 3] {
            let measure = json!({"operations_per_iteration": 16, "iterations": 2,
                "warmup_iterations": 1, "workers": workers, "share": {"of": workers}});
            let (job, output) = folder.job("barrier", measure);
            let mut runner = start(driver, &job);
            let mut input = runner.stdin.take().unwrap();
            let mut said = BufReader::new(runner.stdout.take().unwrap()).lines();
            for _ in 0..3 {
                assert_eq!(said.next().unwrap().unwrap(), "ready");
                assert!(!output.exists());
                input.write_all(b"go\n").unwrap();
            }
            assert!(said.next().is_none(), "nothing but three lines");
            assert!(runner.wait().unwrap().success());
            let result = result(&output);
            let told = result["workers"].as_array().unwrap();
            assert_eq!(told.len(), workers);
            for worker in told {
                let spans = worker["spans_us"].as_array().unwrap();
                let ends = |span: &Value| (span[0].as_f64().unwrap(), span[1].as_f64().unwrap());
                let (first, second) = (ends(&spans[0]), ends(&spans[1]));
                assert_eq!(spans.len(), 2);
                assert!(first.0 <= first.1 && first.1 <= second.0 && second.0 <= second.1);
                assert!(first.0 > 1.7e15, "microseconds of Unix time");
            }
            fs::remove_file(output).unwrap();
        }
    }
}

#[test]
fn the_end_of_input_fails_and_hangs_nobody() {
    let folder = Folder::new("unreleased");
    for workers in [1, 3] {
        let measure = json!({"operations_per_iteration": 16, "iterations": 3, "workers": workers,
            "share": {"of": workers}});
        let (job, output) = folder.job("unreleased", measure);
        let mut runner = start("ffi", &job);
        runner.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert_eq!(runner.wait().unwrap().code(), Some(1));
        let result = result(&output);
        assert_eq!(result["error"]["message"], "stdin ended before the iteration was released");
    }
}

#[test]
fn two_processes_add_up_to_the_whole() {
    let folder = Folder::new("two");
    let perform = |driver: &str, measure: Value| {
        let (job, output) = folder.job("part", measure);
        let mut runner = start(driver, &job);
        // what has no share reads none of it
        let _ = runner.stdin.take().unwrap().write_all(b"go\n");
        let ended = runner.wait().unwrap();
        assert!(ended.success(), "{ended}: {:?}", fs::read_to_string(&output));
        result(&output)
    };
    for driver in ["rusqlite", "ffi"] {
        let whole = perform(driver, json!({"operations_per_iteration": 50, "workers": 3}));
        let part = |first: u64, workers: u64| {
            let measure = json!({"operations_per_iteration": 50, "workers": workers,
                "share": {"first": first, "of": 3}});
            perform(driver, measure)
        };
        let (one, two) = (part(0, 1), part(1, 2));
        for figure in ["operations", "rows", "checksum"] {
            let sum = one[figure].as_u64().unwrap() + two[figure].as_u64().unwrap();
            assert_eq!(whole[figure], sum % (1 << 32), "{figure}");
        }
        assert_eq!(one["operations"], 16);
    }
}

/// Threads need address space for their stacks: so many cannot be had.
#[test]
#[cfg(target_os = "linux")]
fn more_workers_than_the_system_allows_fail() {
    let folder = Folder::new("many");
    let (job, output) = folder.job("many", json!({"operations_per_iteration": 1, "workers": 500}));
    let runner = env!("CARGO_BIN_EXE_sqlitmus-rust");
    let script = r#"ulimit -v 400000; exec "$0" --driver=ffi --job "$1""#;
    // large stacks: the one that does not fit leaves memory for the threads that have started
    let mut command = Command::new("sh");
    command.env("RUST_MIN_STACK", (32 << 20).to_string());
    let status = command.args(["-c", script, runner]).arg(job).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let result = result(&output);
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains("of 500 threads could be started"), "{message}");
    assert!(message.ends_with("ask for fewer workers"), "{message}");
}

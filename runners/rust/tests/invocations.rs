//! Whole jobs on both drivers: what the vectors do not reach.

mod common;

use common::{DRIVERS, Fixture, insert};
use serde_json::{Value, json};

fn rows(operation: &str, shape: &str) -> Value {
    let columns: Vec<Value> = [("id", "integer"), ("r", "real"), ("s", "text"), ("b", "blob")]
        .map(|(name, r#type)| json!({"name": name, "type": r#type, "nullable": name != "id"}))
        .into();
    let sql = "SELECT id, r, s, b FROM t ORDER BY id";
    json!([{"operation": operation, "sql": sql, "columns": columns, "shape": shape}])
}

#[test]
fn every_shape_and_driver_gives_the_same_rows() {
    let fixture = Fixture::new("shapes");
    for operation in ["get", "all", "iterate"] {
        let mut answers = Vec::new();
        for driver in DRIVERS {
            for shape in ["object", "array", "typed"] {
                let steps = rows(operation, shape);
                let result = fixture.perform(driver, json!({"mode": "verify", "steps": steps}));
                assert_eq!(result["status"], "ok", "{result}");
                answers.push((result["digest"].clone(), result["checksum"].clone()));
            }
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{operation}: {answers:?}");
    }
}

#[test]
fn iterations_that_differ_fail() {
    let fixture = Fixture::new("differ");
    let count = json!({"operation": "get", "sql": "SELECT count(*) AS n FROM t",
        "columns": [{"name": "n", "type": "integer"}]});
    for driver in DRIVERS {
        let steps = json!([count, insert()[0]]);
        let result = fixture.perform(driver, json!({"steps": steps}));
        assert_eq!(result["status"], "failed");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("iteration 2 returned 5 rows, 5 affected rows"), "{message}");
    }
}

#[test]
fn columns_that_are_not_declared_fail() {
    let fixture = Fixture::new("columns");
    for driver in DRIVERS {
        let steps = json!([{"operation": "all", "sql": "SELECT 1, 2",
            "columns": [{"name": "1", "type": "integer"}]}]);
        let result = fixture.perform(driver, json!({"steps": steps}));
        let message = "the statement has 2 columns, the job declares 1";
        assert_eq!(result["error"]["message"], message, "{result}");
    }
}

#[test]
fn a_failing_worker_ends_all_and_says_why() {
    let fixture = Fixture::new("workers");
    for driver in DRIVERS {
        let result = fixture.perform(
            driver,
            json!({
                "steps": insert(),
                "connection": {"worker_pragmas": [["query_only", 1]]},
                "measure": {"operations_per_iteration": 4, "iterations": 2, "workers": 3}
            }),
        );
        assert_eq!(result["error"]["sqlite_code"], rusqlite::ffi::SQLITE_READONLY, "{result}");
    }
}

#[test]
fn workers_that_cannot_open_end_all() {
    let fixture = Fixture::new("absent");
    for driver in DRIVERS {
        let members = json!({
            "database": {"path": fixture.0.join("absent.db")},
            "steps": rows("all", "object"),
            "measure": {"operations_per_iteration": 4, "workers": 2}
        });
        let result = fixture.perform(driver, members);
        assert_eq!(result["error"]["sqlite_code"], rusqlite::ffi::SQLITE_CANTOPEN, "{result}");
    }
}

#[test]
fn workers_share_the_operations() {
    let fixture = Fixture::new("shares");
    for driver in DRIVERS {
        let measure = |workers| {
            let measure = json!({"operations_per_iteration": 5, "iterations": 2,
                "warmup_iterations": 1, "workers": workers});
            let members = json!({"steps": rows("all", "object"), "measure": measure,
                "transaction": "read"});
            fixture.perform(driver, members)
        };
        let result = measure(3);
        assert_eq!(result["status"], "ok", "{result}");
        assert_eq!(result["rows"], 20);
        let workers = result["workers"].as_array().unwrap();
        let operations = workers.iter().map(|worker| worker["operations"].as_u64().unwrap());
        assert_eq!(operations.collect::<Vec<_>>(), [1, 2, 2]);
        let checksum = |worker: &Value| worker["checksum"].as_u64().unwrap();
        let sum = workers.iter().map(checksum).sum::<u64>() % (1 << 32);
        assert_eq!(result["checksum"], sum);
        assert_eq!(workers[0]["iterations_ns"].as_array().unwrap().len(), 2);
        assert_eq!(measure(1)["workers"], json!([]));
    }
}

#[test]
fn engine_options_that_come_too_late_fail() {
    let fixture = Fixture::new("late");
    for driver in DRIVERS {
        for engine in [json!({"threading": "serialized"}), json!({"memstatus": 0})] {
            let members = json!({"connection": {"engine": engine}, "steps": rows("all", "array")});
            let result = fixture.perform(driver, members);
            assert_eq!(result["error"]["sqlite_code"], rusqlite::ffi::SQLITE_MISUSE, "{result}");
            let message = result["error"]["message"].as_str().unwrap();
            assert!(message.contains("in use already"), "{message}");
        }
    }
}

#[test]
fn uri_parameters_reach_sqlite() {
    let fixture = Fixture::new("uri");
    for driver in DRIVERS {
        let database = json!({"path": fixture.path(), "uri": {"mode": "ro"}});
        let result = fixture.perform(driver, json!({"database": database, "steps": insert()}));
        assert_eq!(result["error"]["sqlite_code"], rusqlite::ffi::SQLITE_READONLY, "{result}");
        let database =
            json!({"path": fixture.path(), "mode": "readonly", "uri": {"immutable": "1"}});
        let steps = rows("all", "object");
        let result = fixture.perform(driver, json!({"database": database, "steps": steps}));
        assert_eq!(result["status"], "ok", "{result}");
    }
}

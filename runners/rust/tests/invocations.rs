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

/// A step that returns its parameter, which is the number of the execution, mod 8.
fn number(repeat: u64) -> Value {
    let rows: Vec<Value> = (0..8).map(|number| json!([number])).collect();
    json!({"operation": "get", "sql": "SELECT ? AS n", "repeat": repeat,
        "parameters": {"types": ["integer"], "rows": rows},
        "columns": [{"name": "n", "type": "integer"}]})
}

#[test]
fn operations_go_on_over_the_iterations() {
    let fixture = Fixture::new("go on");
    let first_number = json!({"operation": "get", "sql": "SELECT 1 AS n",
        "columns": [{"name": "n", "type": "integer"}]});
    let answers = |checksum: fn(u32) -> u32, rows: u32| -> Value {
        let sum = |start: u32| (start..start + 3).map(checksum).sum::<u32>();
        (0..3).map(|iteration| json!([rows, 0, sum(3 * iteration)])).collect()
    };
    let alone = answers(|operation| operation % 8, 3);
    let twice = answers(|operation| 31 * (2 * operation % 8) + (2 * operation + 1) % 8, 6);
    let after_another = answers(|operation| 31 + operation % 8, 6);
    for driver in DRIVERS {
        let perform = |steps: &Value, more: Value| {
            let mut measure =
                json!({"operations_per_iteration": 3, "iterations": 2, "warmup_iterations": 1});
            measure.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            fixture.perform(driver, json!({"steps": steps, "measure": measure}))
        };
        for (steps, expected) in [
            (json!([number(1)]), &alone),
            (json!([number(2)]), &twice),
            (json!([first_number, number(1)]), &after_another),
        ] {
            for more in [json!({}), json!({"latencies": true}), json!({"workers": 2})] {
                let result = perform(&steps, more);
                assert_eq!(&result["answers"], expected, "{result}");
                for (place, name) in ["rows", "affected", "checksum"].iter().enumerate() {
                    let told = expected.as_array().unwrap().iter();
                    let sum: u64 = told.map(|answer| answer[place].as_u64().unwrap()).sum();
                    assert_eq!(result[name], sum, "{name}");
                }
                assert_eq!(result["operations"], 9);
            }
        }
    }
}

#[test]
fn verifying_tells_each_operation_and_so_does_the_digest_after_measuring() {
    let fixture = Fixture::new("verified");
    for driver in DRIVERS {
        let perform = |mode: &str, measure: Value| {
            let members = json!({"mode": mode, "steps": [number(1)], "measure": measure});
            fixture.perform(driver, members)
        };
        let verified = perform("verify", json!({"operations_per_iteration": 3, "workers": 2}));
        assert_eq!(verified["answers"], json!([[1, 0, 0], [1, 0, 1], [1, 0, 2]]));
        assert_eq!(verified["operations"], 3);
        let plan = json!({"operations_per_iteration": 5, "iterations": 2, "digest": 3});
        let measured = perform("measure", plan);
        assert_eq!(measured["digest"], verified["digest"]);
        assert_eq!(measured["answers"], json!([[5, 0, 10], [5, 0, 19]]));
    }
}

#[test]
fn a_reset_is_done_only_where_it_is_due() {
    let fixture = Fixture::new("due");
    let count = json!({"operation": "get", "sql": "SELECT count(*) AS n FROM t WHERE s = 'new'",
        "columns": [{"name": "n", "type": "integer"}]});
    for driver in DRIVERS {
        let perform = |mode: &str, each: u64| {
            let members = json!({"mode": mode, "steps": [insert()[0], count],
                "reset": ["DELETE FROM t WHERE s = 'new'"], "reset_every": 4,
                "measure": {"operations_per_iteration": each, "iterations": 3}});
            fixture.perform(driver, members)["answers"].clone()
        };
        // Each folds 1 affected row, then how many there are.
        assert_eq!(
            perform("measure", 2),
            json!([[2, 2, 62 + 1 + 2], [2, 2, 62 + 3 + 4], [2, 2, 62 + 1 + 2]])
        );
        let verified = [1, 2, 3, 4, 1, 2].map(|rows| json!([1, 1, 31 + rows]));
        assert_eq!(perform("verify", 6), json!(verified));
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
                "connection": {"pragmas": [["query_only", 1]]},
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
        assert_eq!(result["rows"], 60);
        let workers = result["workers"].as_array().unwrap();
        let operations = workers.iter().map(|worker| worker["operations"].as_u64().unwrap());
        assert_eq!(operations.collect::<Vec<_>>(), [3, 6, 6]);
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

//! What operations are told and record: memory databases, expected failures, transactions, busy
//! ones, latencies and a writer.

mod common;

use common::{DRIVERS, Fixture, insert};
use serde_json::{Value, json};

fn one_row(sql: &str) -> Value {
    json!([{"operation": "get", "sql": sql, "columns": [{"name": "n", "type": "integer"}]}])
}

/// The sum of a histogram's counts.
fn recorded(histogram: &Value) -> u64 {
    let buckets = histogram["buckets"].as_array().unwrap().iter();
    buckets.map(|bucket| bucket[1].as_u64().unwrap()).sum()
}

#[test]
fn a_memory_database_is_set_up_on_each_connection() {
    let fixture = Fixture::new("memory");
    let setup = json!({"setup": ["CREATE TABLE m(n INTEGER)", "INSERT INTO m VALUES (7), (8)"]});
    for driver in DRIVERS {
        for (mode, workers) in [("verify", 2), ("measure", 1), ("measure", 3)] {
            // The second step leaves a row that the first one counts, unless the reset takes it;
            // that concerns the first connection alone.
            let mut steps = one_row("SELECT count(*) AS n FROM m");
            if workers == 1 {
                let insert = json!({"operation": "run", "sql": "INSERT INTO m VALUES (0)"});
                steps.as_array_mut().unwrap().push(insert);
            }
            let members = json!({"mode": mode, "database": {"path": ":memory:"}, "steps": steps,
                "connection": setup, "reset": ["DELETE FROM m WHERE n = 0"], "reset_every": 3,
                "readback": [{"sql": "SELECT count(*) AS n FROM m WHERE n > 0",
                    "columns": [{"name": "n", "type": "integer"}]}],
                "measure": {"operations_per_iteration": 3, "iterations": 2, "workers": workers}});
            let result = fixture.perform(driver, members);
            let expected = match (mode, workers) {
                ("verify", _) => json!([[1, 0, 2], [1, 0, 2], [1, 0, 2]]),
                (_, 1) => json!([[3, 3, 31 * (2 + 3 + 4) + 3], [3, 3, 31 * (2 + 3 + 4) + 3]]),
                _ => json!([[3, 0, 2 + 2 + 2], [3, 0, 2 + 2 + 2]]),
            };
            assert_eq!(result["answers"], expected, "{result}");
            assert_eq!(result["readback"], json!({"rows": 1, "checksum": 2}));
        }
    }
}

#[test]
fn set_up_is_not_for_the_connections_that_steps_open() {
    let fixture = Fixture::new("setup");
    for driver in DRIVERS {
        let steps = json!([{"operation": "open", "sql": "SELECT count(*) AS n FROM sqlite_temp_schema",
            "columns": [{"name": "n", "type": "integer"}]}]);
        let members = json!({"steps": steps, "connection": {"setup": ["CREATE TEMP TABLE x(a)"]}});
        let result = fixture.perform(driver, members);
        assert_eq!((&result["status"], &result["checksum"]), (&json!("ok"), &json!(0)), "{result}");
        let members = json!({"steps": insert(), "connection": {"setup": ["CREATE TEMP"]}});
        let result = fixture.perform(driver, members);
        assert_eq!(result["error"]["sql"], "CREATE TEMP", "{result}");
    }
}

#[test]
fn shared_caches_are_shared_and_private_ones_are_not() {
    let fixture = Fixture::new("flags");
    for driver in DRIVERS {
        for (flag, told) in [("shared-cache", "SHAREDCACHE"), ("private-cache", "PRIVATECACHE")] {
            let database = json!({"path": fixture.path(), "flags": [flag, "full-mutex"]});
            // Readers of uncommitted rows exist only where the cache is shared.
            let connection = json!({"pragmas": [["read_uncommitted", 1]]});
            let steps = json!([insert()[0], {"operation": "open", "sql": "SELECT count(*) AS n FROM t",
                "columns": [{"name": "n", "type": "integer"}]}]);
            let members = json!({"database": database, "connection": connection, "steps": steps,
                "transaction": "immediate", "reset": ["DELETE FROM t"], "reset_every": 1,
                "measure": {"operations_per_iteration": 1}});
            let result = fixture.perform(driver, members);
            let seen = u64::from(flag == "shared-cache");
            assert_eq!(result["checksum"], 31 + seen, "{result}");
            let flags = &result["identity"]["flags"];
            let expected = json!([format!("SQLITE_OPEN_{told}"), "SQLITE_OPEN_FULLMUTEX"]);
            assert_eq!(flags.as_array().unwrap()[2..], expected.as_array().unwrap()[..]);
        }
    }
}

#[test]
fn an_execution_that_must_fail_does_so_with_its_code() {
    let fixture = Fixture::new("fails");
    let step = |sql: &str, fails: i32, statement: &str| json!([{"operation": "run", "sql": sql, "fails": fails, "statement": statement}]);
    let twice = "INSERT INTO t(id) VALUES (1)";
    for driver in DRIVERS {
        for statement in ["prepared", "adhoc"] {
            let result = fixture.perform(driver, json!({"steps": step(twice, 19, statement)}));
            assert_eq!((&result["affected"], &result["status"]), (&json!(0), &json!("ok")));
            assert_eq!(result["checksum"], 3 * 5 * 19);
            let result = fixture.perform(driver, json!({"steps": step(twice, 5, statement)}));
            assert_eq!(result["error"]["sqlite_code"], 1555, "SQLITE_CONSTRAINT_PRIMARYKEY");
            let well = step("INSERT INTO t(s) VALUES ('well')", 19, statement);
            let result = fixture.perform(driver, json!({"steps": well}));
            let message = "the statement succeeded; the job says it fails with 19";
            assert_eq!(result["error"]["message"], message, "{result}");
        }
    }
}

#[test]
fn the_driver_says_whether_a_transaction_is_open() {
    let fixture = Fixture::new("asked");
    for driver in DRIVERS {
        for (transaction, expected) in [("none", 0), ("immediate", 2), ("read", 2)] {
            let members = json!({"steps": [{"operation": "in-transaction"}],
                "transaction": transaction, "measure": {"operations_per_iteration": 2}});
            let result = fixture.perform(driver, members);
            assert_eq!(result["checksum"], expected, "{transaction}: {result}");
            assert_eq!((&result["rows"], &result["plans"]), (&json!(0), &json!([[]])));
        }
    }
}

#[test]
fn busy_operations_are_counted_rolled_back_and_fold_nothing() {
    let fixture = Fixture::new("busy");
    let other = rusqlite::Connection::open(fixture.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for driver in DRIVERS {
        for transaction in ["none", "deferred", "immediate"] {
            let perform = |tolerate: bool| {
                let measure = json!({"operations_per_iteration": 4, "iterations": 3,
                    "warmup_iterations": 1, "tolerate_busy": tolerate, "latencies": true});
                let steps = json!([one_row("SELECT 7 AS n")[0], insert()[0]]);
                let connection = json!({"pragmas": [["busy_timeout", 0]]});
                fixture.perform(
                    driver,
                    json!({"steps": steps, "connection": connection, "transaction": transaction,
                        "measure": measure}),
                )
            };
            let result = perform(true);
            assert_eq!(result["status"], "ok", "{result}");
            assert_eq!((&result["rows"], &result["checksum"]), (&json!(0), &json!(0)));
            let worker = &result["workers"][0];
            assert_eq!(worker["busy"], 12, "of the measured iterations");
            assert_eq!(recorded(&worker["latencies"]), 12);
            let result = perform(false);
            assert_eq!(result["error"]["sqlite_code"], 5, "{result}");
        }
    }
}

#[test]
fn what_is_executed_counts_and_folds_nothing_and_is_rolled_back_when_busy() {
    let fixture = Fixture::new("execute");
    for driver in DRIVERS {
        for statement in ["prepared", "adhoc"] {
            let execute =
                |sql: &str| json!({"operation": "execute", "sql": sql, "statement": statement});
            let steps = json!([
                execute("BEGIN"),
                one_row("SELECT 7 AS n")[0],
                {"operation": "in-transaction"},
                insert()[0],
                execute("COMMIT"),
            ]);
            let perform = |mode: &str| {
                let connection = json!({"pragmas": [["busy_timeout", 0]]});
                let measure = json!({"operations_per_iteration": 2, "iterations": 3,
                    "tolerate_busy": true, "latencies": true});
                let members = json!({"mode": mode, "steps": steps, "connection": connection,
                    "measure": measure});
                fixture.perform(driver, members)
            };
            let checksum = [7, 1, 1].iter().fold(0, |h, x| h * 31 + x);
            for (mode, operations) in [("verify", 2), ("measure", 6)] {
                let result = perform(mode);
                assert_eq!(result["checksum"], operations * checksum, "{result}");
                assert_eq!(result["rows"], operations);
                assert_eq!(result["affected"], operations);
                assert_eq!((&result["plans"][0], &result["plans"][4]), (&json!([]), &json!([])));
            }
            let other = rusqlite::Connection::open(fixture.path()).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            let result = perform("measure");
            assert_eq!(result["workers"][0]["busy"], 6, "{result}");
            assert_eq!((&result["rows"], &result["checksum"]), (&json!(0), &json!(0)));
        }
    }
}

#[test]
fn what_is_executed_must_return_no_rows() {
    let fixture = Fixture::new("execute rows");
    for driver in DRIVERS {
        let steps = json!([{"operation": "execute", "sql": "SELECT 1"}]);
        let result = fixture.perform(driver, json!({"steps": steps}));
        let message = "the statement has 1 columns, the job declares 0";
        assert_eq!(result["error"]["message"], message, "{result}");
        let steps = json!([{"operation": "execute", "sql": "COMMIT"}]);
        let result = fixture.perform(driver, json!({"steps": steps}));
        assert_eq!(result["error"]["sql"], "COMMIT", "{result}");
    }
}

#[test]
fn a_stalled_operation_is_found_in_the_histogram() {
    let fixture = Fixture::new("latencies");
    let count = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?)
                 SELECT count(*) AS n FROM c";
    let rows: Vec<Value> =
        (0..16).map(|number| json!([if number == 0 { 200_000 } else { 1 }])).collect();
    for driver in DRIVERS {
        let mut steps = one_row(count);
        steps[0]["parameters"] = json!({"types": ["integer"], "rows": rows});
        let late_and_pacing = |rate: Value| {
            let mut measure = json!({"operations_per_iteration": 16, "latencies": true});
            measure["rate"] = rate;
            let result = fixture.perform(driver, json!({"steps": steps, "measure": measure}));
            let worker = &result["workers"][0];
            assert_eq!(recorded(&worker["latencies"]), 16);
            let buckets = worker["latencies"]["buckets"].as_array().unwrap().clone();
            let longest = buckets.last().unwrap()[0].as_u64().unwrap();
            // A quarter of the longest time or more is up to 256 buckets below it.
            let late = buckets.iter().filter(|bucket| bucket[0].as_u64().unwrap() + 256 >= longest);
            (late.map(|bucket| bucket[1].as_u64().unwrap()).sum::<u64>(), worker["pacing"].clone())
        };
        // The first operation takes far longer than all others together.
        let (late, pacing) = late_and_pacing(json!(null));
        assert_eq!((late, pacing), (1, json!(null)), "a closed loop hides it");
        let (late, pacing) = late_and_pacing(json!(1e7));
        assert_eq!(late, 16, "all had to wait for it");
        assert_eq!(recorded(&pacing), 0, "nobody waited for the time to come");
    }
}

#[test]
fn operations_start_when_they_are_due() {
    let fixture = Fixture::new("rate");
    for driver in DRIVERS {
        let measure = json!({"operations_per_iteration": 4, "rate": 500, "workers": 2});
        let result = fixture.perform(
            driver,
            json!({"steps": one_row("SELECT 7 AS n"),
            "measure": measure}),
        );
        let worker = &result["workers"][1];
        // Due at 1 and 3 ms.
        assert!(worker["iterations_ns"][0].as_u64().unwrap() >= 3_000_000, "{result}");
        assert_eq!((&worker["operations"], &worker["latencies"]), (&json!(2), &json!(null)));
        assert!(recorded(&worker["pacing"]) <= 2);
    }
}

#[test]
fn a_writer_writes_beside_the_workers() {
    let fixture = Fixture::new("writer");
    let insert = insert();
    let writer = json!({"steps": insert, "operations": 3, "transaction": "immediate"});
    let readback = json!([{"sql": "SELECT count(*) AS n FROM t WHERE s = 'new'",
        "columns": [{"name": "n", "type": "integer"}]}]);
    for driver in DRIVERS {
        for workers in [1, 2] {
            for (mode, writer) in
                [("verify", json!(null)), ("verify", writer.clone()), ("measure", writer.clone())]
            {
                let written = if writer.is_null() { 0 } else { 3 };
                let members = json!({"mode": mode, "steps": one_row("SELECT 7 AS n"),
                    "writer": writer,
                    "reset": ["DELETE FROM t WHERE s = 'new'"], "reset_every": 4,
                    "readback": readback, "measure": {"operations_per_iteration": 4,
                        "iterations": 2, "workers": workers, "latencies": true}});
                let result = fixture.perform(driver, members);
                let operations = if mode == "verify" { 4 } else { 8 };
                assert_eq!(
                    (&result["operations"], &result["affected"]),
                    (&json!(operations), &json!(0)),
                    "{result}"
                );
                assert_eq!(result["readback"]["checksum"], written);
                assert_eq!(result["checksum"], 7 * operations, "the workers' alone");
                if mode == "measure" {
                    let told = result["workers"].as_array().unwrap();
                    let roles: Vec<&Value> = told.iter().map(|worker| &worker["role"]).collect();
                    assert_eq!(roles.len(), workers + 1);
                    assert_eq!((roles[0], roles[workers]), (&json!("worker"), &json!("writer")));
                    assert_eq!(told[workers]["operations"], 6);
                    assert_eq!(told[workers]["checksum"], 6, "one row each");
                    assert_eq!(recorded(&told[workers]["latencies"]), 6);
                    let elapsed = result["iterations_ns"][0].as_u64().unwrap();
                    assert!(elapsed >= told[workers]["iterations_ns"][0].as_u64().unwrap());
                    assert_eq!(result["switches"]["voluntary"].is_u64(), cfg!(unix));
                    assert_eq!(result["page_faults"]["minor"].is_u64(), cfg!(unix));
                }
            }
        }
    }
}

#[test]
fn a_writer_that_fails_ends_all() {
    let fixture = Fixture::new("bad writer");
    for driver in DRIVERS {
        for sql in ["INSERT INTO t(id) VALUES (1)", "INSERT INTO nowhere VALUES (1)"] {
            let writer = json!({"steps": [{"operation": "run", "sql": sql}], "operations": 1});
            let members = json!({"steps": one_row("SELECT 7 AS n"), "writer": writer});
            let result = fixture.perform(driver, members);
            assert_eq!(result["error"]["sql"], sql, "{result}");
        }
    }
}

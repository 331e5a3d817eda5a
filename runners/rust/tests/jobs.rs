//! Jobs as the harness writes them, and what is said of those that cannot be read.

use serde_json::{Value, json};
use sqlitmus_rust::driver::Driver;
use sqlitmus_rust::drivers::{ffi::Ffi, rusqlite::Rusqlite};
use sqlitmus_rust::engine::Engine;
use sqlitmus_rust::identity::Identity;
use sqlitmus_rust::job::{self, Operation, Shape, StatementKind, Transaction};
use sqlitmus_rust::parameters::Parameter;
use sqlitmus_rust::support;

fn job() -> Value {
    json!({
        "mode": "measure",
        "cell": "get-pk/rust",
        "database": {"path": "d.db"},
        "steps": [{
            "operation": "get",
            "sql": "SELECT ?, ?, ?, ?",
            "parameters": {
                "types": ["integer", "real", "text", "blob"],
                "rows": [["9007199254740993", 1, "é", "00ff"], [null, 0.5, "", ""]]
            }
        }],
        "measure": {"operations_per_iteration": 1},
        "output": "o.json"
    })
}

/// The message for a job with `value` at a JSON pointer.
fn refusal(pointer: &str, value: Value) -> String {
    let mut job = job();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match job.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.into(), value)),
        Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
        other => panic!("{other} has no members"),
    }
    job::read(&job.to_string()).unwrap_err()
}

#[test]
fn absent_keys_have_the_contracts_defaults() {
    let job = job::read(&job().to_string()).unwrap();
    let step = &job.steps[0];
    assert_eq!(step.operation, Operation::Get);
    assert_eq!((step.repeat, step.shape), (1, Shape::Object));
    assert_eq!(step.statement, StatementKind::Prepared);
    assert_eq!(job.transaction, Transaction::None);
    assert!(job.inspect);
    assert_eq!((job.measure.iterations, job.measure.workers), (1, 1));
}

#[test]
fn parameters_take_their_declared_types() {
    let job = job::read(&job().to_string()).unwrap();
    let pool = &job.steps[0].pool;
    let first = [
        Parameter::Integer(9_007_199_254_740_993),
        Parameter::Real(1.0),
        Parameter::Text("é".into()),
        Parameter::Blob([0, 255].into()),
    ];
    assert_eq!(pool.row(0), first);
    assert_eq!(pool.row(1)[0], Parameter::Null);
    assert_eq!(pool.row(1)[3], Parameter::Blob([].into()));
    assert_eq!(pool.row(6), first, "execution 6 of a pool of two binds row 0");
}

#[test]
fn a_step_without_parameters_binds_an_empty_row() {
    let mut job = job();
    job["steps"][0]["parameters"] = Value::Null;
    let job = job::read(&job.to_string()).unwrap();
    assert_eq!(job.steps[0].pool.row(12345), []);
}

#[test]
fn what_is_wrong_is_said_with_its_path() {
    let cases = [
        ("/contract", json!(1), "contract: expected 2, found 1"),
        ("/measure/mixed", json!(true), "measure.mixed: unknown field `mixed`, expected one of"),
        ("/measure/digest", json!(true), "measure.digest: invalid type: boolean `true`, expected"),
        ("/reset", json!(["x"]), "reset_every: expected after how many operations reset is due"),
        ("/reset_every", json!(0), "reset_every: expected at least 1, found 0"),
        ("/colour", json!(1), "colour: unknown field `colour`, expected one of `contract`"),
        ("/steps/0/shape", json!("cube"), "steps[0].shape: unknown variant `cube`, expected"),
        ("/steps/0/repeat", json!(0), "steps[0].repeat: expected at least 1, found 0"),
        ("/database", json!(null), "database: expected a database because there are steps"),
        ("/database/path", json!(1), "database.path: invalid type: integer `1`, expected a string"),
        (
            "/connection",
            json!({"pragmas": [["cache_size", true]]}),
            "connection.pragmas[0][1]: expected a string or an integer",
        ),
        (
            "/connection",
            json!({"engine": {"memstatus": false}}),
            "connection.engine.memstatus: expected a string or an integer",
        ),
        (
            "/connection",
            json!({"pragmas": [["a; DROP", 1]]}),
            "connection.pragmas[0][0]: expected a pragma's name",
        ),
        (
            "/steps/0/sql",
            json!(""),
            "steps[0].sql: expected a statement; in-transaction and read-file",
        ),
        (
            "/steps/0/operation",
            json!("in-transaction"),
            "steps[0].sql: expected none; in-transaction and read-file have none, found \"SELECT ?",
        ),
        (
            "/steps",
            json!([{"operation": "read-file", "parameters": {"types": ["integer"], "rows": [[1]]}}]),
            "steps[0].parameters: expected one text, the path of the file",
        ),
        (
            "/steps",
            json!([{"operation": "read-file", "parameters": {"types": ["text"], "rows": [["a"]]},
                "columns": [{"name": "v", "type": "blob", "nullable": true}]}]),
            "steps[0].columns: expected one blob that cannot be NULL, the file",
        ),
        ("/steps/0/operation", json!("execute"), "steps[0].parameters: expected none for execute"),
        (
            "/steps/0/names",
            json!([":a", ":b", ":c"]),
            "steps[0].names: expected 4, which differ without their prefix, found",
        ),
        (
            "/steps/0/names",
            json!([":a", ":b", ":c", ":9"]),
            "steps[0].names[3]: expected letters, digits and _ after one of :, @ and $, found",
        ),
        (
            "/steps",
            json!([{"operation": "execute", "sql": "x",
                "columns": [{"name": "n", "type": "integer"}]}]),
            "steps[0].columns: expected none for execute",
        ),
        (
            "/writer",
            json!({"steps": [{"operation": "execute", "sql": "x"}], "operations": 1,
                "transaction": "immediate"}),
            "writer.transaction: expected none beside execute, which can begin one itself",
        ),
        ("/steps/0/fails", json!(19), "steps[0].fails: expected only where the operation is run"),
        (
            "/database/flags",
            json!(["x"]),
            "database.flags[0]: unknown variant `x`, expected one of",
        ),
        ("/connection", json!({"setup": [1]}), "connection.setup[0]: invalid type: integer `1`"),
        ("/measure/rate", json!(0), "measure.rate: expected more than 0, found 0"),
        (
            "/measure/share",
            json!({"first": 2, "of": 2}),
            "measure.share: expected first + workers to be at most of, found 2 + 1 and 2",
        ),
        ("/measure/share", json!({"first": 0, "of": 0}), "measure.share.of: expected at least 1"),
        (
            "/writer",
            json!({"steps": [], "operations": 1}),
            "writer.steps: expected at least one step, found none",
        ),
        (
            "/writer",
            json!({"steps": [{"operation": "run", "sql": "x"}], "operations": 0}),
            "writer.operations: expected at least 1, found 0",
        ),
        (
            "/writer",
            json!({"steps": [{"operation": "run", "sql": "x", "fails": 0}], "operations": 1}),
            "writer.steps[0].fails: expected at least 1, found 0",
        ),
        (
            "/writer",
            json!({"steps": [{"operation": "run", "sql": "x"}], "operations": 1,
                "transaction": "read"}),
            "writer.transaction: expected none, deferred or immediate, found read",
        ),
        (
            "/steps/0/parameters/rows",
            json!([[1, 1, "", ""], [1, 1, "", ""], [1, 1, "", ""]]),
            "steps[0].parameters.rows: expected a power of two of rows, at most 16384, found 3",
        ),
        (
            "/steps/0/parameters/rows/1",
            json!([1]),
            "steps[0].parameters.rows[1]: expected 4 values, found 1",
        ),
        (
            "/steps/0/parameters/rows/1/0",
            json!("1x"),
            "steps[0].parameters.rows[1][0]: expected an integer or a decimal string",
        ),
        (
            "/steps/0/parameters/rows/1/1",
            json!(true),
            "steps[0].parameters.rows[1][1]: invalid type: boolean `true`, expected a number",
        ),
        (
            "/steps/0/parameters/rows/1/3",
            json!("0F"),
            "steps[0].parameters.rows[1][3]: expected lower-case hexadecimal, found \"0F\"",
        ),
    ];
    for (pointer, value, message) in cases {
        let said = refusal(pointer, value);
        assert!(said.starts_with(message), "{said:?} does not start with {message:?}");
    }
    assert!(job::read("{").unwrap_err().contains("EOF while parsing"));
}

#[test]
fn a_reset_is_due_between_iterations_only_unless_operations_are_verified() {
    let read = |mode: &str, every: u64| {
        let mut job = job();
        job["mode"] = json!(mode);
        job["reset"] = json!(["x"]);
        job["reset_every"] = json!(every);
        job["measure"]["operations_per_iteration"] = json!(4);
        job::read(&job.to_string())
    };
    let said = read("measure", 6).unwrap_err();
    assert_eq!(said, "reset_every: expected whole iterations of 4, found 6");
    assert!(read("measure", 8).is_ok());
    let due = read("verify", 6).unwrap();
    let due = (0..13).filter(|&operation| !due.reset_before(operation).is_empty());
    assert_eq!(due.collect::<Vec<_>>(), [0, 6, 12]);
}

#[test]
fn workers_are_unsupported_where_no_mutex_guards_the_library() {
    let cases = [
        ("measure", 2, false),
        ("verify", 2, false),
        ("measure", 1, false),
        ("measure", 1, true),
        ("verify", 1, true),
    ];
    for (mode, workers, writer) in cases {
        let mut job = job();
        if writer {
            let steps = json!([{"operation": "run", "sql": "x"}]);
            job["writer"] = json!({"steps": steps, "operations": 1});
        }
        job["mode"] = json!(mode);
        job["connection"] = json!({"engine": {"threading": "single-thread"}});
        job["measure"]["workers"] = json!(workers);
        let reason = support::unsupported(&job::read(&job.to_string()).unwrap(), Ffi::FACTS);
        let expected = workers == 2 || writer;
        assert_eq!(reason.is_some_and(|said| said.contains("2 threads")), expected, "{mode}");
    }
}

#[test]
fn another_build_of_a_driver_is_another_runner() {
    let name = |driver, variant| Identity::of(driver, variant, &Engine::default(), &[]).runner;
    assert_eq!(name(Rusqlite::FACTS, None), "rust");
    assert_eq!(name(Ffi::FACTS, Some("threadsafe2")), "rust-ffi-threadsafe2");
}

#[test]
fn what_a_driver_does_not_have_is_unsupported() {
    let reason = |pointer: &str, value: Value, driver| {
        let mut job = job();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        job.pointer_mut(parent).unwrap()[key] = value;
        support::unsupported(&job::read(&job.to_string()).unwrap(), driver)
    };
    let (rusqlite, ffi) = (Rusqlite::FACTS, Ffi::FACTS);
    let engine = json!({"engine": {"threading": "fast"}});
    assert!(reason("/connection", engine, ffi).unwrap().contains("\"threading\""));
    let engine = json!({"engine": {"threading": "serialized", "memstatus": 0}});
    assert_eq!(reason("/connection", engine, rusqlite), None);
    let single = json!({"engine": {"threading": "single-thread"}});
    assert_eq!(reason("/connection", single.clone(), ffi), None);
    assert!(reason("/connection", single, rusqlite).unwrap().contains("single-thread"));
    assert!(reason("/database/uri", json!({"foo": "1"}), ffi).unwrap().contains("\"foo\""));
    assert_eq!(reason("/database/uri", json!({"immutable": "1"}), ffi), None);
    assert_eq!(reason("/measure/rate", json!(1.5), rusqlite), None);
    for (driver, name) in [(rusqlite, "rusqlite"), (ffi, "SQLite's C API")] {
        let pooled = reason("/connection", json!({"per_operation": true}), driver).unwrap();
        assert_eq!(pooled, format!("{name} has no pool of connections; its users keep them"));
        let steps = json!([{"operation": "run", "sql": "x", "integers": "bigint"}]);
        let writer = json!({"steps": steps, "operations": 1});
        assert!(reason("/writer", writer, driver).is_some(), "the writer's steps count, too");
    }
    assert!(reason("/steps/0/integers", json!("bigint"), rusqlite).is_some());
    assert!(reason("/steps/0/statement", json!("cached"), ffi).is_some());
    assert_eq!(reason("/steps/0/statement", json!("cached"), rusqlite), None);
}

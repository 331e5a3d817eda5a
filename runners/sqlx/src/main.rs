//! The runner of sqlx: a driver for the contract's code of the Rust runners.

mod rows;
mod steps;

use std::cell::RefCell;
use std::process::ExitCode;

use sqlitmus_rust::access::Access;
use sqlitmus_rust::checksum::Sink;
use sqlitmus_rust::command;
use sqlitmus_rust::driver::{Behaviour, Bracket, Driver, Executor, Table};
use sqlitmus_rust::engine::{self, InEffect};
use sqlitmus_rust::failure::Failure;
use sqlitmus_rust::identity::DriverFacts;
use sqlitmus_rust::invocation::Entry;
use sqlitmus_rust::job::Step;
use sqlitmus_rust::result::PageCache;
use sqlitmus_rust::sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteTransactionManager};
use sqlx::{AssertSqlSafe, ConnectOptions, SqlSafeStr};
use sqlx_core::transaction::TransactionManager;
use tokio::runtime::{Builder, Runtime};

fn main() -> ExitCode {
    command::main("sqlitmus-sqlx", &[Entry::of::<Sqlx>()])
}

/// sqlx, as its users use it: SQL texts with their values, awaited one after the other; sqlx keeps
/// the statements, and calls SQLite in a thread of each connection.
pub struct Sqlx;

/// A connection, and the runtime that its caller waits in.
pub struct Connection {
    runtime: Runtime,
    inner: RefCell<SqliteConnection>,
}

impl Connection {
    /// Waits for what `body` does with the connection.
    fn wait<T>(
        &self,
        body: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, Failure> {
        let inner = &mut self.inner.borrow_mut();
        self.runtime.block_on(body(inner)).map_err(failure)
    }

    /// SQLite's own connection, for a look while nothing else uses it.
    fn with_raw<T>(&self, look: impl FnOnce(*mut sqlite::sqlite3) -> T) -> Result<T, Failure> {
        self.wait(async |inner| Ok(look(inner.lock_handle().await?.as_raw_handle().as_ptr())))
    }
}

impl Driver for Sqlx {
    const FACTS: &'static DriverFacts = &DriverFacts {
        option: "sqlx",
        runner: "rust-sqlx",
        name: "sqlx",
        version: env!("SQLX_VERSION"),
        title: "sqlx",
        operations: &["get", "all", "iterate", "run"],
        shapes: &["object"],
        // It has no other way to keep a statement than its cache.
        statements: &["prepared", "adhoc"],
        bindings: &["positional"],
        flags: &["no-mutex", "full-mutex"],
        lacks: &[
            "prepare",
            "open",
            "open-file",
            "in-transaction",
            "execute",
            "read-file",
            "per_operation",
            "unread",
            "single-thread",
            "uri",
        ],
        figures: &["collections", "page_cache"],
    };
    type Connection = Connection;
    type Bracket<'c> = Around<'c>;

    fn open(access: &Access) -> Result<Connection, Failure> {
        let set = |flag| access.flags & flag != 0;
        let options = SqliteConnectOptions::new()
            .filename(&access.name)
            .read_only(set(sqlite::SQLITE_OPEN_READONLY))
            .serialized(set(sqlite::SQLITE_OPEN_FULLMUTEX));
        let runtime = Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| Failure::new(error.to_string()))?;
        let inner = RefCell::new(runtime.block_on(options.connect()).map_err(failure)?);
        let connection = Connection { runtime, inner };
        access.pragmas.iter().try_for_each(|pragma| Sqlx::execute(&connection, pragma))?;
        Ok(connection)
    }

    fn execute(connection: &Connection, sql: &str) -> Result<(), Failure> {
        let outcome = connection
            .wait(async |inner| sqlx::raw_sql(AssertSqlSafe(sql)).execute(inner).await.map(drop));
        outcome.map_err(|failure| failure.with_sql(sql))
    }

    fn query(connection: &Connection, sql: &str) -> Result<Table, Failure> {
        let table = connection.wait(async |inner| {
            let rows = sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_all(inner).await?;
            rows.iter().map(rows::owned).collect()
        });
        table.map_err(|failure| failure.with_sql(sql))
    }

    fn in_transaction(connection: &Connection) -> bool {
        SqliteTransactionManager::get_transaction_depth(&connection.inner.borrow()) > 0
    }

    fn in_effect(connection: &Connection) -> InEffect {
        // SAFETY: the connection is open through the call.
        let look = |raw| unsafe { InEffect::read(raw) };
        connection.with_raw(look).expect("the thread of the connection lives")
    }

    fn page_cache(connection: &Connection) -> PageCache {
        // SAFETY: the connection is open through the call.
        connection.with_raw(|raw| unsafe { engine::page_cache(raw) }).unwrap_or_default()
    }

    fn compile<'c, S: Sink + 'c>(
        connection: &'c Connection,
        step: &'c Step,
        _access: &'c Access,
    ) -> Result<Box<dyn Executor<S> + 'c>, Failure> {
        Ok(Box::new(steps::Statement::new(connection, step)?))
    }

    fn bracket(connection: &Connection, behaviour: Behaviour) -> Result<Around<'_>, Failure> {
        Ok(Around { connection, behaviour })
    }

    fn close(connection: Connection) -> Result<(), Failure> {
        let Connection { runtime, inner } = connection;
        runtime.block_on(sqlx::Connection::close(inner.into_inner())).map_err(failure)
    }
}

/// A transaction around each operation, as `Connection::begin` and `Transaction::commit` do it.
pub struct Around<'c> {
    connection: &'c Connection,
    behaviour: Behaviour,
}

impl Bracket for Around<'_> {
    fn around(&mut self, operation: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let begin = match self.behaviour {
            Behaviour::Deferred => None,
            Behaviour::Immediate => Some("BEGIN IMMEDIATE".into_sql_str()),
        };
        self.connection.wait(async |inner| SqliteTransactionManager::begin(inner, begin).await)?;
        let done = operation();
        let end = async |inner: &mut SqliteConnection| match done {
            Ok(()) => SqliteTransactionManager::commit(inner).await,
            Err(_) => SqliteTransactionManager::rollback(inner).await,
        };
        let ended = self.connection.wait(end);
        done.and(ended)
    }
}

/// What sqlx reports, with SQLite's extended code where it is SQLite's.
fn failure(error: sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(|error| error.code());
    Failure::from_sqlite(error.to_string(), code.and_then(|code| code.parse().ok()))
}

"""Writes that never reach the database, though the connection that wrote reads them back."""

from tests.faults.fault import Fault
from tests.faults.planted import dotnet_verified, fake_measured, node_measured, rust_verified

TRANSACTION = "insert-transaction"
NOT_THERE = "its writes were not committed, or went elsewhere"
NOT_AS_THE_ORACLES = "its writes were not committed, went elsewhere, or are others"
IN_PILOT = "in the pilot: the database holds "
LOOPS = "runners/javascript/loops.js"
NODE = "runners/javascript/drivers/node-sqlite.js"
RUSQLITE = "runners/rust/src/drivers/rusqlite/mod.rs"
WORK = "runners/dotnet/src/Work.cs"

RUN = "default:\n      return `${before} const a"
BEGUN_AT_FIRST_WRITE = (
    LOOPS,
    RUN,
    RUN.replace("const", "db.isTransaction || db.exec('BEGIN'); const"),
)
BEGUN_WHERE_TIMED = (
    LOOPS,
    RUN,
    RUN.replace("const", "${verify} || db.isTransaction || db.exec('BEGIN'); const"),
)
BEGUN_ONCE = (NODE, '"begin.run();"', '"db.isTransaction || begin.run();"')
NO_COMMIT = (NODE, '"commit.run();"', '""')
COPIED = (
    NODE,
    "new DatabaseSync(databaseName(database), {",
    "new DatabaseSync(databaseName(copied(database)), {",
)
COPYING = (
    NODE,
    'import { DatabaseSync, StatementSync } from "node:sqlite";',
    """import { DatabaseSync, StatementSync } from "node:sqlite";
import { copyFileSync } from "node:fs";
const copied = (database) => {
  if (database.path === ":memory:") return database;
  copyFileSync(database.path, `${database.path}.copy`);
  return { ...database, path: `${database.path}.copy` };
};""",
)
TEXTS_CUT = (
    LOOPS,
    "`p${index}_${c}[j]`",
    "verify ? `p${index}_${c}[j]` : `(v => v.at?.(0).at ? v[0] + v.at(-1) : v)(p${index}_${c}[j])`",
)
RUST_BEGUN_ONCE = (
    RUSQLITE,
    """
        let transaction = Transaction::new_unchecked(self.connection, self.behaviour)?;
        operation()?;
        Ok(transaction.commit()?)
""",
    """
        if self.connection.is_autocommit() {
            let begun = Transaction::new_unchecked(self.connection, self.behaviour)?;
            std::mem::forget(begun);
        }
        operation()
""",
)
DOTNET_BEGUN_ONCE = (
    WORK,
    """
        using var transaction = connection.BeginTransaction(deferred);
        Step.Enlist(Steps, transaction);
        RunSteps(operation, ref tally);
        transaction.Commit();
        Step.Enlist(Steps, null);
""",
    """
        if (SQLitePCL.raw.sqlite3_get_autocommit(connection.Handle) != 0)
        {
            Sql.Execute(connection, deferred ? "BEGIN" : "BEGIN IMMEDIATE");
        }

        RunSteps(operation, ref tally);
""",
)


FAULTS = [
    Fault(
        "a transaction begun at the first write and never committed",
        "fake",
        fake_measured("never-commits", "insert"),
        "wrong",
        f"the database holds 0 rows with checksum 0 after the process ended; the runner read back "
        f"3 rows with checksum 37003404: {NOT_THERE}",
    ),
    Fault(
        "never committed, but only where it is timed",
        "fake",
        fake_measured("never-commits-when-measured", "insert"),
        "wrong",
        NOT_AS_THE_ORACLES,
    ),
    Fault(
        "a copy gets the writes",
        "fake",
        fake_measured("writes-elsewhere", "insert"),
        "wrong",
        NOT_THERE,
    ),
    Fault(
        "a copy gets the writes, but only where it is timed",
        "fake",
        fake_measured("writes-elsewhere-when-measured", "insert"),
        "wrong",
        NOT_AS_THE_ORACLES,
    ),
    Fault(
        "the database is removed at the end",
        "fake",
        fake_measured("removes-database", "insert"),
        "wrong",
        "its database is gone after the process ended",
    ),
    Fault(
        "the database is moved, with a link to it in its place",
        "fake",
        fake_measured("moves-database", "insert"),
        "wrong",
        "its database is no file any more",
    ),
    Fault(
        "a page of the database is overwritten at the end",
        "fake",
        fake_measured("damages-database", "insert"),
        "wrong",
        "its database is damaged after the process ended: ",
    ),
    Fault(
        "autocommit off: BEGIN at the first write, no COMMIT",
        "javascript",
        node_measured("insert-autocommit@profile=durable", BEGUN_AT_FIRST_WRITE),
        "wrong",
        NOT_THERE,
    ),
    Fault(
        "autocommit off, but only where it is timed",
        "javascript",
        node_measured("insert-autocommit", BEGUN_WHERE_TIMED),
        "wrong",
        IN_PILOT,
        slow=True,
    ),
    Fault(
        "COMMIT left out",
        "javascript",
        node_measured(TRANSACTION, BEGUN_ONCE, NO_COMMIT),
        "wrong",
        NOT_THERE,
        slow=True,
    ),
    Fault(
        "the file copied, the copy written",
        "javascript",
        node_measured(TRANSACTION, COPYING, COPIED),
        "wrong",
        NOT_THERE,
        slow=True,
    ),
    Fault(
        "texts cut to their ends, but only where it is timed",
        "javascript",
        node_measured(TRANSACTION, TEXTS_CUT),
        "wrong",
        "in the pilot: the database holds other values than the oracle's",
        slow=True,
    ),
    Fault(
        "COMMIT left out of rusqlite's transaction",
        "rust",
        rust_verified(TRANSACTION, RUST_BEGUN_ONCE),
        "wrong",
        NOT_THERE,
        slow=True,
    ),
    Fault(
        "Commit left out of Microsoft.Data.Sqlite's transaction",
        "dotnet",
        dotnet_verified(TRANSACTION, DOTNET_BEGUN_ONCE),
        "wrong",
        NOT_THERE,
        slow=True,
    ),
]

/** Connections: opened with a job's settings, and read back to prove what took effect. */

import { splitPlaceholders } from "./placeholders.js";

const READ_BACK = [
  "journal_mode",
  "synchronous",
  "cache_size",
  "mmap_size",
  "temp_store",
  "foreign_keys",
  "busy_timeout",
  "page_size",
  "locking_mode",
  "wal_autocheckpoint",
  "encoding",
  "query_only",
];

/**
 * Run an action; an error from it carries the SQL that was being executed.
 *
 * @template T
 * @param {string | null} sql
 * @param {() => T} action
 * @returns {T}
 */
export function during(sql, action) {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && sql !== null) error.sql ??= sql;
    throw error;
  }
}

/**
 * Functions that open a connection and set its pragmas: `open` for a thread's own connection, which runs the
 * SQL of `setup`, too, `openBare` for `open` steps, and `openFile` for those that name another database.
 *
 * @param {import("./job.js").Job} job
 * @param {import("./parts.js").Part} part
 * @param {import("./drivers/driver.js").Driver} driver
 */
export function opener({ database, connection }, { steps }, driver) {
  const settings = connection.pragmas.map(([name, value]) => `PRAGMA ${name} = ${literal(value)}`);
  const connect = (statements, place = database) => {
    const db = driver.open(place, steps);
    for (const sql of statements) during(sql, () => db.exec(sql));
    return db;
  };
  return {
    open: () => connect([...settings, ...connection.setup]),
    openBare: () => connect(settings),
    openFile: (path) => connect(settings, { ...database, path }),
  };
}

const literal = (value) => (typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : value);

/** The contract's pragmas as the connection has them now. */
export function readPragmas(db, driver) {
  // In WAL mode `synchronous` is settled by the first read.
  driver.rows(db, "SELECT count(*) FROM sqlite_schema");
  return Object.fromEntries(
    READ_BACK.map((name) => {
      const value = driver.rows(db, `PRAGMA ${name}`)[0]?.[0] ?? null;
      return [name, typeof value === "bigint" ? Number(value) : value];
    }),
  );
}

/** What a call takes of these values: themselves, or an object of them by name. */
const given = ({ names }, values, { source }) =>
  names.length === 0
    ? values
    : [Object.fromEntries(names.map((name, index) => [source.key(name), values[index]]))];

/** `EXPLAIN QUERY PLAN` of each step: its detail column, in order. @returns {string[][]} */
export function readPlans(db, driver, steps, pools) {
  return steps.map((step, index) => {
    if (["open", "open-file", "in-transaction", "execute", "read-file"].includes(step.operation))
      return [];
    // The first parameters of the pool: with STAT4 a plan may depend on values.
    const first =
      step.parameters === null
        ? splitPlaceholders(step.sql)
            .slice(1)
            .map(() => null)
        : given(
            step,
            pools[index].columns.map((column) => column[0]),
            driver,
          );
    const sql = `EXPLAIN QUERY PLAN ${step.sql}`;
    return during(sql, () => driver.rows(db, sql, first)).map((row) => row[3]);
  });
}

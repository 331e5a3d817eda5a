/**
 * A driver knows how its users open, prepare and execute; everything on the clock is source text
 * (`Source`), because the hot loop is generated. The variables `db` (the connection), `sN` (a held
 * statement) and `qN` (its SQL) are in scope of that text.
 *
 * @typedef {import("../job.js").Step} Step
 * @typedef {object} Source
 * @property {(steps: Step[]) => string} setup declarations made once, before the loop
 * @property {(step: Step, q: string, db?: string) => string} compile expression: a new statement
 * @property {(step: Step, s: string, args: string[]) => string} call expression: the row, the rows,
 *   an iterable, for `run` the number of affected rows, or for `execute` what nobody looks at
 * @property {(step: Step, q: string, args: string[]) => string} cached the same through the driver's cache
 * @property {(step: Step, k: string) => string} [text] expression: text number `k` of several as `cached` takes
 *   it, where that is not a string
 * @property {(s: string) => string} finalize statement text; empty where only the collector frees
 * @property {(name: string) => string} key of a named parameter in the object that a call takes, as source
 * @property {string} inTransaction expression: whether a transaction is open on `db`
 * @property {(error: string, code: number) => string} failedWith expression: whether an error has that
 *   primary result code, asked as a user of the driver would
 * @property {(kind: "deferred" | "immediate") => {setup: string, before?: string, after?: string,
 *   call?: (body: string) => string}} transaction either text around an operation, or a
 *   function that wraps the operation's source in the driver's own transaction
 * @property {(row: string) => string} [row] expression: the columns alone, where objects of rows have more
 * @property {(value: string, column: object, shape: string) => string} [value] expression: what its user makes of a
 *   value that the driver returns
 *
 * @typedef {object} Driver
 * @property {{levels: string[], operations: string[], shapes: string[], integers: string[], statements: string[],
 *   bindings: string[], transactions: string[], engine: string[], flags: string[], lacks: string[]}} features
 * @property {boolean} uri whether URI parameters reach SQLite
 * @property {(steps: Step[]) => string | null} refuse why a combination of features cannot be had
 * @property {(database: import("../job.js").Database, steps: Step[]) => any} open
 * @property {(db: any, step: Step) => any} prepare a statement to hold
 * @property {(statement: any) => void} finalize
 * @property {(db: any, sql: string, values?: unknown[]) => unknown[][]} rows rows as arrays with
 *   integers as bigint; not for the clock
 * @property {(bytes: Uint8Array) => Uint8Array} blob the driver's natural blob
 * @property {(error: any) => number | null} code SQLite's result code of an error, where known
 * @property {Source} source
 */

const OPERATIONS = [
  "get",
  "all",
  "iterate",
  "run",
  "prepare",
  "open",
  "open-file",
  "in-transaction",
  "execute",
  "read-file",
];
const TRANSACTIONS = ["none", "deferred", "immediate", "read"];

/** The method of a statement that does this operation in every driver here. */
export const method = ({ operation }) => (operation === "execute" ? "run" : operation);

/** The name of a parameter without its prefix. */
export const bare = (name) => name.slice(1);

/** Features that every driver here has, and those in which they differ; `lacks` as in the contract. */
export const features = (statements, { lacks = [], flags = [] } = {}) => ({
  levels: ["core", "workers", "load", "extras"],
  operations: OPERATIONS.filter((name) => !lacks.includes(name)),
  shapes: ["object", "array"],
  integers: ["number", "bigint"],
  statements,
  bindings: ["positional", "named"],
  transactions: TRANSACTIONS,
  engine: [],
  flags,
  event_loop: true,
  lacks: ["per_operation", ...lacks],
});

// Deno's `process` would load its Node layer, and double a cold start.
export const environment = (name) => (globalThis.Deno ? Deno.env.get(name) : process.env[name]);

/**
 * A file of the better-sqlite3 package: the one beside the runners, or the one whose folder's URL (with a
 * slash at its end) is in SQLITMUS_BETTER_SQLITE3, which compares versions and builds of it.
 *
 * @param {string} file
 */
export function betterSqlite3(file) {
  const chosen = environment("SQLITMUS_BETTER_SQLITE3");
  const folder = chosen ?? new URL("../../node_modules/better-sqlite3/", import.meta.url);
  return new URL(file, folder);
}

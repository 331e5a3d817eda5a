/** better-sqlite3: one native addon that loads in Node, Bun and Deno. */

import { Buffer } from "node:buffer";
import { bare, betterSqlite3, features as common, environment, method } from "./driver.js";
import { primaryName, resultCode } from "./result-codes.js";

const main = environment("SQLITMUS_BETTER_SQLITE3_MAIN") ?? "lib/index.js";
const { default: exported, Database } = await import(betterSqlite3(main).href);
const Sqlite = exported ?? Database;

export const features = common(["prepared", "adhoc"]);
// Built with SQLITE_USE_URI=0: a `file:` URI would be taken for a file's name.
export const uri = false;
export const blob = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
export const code = (error) => resultCode(error.code);

export const refuse = () => null;

export function open(database) {
  return database.mode === "readonly"
    ? new Sqlite(database.path, { readonly: true })
    : new Sqlite(database.path);
}

// raw() is an error on a statement that returns no rows.
const returnsArrays = ({ shape, operation }) =>
  shape === "array" && !["run", "prepare", "execute"].includes(operation);

export function prepare(db, step) {
  const statement = db.prepare(step.sql);
  if (returnsArrays(step)) statement.raw(true);
  if (step.integers === "bigint") statement.safeIntegers(true);
  return statement;
}

/** Statements are finalized by the collector, or when the connection closes. */
export function finalize() {}

export function rows(db, sql, values = []) {
  const statement = db.prepare(sql).safeIntegers(true);
  return statement.reader ? statement.raw(true).all(...values) : [];
}

/** @type {import("./driver.js").Source} */
export const source = {
  setup: () => "",
  compile(step, q, db = "db") {
    const bigints = step.integers === "bigint" ? ".safeIntegers(true)" : "";
    return `${db}.prepare(${q})${returnsArrays(step) ? ".raw(true)" : ""}${bigints}`;
  },
  call(step, s, args) {
    const call = `${s}.${method(step)}(${args.join(", ")})`;
    return step.operation === "run" ? `${call}.changes` : call;
  },
  cached() {
    throw new Error("better-sqlite3 has no statement cache");
  },
  finalize: () => "",
  key: bare,
  inTransaction: "db.inTransaction",
  failedWith(error, code) {
    const name = primaryName(code);
    return name === null ? "false" : `${error}.code?.startsWith("${name}")`;
  },
  transaction: (kind) => ({ setup: "", call: (body) => `db.transaction(${body}).${kind}` }),
};

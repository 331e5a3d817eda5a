/** bun:sqlite, the built-in driver of Bun. */

import { constants, Database } from "bun:sqlite";
import { features as common, method } from "./driver.js";
import { databaseName } from "./uri.js";

const FLAGS = {
  "no-mutex": constants.SQLITE_OPEN_NOMUTEX,
  "full-mutex": constants.SQLITE_OPEN_FULLMUTEX,
  "private-cache": constants.SQLITE_OPEN_PRIVATECACHE,
  "shared-cache": constants.SQLITE_OPEN_SHAREDCACHE,
};

export const features = common(["prepared", "cached", "adhoc"], {
  flags: Object.keys(FLAGS),
  lacks: ["iterate array"],
});
export const uri = true;
export const blob = (bytes) => bytes;
export const code = (error) => error.errno ?? null;

export function refuse(steps) {
  return steps.some((step) => step.operation === "iterate" && step.shape === "array")
    ? "bun:sqlite iterates over row objects only"
    : null;
}

export function open(database) {
  const readonly = database.mode === "readonly";
  const uri = Object.keys(database.uri).length > 0;
  if (!uri && database.flags.length === 0) {
    return readonly ? new Database(database.path, { readonly }) : new Database(database.path);
  }
  const access = readonly
    ? constants.SQLITE_OPEN_READONLY
    : constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE;
  // Without this flag Bun takes a `file:` URI for a file's name.
  const named = uri ? constants.SQLITE_OPEN_URI : 0;
  const asked = database.flags.reduce((sum, name) => sum | FLAGS[name], 0);
  return new Database(databaseName(database), access | named | asked);
}

export function prepare(db, step) {
  const statement = db.prepare(step.sql);
  if (step.integers === "bigint") statement.safeIntegers(true);
  return statement;
}

export function finalize(statement) {
  statement.finalize();
}

export function rows(db, sql, values = []) {
  const statement = db.prepare(sql);
  statement.safeIntegers(true);
  const result = statement.values(...values);
  statement.finalize();
  return result;
}

const bigints = (step) => (step.integers === "bigint" ? ".safeIntegers(true)" : "");

/** @type {import("./driver.js").Source} */
export const source = {
  setup: () => "",
  compile: (step, q, db = "db") => `${db}.prepare(${q})${bigints(step)}`,
  call(step, s, args) {
    const given = args.join(", ");
    if (step.operation === "run") return `${s}.run(${given}).changes`;
    if (step.shape === "object" || step.operation === "execute") {
      return `${s}.${method(step)}(${given})`;
    }
    return step.operation === "get" ? `${s}.values(${given})[0]` : `${s}.values(${given})`;
  },
  cached: (step, q, args) => source.call(step, `db.query(${q})${bigints(step)}`, args),
  finalize: (s) => `${s}.finalize();`,
  // with its prefix, as the documentation asks without `strict: true`
  key: JSON.stringify,
  inTransaction: "db.inTransaction",
  failedWith: (error, code) => `(${error}.errno & 255) === ${code}`,
  transaction: (kind) => ({ setup: "", call: (body) => `db.transaction(${body}).${kind}` }),
};

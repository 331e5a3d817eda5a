/** node:sqlite, the built-in driver of Node, which Deno and Bun offer too. */

import { DatabaseSync, StatementSync } from "node:sqlite";
import { splitPlaceholders } from "../placeholders.js";
import { bare, features as common, method } from "./driver.js";
import { databaseName } from "./uri.js";

const hasCache = typeof DatabaseSync.prototype.createTagStore === "function";
const canFinalize = typeof StatementSync.prototype.close === "function";
const returnsArrays = typeof StatementSync.prototype.setReturnArrays === "function";
// Where it is a property of the object itself, the prototype does not show it.
const tellsTransaction = "isTransaction" in new DatabaseSync(":memory:", { open: false });

export const features = common(hasCache ? ["prepared", "cached", "adhoc"] : ["prepared", "adhoc"], {
  lacks: [
    ...(tellsTransaction ? [] : ["in-transaction"]),
    ...(hasCache ? ["cached named"] : []), // its tagged template has values by place
    ...(returnsArrays ? [] : ["get array", "all array", "iterate array"]),
  ],
});
export const uri = true;
export const blob = (bytes) => bytes;
export const code = (error) => error.errcode ?? null;

/** The tag store takes its row options from the connection, so they must be one for all steps. */
export function refuse(steps) {
  const cached = steps.filter((step) => step.statement === "cached");
  if (cached.some((step) => step.names.length > 0)) {
    return "the statement cache of node:sqlite takes values by place, and no names";
  }
  const options = new Set(steps.map((step) => `${step.shape} ${step.integers}`));
  return cached.length > 0 && options.size > 1
    ? "the statement cache of node:sqlite returns one shape and one kind of integers per connection"
    : null;
}

export function open(database, steps) {
  const cached = steps.find((step) => step.statement === "cached");
  return new DatabaseSync(databaseName(database), {
    readOnly: database.mode === "readonly",
    ...(cached && rowOptions(cached)),
  });
}

const rowOptions = (step) => ({
  ...(step.shape === "array" && { returnArrays: true }),
  ...(step.integers === "bigint" && { readBigInts: true }),
});

export function prepare(db, step) {
  const statement = db.prepare(step.sql);
  if (step.shape === "array") statement.setReturnArrays(true);
  if (step.integers === "bigint") statement.setReadBigInts(true);
  return statement;
}

export function finalize(statement) {
  if (canFinalize) statement.close();
}

export function rows(db, sql, values = []) {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  if (!returnsArrays) return statement.all(...values).map(Object.values);
  statement.setReturnArrays(true);
  return statement.all(...values);
}

/** @type {import("./driver.js").Source} */
export const source = {
  setup: (steps) =>
    steps.some((step) => step.statement === "cached") ? "const store = db.createTagStore();" : "",
  compile(step, q, db = "db") {
    const options = JSON.stringify(rowOptions(step));
    return options === "{}" ? `${db}.prepare(${q})` : `${db}.prepare(${q}, ${options})`;
  },
  call: (step, s, args) => result(step, `${s}.${method(step)}(${args.join(", ")})`),
  cached: (step, q, args) =>
    result(
      step,
      step.texts === 1
        ? `store.${method(step)}${template(step.sql, args)}`
        : `store.${method(step)}(${[q, ...args].join(", ")})`,
    ),
  // what a tagged template gives its tag
  text: (step, k) =>
    `${JSON.stringify(splitPlaceholders(`${step.sql} -- `))}.map((text, at, all) => at === all.length - 1 ? text + ${k} : text)`,
  finalize: (s) => (canFinalize ? `${s}.close();` : ""),
  key: bare,
  inTransaction: "db.isTransaction",
  failedWith: (error, code) => `(${error}.errcode & 255) === ${code}`,
  transaction: (kind) => ({
    setup: `const begin = db.prepare("BEGIN ${kind}"), commit = db.prepare("COMMIT");`,
    before: "begin.run();",
    after: "commit.run();",
  }),
};

function result(step, call) {
  if (step.operation !== "run") return call;
  return step.integers === "bigint" ? `Number(${call}.changes)` : `${call}.changes`;
}

/** A template literal whose n-th substitution stands where the SQL has its n-th `?`. */
function template(sql, args) {
  const pieces = splitPlaceholders(sql);
  if (pieces.length !== args.length + 1) {
    throw new Error(
      `the SQL has ${pieces.length - 1} placeholders, the job ${args.length} parameters`,
    );
  }
  const escaped = pieces.map((piece) => piece.replace(/[\\`]|\$(?=\{)/g, "\\$&"));
  return `\`${escaped.map((piece, index) => piece + (index < args.length ? `\${${args[index]}}` : "")).join("")}\``;
}

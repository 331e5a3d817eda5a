/**
 * Reads and checks a job. The shapes are those of the contract's job schema; defaults are filled in,
 * so the rest of the runner never meets a missing key.
 *
 * @typedef {{name: string, type: "integer" | "real" | "text" | "blob", nullable: boolean}} Column
 * @typedef {{types: string[], rows: (number | string | null)[][]}} Parameters
 * @typedef {object} Step
 * @property {"get" | "all" | "iterate" | "run" | "prepare" | "open" | "open-file" | "in-transaction" | "execute"
 *   | "read-file"} operation
 * @property {string} sql
 * @property {Parameters | null} parameters
 * @property {string[]} names of the parameters, with their prefix, where they are bound by name
 * @property {Column[]} columns
 * @property {number} repeat
 * @property {number | null} fails the primary result code that each execution must end with
 * @property {"object" | "array" | "typed"} shape
 * @property {"number" | "bigint"} integers
 * @property {"prepared" | "cached" | "adhoc"} statement
 * @property {number} texts which differ in a comment, and which the executions use in turn
 * @property {"read" | "unread"} values of the rows of get, all and iterate
 * @typedef {"no-mutex" | "full-mutex" | "private-cache" | "shared-cache"} Flag
 * @typedef {{path: string, mode: "readwrite" | "readonly", uri: Record<string, string>, flags: Flag[]}} Database
 * @typedef {{steps: Step[], transaction: "none" | "deferred" | "immediate", operations: number,
 *   rate: number | null}} Writer
 * @typedef {{groups: number[], order: number[], workers: number[], planned_us: number[]}} Sequence
 * @typedef {object} Job
 * @property {2} contract
 * @property {"verify" | "measure"} mode
 * @property {string} cell
 * @property {Database | null} database
 * @property {{pragmas: [string, string | number][], engine: Record<string, string | number>,
 *   setup: string[], per_operation: boolean}} connection
 * @property {Step[]} steps
 * @property {"none" | "deferred" | "immediate" | "read"} transaction
 * @property {Writer | null} writer
 * @property {string[]} reset
 * @property {number | null} reset_every operations from one reset to the next
 * @property {{sql: string, columns: Column[]}[]} readback
 * @property {boolean} inspect
 * @property {{operations_per_iteration: number, warmup_iterations: number, warmup_ns: number,
 *   iterations: number, workers: number, thread: "main" | "worker", rate: number | null, latencies: boolean,
 *   tolerate_busy: boolean, share: {first: number, of: number} | null, digest: number,
 *   event_loop: {timer_ms: number, thread: "main" | "worker"} | null, sequence: Sequence | null}} measure
 * @property {string} output
 */

import {
  boolean,
  dictionary,
  from,
  JobError,
  list,
  object,
  oneOf,
  optional,
  orNull,
  positive,
  reject,
  scalar,
  string,
} from "./checks.js";
import { parameters, type } from "./parameters.js";

const columns = list(object({ name: string, type, nullable: optional(boolean, false) }));

const stepFields = object({
  operation: oneOf(
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
  ),
  sql: optional(string, ""),
  parameters: optional(orNull(parameters), null),
  names: optional(list(string), []),
  columns: optional(columns, []),
  repeat: optional(from(1), 1),
  fails: optional(orNull(from(1)), null),
  shape: optional(oneOf("object", "array", "typed"), "object"),
  integers: optional(oneOf("number", "bigint"), "number"),
  statement: optional(oneOf("prepared", "cached", "adhoc"), "prepared"),
  texts: optional(from(1), 1),
  values: optional(oneOf("read", "unread"), "read"),
});

const WITHOUT_SQL = ["in-transaction", "read-file"];
const FILES = ["open-file", "read-file"];
const ROWS = ["get", "all", "iterate"];

const checkNames = ({ operation, names, parameters }, path) => {
  if (![...ROWS, "run", "open"].includes(operation)) {
    reject(`${path}.names`, `none for ${operation}`, names);
  }
  const count = parameters?.types.length ?? 0;
  if (names.length !== count) reject(`${path}.names`, `${count}, one for each parameter`, names);
  const odd = names.find((name) => !/^[:@$][A-Za-z][A-Za-z0-9_]*$/.test(name));
  if (odd !== undefined) {
    reject(`${path}.names`, "names of letters, digits and _ after one of :, @ and $", odd);
  }
  if (new Set(names.map((name) => name.slice(1))).size < count) {
    reject(`${path}.names`, "names that differ without their prefix", names);
  }
};

const step = (value, path) => {
  const checked = stepFields(value, path);
  const { operation, sql, parameters, columns, fails, texts, values } = checked;
  if (WITHOUT_SQL.includes(operation)) {
    if (sql !== "") reject(`${path}.sql`, `no SQL for ${operation}`, sql);
  } else if (sql === "") reject(`${path}.sql`, `SQL for ${operation}`, value.sql);
  if (fails !== null && operation !== "run") {
    reject(`${path}.fails`, "a result code only where the operation is run", fails);
  }
  if (operation === "execute") {
    if (parameters !== null) reject(`${path}.parameters`, "none for execute", value.parameters);
    if (columns.length > 0) reject(`${path}.columns`, "none for execute", columns);
  }
  if (FILES.includes(operation) && parameters?.types.join() !== "text") {
    reject(`${path}.parameters`, "one text, the path of the file", value.parameters);
  }
  if (operation === "read-file") {
    if (columns.length !== 1 || columns[0].type !== "blob" || columns[0].nullable) {
      reject(`${path}.columns`, "one blob that cannot be NULL, the file", columns);
    }
  }
  if (checked.names.length > 0) checkNames(checked, path);
  if (texts & (texts - 1)) reject(`${path}.texts`, "a power of two", texts);
  if (texts > 1 && checked.statement !== "cached") {
    reject(`${path}.texts`, "1 where the statement is not cached", texts);
  }
  if (values === "unread" && !ROWS.includes(operation)) {
    reject(`${path}.values`, "read where the operation is not get, all or iterate", values);
  }
  return checked;
};

const steps = list(step);

const around = ({ steps, transaction }, path) => {
  if (transaction !== "none" && steps.some(({ operation }) => operation === "execute")) {
    reject(`${path}.transaction`, "none beside execute, which can begin one itself", transaction);
  }
};

const pragma = (value, path) => {
  if (!Array.isArray(value) || value.length !== 2) reject(path, "a pair [name, value]", value);
  return [string(value[0], `${path}[0]`), scalar(value[1], `${path}[1]`)];
};

const database = object({
  path: string,
  mode: optional(oneOf("readwrite", "readonly"), "readwrite"),
  uri: optional(dictionary(string), {}),
  flags: optional(list(oneOf("no-mutex", "full-mutex", "private-cache", "shared-cache")), []),
});

const connection = object({
  pragmas: optional(list(pragma), []),
  engine: optional(dictionary(scalar), {}),
  setup: optional(list(string), []),
  per_operation: optional(boolean, false),
});

const writerFields = object({
  steps: (value, path) => {
    const checked = steps(value, path);
    return checked.length > 0 ? checked : reject(path, "at least one step", value);
  },
  transaction: optional(oneOf("none", "deferred", "immediate"), "none"),
  operations: from(1),
  rate: optional(orNull(positive), null),
});

const writer = (value, path) => {
  const checked = writerFields(value, path);
  around(checked, path);
  return checked;
};

const sequenceFields = object({
  groups: list(from(1)),
  order: list(from(0)),
  workers: optional(list(from(0)), []),
  planned_us: optional(list(from(0)), []),
});

const sequence = (value, path) => {
  const checked = sequenceFields(value, path);
  const { groups, order } = checked;
  if (order.length === 0 || order.some((group) => group >= groups.length)) {
    reject(`${path}.order`, `numbers of groups, below ${groups.length}`, order);
  }
  for (const key of ["workers", "planned_us"]) {
    const { length } = checked[key];
    if (length !== 0 && length !== order.length) {
      reject(`${path}.${key}`, `${order.length} numbers, or none`, checked[key]);
    }
  }
  return checked;
};

const measureFields = object({
  operations_per_iteration: from(0),
  warmup_iterations: optional(from(0), 0),
  warmup_ns: optional(from(0), 0),
  iterations: optional(from(1), 1),
  workers: optional(from(1), 1),
  thread: optional(oneOf("main", "worker"), "main"),
  rate: optional(orNull(positive), null),
  latencies: optional(boolean, false),
  tolerate_busy: optional(boolean, false),
  share: optional(orNull(object({ first: optional(from(0), 0), of: optional(from(1), 1) })), null),
  digest: optional(from(0), 0),
  event_loop: optional(
    orNull(object({ timer_ms: from(1), thread: oneOf("main", "worker") })),
    null,
  ),
  sequence: optional(orNull(sequence), null),
});

const measure = (value, path) => {
  const checked = measureFields(value, path);
  const { share, workers, event_loop, sequence, rate } = checked;
  if (share !== null && share.first + workers > share.of) {
    reject(`${path}.share`, `first + ${workers} workers to be at most of`, share);
  }
  if (event_loop !== null && (workers > 1 || share !== null || sequence !== null)) {
    reject(`${path}.event_loop`, "one worker, without share and sequence", event_loop);
  }
  if (sequence?.workers.length > 0) {
    if (sequence.workers.some((worker) => worker >= workers)) {
      reject(`${path}.sequence.workers`, `numbers below ${workers}`, sequence.workers);
    }
    if (share !== null && share.of !== workers) {
      reject(`${path}.sequence.workers`, "all workers in one process", share);
    }
  }
  if (sequence?.planned_us.length > 0 && rate !== null) {
    reject(`${path}.sequence.planned_us`, "none beside a rate", rate);
  }
  return checked;
};

const job = object({
  contract: oneOf(2),
  mode: oneOf("verify", "measure"),
  cell: string,
  database: optional(orNull(database), null),
  connection: optional(connection, connection({}, "")),
  steps: optional(steps, []),
  transaction: optional(oneOf("none", "deferred", "immediate", "read"), "none"),
  writer: optional(orNull(writer), null),
  reset: optional(list(string), []),
  reset_every: optional(orNull(from(1)), null),
  readback: optional(list(object({ sql: string, columns })), []),
  inspect: optional(boolean, true),
  measure,
  output: string,
});

/** Check a parsed job. @returns {Job} @throws {JobError} */
export function checkJob(value) {
  const checked = job(value, "$");
  if (checked.steps.length > 0 && checked.database === null) {
    reject("$.database", "a database, because there are steps", null);
  }
  around(checked, "$");
  const { mode, reset, reset_every, measure } = checked;
  if (reset.length > 0 && reset_every === null) {
    reject("$.reset_every", "after how many operations reset runs again", value.reset_every);
  }
  const count = measure.operations_per_iteration;
  if (mode === "measure" && reset_every !== null && reset_every % count !== 0) {
    reject("$.reset_every", `a multiple of an iteration's ${count} operations`, reset_every);
  }
  const { sequence } = measure;
  const steps = sequence?.groups.reduce((sum, size) => sum + size, 0) ?? checked.steps.length;
  if (steps !== checked.steps.length) {
    reject("$.measure.sequence.groups", `${checked.steps.length} steps together`, sequence.groups);
  }
  if (mode === "measure" && sequence?.planned_us.length > 0) {
    const whole = count > 0 && sequence.order.length % count === 0;
    if (!whole) reject("$.measure.sequence.planned_us", "whole iterations", count);
  }
  if (checked.writer !== null && measure.event_loop !== null) {
    reject("$.measure.event_loop", "none beside a writer", measure.event_loop);
  }
  return checked;
}

/**
 * Read and check the job in a file.
 *
 * @param {string} path
 * @param {(path: string) => string} readText
 * @returns {Job}
 * @throws {JobError}
 */
export function readJob(path, readText) {
  let text;
  try {
    text = readText(path);
  } catch (error) {
    throw new JobError(`${path}: cannot be read (${error.code ?? error.message})`);
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JobError(`${path}: is not JSON (${error.message})`);
  }
  try {
    return checkJob(value);
  } catch (error) {
    if (error instanceof JobError) error.message = `${path}: ${error.message}`;
    throw error;
  }
}

/**
 * Reads and checks a job. The shapes are those of the contract's job schema; defaults are filled in,
 * so the rest of the runner never meets a missing key.
 *
 * @typedef {{name: string, type: "integer" | "real" | "text" | "blob"}} Column
 * @typedef {{types: string[], rows: (number | string | null)[][]}} Parameters
 * @typedef {object} Step
 * @property {"get" | "all" | "iterate" | "run" | "prepare" | "open"} operation
 * @property {string} sql
 * @property {Parameters | null} parameters
 * @property {Column[]} columns
 * @property {number} repeat
 * @property {"object" | "array" | "typed"} shape
 * @property {"number" | "bigint"} integers
 * @property {"prepared" | "cached" | "adhoc"} statement
 * @typedef {{path: string, mode: "readwrite" | "readonly", uri: Record<string, string>}} Database
 * @typedef {object} Job
 * @property {1} contract
 * @property {"verify" | "measure"} mode
 * @property {string} cell
 * @property {Database | null} database
 * @property {{pragmas: [string, string | number][], engine: Record<string, string | number>,
 *   worker_pragmas: [string, string | number][]}} connection
 * @property {Step[]} steps
 * @property {"none" | "deferred" | "immediate" | "read"} transaction
 * @property {string[]} reset
 * @property {{sql: string, columns: Column[]}[]} readback
 * @property {boolean} inspect
 * @property {{operations_per_iteration: number, warmup_iterations: number, warmup_ns: number,
 *   iterations: number, workers: number, rate: number | null}} measure
 * @property {string} output
 */

const LONGEST_POOL = 16_384;

/** The job cannot be read: the message names the place in the JSON and what belongs there. */
export class JobError extends Error {}

/** @typedef {(value: unknown, path: string) => any} Check returns the value or throws a JobError */

/** @returns {never} */
function reject(path, expected, value) {
  throw new JobError(`${path}: expected ${expected}, got ${shown(value)}`);
}

function shown(value) {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

const string = (value, path) =>
  typeof value === "string" ? value : reject(path, "a string", value);

const number = (value, path) =>
  typeof value === "number" ? value : reject(path, "a number", value);

const boolean = (value, path) =>
  typeof value === "boolean" ? value : reject(path, "true or false", value);

const from = (least) => (value, path) =>
  Number.isSafeInteger(value) && value >= least
    ? value
    : reject(path, `an integer of at least ${least}`, value);

const oneOf =
  (...choices) =>
  (value, path) =>
    choices.includes(value)
      ? value
      : reject(path, `one of ${choices.map(shown).join(", ")}`, value);

const orNull = (check) => (value, path) => (value === null ? null : check(value, path));

const scalar = (value, path) =>
  typeof value === "string" || Number.isSafeInteger(value)
    ? value
    : reject(path, "a string or an integer", value);

const list = (check) => (value, path) =>
  Array.isArray(value)
    ? value.map((item, index) => check(item, `${path}[${index}]`))
    : reject(path, "a list", value);

const dictionary = (check) => (value, path) => {
  if (!isObject(value)) reject(path, "an object", value);
  for (const key of Object.keys(value)) check(value[key], member(path, key));
  return value;
};

const pragma = (value, path) => {
  if (!Array.isArray(value) || value.length !== 2) reject(path, "a pair [name, value]", value);
  return [string(value[0], `${path}[0]`), scalar(value[1], `${path}[1]`)];
};

/** @param {Check} check @param {unknown} fallback used where the key is absent */
const optional = (check, fallback) => ({ check, fallback });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const member = (path, key) =>
  /^\w+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

/** An object with exactly these keys; an entry made by `optional` may be absent. */
const object = (shape) => (value, path) => {
  if (!isObject(value)) reject(path, "an object", value);
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(shape, key)) {
      reject(
        member(path, key),
        `no such key (known: ${Object.keys(shape).join(", ")})`,
        value[key],
      );
    }
  }
  const checked = {};
  for (const [key, entry] of Object.entries(shape)) {
    const given = value[key];
    if (typeof entry === "function") checked[key] = entry(given, member(path, key));
    else
      checked[key] = given === undefined ? entry.fallback : entry.check(given, member(path, key));
  }
  return checked;
};

/** What a parameter of each type looks like in JSON; NULL is allowed everywhere. */
const PARAMETER = {
  integer: {
    accepts: (value) =>
      Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d{1,19}$/.test(value)),
    expected: "an integer, as a decimal string beyond 2^53-1",
  },
  real: { accepts: (value) => typeof value === "number", expected: "a number" },
  text: { accepts: (value) => typeof value === "string", expected: "a string" },
  blob: {
    accepts: (value) => typeof value === "string" && /^(?:[0-9a-f]{2})*$/.test(value),
    expected: "lower-case hexadecimal",
  },
};

const type = oneOf("integer", "real", "text", "blob");
const columns = list(object({ name: string, type }));

const parameters = (value, path) => {
  const { types, rows } = object({ types: list(type), rows: list(list((item) => item)) })(
    value,
    path,
  );
  const length = rows.length;
  if (length < 1 || length > LONGEST_POOL || length & (length - 1)) {
    reject(`${path}.rows`, `a power of two of rows, at most ${LONGEST_POOL}`, length);
  }
  const kinds = types.map((name) => PARAMETER[name]);
  for (let number = 0; number < length; number++) {
    const row = rows[number];
    const place = `${path}.rows[${number}]`;
    if (row.length !== kinds.length) reject(place, `${kinds.length} values`, row);
    for (let index = 0; index < kinds.length; index++) {
      if (row[index] !== null && !kinds[index].accepts(row[index])) {
        reject(`${place}[${index}]`, `${kinds[index].expected}, or null`, row[index]);
      }
    }
  }
  return { types, rows };
};

const step = object({
  operation: oneOf("get", "all", "iterate", "run", "prepare", "open"),
  sql: string,
  parameters: optional(orNull(parameters), null),
  columns: optional(columns, []),
  repeat: optional(from(1), 1),
  shape: optional(oneOf("object", "array", "typed"), "object"),
  integers: optional(oneOf("number", "bigint"), "number"),
  statement: optional(oneOf("prepared", "cached", "adhoc"), "prepared"),
});

const job = object({
  contract: oneOf(1),
  mode: oneOf("verify", "measure"),
  cell: string,
  database: optional(
    orNull(
      object({
        path: string,
        mode: optional(oneOf("readwrite", "readonly"), "readwrite"),
        uri: optional(dictionary(string), {}),
      }),
    ),
    null,
  ),
  connection: optional(
    object({
      pragmas: optional(list(pragma), []),
      engine: optional(dictionary(scalar), {}),
      worker_pragmas: optional(list(pragma), []),
    }),
    { pragmas: [], engine: {}, worker_pragmas: [] },
  ),
  steps: optional(list(step), []),
  transaction: optional(oneOf("none", "deferred", "immediate", "read"), "none"),
  reset: optional(list(string), []),
  readback: optional(list(object({ sql: string, columns })), []),
  inspect: optional(boolean, true),
  measure: object({
    operations_per_iteration: from(0),
    warmup_iterations: optional(from(0), 0),
    warmup_ns: optional(from(0), 0),
    iterations: optional(from(1), 1),
    workers: optional(from(1), 1),
    rate: optional(orNull(number), null),
  }),
  output: string,
});

/** Check a parsed job. @returns {Job} @throws {JobError} */
export function checkJob(value) {
  const checked = job(value, "$");
  if (checked.steps.length > 0 && checked.database === null) {
    reject("$.database", "a database, because there are steps", null);
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

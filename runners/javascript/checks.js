/** What a job is checked with: each check names the place in the JSON and what belongs there. */

/** The job cannot be read: the message names the place in the JSON and what belongs there. */
export class JobError extends Error {}

/** @typedef {(value: unknown, path: string) => any} Check returns the value or throws a JobError */

/** @returns {never} */
export function reject(path, expected, value) {
  throw new JobError(`${path}: expected ${expected}, got ${shown(value)}`);
}

function shown(value) {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

export const string = (value, path) =>
  typeof value === "string" ? value : reject(path, "a string", value);

export const positive = (value, path) =>
  typeof value === "number" && value > 0 ? value : reject(path, "a number above 0", value);

export const boolean = (value, path) =>
  typeof value === "boolean" ? value : reject(path, "true or false", value);

export const from = (least) => (value, path) =>
  Number.isSafeInteger(value) && value >= least
    ? value
    : reject(path, `an integer of at least ${least}`, value);

export const oneOf =
  (...choices) =>
  (value, path) =>
    choices.includes(value)
      ? value
      : reject(path, `one of ${choices.map(shown).join(", ")}`, value);

export const orNull = (check) => (value, path) => (value === null ? null : check(value, path));

export const scalar = (value, path) =>
  typeof value === "string" || Number.isSafeInteger(value)
    ? value
    : reject(path, "a string or an integer", value);

export const list = (check) => (value, path) =>
  Array.isArray(value)
    ? value.map((item, index) => check(item, `${path}[${index}]`))
    : reject(path, "a list", value);

export const dictionary = (check) => (value, path) => {
  if (!isObject(value)) reject(path, "an object", value);
  for (const key of Object.keys(value)) check(value[key], member(path, key));
  return value;
};

/** @param {Check} check @param {unknown} fallback used where the key is absent */
export const optional = (check, fallback) => ({ check, fallback });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const member = (path, key) =>
  /^\w+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

/** An object with exactly these keys; an entry made by `optional` may be absent. */
export const object = (shape) => (value, path) => {
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

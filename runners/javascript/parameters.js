/** Checks a pool of parameters: its size, and each value against its type. */

import { list, object, oneOf, reject } from "./checks.js";

const LONGEST_POOL = 16_384;

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

export const type = oneOf("integer", "real", "text", "blob");

export const parameters = (value, path) => {
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

/** libsql, a fork of SQLite: its package has the interface of better-sqlite3, which `SQLITMUS_BETTER_SQLITE3` leads to. */

import { source as alike } from "./better-sqlite3.js";

export * from "./better-sqlite3.js";

// Where a null stands alone, it would be taken for the object of named values.
export function rows(db, sql, values = []) {
  const statement = db.prepare(sql).safeIntegers(true);
  const given = values[0] === null ? [values] : values;
  return statement.reader ? statement.raw(true).all(...given) : [];
}

/** @type {import("./driver.js").Source} */
export const source = {
  ...alike,
  setup: () => "const bytes = (value) => (value === null ? null : new Uint8Array(value));",
  // The row of get() says how long it took, beside the columns.
  row: (row) => `(({ _metadata, ...columns }) => columns)(${row})`,
  read: (read, { type }, shape) =>
    type === "blob" && shape === "object" ? read.replace(/= (.*);$/, "= bytes($1);") : read,
};

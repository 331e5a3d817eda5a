/** libsql, a fork of SQLite: its package has the interface of better-sqlite3, which `SQLITMUS_BETTER_SQLITE3` leads to. */

import { source as alike, rows as alikeRows } from "./better-sqlite3.js";

export * from "./better-sqlite3.js";

// Where a null stands alone, it would be taken for the object of named values.
export const rows = (db, sql, values = []) =>
  alikeRows(db, sql, values[0] === null ? [values] : values);

/** @type {import("./driver.js").Source} */
export const source = {
  ...alike,
  setup: () => "const bytes = (value) => (value === null ? null : new Uint8Array(value));",
  // The row of get() says how long it took, beside the columns.
  row: (row) => `(({ _metadata, ...columns }) => columns)(${row})`,
  value: (value, { type }, shape) =>
    type === "blob" && shape === "object" ? `bytes(${value})` : value,
};

/**
 * The drivers by the name of the `--driver` option, loaded when asked for: the start-up scenario
 * needs a driver's identity but not its code.
 */

import { betterSqlite3 } from "./driver.js";

const packageVersion = ({ system }) =>
  JSON.parse(system.readText(betterSqlite3("package.json"))).version;

/** @type {Record<string, {name: string, version: (host: import("../main.js").Host) => string, load: () => Promise<import("./driver.js").Driver>}>} */
export const DRIVERS = {
  "node-sqlite": {
    name: "node:sqlite",
    version: ({ runtime }) => runtime.version,
    load: () => import("./node-sqlite.js"),
  },
  "bun-sqlite": {
    name: "bun:sqlite",
    version: ({ runtime }) => runtime.version,
    load: () => import("./bun-sqlite.js"),
  },
  "better-sqlite3": {
    name: "better-sqlite3",
    version: packageVersion,
    load: () => import("./better-sqlite3.js"),
  },
  libsql: {
    name: "libsql",
    version: packageVersion,
    load: () => import("./libsql.js"),
  },
  turso: {
    name: "turso",
    version: packageVersion,
    load: () => import("./turso.js"),
  },
};

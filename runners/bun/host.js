import { system } from "../javascript/system.js";

/** @type {import("../javascript/main.js").Host} */
export const host = {
  system,
  runtime: { name: "Bun", version: Bun.version },
  runners: { "bun-sqlite": "bun", "better-sqlite3": "bun-better-sqlite3" },
  heap: [],
  startKnown: true,
};

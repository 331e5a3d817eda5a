import { system } from "../javascript/system.js";

/** @type {import("../javascript/main.js").Host} */
export const host = {
  system,
  runtime: { name: "Node", version: process.versions.node },
  runners: {
    "node-sqlite": "node",
    "better-sqlite3": "node-better-sqlite3",
    libsql: "node-libsql",
    turso: "node-turso",
  },
  heap: ["allocated_bytes", "collections"],
  startKnown: true,
};

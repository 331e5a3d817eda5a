import { system } from "./system.js";

/** @type {import("../javascript/main.js").Host} */
export const host = {
  system,
  runtime: { name: "Deno", version: Deno.version.deno },
  runners: { "node-sqlite": "deno", "better-sqlite3": "deno-better-sqlite3" },
  heap: ["allocated_bytes"],
  // Deno's time origin is set after its own start-up, two thirds of a short process's life.
  startKnown: false,
};

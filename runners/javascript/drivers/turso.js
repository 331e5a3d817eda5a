/** Turso, SQLite written anew: its package has the interface of better-sqlite3, which `SQLITMUS_BETTER_SQLITE3` leads to. */

import { features as alike } from "./better-sqlite3.js";

export * from "./better-sqlite3.js";

// It knows neither recursive CTEs nor a temporary view of each connection, by which workers set themselves up.
export const features = { ...alike, levels: alike.levels.filter((level) => level !== "workers") };

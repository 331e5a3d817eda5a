/** A database of a test's own, and the driver under test. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Digest } from "../digest.js";
import { DRIVERS } from "../drivers/registry.js";
import { combine } from "../figures.js";
import { checkJob } from "../job.js";
import { alone } from "../meeting.js";
import { perform } from "../session.js";
import { job } from "./core.js";

const SCHEMA = `
CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB);
INSERT INTO t VALUES (1, 2147483649, -2.5, 'ab', x'01ff'), (2, -7, 4294967303.5, '', x''), (3, NULL, NULL, NULL, NULL);
CREATE TABLE big(id INTEGER PRIMARY KEY, v INTEGER);
INSERT INTO big VALUES (1, 9007199254740993);`;

export const COLUMNS = [
  { name: "id", type: "integer" },
  { name: "i", type: "integer", nullable: true },
  { name: "r", type: "real", nullable: true },
  { name: "s", type: "text", nullable: true },
  { name: "b", type: "blob", nullable: true },
];
export const SELECT = {
  operation: "all",
  sql: "SELECT id, i, r, s, b FROM t ORDER BY id",
  columns: COLUMNS,
};

/**
 * Cases of one driver from tests by title. A test gets the driver, the database's `path` and `folder` (both are
 * removed afterwards), `open` for a connection to it, `make` for a job on it, and `figures` and `verified` to perform that.
 *
 * @param {string} name of the driver in `DRIVERS`
 * @param {import("../main.js").Host} host
 * @returns {import("./core.js").Case[]}
 */
export function databaseCases(name, host, tests) {
  return Object.entries(tests).map(([title, test]) => ({
    name: `${name}: ${title}`,
    run: (check) => withDatabase(name, host, (given) => test(check, given)),
  }));
}

async function withDatabase(name, { system }, test) {
  const folder = mkdtempSync(join(tmpdir(), "sqlitmus-"));
  try {
    const driver = await DRIVERS[name].load();
    const path = join(folder, "test.db");
    const open = (parts = {}) =>
      driver.open({ path, mode: "readwrite", uri: {}, flags: [], ...parts }, []);
    const db = open();
    db.exec(SCHEMA);
    db.close();
    const base = { database: { path }, output: join(folder, "out.json") };
    const figures = (asked, digest = null) =>
      combine(asked, [perform(asked, driver, alone(), system.usage, digest)]);
    await test({
      driver,
      folder,
      path,
      open,
      make: (parts, step) => checkJob(job({ ...base, ...parts }, step)),
      figures,
      verified(asked) {
        const digest = new Digest();
        return figures(asked, digest);
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

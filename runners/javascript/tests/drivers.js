/** Cases that each driver must pass in each runtime. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Digest } from "../digest.js";
import { DRIVERS } from "../drivers/driver.js";
import { checkJob } from "../job.js";
import { alone } from "../line.js";
import { main } from "../main.js";
import { perform } from "../session.js";
import { fold } from "../values.js";
import { performTogether } from "../workers.js";
import { job } from "./core.js";

const SCHEMA = `
CREATE TABLE t(id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB);
INSERT INTO t VALUES (1, 2147483649, -2.5, 'ab', x'01ff'), (2, -7, 4294967303.5, '', x''), (3, NULL, NULL, NULL, NULL);
CREATE TABLE big(id INTEGER PRIMARY KEY, v INTEGER);
INSERT INTO big VALUES (1, 9007199254740993);`;

/** Text that would end or alter a JavaScript template literal, with a `?` that is no placeholder. */
const AWKWARD = ["`", "$", "{?}", "\\"].join("");

const COLUMNS = [
  { name: "id", type: "integer" },
  { name: "i", type: "integer" },
  { name: "r", type: "real" },
  { name: "s", type: "text" },
  { name: "b", type: "blob" },
];
const SELECT = {
  operation: "all",
  sql: "SELECT id, i, r, s, b FROM t ORDER BY id",
  columns: COLUMNS,
};

/**
 * @param {string} name of the driver in `DRIVERS`
 * @param {import("../main.js").Host} host
 * @returns {import("./core.js").Case[]}
 */
export function driverCases(name, host) {
  /** Run a test with the driver and a new database, both gone afterwards. */
  const withDatabase = (test) => async (check) => {
    const folder = mkdtempSync(join(tmpdir(), "sqlitmus-"));
    try {
      const driver = await DRIVERS[name].load();
      const path = join(folder, "test.db");
      const db = driver.open({ path, mode: "readwrite", uri: {} }, []);
      db.exec(SCHEMA);
      db.close();
      const parts = { database: { path }, output: join(folder, "out.json") };
      await test(check, {
        driver,
        folder,
        path,
        make: (more, step) => checkJob(job({ ...parts, ...more }, step)),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const figures = (driver, asked) => perform(asked, driver, alone(), host.system.cpu, null);
  const cases = {
    "the loop's checksum is the reference's, whatever the shape": withDatabase(
      ({ equal }, { driver, path, make }) => {
        const db = driver.open({ path, mode: "readonly", uri: {} }, []);
        let expected = 0;
        for (const row of driver.rows(db, SELECT.sql)) {
          for (const [index, { type }] of COLUMNS.entries())
            expected = fold(expected, type, row[index]);
        }
        db.close();
        for (const shape of ["object", "array"]) {
          for (const integers of ["number", "bigint"]) {
            for (const statement of ["prepared", "adhoc"]) {
              const result = figures(driver, make({}, { ...SELECT, shape, integers, statement }));
              equal(
                [shape, integers, statement, result.rows, result.checksum],
                [shape, integers, statement, 3, expected >>> 0],
              );
            }
          }
        }
      },
    ),
    "iterate gives what all gives, from a held statement and from one of its own": withDatabase(
      ({ equal }, { driver, make }) => {
        const all = figures(driver, make({}, SELECT));
        for (const statement of ["prepared", "adhoc"]) {
          const measure = { operations_per_iteration: 1, iterations: 3 };
          const step = { ...SELECT, operation: "iterate", statement };
          const { rows, checksum } = figures(driver, make({ measure }, step));
          equal([rows, checksum], [all.rows, all.checksum]);
        }
      },
    ),
    "integers beyond 2^53 are exact as bigint": withDatabase(({ equal }, { driver, make }) => {
      const step = {
        operation: "get",
        sql: "SELECT v FROM big WHERE v = ?",
        parameters: { types: ["integer"], rows: [["9007199254740993"]] },
        columns: [{ name: "v", type: "integer" }],
        integers: "bigint",
      };
      const { rows, checksum } = figures(driver, make({}, step));
      equal([rows, checksum], [1, 1]);
    }),
    "URI parameters reach SQLite, or the driver says that they do not": withDatabase(
      ({ equal, throws }, { driver, path }) => {
        if (!driver.uri) return equal(name, "better-sqlite3");
        for (const mode of ["readwrite", "readonly"]) {
          throws(
            () => driver.open({ path, mode, uri: { vfs: "absent" } }, []),
            "no such vfs: absent",
          );
          const db = driver.open({ path, mode, uri: { immutable: "1" } }, []);
          equal(driver.rows(db, "SELECT count(*) FROM t"), [[3n]]);
          db.close();
        }
      },
    ),
    "verify mode rejects a column of another type and a column too few": withDatabase(
      ({ throws }, { driver, make }) => {
        const verify = (columns) =>
          perform(
            make({ mode: "verify" }, { ...SELECT, columns }),
            driver,
            alone(),
            host.system.cpu,
            new Digest(),
          );
        const wrong = COLUMNS.with(3, { name: "s", type: "integer" });
        throws(() => verify(wrong), "column s: declared integer, the driver returned string ab");
        throws(() => verify(COLUMNS.slice(1)), "the row holds 5 columns, the job declares 4");
      },
    ),
    "an iteration that differs from the first is an error": withDatabase(
      ({ throws }, { driver, make }) => {
        const step = { operation: "run", sql: "DELETE FROM t WHERE id > 1" };
        const measure = { operations_per_iteration: 1, iterations: 2 };
        throws(
          () => figures(driver, make({ measure }, step)),
          "iteration 2 returned checksum 0, affected 0; the first returned checksum 2, affected 2",
        );
        figures(
          driver,
          make({ measure, reset: ["INSERT OR IGNORE INTO t(id) VALUES (2), (3)"] }, step),
        );
      },
    ),
    "transactions commit, and a statement cache binds around quotes": withDatabase(
      ({ equal }, { driver, make }) => {
        const insert = {
          operation: "run",
          sql: `INSERT INTO t(s) VALUES ('${AWKWARD}' || ?)`,
          parameters: { types: ["text"], rows: [["x"], ["y"]] },
          repeat: 2,
          statement: driver.features.statements.includes("cached") ? "cached" : "prepared",
        };
        const readback = [
          {
            sql: `SELECT s FROM t WHERE id > 3 AND s IN ('${AWKWARD}x', '${AWKWARD}y')`,
            columns: [{ name: "s", type: "text" }],
          },
        ];
        for (const transaction of ["deferred", "immediate"]) {
          const result = figures(
            driver,
            make({ transaction, readback, reset: ["DELETE FROM t WHERE id > 3"] }, insert),
          );
          equal([result.affected, result.checksum, result.readback.rows], [2, 32, 2]);
        }
      },
    ),
    "workers share the operations and each reports its part": withDatabase(
      async ({ equal }, { make }) => {
        const measure = {
          operations_per_iteration: 7,
          iterations: 2,
          warmup_iterations: 1,
          workers: 2,
        };
        const result = await performTogether(make({ measure }, SELECT), name);
        equal([result.rows, result.iterations_ns.length], [21, 2]);
        equal(
          result.workers.map(({ operations, rows }) => [operations, rows]),
          [
            [3, 9],
            [4, 12],
          ],
        );
        for (const [index, elapsed] of result.iterations_ns.entries()) {
          const longest = Math.max(
            ...result.workers.map(({ iterations_ns }) => iterations_ns[index]),
          );
          // Whole nanoseconds: rounding may differ by one.
          equal([elapsed >= longest - 1, elapsed < 60e9], [true, true]);
        }
      },
    ),
    "the worker that fails is the one reported": withDatabase(async ({ equal }, { make }) => {
      const measure = { operations_per_iteration: 2, workers: 2 };
      const broken = make({ measure }, { ...SELECT, sql: "SELECT x FROM t" });
      const failure = await performTogether(broken, name).catch((error) => error);
      equal([failure.sql, failure.message.includes("no such column")], ["SELECT x FROM t", true]);
    }),
    "exit codes: 0 with a result, 1 failed, 2 unreadable and no result": withDatabase(
      async ({ equal }, { folder, make }) => {
        const path = join(folder, "job.json");
        const output = join(folder, "out.json");
        const perform = async (value) => {
          writeFileSync(path, JSON.stringify(value));
          rmSync(output, { force: true });
          const status = await main(host, { driver: name, job: path });
          return [
            status,
            existsSync(output) ? JSON.parse(readFileSync(output, "utf8")).status : null,
          ];
        };
        equal(await perform(make({}, SELECT)), [0, "ok"]);
        equal(await perform(make({}, { ...SELECT, shape: "typed" })), [0, "unsupported"]);
        equal(await perform({ ...make({}, SELECT), steps: [], database: null }), [0, "ok"]);
        equal(await perform(make({}, { operation: "get", sql: "SELECT * FROM absent" })), [
          1,
          "failed",
        ]);
        equal(await perform({ ...make({}, SELECT), unknown: 1 }), [2, null]);
      },
    ),
  };
  return Object.entries(cases).map(([title, run]) => ({ name: `${name}: ${title}`, run }));
}

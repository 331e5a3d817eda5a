/** Cases that each driver must pass in each runtime. */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../main.js";
import { fold } from "../values.js";
import { performTogether } from "../workers.js";
import { COLUMNS, databaseCases, SELECT } from "./database.js";

/** Text that would end or alter a JavaScript template literal, with a `?` that is no placeholder. */
const AWKWARD = ["`", "$", "{?}", "\\"].join("");

/**
 * @param {string} name of the driver in `DRIVERS`
 * @param {import("../main.js").Host} host
 * @returns {import("./core.js").Case[]}
 */
export function driverCases(name, host) {
  return databaseCases(name, host, {
    "the loop's checksum is the reference's, whatever the shape": (
      { equal },
      { driver, open, make, figures },
    ) => {
      const db = open({ mode: "readonly" });
      let expected = 0;
      for (const row of driver.rows(db, SELECT.sql)) {
        for (const [index, { type }] of COLUMNS.entries())
          expected = fold(expected, type, row[index]);
      }
      db.close();
      for (const shape of ["object", "array"]) {
        for (const integers of ["number", "bigint"]) {
          for (const statement of ["prepared", "adhoc"]) {
            const result = figures(make({}, { ...SELECT, shape, integers, statement }));
            equal(
              [shape, integers, statement, result.rows, result.checksum],
              [shape, integers, statement, 3, expected >>> 0],
            );
          }
        }
      }
    },
    "iterate gives what all gives, from a held statement and from one of its own": (
      { equal },
      { make, figures },
    ) => {
      const all = figures(make({}, SELECT));
      for (const statement of ["prepared", "adhoc"]) {
        const measure = { operations_per_iteration: 1, iterations: 3 };
        const step = { ...SELECT, operation: "iterate", statement };
        const [answer] = all.answers;
        equal(figures(make({ measure }, step)).answers, [answer, answer, answer]);
      }
    },
    "integers beyond 2^53 are exact as bigint": ({ equal }, { make, figures }) => {
      const step = {
        operation: "get",
        sql: "SELECT v FROM big WHERE v = ?",
        parameters: { types: ["integer"], rows: [["9007199254740993"]] },
        columns: [{ name: "v", type: "integer" }],
        integers: "bigint",
      };
      const { rows, checksum } = figures(make({}, step));
      equal([rows, checksum], [1, 1]);
    },
    "URI parameters reach SQLite, or the driver says that they do not": (
      { equal, throws },
      { driver, open },
    ) => {
      if (!driver.uri) return equal(["better-sqlite3", "libsql", "turso"].includes(name), true);
      for (const mode of ["readwrite", "readonly"]) {
        throws(() => open({ mode, uri: { vfs: "absent" } }), "no such vfs: absent");
        const db = open({ mode, uri: { immutable: "1" } });
        equal(driver.rows(db, "SELECT count(*) FROM t"), [[3n]]);
        db.close();
      }
    },
    "verify mode rejects a column of another type and a column too few": (
      { throws },
      { make, verified },
    ) => {
      const verify = (columns) => verified(make({ mode: "verify" }, { ...SELECT, columns }));
      const wrong = COLUMNS.with(3, { name: "s", type: "integer" });
      throws(() => verify(wrong), "column s: declared integer, the driver returned string ab");
      throws(() => verify(COLUMNS.slice(1)), "the row holds 5 columns, the job declares 4");
    },
    "operations go on over the iterations, and each starts its checksum again": async (
      { equal },
      { make, figures, verified },
    ) => {
      const step = {
        operation: "get",
        sql: "SELECT ? AS n",
        parameters: { types: ["integer"], rows: [[1], [2], [4], [8]] },
        columns: [{ name: "n", type: "integer" }],
      };
      const measure = { operations_per_iteration: 3, warmup_iterations: 1, iterations: 2 };
      const answers = [
        [3, 0, 1 + 2 + 4],
        [3, 0, 8 + 1 + 2],
        [3, 0, 4 + 8 + 1],
      ];
      const told = (result) => [result.operations, result.rows, result.checksum, result.answers];
      for (const transaction of ["none", "read", "immediate"]) {
        equal(told(figures(make({ measure, transaction }, step))), [9, 9, 31, answers]);
      }
      const two = await performTogether(make({ measure: { ...measure, workers: 2 } }, step), name);
      equal(told(two), [9, 9, 31, answers]);
      // Of the worker's one operation in three: 0, 3 and 6.
      equal([two.workers[0].operations, two.workers[0].checksum], [3, 1 + 8 + 4]);
      const twice = figures(make({ measure }, { ...step, repeat: 2 }));
      equal(twice.answers[1], [6, 0, 31 * 4 + 8 + (31 * 1 + 2) + (31 * 4 + 8)]);
      const { iterations_ns, ...verify } = verified(make({ measure, mode: "verify" }, step));
      equal(told(verify), [3, 3, 7, [1, 2, 4].map((n) => [1, 0, n])]);
      equal(iterations_ns, undefined);
    },
    "transactions commit, and a statement cache binds around quotes": (
      { equal },
      { driver, make, figures },
    ) => {
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
          make(
            { transaction, readback, reset: ["DELETE FROM t WHERE id > 3"], reset_every: 1 },
            insert,
          ),
        );
        equal([result.affected, result.checksum, result.readback.rows], [2, 32, 2]);
      }
    },
    "workers share the operations and each reports its part": async ({ equal }, { make }) => {
      const measure = {
        operations_per_iteration: 7,
        iterations: 2,
        warmup_iterations: 1,
        workers: 2,
      };
      const result = await performTogether(make({ measure }, SELECT), name);
      equal([result.rows, result.iterations_ns.length], [63, 2]);
      equal(
        result.workers.map(({ operations, rows }) => [operations, rows]),
        [
          [9, 27],
          [12, 36],
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
    "the worker that fails is the one reported": async ({ equal }, { make }) => {
      const measure = { operations_per_iteration: 2, workers: 2 };
      const broken = make({ measure }, { ...SELECT, sql: "SELECT x FROM t" });
      const failure = await performTogether(broken, name).catch((error) => error);
      equal([failure.sql, failure.message.includes("no such column")], ["SELECT x FROM t", true]);
    },
    "exit codes: 0 with a result, 1 failed, 2 unreadable and no result": async (
      { equal },
      { folder, make },
    ) => {
      const path = join(folder, "job.json");
      const output = join(folder, "out.json");
      const perform = async (value) => {
        writeFileSync(path, JSON.stringify(value));
        rmSync(output, { force: true });
        const status = await main(host, { driver: name, job: path }, []);
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
    "the jobs of a folder are all performed, and the worst exit code is told": async (
      { equal },
      { folder, make },
    ) => {
      const place = (letter, kind) => join(folder, `${letter}.${kind}`);
      const write = (letter, value) =>
        writeFileSync(
          place(letter, "json"),
          JSON.stringify({ ...value, output: place(letter, "result") }),
        );
      const good = make({}, SELECT);
      const status = (letter) =>
        existsSync(place(letter, "result"))
          ? JSON.parse(readFileSync(place(letter, "result"), "utf8")).status
          : null;
      write("b", good);
      equal(await main(host, { driver: name, jobs: folder }, []), 0);
      write("a", make({}, { operation: "get", sql: "SELECT * FROM absent" }));
      write("c", good);
      equal(await main(host, { driver: name, jobs: folder }, []), 1);
      equal(["a", "b", "c"].map(status), ["failed", "ok", "ok"]);
      write("d", { ...good, measure: { ...good.measure, share: {} } });
      write("e", { ...good, connection: { engine: { memstatus: 0 } } });
      equal(await main(host, { driver: name, jobs: folder }, []), 2);
      equal(["d", "e"].map(status), [null, null]);
    },
  });
}

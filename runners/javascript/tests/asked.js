/** Cases of what a job may ask for beside statements, each with each driver. */

import { clock } from "../clock.js";
import { Digest } from "../digest.js";
import { combine, settled } from "../figures.js";
import { usageFor } from "../invocation.js";
import { compileLoop } from "../loops.js";
import { alone } from "../meeting.js";
import { partOf } from "../parts.js";
import { loopTexts } from "../print-loop.js";
import { perform } from "../session.js";
import { pool } from "../values.js";
import { performTogether } from "../workers.js";
import { databaseCases, SELECT } from "./database.js";

const COUNT = (sql) => ({
  operation: "get",
  sql,
  columns: [{ name: "n", type: "integer" }],
});
const ASK = { operation: "in-transaction", sql: "" };
const INSERT = {
  operation: "run",
  sql: "INSERT INTO big(v) VALUES (?)",
  parameters: { types: ["integer"], rows: [[1], [2]] },
};
const BIG = ["id", "v"].map((name) => ({ name, type: "integer" }));
const WRITTEN = [
  { sql: "SELECT count(*) AS n FROM big", columns: [{ name: "n", type: "integer" }] },
];

/**
 * @param {string} name of the driver in `DRIVERS`
 * @param {import("../main.js").Host} host
 * @returns {import("./core.js").Case[]}
 */
export function askedCases(name, host) {
  return databaseCases(name, host, {
    "setup fills each connection's database in memory, but not that of an open step": async (
      { equal },
      { make, figures },
    ) => {
      const parts = {
        database: { path: ":memory:" },
        connection: { setup: ["CREATE TABLE m(a)", "INSERT INTO m VALUES (3), (4)"] },
      };
      const step = COUNT("SELECT sum(a) AS n FROM m");
      equal(figures(make(parts, step)).checksum, 7);
      const measure = { operations_per_iteration: 2, workers: 2 };
      equal((await performTogether(make({ ...parts, measure }, step), name)).checksum, 14);
      const opened = COUNT("SELECT count(*) AS n FROM sqlite_schema");
      equal(figures(make(parts, opened)).checksum, 1);
      equal(figures(make(parts, { ...opened, operation: "open" })).checksum, 0);
    },
    "in-transaction tells of each kind of transaction": (
      { equal },
      { make, figures, verified },
    ) => {
      for (const [transaction, open] of [
        ["none", 0],
        ["read", 1],
        ["deferred", 1],
        ["immediate", 1],
      ]) {
        const { checksum, rows, plans } = figures(make({ transaction }, ASK));
        equal([transaction, checksum, rows, plans], [transaction, open, 0, [[]]]);
      }
      const digest = (transaction) => verified(make({ mode: "verify", transaction }, ASK)).digest;
      equal(digest("none") === digest("read"), false);
    },
    "what is executed counts and folds nothing, and its transactions are the step's own": (
      { equal, throws },
      { make, figures, verified, driver },
    ) => {
      const measure = { operations_per_iteration: 2, iterations: 2 };
      const counts = ({ rows, affected, checksum }) => [rows, affected, checksum];
      const execute = (sql) => ({ operation: "execute", sql });
      for (const shape of ["object", "array"]) {
        for (const integers of ["number", "bigint"]) {
          for (const statement of driver.features.statements) {
            const options = { shape, integers, statement };
            const steps = [
              execute("BEGIN IMMEDIATE"),
              ASK,
              INSERT,
              { ...execute("SAVEPOINT inner"), repeat: 2 },
              COUNT("SELECT count(*) AS n FROM big"),
              execute("COMMIT"),
            ].map((step) => ({ ...step, ...options }));
            const parts = { measure, steps, reset: ["DELETE FROM big"], reset_every: 2 };
            // Of each operation: in a transaction, one row affected, so many rows there.
            const [one, two] = [1, 2].map((rows) => 31 * 31 + 31 + rows);
            const measured = figures(make(parts));
            equal(counts(measured), [4, 4, 2 * (one + two)]);
            equal([measured.plans[0], measured.plans[3]], [[], []]);
            const { answers } = verified(make({ ...parts, mode: "verify" }));
            equal(answers, [
              [1, 1, one],
              [1, 1, two],
            ]);
          }
        }
      }
      throws(() => figures(make({}, execute("COMMIT"))), "transaction");
    },
    "reset comes back before each operation whose number is a multiple": (
      { equal },
      { make, figures, verified },
    ) => {
      const steps = [INSERT, COUNT("SELECT count(*) AS n FROM big")];
      const reset = ["DELETE FROM big"];
      const counts = ({ answers }) => answers.map(([, , checksum]) => checksum - 31);
      const measure = { operations_per_iteration: 1, warmup_iterations: 1, iterations: 4 };
      equal(counts(figures(make({ steps, reset, reset_every: 3, measure }))), [1, 2, 3, 1, 2]);
      const verify = { mode: "verify", measure: { operations_per_iteration: 5 } };
      equal(counts(verified(make({ steps, reset, reset_every: 2, ...verify }))), [1, 2, 1, 2, 1]);
    },
    "a digest after measuring is that of the first operations, reset before them": (
      { equal },
      { make, verified },
    ) => {
      const parts = (measure, more) =>
        make({
          steps: [INSERT, { ...SELECT, sql: "SELECT id, v FROM big", columns: BIG }],
          reset: ["DELETE FROM big"],
          reset_every: 3,
          readback: WRITTEN,
          measure,
          ...more,
        });
      const measure = { operations_per_iteration: 3, iterations: 2, digest: 4 };
      const { operations, digest } = verified(parts(measure));
      const four = verified(parts({ operations_per_iteration: 4 }, { mode: "verify" }));
      equal([operations, digest], [6, four.digest]);
      const share = { first: 1, of: 3 };
      equal(verified(parts({ ...measure, share })).digest, four.digest);
    },
    "an execution that must fail folds its code; one that does not, or otherwise, is an error": (
      { equal, throws },
      { make, figures, verified },
    ) => {
      const step = (sql, more) => ({ operation: "run", sql, fails: 19, ...more });
      const again = "INSERT INTO t(id) VALUES (1)";
      const measure = { operations_per_iteration: 2 };
      for (const statement of ["prepared", "adhoc"]) {
        for (const transaction of ["none", "immediate"]) {
          const { checksum, affected } = figures(
            make({ measure, transaction }, step(again, { statement })),
          );
          equal([checksum, affected], [19 + 19, 0]);
        }
      }
      const readonly = { database: { ...make({}).database, mode: "readonly" } };
      throws(() => figures(make(readonly, step(again))), "readonly");
      throws(
        () => figures(make({}, step("UPDATE t SET id = id"))),
        "the statement succeeded, but must fail with result code 19",
      );
      equal(figures(make(readonly, step(again, { fails: 8 }))).checksum, 8);
      const digests = [readonly, {}].map(
        (parts, index) =>
          verified(make({ mode: "verify", ...parts }, step(again, { fails: [8, 19][index] })))
            .digest,
      );
      equal(digests[0] === digests[1], false);
    },
    "open flags reach SQLite where the driver passes them on": ({ equal, throws }, given) => {
      const { driver, open } = given;
      const { flags } = driver.features;
      if (name !== "bun-sqlite") return equal(flags, []);
      equal(flags, ["no-mutex", "full-mutex", "private-cache", "shared-cache"]);
      const read = (flag) => {
        const [writer, reader] = [open({ flags: [flag] }), open({ flags: [flag] })];
        writer.exec("BEGIN; DELETE FROM t");
        try {
          return driver.rows(reader, "SELECT count(*) FROM t");
        } finally {
          writer.exec("ROLLBACK");
          writer.close();
          reader.close();
        }
      };
      for (const flag of flags.slice(0, 3)) equal(read(flag), [[3n]]);
      throws(() => read("shared-cache"), "database table is locked");
    },
    "two processes' shares add up to the whole": async ({ equal }, { make, figures }) => {
      const step = {
        ...COUNT("SELECT ? AS n"),
        parameters: { types: ["integer"], rows: [[1], [5]] },
      };
      const part = (measure) =>
        make({ measure: { operations_per_iteration: 7, ...measure } }, step);
      const verify = (measure) => figures({ ...part(measure), mode: "verify" });
      const one = verify({ share: { of: 3 } });
      const two = verify({ workers: 2, share: { first: 1, of: 3 } });
      const whole = await performTogether(part({ workers: 3 }), name);
      equal([one.operations, two.operations, whole.operations], [2, 5, 7]);
      equal((one.checksum + two.checksum) >>> 0, whole.checksum);
    },
    "latencies are those of the measured iterations, by worker": async (
      { equal },
      { make, figures },
    ) => {
      const measure = {
        operations_per_iteration: 7,
        iterations: 2,
        warmup_iterations: 3,
        latencies: true,
      };
      const counts = ({ workers }) =>
        workers.map(({ latencies, pacing }) => [
          latencies.buckets.reduce((sum, [, count]) => sum + count, 0),
          pacing,
        ]);
      for (const transaction of ["none", "immediate"]) {
        const alone = figures(make({ measure, transaction }, SELECT));
        equal(counts(alone), [[14, null]]);
      }
      const both = await performTogether(
        make({ measure: { ...measure, workers: 2 } }, SELECT),
        name,
      );
      equal(counts(both), [
        [6, null],
        [8, null],
      ]);
    },
    "CPU time is told up to the moment of the look": ({ equal }) => {
      const { cpu } = host.system.usage;
      const steps = [];
      for (let seen = cpu(); steps.length < 99; ) {
        const now = cpu();
        if (now > seen) steps.push(now - seen);
        seen = now;
      }
      // A clock that goes with the system's ticks makes steps of at least 1 ms, as Windows' does.
      const middle = steps.toSorted((a, b) => a - b)[49];
      equal(middle < 1e6 || process.platform === "win32", true);
    },
    "where a digest is asked for, the heap is told as well": async (
      { equal },
      { make, driver, figures },
    ) => {
      const measure = { operations_per_iteration: 1, iterations: 2, digest: 1 };
      const asked = make({ measure }, SELECT);
      const usage = await usageFor(asked, host.system);
      const told = await settled(perform(asked, driver, alone(), usage, new Digest()));
      const { allocated_bytes, collections, cpu_ns } = combine(asked, [told]);
      equal(
        [allocated_bytes === null, collections === null],
        [host.runtime.name === "Bun", host.runtime.name !== "Node"],
      );
      equal(cpu_ns > 0, true);
      const plain = figures(make({}, SELECT));
      equal([plain.allocated_bytes, plain.collections], [null, null]);
      const both = { ...measure, workers: 2, operations_per_iteration: 2 };
      const together = await performTogether(make({ measure: both }, SELECT), name);
      equal(
        [together.allocated_bytes === null, together.collections === null],
        [host.runtime.name === "Bun", host.runtime.name !== "Node"],
      );
    },
    "the barrier is met before each iteration, and spans are told": (
      { equal },
      { driver, make },
    ) => {
      let met = 0;
      const meeting = alone(() => {
        met++;
      });
      const measure = {
        operations_per_iteration: 1,
        iterations: 2,
        warmup_iterations: 1,
        share: {},
      };
      const began = meeting.unix(meeting.now());
      const { entry } = perform(
        make({ measure }, SELECT),
        driver,
        meeting,
        host.system.usage,
        null,
      );
      equal([met, entry.spans_us.length], [3, 2]);
      const times = [began, ...entry.spans_us.flat(), meeting.unix(meeting.now())];
      equal(
        times.toSorted((a, b) => a - b),
        times,
      );
      // The time of day may have been corrected since the process began.
      const HOUR_US = 3.6e9;
      equal(Math.abs(began - Date.now() * 1e3) < HOUR_US, true);
    },
    "a writer writes beside the workers and is told last": async (
      { equal },
      { make, verified },
    ) => {
      const writer = { steps: [INSERT], transaction: "immediate", operations: 3, rate: 2000 };
      const parts = {
        connection: { pragmas: [["journal_mode", "wal"]] },
        readback: WRITTEN,
        writer,
        measure: { operations_per_iteration: 4, iterations: 2, latencies: true },
      };
      const plain = verified(make({ mode: "verify" }, SELECT));
      const beside = verified(make({ mode: "verify", writer }, SELECT));
      equal([beside.digest, beside.rows], [plain.digest, 3]);
      // The three of the verification are there already, and one that always was.
      const result = await performTogether(make(parts, SELECT), name);
      equal([result.rows, result.affected, result.readback.checksum], [24, 0, 1 + 3 + 6]);
      equal(
        result.workers.map(({ role, operations, rows, checksum }) => [
          role,
          operations,
          rows,
          checksum,
        ]),
        [
          ["worker", 8, 24, result.checksum],
          ["writer", 6, 0, 6],
        ],
      );
      const [reading, writing] = result.workers;
      equal([reading.pacing, writing.pacing !== null], [null, true]);
      equal(
        writing.latencies.buckets.reduce((sum, [, count]) => sum + count, 0),
        6,
      );
    },
    "an operation that finds the database busy at its end is rolled back and counted": (
      { equal, throws },
      { make, open, figures },
    ) => {
      const reader = open();
      // A reader in a rollback journal's file: others may write, but not commit.
      reader.exec("BEGIN; SELECT count(*) FROM big");
      try {
        const measure = { operations_per_iteration: 3, latencies: true, tolerate_busy: true };
        const parts = {
          connection: { pragmas: [["busy_timeout", 0]] },
          readback: WRITTEN,
        };
        const around = ["BEGIN", "COMMIT"].map((sql) => ({ operation: "execute", sql }));
        for (const [transaction, steps] of [
          ["none", [INSERT]],
          ["deferred", [INSERT]],
          ["immediate", [INSERT]],
          ["none", [around[0], INSERT, around[1]]],
        ]) {
          const result = figures(make({ ...parts, measure, transaction, steps }));
          const [{ busy, latencies }] = result.workers;
          equal([result.affected, result.checksum, result.readback.checksum, busy], [0, 0, 1, 3]);
          equal(
            latencies.buckets.reduce((sum, [, count]) => sum + count, 0),
            3,
          );
        }
        const strict = { ...measure, tolerate_busy: false };
        throws(() => figures(make({ ...parts, measure: strict }, INSERT)), "locked");
      } finally {
        reader.exec("ROLLBACK");
        reader.close();
      }
    },
    "context switches and page faults are counted where the system tells": (
      { equal },
      { make, figures },
    ) => {
      const { switches, page_faults } = figures(make({}, SELECT));
      const told = process.platform !== "win32";
      equal(
        [Number.isInteger(switches?.voluntary), Number.isInteger(switches?.involuntary)],
        [told, told],
      );
      equal(
        [Number.isInteger(page_faults?.minor), Number.isInteger(page_faults?.major)],
        [told, told],
      );
    },
    "the loop that is printed is the text that is compiled": (
      { equal },
      { driver, open, make },
    ) => {
      const db = open();
      const measure = { operations_per_iteration: 4, workers: 2 };
      const writer = { steps: [INSERT], operations: 1 };
      for (const [parts, asked, threads] of [
        [{}, SELECT, [0]],
        [{ transaction: "immediate" }, INSERT, [0]],
        [{ transaction: "deferred", writer }, SELECT, [0, 1]],
        [{ measure: { ...measure, latencies: true, rate: 1e6 } }, SELECT, [0, 1]],
        [{ mode: "verify", measure, writer }, SELECT, [0, 2]],
      ]) {
        const job = make(parts, asked);
        const texts = [...loopTexts(job, driver).keys()];
        for (const number of threads) {
          const part = partOf(job, number);
          const digest = job.mode === "verify" && part.role === "worker" ? new Digest() : null;
          const pools = part.steps.map((step) => pool(step, driver.blob));
          const bound = { db, statements: [null], pools, open: null, digest, clock };
          const loop = compileLoop(part, driver, bound).toString();
          equal([number, texts.filter((text) => text.includes(loop)).length], [number, 1]);
        }
        equal(texts.length, threads.length);
      }
      db.close();
    },
  });
}

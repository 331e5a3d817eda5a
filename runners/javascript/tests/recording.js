/** Cases of what a loop records: latencies, pacing, SQLITE_BUSY; and of the barrier across processes. */

import { barrier } from "../barrier.js";
import { clock } from "../clock.js";
import { tasksBeside, timerHere } from "../eventloop.js";
import { UNKNOWN } from "../events.js";
import { combine } from "../figures.js";
import { bucket, histogram, record, told } from "../histogram.js";
import { iterations } from "../iterations.js";
import { checkJob } from "../job.js";
import { compileLoop } from "../loops.js";
import { alone } from "../meeting.js";
import { partOf } from "../parts.js";
import { pool } from "../values.js";
import { job } from "./core.js";

/** Nanoseconds and their bucket: single ones below 256, then 128 for each power of two. */
const BUCKETS = [
  [0, 0],
  [1, 1],
  [255, 255],
  [256, 1 * 128 + 128],
  [257, 1 * 128 + 128],
  [258, 1 * 128 + 129],
  [511, 1 * 128 + 255],
  [512, 2 * 128 + 128],
  [1_000_000, 12 * 128 + 244],
  [2 ** 31 - 1, 23 * 128 + 255],
  [2 ** 31, 24 * 128 + 128],
  [3_000_000_000, 24 * 128 + 178],
  [2 ** 53 - 1, 45 * 128 + 255],
];

const MS = 1e6;

/** A driver whose statement is `db.work()` and whose transaction is `db.begin()` and `db.commit()`. */
const SCRIPTED = {
  source: {
    setup: () => "",
    call: (_step, _s, args) => `db.work(${args.join(", ")})`,
    inTransaction: "db.open",
    failedWith: (error, code) => `${error}.code === ${code}`,
    transaction: () => ({ setup: "", before: "db.begin();", after: "db.commit();" }),
  },
};

/** Perform a job's operations of one iteration with that driver. @returns counts and what was recorded */
function scripted(parts, db, { time = clock, thread = 0, iteration = 0, step = {} } = {}) {
  const asked = checkJob(job(parts, { operation: "run", sql: "x", ...step }));
  const part = partOf(asked, thread);
  const loop = compileLoop(part, SCRIPTED, {
    db,
    statements: [null],
    pools: part.steps.map((each) => pool(each, (blob) => blob)),
    open: null,
    digest: null,
    clock: time,
  });
  const total = { checksum: 0, rows: 0, affected: 0 };
  const recording = { latencies: histogram(), pacing: histogram(), busy: 0 };
  const { from, to } = part.range(iteration);
  loop(from, to, total, recording);
  return { total, recording };
}

/** A clock that stands still while nobody works or waits, and wakes 10 µs late. */
function standing() {
  const time = {
    ms: 0,
    now: () => time.ms,
    waitUntil(planned) {
      time.ms = planned + 0.01;
      return time.ms;
    },
  };
  return time;
}

const counted = (...ns) => {
  const counts = histogram();
  for (const value of ns) record(counts, value / MS);
  return told(counts);
};

/** An event loop whose time only work and waiting move; a turn takes half a millisecond. */
function virtual() {
  let waiting = [];
  const time = {
    ms: 0,
    now: () => time.ms,
    set(action, ms) {
      const handle = { action, at: time.ms + Math.max(1, Math.trunc(ms)) };
      waiting.push(handle);
      return handle;
    },
    clear(handle) {
      waiting = waiting.filter((other) => other !== handle);
    },
    async turn() {
      time.ms += 0.5;
      come();
    },
    /** Sleep until what comes next, as a loop does that has nothing else to do. */
    async idle() {
      if (waiting.length > 0) time.ms = Math.max(time.ms, Math.min(...waiting.map(({ at }) => at)));
      come();
    },
  };
  const come = () => {
    const due = waiting.filter(({ at }) => at <= time.ms);
    waiting = waiting.filter(({ at }) => at > time.ms);
    for (const { action } of due) action();
  };
  return time;
}

/** @type {import("./core.js").Case[]} */
export const recordingCases = [
  {
    name: "a duration is counted in the contract's bucket",
    run({ equal }) {
      for (const [ns, expected] of BUCKETS) equal([ns, bucket(ns)], [ns, expected]);
      equal(counted(256, 3, 257.4, 2.6, 1e6), {
        buckets: [
          [3, 2],
          [256, 2],
          [1780, 1],
        ],
      });
    },
  },
  {
    name: "operations at recorded times wait for these, and for nobody else's",
    run({ equal }) {
      const time = standing();
      const said = [];
      const db = {
        work(row) {
          said.push([row, time.ms]);
          time.ms += 0.5;
          return 1;
        },
      };
      const sequence = {
        groups: [1],
        order: [0, 0, 0, 0],
        workers: [0, 0, 1, 0],
        planned_us: [10, 310, 1010, 2010],
      };
      const plan = { operations_per_iteration: 4, workers: 2, latencies: true, sequence };
      const step = { parameters: { types: ["integer"], rows: [[5], [6], [7], [8]] } };
      const { total, recording } = scripted({ measure: plan }, db, { time, step });
      equal(said, [
        [5, 0],
        [6, 0.5],
        [8, 2.01],
      ]);
      equal(total.affected, 3);
      equal(told(recording.latencies), counted(0.5 * MS, 0.7 * MS, 0.51 * MS));
      equal(told(recording.pacing), counted(0.01 * MS));
    },
  },
  {
    name: "each iteration is told, but only what the measured ones found busy",
    run({ equal }) {
      const measure = { operations_per_iteration: 2, warmup_iterations: 1, tolerate_busy: true };
      const asked = checkJob(job({ measure }, { operation: "run", sql: "x" }));
      const loop = (from, to, counts, recording) => {
        if (from === 0) recording.busy++;
        counts.affected = from === 0 ? 1 : 2;
        counts.checksum = -to;
      };
      let cpu = 0;
      const usage = { events: () => UNKNOWN, cpu: () => ++cpu };
      const all = iterations(asked, partOf(asked, 0), {}, loop, alone(), usage, null);
      const { answers, busy, cpu_ns, switches, heap } = all.next().value;
      equal(busy, 0);
      equal([cpu_ns, switches, heap], [1, null, null]);
      equal(answers, [
        [0, 1, 2 ** 32 - 2],
        [0, 2, 2 ** 32 - 4],
      ]);
    },
  },
  {
    name: "a verification, which may have thousands of iterations, asks nobody for its usage",
    run({ equal }) {
      const asked = checkJob(job({ mode: "verify" }, { operation: "run", sql: "x" }));
      const asks = () => {
        throw new Error("asked");
      };
      const usage = { events: asks, cpu: asks };
      const all = iterations(asked, partOf(asked, 0), {}, () => {}, alone(), usage, null);
      const { answers, cpu_ns } = all.next().value;
      equal([answers, cpu_ns], [[[0, 0, 0]], 0]);
    },
  },
  {
    name: "the row of an execution is right beyond 32 bits, too",
    run({ equal }) {
      const step = { parameters: { types: ["integer"], rows: [[0], [1], [2], [3]] }, repeat: 3 };
      for (const iteration of [2 ** 29, 2 ** 31 - 1, 2 ** 32 - 1, 2 ** 40]) {
        const bound = [];
        const db = { work: (value) => bound.push(value) && 1 };
        const measure = { operations_per_iteration: 2 };
        const { total } = scripted({ measure }, db, { iteration, step });
        const first = BigInt(iteration) * 6n;
        equal(
          [iteration, ...bound],
          [iteration, ...[0n, 1n, 2n, 3n, 4n, 5n].map((n) => Number((first + n) & 3n))],
        );
        equal(total, { checksum: 2 * (31 * 31 + 31 + 1), rows: 0, affected: 6 });
      }
    },
  },
  {
    name: "a timer that a task delays counts from each time at which it was due",
    async run({ equal }) {
      const time = virtual();
      const delays = histogram();
      const timer = timerHere(10, time);
      const records = { timer: delays, pacing: histogram(), planned: 0 };
      const starts = [];
      const loop = (from) => {
        starts.push([records.planned, time.ms]);
        time.ms += from === 0 ? 35 : 1;
      };
      let over = false;
      const tasks = tasksBeside(timer, time);
      const performed = tasks(loop, { from: 0, to: 2 }, {}, records, 20).then(() => {
        over = true;
      });
      // Lets promises come that are resolved, and then what time brings.
      while (!over) {
        for (let n = 0; n < 20; n++) await null;
        if (!over) await time.idle();
      }
      await performed;
      // The first task works from 0.5 to 35.5 ms, and the timer was due at 10, 20 and 30; it comes with the next turn.
      equal(starts[0], [0, 0.5]);
      equal(starts[1][0], 50);
      equal(told(delays), counted(26 * MS, 16 * MS, 6 * MS, 0, 0));
    },
  },
  {
    name: "a timer that hears late of an iteration is due from its begin, and until its end",
    async run({ equal }) {
      const time = virtual();
      const delays = histogram();
      const timer = timerHere(10, time);
      time.ms = 25;
      timer.start({ timer: delays }, 0);
      await time.idle();
      time.ms = 55;
      timer.stop(32);
      equal(told(delays), counted(16 * MS, 6 * MS, 2 * MS));
    },
  },
  {
    name: "after a stall, latencies of an open loop count from the planned times",
    run({ equal }) {
      const time = standing();
      const work = [2.5, 0.25, 0.25, 0.25, 0.25];
      const db = {
        work() {
          time.ms += work.shift();
          return 0;
        },
      };
      const measure = { operations_per_iteration: 5, rate: 1000, latencies: true };
      const { recording } = scripted({ measure }, db, { time, iteration: 3 });
      // Planned at 0, 1, 2, 3 and 4 ms; only the last was waited for, and started 0.01 ms late.
      equal(told(recording.latencies), counted(2.5 * MS, 1.75 * MS, 1 * MS, 0.25 * MS, 0.26 * MS));
      equal(told(recording.pacing), counted(0.01 * MS));
    },
  },
  {
    name: "workers of an open loop take turns within the time between two operations of one",
    run({ equal }) {
      const starts = [0, 1].map((thread) => {
        const time = standing();
        const seen = [];
        const db = {
          work() {
            seen.push(Math.round(time.ms * 100) / 100);
            return 0;
          },
        };
        const measure = {
          operations_per_iteration: 8,
          rate: 500,
          workers: 2,
          share: { first: 2, of: 4 },
        };
        scripted({ measure }, db, { time, thread, iteration: thread });
        return seen;
      });
      equal(starts, [
        [1.01, 3.01],
        [1.51, 3.51],
      ]);
    },
  },
  {
    name: "a closed loop records each operation from its own start, and a plain loop nothing",
    run({ equal }) {
      const time = standing();
      const db = {
        work() {
          time.ms += 0.5;
          return 1;
        },
      };
      const measured = (measure) =>
        scripted({ measure: { operations_per_iteration: 3, ...measure } }, db, { time });
      const { total, recording } = measured({ latencies: true });
      equal(told(recording.latencies), counted(0.5 * MS, 0.5 * MS, 0.5 * MS));
      equal([total.affected, told(recording.pacing)], [3, { buckets: [] }]);
      equal(told(measured({}).recording.latencies), { buckets: [] });
    },
  },
  {
    name: "an operation that found the database busy is undone and counted, and has a latency",
    run({ equal, throws }) {
      const failing = (code) => {
        const log = [];
        const db = {
          open: false,
          begin() {
            db.open = true;
          },
          commit() {
            db.open = false;
            log.push("commit");
          },
          exec(sql) {
            db.open = false;
            log.push(sql);
          },
          work() {
            if (log.length === 1) throw Object.assign(new Error("no"), { code });
            return 1;
          },
        };
        return { log, db };
      };
      const measure = { operations_per_iteration: 3, latencies: true, tolerate_busy: true };
      const busy = failing(5);
      const { total, recording } = scripted({ measure, transaction: "immediate" }, busy.db);
      equal(busy.log, ["commit", "ROLLBACK", "commit"]);
      equal([total, recording.busy], [{ checksum: 2, rows: 0, affected: 2 }, 1]);
      equal(
        told(recording.latencies).buckets.reduce((sum, [, count]) => sum + count, 0),
        3,
      );
      throws(() => scripted({ measure, transaction: "immediate" }, failing(6).db), "no");
      const strict = { ...measure, tolerate_busy: false };
      throws(() => scripted({ measure: strict, transaction: "immediate" }, failing(5).db), "no");
    },
  },
  {
    name: "waiting ends at the time or after it",
    run({ equal }) {
      const planned = performance.now() + 0.5;
      const now = clock.waitUntil(planned);
      equal([now >= planned, performance.now() >= now], [true, true]);
      equal(clock.waitUntil(planned) >= now, true);
    },
  },
  {
    name: "what workers returned is added for each iteration, and a writer's is not",
    run({ equal }) {
      const asked = checkJob(job({ measure: { operations_per_iteration: 2, workers: 2 } }));
      const figures = { allocated_bytes: null, collections: null };
      const thread = (role, ...answers) => ({ entry: { role, operations: 2 }, answers, figures });
      const { operations, rows, affected, checksum, answers } = combine(asked, [
        thread("worker", [1, 2, 0xffffffff], [3, 0, 5]),
        thread("worker", [1, 0, 0xffffffff], [0, 1, 6]),
        thread("writer", [9, 9, 9], [9, 9, 9]),
      ]);
      equal(answers, [
        [2, 2, 0xfffffffe],
        [3, 1, 11],
      ]);
      equal([operations, rows, affected, checksum], [4, 5, 3, 9]);
    },
  },
  {
    name: "the barrier says ready, takes one line, and fails at the end of stdin",
    run({ equal, throws }) {
      const printed = [];
      const coming = [..."go\n", "again", ..."on\nx"];
      const system = {
        print: (text) => printed.push(text),
        read(bytes) {
          const next = coming.shift();
          if (next === undefined) return 0;
          if (next === "again") throw Object.assign(new Error("not yet"), { code: "EAGAIN" });
          bytes[0] = next.charCodeAt(0);
          return 1;
        },
      };
      const meeting = alone(barrier(system));
      const shown = meeting.start(() => [...printed]);
      equal([shown, coming.length], [["ready\n"], 5]);
      meeting.start(() => null);
      equal([printed, coming.length], [["ready\n", "ready\n"], 1]);
      throws(() => meeting.start(() => null), "stdin ended");
    },
  },
];

/** The iterations of an invocation: warm-up, then the measured ones, all with the same outcome. */

import { during } from "./connection.js";

/**
 * Perform the iterations of one worker's share.
 *
 * @param {import("./job.js").Job} job
 * @param {any} db
 * @param {(from: number, to: number, total: import("./loops.js").Total) => void} loop
 * @param {{from: number, to: number}[]} shares performed one after the other; more than one in verify mode
 * @param {import("./line.js").Line} line
 * @param {() => {user: number, system: number}} cpu nanoseconds so far, over all threads
 */
export function iterate(job, db, loop, shares, line, cpu) {
  const { warmup_iterations, warmup_ns, iterations } = job.mode === "verify" ? ONCE : job.measure;
  const begin = transaction(job, db);
  const only = job.steps.length === 1 ? job.steps[0].sql : null;
  const cpu_ns = { user: 0, system: 0 };
  const outcome = { warmup_ns: [], iterations_ns: [], own_ns: [], cpu_ns };
  let total = null;
  let warm = 0;
  while (outcome.iterations_ns.length < iterations) {
    const warming = outcome.warmup_ns.length < warmup_iterations || warm < warmup_ns;
    if (job.reset.length > 0) {
      if (line.worker === 0) for (const sql of job.reset) during(sql, () => db.exec(sql));
      line.meet();
    }
    const commit = begin();
    const before = line.worker === 0 ? cpu() : null;
    const counts = { checksum: 0, rows: 0, affected: 0 };
    line.meet();
    const start = line.now();
    during(only, () => loop(shares[0].from, shares[0].to, counts));
    const end = line.now();
    const elapsed = line.finish(start, end);
    const sum = { ...counts };
    for (const { from, to } of shares.slice(1)) {
      during(only, () => loop(from, to, counts));
      for (const key of Object.keys(sum)) sum[key] += counts[key];
    }
    sum.checksum >>>= 0;
    if (warming) {
      warm += elapsed;
      outcome.warmup_ns.push(elapsed);
    } else {
      const after = before && cpu();
      for (const mode in after) cpu_ns[mode] += after[mode] - before[mode];
      outcome.iterations_ns.push(elapsed);
      outcome.own_ns.push(Math.round(end - start));
    }
    commit();
    total ??= sum;
    checkSame(total, sum, outcome.warmup_ns.length + outcome.iterations_ns.length);
  }
  return { ...outcome, ...total };
}

const ONCE = { warmup_iterations: 0, warmup_ns: 0, iterations: 1 };

/** A function that begins the read transaction of an iteration and returns the one that ends it. */
function transaction(job, db) {
  if (job.transaction !== "read") return () => () => {};
  const begin = db.prepare("BEGIN");
  const read = db.prepare("SELECT count(*) FROM sqlite_schema");
  const commit = db.prepare("COMMIT");
  return () => {
    begin.run();
    read.get();
    return () => commit.run();
  };
}

function checkSame(first, now, number) {
  const changed = Object.keys(first).filter((key) => first[key] !== now[key]);
  if (changed.length === 0) return;
  const list = (counts) => changed.map((key) => `${key} ${counts[key]}`).join(", ");
  throw new Error(`iteration ${number} returned ${list(now)}; the first returned ${list(first)}`);
}

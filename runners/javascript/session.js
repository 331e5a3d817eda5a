/** One connection's part in a job: open, prepare, iterate, prove, close. */

import { during, opener, readPlans, readPragmas } from "./connection.js";
import { iterate } from "./iterations.js";
import { compileLoop } from "./loops.js";
import { fold, pool, share } from "./values.js";

/**
 * @param {import("./job.js").Job} job
 * @param {import("./drivers/driver.js").Driver} driver
 * @param {import("./line.js").Line} line
 * @param {() => {user: number, system: number}} cpu
 * @param {import("./digest.js").Digest | null} digest in verify mode
 * @returns the figures of this worker; those of the connection only from worker 0
 * @throws whatever the driver throws, with `sql` where it is known
 */
export function perform(job, driver, line, cpu, digest) {
  const phases_ns = {};
  const timed = (phase, action) => {
    const start = line.now();
    const value = action();
    phases_ns[phase] = Math.round(line.now() - start);
    return value;
  };
  const open = opener(job, driver);
  const pools = job.steps.map((step) => pool(step, driver.blob));
  let db;
  // In turn: two connections that change the journal mode at once would find the file locked.
  for (let turn = 0; turn < line.workers; turn++) {
    if (turn === line.worker) db = timed("open", open);
    line.meet();
  }
  const statements = timed("prepare", () =>
    job.steps.map((step) => (held(step) ? during(step.sql, () => driver.prepare(db, step)) : null)),
  );
  const loop = compileLoop(job, driver, { db, statements, pools, open, digest });
  const figures = iterate(job, db, loop, shares(job, line), line, cpu);
  const proof = line.worker === 0 ? prove(job, driver, db, pools, digest) : null;
  timed("close", () => {
    for (const statement of statements) if (statement !== null) driver.finalize(statement);
    db.close();
  });
  return { ...figures, ...proof, phases_ns };
}

const held = (step) =>
  step.statement === "prepared" && step.operation !== "prepare" && step.operation !== "open";

/** In verify mode one connection performs all shares in turn. */
function shares(job, line) {
  const { operations_per_iteration: operations, workers } = job.measure;
  const numbers = job.mode === "verify" ? [...Array(workers).keys()] : [line.worker];
  return numbers.map((number) => share(operations, number, workers));
}

/** Read-back queries, SQLite's version, effective pragmas and query plans. */
function prove(job, driver, db, pools, digest) {
  let rows = 0;
  let checksum = 0;
  for (const { sql, columns } of job.readback) {
    const found = during(sql, () => driver.rows(db, sql));
    for (const row of found) {
      digest?.row(row, columns.length);
      columns.forEach(({ type, name }, index) => {
        digest?.value(type, row[index], name);
        checksum = fold(checksum, type, row[index]);
      });
    }
    digest?.execution(found.length);
    rows += found.length;
  }
  return {
    readback: job.readback.length > 0 ? { rows, checksum: checksum >>> 0 } : null,
    sqlite_version: driver.rows(db, "SELECT sqlite_version()")[0][0],
    effective: job.inspect ? { pragmas: readPragmas(db, driver), engine: {} } : undefined,
    plans: job.inspect ? readPlans(db, driver, job.steps, pools) : [],
  };
}

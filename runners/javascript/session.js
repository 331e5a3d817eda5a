/** One thread's part in a job: open a connection, prepare, iterate, prove, close. */

import { clock } from "./clock.js";
import { during, opener, readPlans, readPragmas } from "./connection.js";
import { entry } from "./figures.js";
import { told } from "./histogram.js";
import { iterations } from "./iterations.js";
import { compileLoop } from "./loops.js";
import { alone } from "./meeting.js";
import { partOf } from "./parts.js";
import { readFile } from "./read-file.js";
import { fold, pool } from "./values.js";

/**
 * @param {import("./job.js").Job} job
 * @param {import("./drivers/driver.js").Driver} driver
 * @param {import("./meeting.js").Meeting} meeting
 * @param {import("./system.js").System["usage"]} usage
 * @param {import("./digest.js").Digest | null} digest where the job asks for one and this thread gives it
 * @returns this thread's entry in `workers`, its answers, and the result's figures, of which `combine` takes thread 0's
 * @throws whatever the driver throws, with `sql` where it is known
 */
export function perform(job, driver, meeting, usage, digest) {
  return performing(job, driver, meeting, usage, digest, null).next().value;
}

/** The same where operations are tasks. @param {import("./eventloop.js").Tasks} tasks @see perform */
export async function performTasks(job, driver, meeting, usage, digest, tasks) {
  const steps = performing(job, driver, meeting, usage, digest, tasks);
  let step = steps.next();
  for (; !step.done; step = steps.next()) await step.value;
  return step.value;
}

function* performing(job, driver, meeting, usage, digest, tasks) {
  const phases_ns = {};
  const timed = (phase, action) => {
    const start = meeting.now();
    const value = action();
    phases_ns[phase] = Math.round(meeting.now() - start);
    return value;
  };
  const part = partOf(job, meeting.thread);
  const { open, openBare, openFile } = opener(job, part, driver);
  const pools = part.steps.map((step) => pool(step, driver.blob));
  // In turn: two connections that change the journal mode at once would find the file locked.
  const db = meeting.inTurn(() => timed("open", open));
  // And the first look at a file in WAL mode may have to recover it.
  const statements = meeting.inTurn(() =>
    timed("prepare", () =>
      part.steps.map((step) =>
        held(step) ? during(step.sql, () => driver.prepare(db, step)) : null,
      ),
    ),
  );
  const bound = { db, statements, pools, open: openBare, openFile, readFile, clock };
  const performed = (job, part, meeting, tasks = null) => {
    const given = { ...bound, digest: job.mode === "verify" ? digest : null };
    return iterations(job, part, db, compileLoop(part, driver, given), meeting, usage, tasks);
  };
  const outcome = yield* performed(job, part, meeting, tasks);
  const verifying = { ...job, mode: "verify" };
  // Once more, with the connection and the statements that were measured.
  if (digest !== null && job.mode === "measure") {
    const measure = { ...job.measure, operations_per_iteration: job.measure.digest, share: null };
    const again = { ...verifying, measure };
    yield* performed(again, partOf(again, 0), alone());
  }
  if (digest !== null && job.writer !== null) {
    perform(verifying, driver, alone(null, job.measure.workers), usage, null);
  }
  const proof = meeting.thread === 0 ? prove(job, driver, db, pools, digest) : null;
  timed("close", () => {
    for (const statement of statements) if (statement !== null) driver.finalize(statement);
    db.close();
  });
  const { answers, warmup_ns, iterations_ns, cpu_ns, switches, page_faults, heap } = outcome;
  return {
    entry: entry(part, outcome),
    answers,
    collections: heap?.collections ?? null,
    figures: {
      ...(job.mode === "measure" && { warmup_ns, iterations_ns, cpu_ns, switches, page_faults }),
      ...{ ...proof, digest: digest?.hex() ?? null, phases_ns },
      timer: tasks && told(outcome.timer),
      allocated_bytes: heap?.allocated_bytes ?? null,
      collections: null,
    },
  };
}

const NOT_HELD = ["prepare", "open", "open-file", "in-transaction", "read-file"];
const held = ({ statement, operation }) =>
  statement === "prepared" && !NOT_HELD.includes(operation);

/** Read-back queries, SQLite's version, effective pragmas and query plans. */
function prove(job, driver, db, pools, digest) {
  let rows = 0;
  let checksum = 0;
  for (const { sql, columns } of job.readback) {
    const found = during(sql, () => driver.rows(db, sql));
    const names = columns.map(({ name }) => name);
    for (const row of found) {
      digest?.row(row, names, "array");
      columns.forEach(({ type, name, nullable }, index) => {
        digest?.value(type, row[index], name, nullable);
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

/** The iterations of an invocation: warm-up, then the measured ones. */

import { during } from "./connection.js";
import { histogram } from "./histogram.js";
import { performed } from "./parts.js";

/**
 * Perform the iterations of one thread's part.
 *
 * @param {import("./job.js").Job} job
 * @param {import("./parts.js").Part} part
 * @param {any} db
 * @param {ReturnType<typeof import("./loops.js").compileLoop>} loop
 * @param {import("./meeting.js").Meeting} meeting
 * @param {import("./system.js").System["usage"]} usage
 * @param {import("./eventloop.js").Tasks | null} tasks where each operation is a task of its own
 * @yields {Promise<void>} what has to be awaited: an iteration of tasks
 * @returns what each iteration returned, its times, and what was recorded of the measured ones
 */
export function* iterations(job, part, db, loop, meeting, usage, tasks) {
  const { warmup_iterations, warmup_ns, iterations } = part.extent;
  const measuring = job.mode === "measure";
  const begin = transaction(part, db);
  const only = part.steps.length === 1 ? part.steps[0].sql : null;
  const warmup = recording(false);
  const measured = recording(true);
  const outcome = {
    operations: 0,
    answers: [],
    warmup_ns: [],
    iterations_ns: [],
    own_ns: [],
    spans_us: [],
    cpu_ns: 0,
    switches: null,
    page_faults: null,
    heap: null,
  };
  let warm = 0;
  let endOfHeap = null;
  const look = () => ({ ...usage.events(), cpu_ns: usage.cpu() });
  while (outcome.iterations_ns.length < iterations) {
    const warming = outcome.warmup_ns.length < warmup_iterations || warm < warmup_ns;
    const iteration = outcome.answers.length;
    const { from, to } = part.range(iteration);
    // The first one that any worker performs; in verify mode there is no other.
    const first = measuring ? iteration * job.measure.operations_per_iteration : from;
    if (job.reset.length > 0 && first % job.reset_every === 0) {
      if (meeting.thread === 0) for (const sql of job.reset) during(sql, () => db.exec(sql));
      meeting.meet();
    }
    const commit = begin();
    if (!warming && measuring) endOfHeap ??= usage.heap?.();
    const counts = { checksum: 0, rows: 0, affected: 0 };
    const records = warming ? warmup : measured;
    const timed = measuring && !warming;
    const before = meeting.start(timed && meeting.thread === 0 ? look : () => null);
    const start = meeting.now();
    if (tasks) yield tasks(loop, { from, to }, counts, records, part.manner.rate);
    else during(only, () => loop(from, to, counts, records));
    const end = meeting.now();
    // Systems bring the thread up to date that asks, so each asks at its end.
    const cpu = timed ? usage.cpu() : 0;
    const elapsed = meeting.finish(start, end, cpu);
    if (warming) {
      warm += elapsed;
      outcome.warmup_ns.push(elapsed);
    } else {
      if (before) spend(outcome, before, { cpu_ns: meeting.latest(cpu), ...usage.events() });
      outcome.iterations_ns.push(elapsed);
      outcome.own_ns.push(Math.round(end - start));
      if (job.measure.share) outcome.spans_us.push([meeting.unix(start), meeting.unix(end)]);
    }
    commit();
    outcome.operations += performed(part, from, to);
    outcome.answers.push([counts.rows, counts.affected, counts.checksum >>> 0]);
  }
  outcome.heap = endOfHeap?.() ?? null;
  return { ...outcome, ...measured };
}

/** @returns {import("./recording.js").Recording} */
const recording = (measured) => ({
  measured,
  latencies: histogram(),
  pacing: histogram(),
  timer: histogram(),
  planned: 0,
  busy: 0,
});

/** A function that begins the read transaction of an iteration and returns the one that ends it. */
function transaction(part, db) {
  if (part.transaction !== "read") return () => () => {};
  const begin = db.prepare("BEGIN");
  const read = db.prepare("SELECT count(*) FROM sqlite_schema");
  const commit = db.prepare("COMMIT");
  return () => {
    begin.run();
    read.get();
    return () => commit.run();
  };
}

function spend(outcome, before, after) {
  const add = (sum, from, to) => {
    for (const key of Object.keys(sum)) sum[key] += to[key] - from[key];
  };
  outcome.cpu_ns += after.cpu_ns - before.cpu_ns;
  for (const events of ["switches", "page_faults"]) {
    if (after[events] === null) continue;
    outcome[events] ??= Object.fromEntries(Object.keys(after[events]).map((key) => [key, 0]));
    add(outcome[events], before[events], after[events]);
  }
}

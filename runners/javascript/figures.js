/** The figures of a result from those of its threads. */

import { told } from "./histogram.js";

/** Rows, affected rows and checksum of several iterations or threads together. */
const added = (answers) =>
  answers.reduce(
    (sum, answer) => [sum[0] + answer[0], sum[1] + answer[1], (sum[2] + answer[2]) >>> 0],
    [0, 0, 0],
  );

/**
 * One thread's entry in `workers`.
 *
 * @param {import("./parts.js").Part} part
 * @param {object} outcome of `iterations`
 */
export function entry({ role, manner }, outcome) {
  const [rows, , checksum] = added(outcome.answers);
  return {
    role,
    operations: outcome.operations,
    rows,
    checksum,
    iterations_ns: outcome.own_ns,
    spans_us: outcome.spans_us,
    latencies: manner.latencies ? told(outcome.latencies) : null,
    pacing: manner.rate === null && !manner.recorded ? null : told(outcome.pacing),
    busy: outcome.busy,
  };
}

/** A thread's answer once its runtime has told of all collections. */
export async function settled({ collections, ...thread }) {
  const count = (await collections?.()) ?? null;
  return { ...thread, figures: { ...thread.figures, collections: count } };
}

/**
 * @param {import("./job.js").Job} job
 * @param {ReturnType<typeof import("./session.js").perform>[]} threads the writer's last
 */
export function combine(job, threads) {
  const workers = threads.filter(({ entry }) => entry.role === "worker");
  const answers = workers[0].answers.map((_, number) =>
    added(workers.map((worker) => worker.answers[number])),
  );
  const [rows, affected, checksum] = added(answers);
  /** Of all threads; unknown where one does not know. */
  const total = (key) =>
    threads.some(({ figures }) => figures[key] === null)
      ? null
      : threads.reduce((sum, { figures }) => sum + figures[key], 0);
  return {
    ...threads[0].figures,
    allocated_bytes: total("allocated_bytes"),
    collections: total("collections"),
    operations: workers.reduce((sum, { entry }) => sum + entry.operations, 0),
    rows,
    affected,
    checksum,
    answers,
    workers: listed(job) ? threads.map(({ entry }) => entry) : [],
  };
}

/** One worker is listed only where its entry says more than the result. */
function listed({ mode, measure, writer }) {
  const { workers, latencies, rate, share, sequence } = measure;
  const paced = rate !== null || sequence?.planned_us.length > 0;
  const more = latencies || paced || share !== null || writer !== null;
  return mode === "measure" && (workers > 1 || more);
}

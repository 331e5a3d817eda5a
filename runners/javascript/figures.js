/** The figures of a result from those of its threads. */

import { told } from "./histogram.js";
import { difference } from "./iterations.js";

/**
 * One thread's entry in `workers`.
 *
 * @param {import("./parts.js").Part} part
 * @param {ReturnType<typeof import("./iterations.js").iterate>} outcome
 */
export function entry({ role, ranges, manner }, outcome) {
  return {
    role,
    operations: ranges.reduce((sum, { from, to }) => sum + to - from, 0),
    rows: outcome.rows,
    checksum: outcome.checksum,
    iterations_ns: outcome.own_ns,
    spans_us: outcome.spans_us,
    latencies: manner.latencies ? told(outcome.latencies) : null,
    pacing: manner.rate === null ? null : told(outcome.pacing),
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
 * @throws {Error} when iterations differ and no thread found the database busy
 */
export function combine(job, threads) {
  const workers = threads.filter(({ entry }) => entry.role === "worker");
  const sum = (of) => workers.reduce((total, worker) => total + of(worker), 0);
  /** Of all threads; unknown where one does not know. */
  const total = (key) =>
    threads.some(({ figures }) => figures[key] === null)
      ? null
      : threads.reduce((sum, { figures }) => sum + figures[key], 0);
  const changed = (number) => ({ affected: sum(({ changes }) => changes[number]) });
  const differences = [
    ...threads.map((thread) => thread.difference),
    ...workers[0].changes.map((_, number) => difference(changed(0), changed(number), number + 1)),
  ].filter((text) => text !== null);
  if (differences.length > 0 && !threads.some(({ met_busy }) => met_busy)) {
    throw new Error(differences[0]);
  }
  return {
    ...threads[0].figures,
    allocated_bytes: total("allocated_bytes"),
    collections: total("collections"),
    operations: sum(({ entry }) => entry.operations),
    rows: sum(({ entry }) => entry.rows),
    affected: sum(({ affected }) => affected),
    checksum: sum(({ entry }) => entry.checksum) >>> 0,
    answers: threads[0].figures.answers.map((_, number) => {
      const all = (key) => sum(({ figures }) => figures.answers[number][key]);
      return { rows: all("rows"), affected: all("affected"), checksum: all("checksum") >>> 0 };
    }),
    workers: listed(job) ? threads.map(({ entry }) => entry) : [],
  };
}

/** One worker is listed only where its entry says more than the result. */
function listed({ mode, measure, writer }) {
  const { workers, latencies, rate, barrier } = measure;
  const more = latencies || rate !== null || barrier || writer !== null;
  return mode === "measure" && (workers > 1 || more);
}

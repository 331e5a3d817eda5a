/**
 * What one thread does in a job: a worker's part of the operations, or the writer's.
 *
 * @typedef {object} Part
 * @property {"worker" | "writer"} role
 * @property {import("./job.js").Step[]} steps
 * @property {"none" | "deferred" | "immediate" | "read"} transaction
 * @property {[string, string | number][]} pragmas of its connection
 * @property {{from: number, to: number}[]} ranges of operations, done one after the other; more than one
 *   in verify mode only, where one connection does all workers' parts
 * @property {import("./recording.js").Manner} manner
 */

import { share } from "./values.js";

/** How many threads a measurement takes. */
export const threads = ({ measure, writer }) => measure.workers + (writer === null ? 0 : 1);

/**
 * @param {import("./job.js").Job} job
 * @param {number} thread the workers' are numbered from 0, and the writer's follows
 * @returns {Part}
 */
export function partOf(job, thread) {
  return thread === job.measure.workers ? writerPart(job) : workerPart(job, thread);
}

function workerPart(job, thread) {
  const { steps, transaction, connection, mode, measure } = job;
  const { operations_per_iteration: operations, workers, rate } = measure;
  const { first, of } = measure.share ?? { first: 0, of: workers };
  const measured = mode === "measure";
  const numbers = measured ? [thread] : [...Array(workers).keys()];
  return {
    role: "worker",
    steps,
    transaction,
    pragmas:
      measured && workers > 1
        ? [...connection.pragmas, ...connection.worker_pragmas]
        : connection.pragmas,
    ranges: numbers.map((number) => share(operations, first + number, of)),
    manner: mannerOf(job, rate, (first + thread) / of),
  };
}

function writerPart(job) {
  const { steps, transaction, operations, rate } = job.writer;
  return {
    role: "writer",
    steps,
    transaction,
    pragmas: job.connection.pragmas,
    ranges: [{ from: 0, to: operations }],
    manner: mannerOf(job, rate, 0),
  };
}

/** In verify mode nothing is timed, and one connection at a time finds no other that is busy. */
function mannerOf({ mode, measure }, rate, offset) {
  if (mode === "verify") {
    return { latencies: false, rate: null, offset: 0, tolerate_busy: false, tasks: false };
  }
  const { latencies, tolerate_busy, event_loop } = measure;
  return { latencies, rate, offset, tolerate_busy, tasks: event_loop !== null };
}

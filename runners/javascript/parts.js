/**
 * What one thread does in a job: a worker's part of the operations, or the writer's.
 *
 * @typedef {object} Part
 * @property {"worker" | "writer"} role
 * @property {import("./job.js").Step[]} steps
 * @property {"none" | "deferred" | "immediate" | "read"} transaction
 * @property {(iteration: number) => {from: number, to: number}} range of its operations in an iteration;
 *   in verify mode, where one connection does all workers' parts, an iteration is one operation
 * @property {{warmup_iterations: number, warmup_ns: number, iterations: number}} extent
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
  const { steps, transaction, mode, measure } = job;
  const { operations_per_iteration: operations, workers, rate } = measure;
  const { first, of } = measure.share ?? { first: 0, of: workers };
  const measured = mode === "measure";
  const [least, most] = measured ? [thread, thread] : [0, workers - 1];
  const { from } = share(operations, first + least, of);
  const { to } = share(operations, first + most, of);
  return {
    role: "worker",
    steps,
    transaction,
    ...iterated(job, from, to, operations),
    manner: mannerOf(job, rate, (first + thread) / of),
  };
}

function writerPart(job) {
  const { steps, transaction, operations, rate } = job.writer;
  return {
    role: "writer",
    steps,
    transaction,
    ...iterated(job, 0, operations, operations),
    manner: mannerOf(job, rate, 0),
  };
}

/** Operations go on over the iterations: each lies `stride` after the one before. */
function iterated({ mode, measure }, from, to, stride) {
  if (mode === "verify") {
    return {
      range: (iteration) => ({ from: from + iteration, to: from + iteration + 1 }),
      extent: { warmup_iterations: 0, warmup_ns: 0, iterations: to - from },
    };
  }
  return {
    range: (iteration) => ({ from: from + iteration * stride, to: to + iteration * stride }),
    extent: measure,
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

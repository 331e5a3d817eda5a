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
 * @property {Order | null} order where operations perform different steps
 *
 * @typedef {object} Order of operations, from place to place of a sequence
 * @property {number[]} groups how many steps each has
 * @property {Int32Array} group that each performs
 * @property {Int32Array} nth how often its group came before since the beginning
 * @property {Float64Array} planned_us empty where operations follow each other
 * @property {Uint8Array} mine whether this worker performs it; empty where it performs all
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
  const order = measure.sequence && orderOf(measure.sequence, measured ? thread : null);
  const apart = measured && !order?.mine.length;
  const [least, most] = apart ? [thread, thread] : [0, workers - 1];
  const { from } = share(operations, first + least, of);
  const { to } = share(operations, first + most, of);
  return {
    role: "worker",
    steps,
    transaction,
    ...iterated(job, from, to, operations),
    manner: mannerOf(job, rate, (first + thread) / of),
    order,
  };
}

/** @returns {Order} for a worker, or for one that performs the operations of all */
function orderOf({ groups, order, workers, planned_us }, thread) {
  const before = groups.map(() => 0);
  return {
    groups,
    group: Int32Array.from(order),
    nth: Int32Array.from(order, (group) => before[group]++),
    planned_us: Float64Array.from(planned_us),
    mine: Uint8Array.from(thread === null ? [] : workers, (worker) => worker === thread),
  };
}

/** How many operations of from..to-1 a part performs. */
export function performed({ order }, from, to) {
  if (!order?.mine.length) return to - from;
  let count = 0;
  for (let i = from; i < to; i++) count += order.mine[i % order.mine.length];
  return count;
}

function writerPart(job) {
  const { steps, transaction, operations, rate } = job.writer;
  return {
    role: "writer",
    steps,
    transaction,
    ...iterated(job, 0, operations, operations),
    manner: mannerOf(job, rate, 0),
    order: null,
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
    const plain = { latencies: false, tolerate_busy: false, tasks: false };
    return { ...plain, rate: null, offset: 0, recorded: false };
  }
  const { latencies, tolerate_busy, event_loop, sequence } = measure;
  const recorded = rate === null && sequence?.planned_us.length > 0;
  return { latencies, rate, offset, recorded, tolerate_busy, tasks: event_loop !== null };
}

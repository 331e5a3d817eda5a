/** A job of several workers: one thread and one connection each, started together. */

import { Worker } from "node:worker_threads";
import { sharedLine, together } from "./line.js";
import { share } from "./values.js";

/**
 * @param {import("./job.js").Job} job
 * @param {string} driver its name in `DRIVERS`
 * @returns the figures of all workers together, as `perform` gives them for one
 * @throws {{message: string, sqlite_code: number | null, sql: string | null}} the first failure
 */
export async function performTogether(job, driver) {
  const { workers, operations_per_iteration: operations } = job.measure;
  const memory = sharedLine(workers);
  const { abort } = together(memory, -1, workers, performance.timeOrigin);
  const answers = await Promise.all(
    Array.from({ length: workers }, (_, number) => run(job, driver, number, memory, abort)),
  );
  const failed = answers.find((answer) => answer.failure && !answer.aborted);
  if (failed) throw failed.failure;
  const [first] = answers;
  const sum = (key) => answers.reduce((total, answer) => total + answer[key], 0);
  return {
    ...first,
    rows: sum("rows"),
    affected: sum("affected"),
    checksum: sum("checksum") >>> 0,
    workers: answers.map((answer, number) => {
      const { from, to } = share(operations, number, workers);
      const { rows, checksum, own_ns } = answer;
      return { operations: to - from, rows, checksum, iterations_ns: own_ns };
    }),
  };
}

function run(job, driver, number, memory, abort) {
  const workerData = { job, driver, number, memory, origin: performance.timeOrigin };
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData });
  return new Promise((resolve) => {
    let answered = false;
    const lost = (message) => {
      if (answered) return;
      abort();
      resolve({
        failure: { message: `worker ${number}: ${message}`, sqlite_code: null, sql: null },
      });
    };
    worker.once("message", (answer) => {
      answered = true;
      resolve(answer);
    });
    worker.once("error", (error) => lost(error.message));
    worker.once("exit", (status) => lost(`ended with status ${status} and no answer`));
  });
}

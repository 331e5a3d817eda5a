/** A job of several threads, workers and a writer: one connection each, started together. */

import { Worker } from "node:worker_threads";
import { combine } from "./figures.js";
import { sharedMeeting, together } from "./meeting.js";
import { threads } from "./parts.js";

/**
 * @param {import("./job.js").Job} job
 * @param {string} driver its name in `DRIVERS`
 * @returns the figures of all threads together
 * @throws {{message: string, sqlite_code: number | null, sql: string | null}} the first failure
 */
export async function performTogether(job, driver) {
  const count = threads(job);
  const memory = sharedMeeting(count);
  const { abort } = together(memory, -1, count, performance.timeOrigin);
  const answers = await Promise.all(
    Array.from({ length: count }, (_, number) => run(job, driver, number, memory, abort)),
  );
  const failed = answers.find((answer) => answer.failure && !answer.aborted);
  if (failed) throw failed.failure;
  return combine(job, answers);
}

/** A thread's answer. One that fails, or cannot be started, lets the others go. */
function run(job, driver, number, memory, abort) {
  const workerData = { job, driver, number, memory, origin: performance.timeOrigin };
  return new Promise((resolve) => {
    let answered = false;
    const lost = (message) => {
      if (answered) return;
      abort();
      resolve({
        failure: { message: `thread ${number + 1}: ${message}`, sqlite_code: null, sql: null },
      });
    };
    let worker;
    try {
      worker = new Worker(new URL("./worker.js", import.meta.url), { workerData });
    } catch (error) {
      lost(`the system does not start it (${error.message}); the job asks for ${threads(job)}`);
      return;
    }
    worker.once("message", (answer) => {
      answered = true;
      resolve(answer);
    });
    worker.once("error", (error) => lost(error.message));
    worker.once("exit", (status) => lost(`ended with status ${status} and no answer`));
  });
}

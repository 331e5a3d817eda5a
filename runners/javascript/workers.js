/** A job of several threads, workers and a writer: one connection each, started together. */

import { Worker } from "node:worker_threads";
import { combine } from "./figures.js";
import { histogram, told } from "./histogram.js";
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
  const timer = job.measure.event_loop && (await timerBeside(job.measure.event_loop.timer_ms));
  const answers = await Promise.all(
    Array.from({ length: count }, (_, number) => run(job, driver, number, memory, abort, timer)),
  );
  const failed = answers.find((answer) => answer.failure && !answer.aborted);
  if (failed) throw failed.failure;
  return { ...combine(job, answers), ...(timer && { timer: told(timer.delays) }) };
}

/** A timer on this thread for tasks of another, which says when to start and stop. */
async function timerBeside(every_ms) {
  const timer = (await import("./eventloop.js")).timerHere(every_ms);
  const delays = histogram();
  return {
    delays,
    start: ({ measured, at }) => timer.start({ timer: measured ? delays : histogram() }, at),
    stop: ({ at }) => timer.stop(at),
  };
}

/** A thread's answer. One that fails, or cannot be started, lets the others go. */
function run(job, driver, number, memory, abort, timer) {
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
    worker.on("message", (answer) => {
      if (answer.timer === "start" || answer.timer === "stop") {
        timer[answer.timer](answer);
        return;
      }
      answered = true;
      resolve(answer);
    });
    worker.once("error", (error) => lost(error.message));
    worker.once("exit", (status) => lost(`ended with status ${status} and no answer`));
  });
}

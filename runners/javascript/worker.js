/** The thread of one worker, or of the writer; see workers.js. */

import { parentPort, workerData } from "node:worker_threads";
import { barrier } from "./barrier.js";
import { DRIVERS } from "./drivers/registry.js";
import { tasksBeside } from "./eventloop.js";
import { failure } from "./failure.js";
import { settled } from "./figures.js";
import { digestFor, usageFor } from "./invocation.js";
import { Aborted, together } from "./meeting.js";
import { threads } from "./parts.js";
import { perform, performTasks } from "./session.js";
import { system } from "./system.js";

const { job, driver: name, number, memory, origin } = workerData;
const across = job.measure.share ? barrier(system) : null;
const meeting = together(memory, number, threads(job), origin, across);
/** The timer is the main thread's, which may hear of it late. @type {import("./eventloop.js").Timer} */
const timerThere = {
  start: ({ measured }) =>
    parentPort.postMessage({ timer: "start", at: meeting.now() / 1e6, measured }),
  stop: () => parentPort.postMessage({ timer: "stop", at: meeting.now() / 1e6 }),
};
try {
  const driver = await DRIVERS[name].load();
  try {
    const digest = number === 0 ? await digestFor(job) : null;
    const given = [job, driver, meeting, await usageFor(job, system), digest];
    const answer = job.measure.event_loop
      ? await performTasks(...given, tasksBeside(timerThere))
      : perform(...given);
    parentPort.postMessage(await settled(answer));
  } catch (error) {
    meeting.abort();
    parentPort.postMessage({ failure: failure(error, driver), aborted: error instanceof Aborted });
  }
} catch (error) {
  meeting.abort();
  parentPort.postMessage({ failure: failure(error, null) });
}

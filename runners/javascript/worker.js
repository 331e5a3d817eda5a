/** The thread of one worker, or of the writer; see workers.js. */

import { parentPort, workerData } from "node:worker_threads";
import { barrier } from "./barrier.js";
import { DRIVERS } from "./drivers/driver.js";
import { failure } from "./failure.js";
import { Aborted, together } from "./line.js";
import { threads } from "./parts.js";
import { perform } from "./session.js";
import { system } from "./system.js";

const { job, driver: name, number, memory, origin } = workerData;
const across = job.measure.barrier ? barrier(system) : null;
const line = together(memory, number, threads(job), origin, across);
try {
  const driver = await DRIVERS[name].load();
  try {
    parentPort.postMessage(perform(job, driver, line, system.usage, null));
  } catch (error) {
    line.abort();
    parentPort.postMessage({ failure: failure(error, driver), aborted: error instanceof Aborted });
  }
} catch (error) {
  line.abort();
  parentPort.postMessage({ failure: failure(error, null) });
}

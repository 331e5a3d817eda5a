/** The thread of one worker; see workers.js. */

import { parentPort, workerData } from "node:worker_threads";
import { DRIVERS } from "./drivers/driver.js";
import { failure } from "./failure.js";
import { Aborted, together } from "./line.js";
import { perform } from "./session.js";
import { system } from "./system.js";

const { job, driver: name, number, memory, origin } = workerData;
const line = together(memory, number, job.measure.workers, origin);
try {
  const driver = await DRIVERS[name].load();
  try {
    parentPort.postMessage(perform(job, driver, line, system.cpu, null));
  } catch (error) {
    line.abort();
    parentPort.postMessage({ failure: failure(error, driver), aborted: error instanceof Aborted });
  }
} catch (error) {
  line.abort();
  parentPort.postMessage({ failure: failure(error, null) });
}

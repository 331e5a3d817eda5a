/** The commands of a JavaScript runner: `describe` and `--job FILE`. */

import { JobError } from "./checks.js";
import { DRIVERS } from "./drivers/driver.js";
import { readJob } from "./job.js";

const USAGE = "usage: --driver=NAME (describe | --job FILE)";

/**
 * @typedef {object} Host
 * @property {{name: string, version: string}} runtime
 * @property {import("./system.js").System} system
 * @property {Record<string, string>} runners the runner's name by driver
 * @property {boolean} startKnown whether `performance.timeOrigin` is the start of the process
 *
 * @param {Host} host
 * @param {{driver?: string, job?: string, command?: string}} asked
 * @returns {Promise<number>} the exit code of the contract
 */
export async function main(host, { driver: name, job: path, command }) {
  if (!Object.hasOwn(host.runners, name ?? "")) {
    console.error(`--driver: expected one of ${Object.keys(host.runners).join(", ")}. ${USAGE}`);
    return 2;
  }
  const identity = {
    runner: host.runners[name],
    runtime: host.runtime,
    driver: { name: DRIVERS[name].name, version: DRIVERS[name].version(host) },
    architecture: host.system.architecture(),
    flags: host.system.flags(),
  };
  if (command === "describe" && path === undefined) {
    const { describe } = await import("./describe.js");
    console.log(JSON.stringify(describe(identity, await DRIVERS[name].load())));
    return 0;
  }
  if (path === undefined || command !== undefined) {
    console.error(USAGE);
    return 2;
  }
  let job;
  try {
    job = readJob(path, host.system.readText);
  } catch (error) {
    if (!(error instanceof JobError)) throw error;
    console.error(error.message);
    return 2;
  }
  const load = host.startKnown ? Math.round(performance.now() * 1e6) : null;
  const result = {
    contract: 1,
    cell: job.cell,
    identity,
    ...(await answer(job, name, host, load)),
  };
  host.system.replaceText(job.output, JSON.stringify(result));
  return result.status === "failed" ? 1 : 0;
}

async function answer(job, name, host, load) {
  if (job.database === null) return { status: "ok", phases_ns: { load } };
  let driver = null;
  try {
    driver = await DRIVERS[name].load();
    const { refusal } = await import("./refusal.js");
    const reason = refusal(job, driver, DRIVERS[name].name);
    if (reason !== null) return { status: "unsupported", reason };
    return success(host, load, await invoke(job, name, driver, host));
  } catch (error) {
    const { failure } = await import("./failure.js");
    return { status: "failed", error: error instanceof Error ? failure(error, driver) : error };
  }
}

async function invoke(job, name, driver, { system }) {
  const measured = job.mode === "measure";
  if (measured && (job.measure.workers > 1 || job.writer !== null)) {
    const { performTogether } = await import("./workers.js");
    return performTogether(job, name);
  }
  const { perform } = await import("./session.js");
  const { alone } = await import("./line.js");
  const { combine } = await import("./figures.js");
  if (measured) {
    const across = job.measure.barrier ? (await import("./barrier.js")).barrier(system) : null;
    return combine(job, [perform(job, driver, alone(across), system.usage, null)]);
  }
  const { Digest } = await import("./digest.js");
  const digest = new Digest();
  const figures = combine(job, [perform(job, driver, alone(), system.usage, digest)]);
  return { ...figures, digest: digest.hex() };
}

function success({ system }, load, { phases_ns, ...figures }) {
  return {
    status: "ok",
    ...figures,
    phases_ns: { load, ...phases_ns },
    peak_rss_bytes: system.peakRss(),
  };
}

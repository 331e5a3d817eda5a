/** The commands of a JavaScript runner. */

import { JobError } from "./checks.js";
import { DRIVERS } from "./drivers/registry.js";
import { invoke } from "./invocation.js";
import { readJob } from "./job.js";

const USAGE =
  "usage: --driver=NAME [--variant=NAME] (describe | --job FILE | --jobs FOLDER | --print-loop FILE)";

/** How `parseArgs` of Node reads the command line. */
export const OPTIONS = Object.fromEntries(
  ["driver", "variant", "job", "jobs", "print-loop"].map((name) => [name, { type: "string" }]),
);

/**
 * @typedef {object} Host
 * @property {{name: string, version: string}} runtime
 * @property {import("./system.js").System} system
 * @property {Record<string, string>} runners the runner's name by driver
 * @property {string[]} heap what the runtime tells of its heap, see `heap.js`
 * @property {boolean} startKnown whether `performance.timeOrigin` is the start of the process
 *
 * @param {Host} host
 * @param {{driver?: string, variant?: string, job?: string, jobs?: string, "print-loop"?: string}} options
 * @param {string[]} words of the command line that belong to no option
 * @returns {Promise<number>} the exit code of the contract
 */
export async function main(host, { driver: name, variant, ...options }, words) {
  if (!Object.hasOwn(host.runners, name ?? "")) {
    console.error(`--driver: expected one of ${Object.keys(host.runners).join(", ")}. ${USAGE}`);
    return 2;
  }
  // Another build of a driver or a runtime is another runner.
  const runners = variant ? { [name]: `${host.runners[name]}-${variant}` } : host.runners;
  const [[option, path] = [], ...more] = Object.entries(options).filter(([, value]) => value);
  const command = [option, ...words].filter((word) => word !== undefined).join(" ");
  if (more.length > 0 || !Object.hasOwn(COMMANDS, command)) {
    console.error(USAGE);
    return 2;
  }
  return COMMANDS[command]({ ...host, runners }, name, path);
}

const COMMANDS = {
  async describe(host, name) {
    const { describe } = await import("./describe.js");
    const driver = await DRIVERS[name].load();
    console.log(JSON.stringify(describe(identity(host, name), driver, host.heap)));
    return 0;
  },
  job: (host, name, path) => withJob(host, path, (job) => write(host, name, job)),
  async jobs(host, name, folder) {
    let worst = 0;
    const files = host.system.list(folder).filter((file) => file.endsWith(".json"));
    for (const file of files.sort()) {
      const code = await withJob(host, `${folder}/${file}`, (job) => {
        const engine = Object.keys(job.connection.engine).length > 0;
        const waits = job.mode === "measure" && job.measure.share !== null;
        if (!engine && !waits) return write(host, name, job);
        console.error(`${folder}/${file}: connection.engine and measure.share need --job`);
        return 2;
      });
      worst = Math.max(worst, code);
    }
    return worst;
  },
  "print-loop": (host, name, path) =>
    withJob(host, path, async (job) => {
      const { loopTexts } = await import("./print-loop.js");
      const { refusal } = await import("./refusal.js");
      const driver = await DRIVERS[name].load();
      const reason = refusal(job, driver, DRIVERS[name].name);
      if (reason !== null) {
        console.error(`unsupported: ${reason}`);
        return 0;
      }
      for (const [text, names] of loopTexts(job, driver)) {
        console.log(`// ${names.join(", ")}\n${text}`);
      }
      return 0;
    }),
};

function identity({ runners, runtime, system }, name) {
  const driver = DRIVERS[name];
  return {
    runner: runners[name],
    runtime,
    driver: { name: driver.name, version: driver.version({ runtime, system }) },
    architecture: system.architecture(),
    flags: system.flags(),
  };
}

/** Do something with the job in a file. @returns {Promise<number>} 2 where it cannot be read */
async function withJob({ system }, path, action) {
  let job;
  try {
    job = readJob(path, system.readText);
  } catch (error) {
    if (!(error instanceof JobError)) throw error;
    console.error(error.message);
    return 2;
  }
  return action(job);
}

/** Perform a job and write its result. */
async function write(host, name, job) {
  const head = { contract: 2, cell: job.cell, identity: identity(host, name) };
  const load = host.startKnown ? Math.round(performance.now() * 1e6) : null;
  const result = { ...head, ...(await invoke(job, name, host, load)) };
  host.system.replaceText(job.output, JSON.stringify(result));
  return result.status === "failed" ? 1 : 0;
}

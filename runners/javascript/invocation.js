/** From a job to its result. */

import { DRIVERS } from "./drivers/registry.js";

/**
 * Perform a job; whatever happens is in the result.
 *
 * @param {import("./job.js").Job} job
 * @param {string} name of the driver in `DRIVERS`
 * @param {import("./main.js").Host} host
 * @param {number | null} load nanoseconds from the start of the process
 */
export async function invoke(job, name, host, load) {
  if (job.database === null) return { status: "ok", phases_ns: { load } };
  let driver = null;
  try {
    driver = await DRIVERS[name].load();
    const { refusal } = await import("./refusal.js");
    const reason = refusal(job, driver, DRIVERS[name].name);
    if (reason !== null) return { status: "unsupported", reason };
    return success(host, load, await figures(job, name, driver, host));
  } catch (error) {
    const { failure } = await import("./failure.js");
    return { status: "failed", error: error instanceof Error ? failure(error, driver) : error };
  }
}

async function figures(job, name, driver, { system }) {
  const measured = job.mode === "measure";
  const { event_loop, thread, workers } = job.measure;
  const apart =
    workers > 1 || job.writer !== null || [thread, event_loop?.thread].includes("worker");
  if (measured && apart) {
    const { performTogether } = await import("./workers.js");
    return performTogether(job, name);
  }
  const { perform, performTasks } = await import("./session.js");
  const { alone } = await import("./meeting.js");
  const { combine, settled } = await import("./figures.js");
  const { barrier } = measured && job.measure.share ? await import("./barrier.js") : {};
  const usage = await usageFor(job, system);
  const given = [job, driver, alone(barrier?.(system)), usage, await digestFor(job)];
  if (!measured || event_loop === null) return combine(job, [await settled(perform(...given))]);
  const { tasksBeside, timerHere } = await import("./eventloop.js");
  const tasks = tasksBeside(timerHere(event_loop.timer_ms));
  return combine(job, [await settled(await performTasks(...given, tasks))]);
}

/** Where a job asks for a digest; what it takes is loaded for no other. */
export async function digestFor({ mode, measure }) {
  if (mode === "measure" && !measure.digest) return null;
  const { Digest } = await import("./digest.js");
  return new Digest();
}

/**
 * What tells the usage of a job: another way where it is asked often, and with the heap where the job
 * asks for a digest, since nobody uses the start and the memory of its process.
 */
export async function usageFor({ mode, measure }, { usage }) {
  if (mode === "verify") return usage;
  const often = measure.iterations > 1 && usage.eventsOften;
  const chosen = often ? { ...usage, events: usage.eventsOften } : usage;
  if (!measure.digest) return chosen;
  return { ...chosen, heap: (await import("./heap.js")).watchHeap };
}

function success({ system }, load, { phases_ns, ...figures }) {
  return {
    status: "ok",
    ...figures,
    phases_ns: { load, ...phases_ns },
    peak_rss_bytes: system.peakRss(),
  };
}

/** What Deno offers of the system, without its Node layer: loading that would double a cold start. */

import { eventsOf, faultsOf, UNKNOWN } from "../javascript/events.js";
import { peakFrom, peakOf } from "../javascript/peak.js";

const eventsByNode = () =>
  Deno.build.os === "windows" ? UNKNOWN : eventsOf(process.resourceUsage());

/** Node's names, which the other runners report. */
const ARCHITECTURES = { x86_64: "x64", aarch64: "arm64" };

/** @type {import("../javascript/system.js").System} */
export const system = {
  architecture: () => ARCHITECTURES[Deno.build.arch] ?? Deno.build.arch,
  flags: () => [],
  readText: (path) => Deno.readTextFileSync(path),
  list: (folder) => [...Deno.readDirSync(folder)].map(({ name }) => name),
  replaceText(path, text) {
    const draft = `${path}.${Deno.pid}.tmp`;
    Deno.writeTextFileSync(draft, text);
    Deno.renameSync(draft, path);
  },
  usage: {
    cpu() {
      const { user, system } = Deno.cpuUsage();
      return (user + system) * 1000;
    },
    events() {
      if (Deno.build.os === "linux") {
        const page_faults = faultsOf(Deno.readTextFileSync("/proc/self/stat"));
        return { switches: switches(), page_faults };
      }
      return eventsByNode();
    },
    // A look into /proc takes 0.4 ms and leaves the next iteration cold caches; Node's layer, once
    // loaded, takes 4 µs.
    eventsOften: eventsByNode,
  },
  print: (text) => {
    Deno.stdout.writeSync(new TextEncoder().encode(text));
  },
  read: (bytes) => Deno.stdin.readSync(bytes) ?? 0,
  peakRss: () =>
    Deno.build.os === "linux"
      ? peakOf(Deno.readTextFileSync("/proc/self/status"))
      : peakFrom(process.resourceUsage().maxRSS, Deno.memoryUsage().rss),
};

/** Whether a task had ended before its file was opened, or (ESRCH, which Deno only says in words) before it was read. */
export const hasEnded = (error) =>
  error instanceof Deno.errors.NotFound || error.message.startsWith("No such process (os error 3)");

/** The last that was seen of each thread: one that has ended has no status any more. */
const seen = new Map();

/** The context switches of all threads so far. */
function switches() {
  for (const { name } of Deno.readDirSync("/proc/self/task")) {
    let status;
    try {
      status = Deno.readTextFileSync(`/proc/self/task/${name}/status`);
    } catch (error) {
      if (hasEnded(error)) continue;
      throw error;
    }
    const [voluntary, involuntary] = ["voluntary", "nonvoluntary"].map((kind) =>
      Number(new RegExp(`^${kind}_ctxt_switches:\\s*(\\d+)`, "m").exec(status)[1]),
    );
    seen.set(name, { voluntary, involuntary });
  }
  const sum = (kind) => seen.values().reduce((total, thread) => total + thread[kind], 0);
  return { voluntary: sum("voluntary"), involuntary: sum("involuntary") };
}

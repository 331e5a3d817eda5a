/**
 * What a runtime offers of the system, through Node's API. Deno has its own (deno/system.js), because
 * loading its Node layer takes longer than all else in a cold start.
 *
 * @typedef {object} System
 * @property {() => string} architecture
 * @property {() => string[]} flags the runtime was started with
 * @property {(path: string | URL) => string} readText
 * @property {(folder: string) => string[]} list the names of what is in a folder
 * @property {(path: string, text: string) => void} replaceText so that a reader sees the old file or
 *   the whole new one
 * @property {Usage} usage
 * @property {(text: string) => void} print to stdout, at once
 * @property {(bytes: Uint8Array) => number} read from stdin, how many bytes; 0 at its end
 * @property {() => number | null} peakRss the largest resident set so far, in bytes
 *
 * @typedef {object} Usage what all threads have used so far
 * @property {() => number} cpu nanoseconds of CPU time, user and system, up to this moment
 * @property {() => Events} events
 * @property {() => Events} [eventsOften] the same for a process that looks many times, where that is
 *   another way
 * @property {typeof import("./heap.js").watchHeap} [heap] where this thread's heap is to be watched
 *
 * @typedef {object} Events context switches and page faults, null where the system does not tell the
 *   two kinds apart
 * @property {{voluntary: number, involuntary: number} | null} switches
 * @property {{minor: number, major: number} | null} page_faults
 */

import { readdirSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { eventsOf, UNKNOWN } from "./events.js";
import { peakFrom, peakOf } from "./peak.js";

/** @type {System} */
export const system = {
  architecture: () => process.arch,
  flags: () => process.execArgv,
  readText: (path) => readFileSync(path, "utf8"),
  list: (folder) => readdirSync(folder),
  replaceText(path, text) {
    const draft = `${path}.${process.pid}.tmp`;
    writeFileSync(draft, text);
    renameSync(draft, path);
  },
  usage: {
    cpu() {
      const { user, system } = process.cpuUsage();
      return (user + system) * 1000;
    },
    // Windows counts no switches, and its page faults in one number only.
    events: () => (process.platform === "win32" ? UNKNOWN : eventsOf(process.resourceUsage())),
  },
  print: (text) => {
    writeSync(1, text);
  },
  read: (bytes) => readSync(0, bytes),
  peakRss: () =>
    process.platform === "linux"
      ? peakOf(readFileSync("/proc/self/status", "latin1"))
      : peakFrom(process.resourceUsage().maxRSS, process.memoryUsage().rss),
};

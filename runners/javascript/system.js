/**
 * What a runtime offers of the system, through Node's API. Deno has its own (deno/system.js), because
 * loading its Node layer takes longer than all else in a cold start.
 *
 * @typedef {object} System
 * @property {() => string} architecture
 * @property {() => string[]} flags the runtime was started with
 * @property {(path: string | URL) => string} readText
 * @property {(path: string, text: string) => void} replaceText so that a reader sees the old file or
 *   the whole new one
 * @property {() => {cpu_ns: {user: number, system: number}, switches: {voluntary: number,
 *   involuntary: number} | null}} usage nanoseconds and context switches so far, over all threads
 * @property {(text: string) => void} print to stdout, at once
 * @property {(bytes: Uint8Array) => number} read from stdin, how many bytes; 0 at its end
 * @property {() => number | null} peakRss the largest resident set so far, in bytes
 */

import { readFileSync, readSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { peakFrom, peakOf } from "./peak.js";

/** @type {System} */
export const system = {
  architecture: () => process.arch,
  flags: () => process.execArgv,
  readText: (path) => readFileSync(path, "utf8"),
  replaceText(path, text) {
    const draft = `${path}.${process.pid}.tmp`;
    writeFileSync(draft, text);
    renameSync(draft, path);
  },
  usage() {
    const used = process.resourceUsage();
    return {
      cpu_ns: { user: used.userCPUTime * 1000, system: used.systemCPUTime * 1000 },
      // Windows counts none and says 0.
      switches:
        process.platform === "win32"
          ? null
          : {
              voluntary: used.voluntaryContextSwitches,
              involuntary: used.involuntaryContextSwitches,
            },
    };
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

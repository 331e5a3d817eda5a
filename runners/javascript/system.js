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
 * @property {() => {user: number, system: number}} cpu nanoseconds so far, over all threads
 * @property {() => number | null} peakRss the largest resident set so far, in bytes
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { peakOf } from "./peak.js";

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
  cpu() {
    const { user, system } = process.cpuUsage();
    return { user: user * 1000, system: system * 1000 };
  },
  peakRss: () =>
    process.platform === "linux"
      ? peakOf(readFileSync("/proc/self/status", "latin1"))
      : process.resourceUsage().maxRSS * 1024,
};

/** What Deno offers of the system, without its Node layer: loading that would double a cold start. */

import { peakOf } from "../javascript/peak.js";

/** Node's names, which the other runners report. */
const ARCHITECTURES = { x86_64: "x64", aarch64: "arm64" };

/** @type {import("../javascript/system.js").System} */
export const system = {
  architecture: () => ARCHITECTURES[Deno.build.arch] ?? Deno.build.arch,
  flags: () => [],
  readText: (path) => Deno.readTextFileSync(path),
  replaceText(path, text) {
    const draft = `${path}.${Deno.pid}.tmp`;
    Deno.writeTextFileSync(draft, text);
    Deno.renameSync(draft, path);
  },
  cpu() {
    const { user, system } = Deno.cpuUsage();
    return { user: user * 1000, system: system * 1000 };
  },
  peakRss: () =>
    Deno.build.os === "linux"
      ? peakOf(Deno.readTextFileSync("/proc/self/status"))
      : process.resourceUsage().maxRSS * 1024,
};

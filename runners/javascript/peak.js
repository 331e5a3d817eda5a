/** The peak of the resident set, in bytes, from what a system or a runtime says of it. */

/**
 * VmHWM of a `/proc/self/status`, in bytes. Not ru_maxrss: that starts from the size of the process
 * that spawned this one.
 */
export function peakOf(status) {
  const [, kib] = /^VmHWM:\s*(\d+) kB$/m.exec(status) ?? [];
  return kib === undefined ? null : Number(kib) * 1024;
}

/**
 * `maxRSS` of `resourceUsage`: KiB by Node's documentation. On macOS some versions of Bun and Deno hand
 * on the system's bytes; taken for KiB they would be far more than a process can have held.
 *
 * @param {number} maxRSS
 * @param {number} rss bytes resident now
 */
export const peakFrom = (maxRSS, rss) => (maxRSS > rss / 32 ? maxRSS : maxRSS * 1024);

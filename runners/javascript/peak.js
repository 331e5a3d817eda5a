/**
 * VmHWM of a `/proc/self/status`, in bytes. Not ru_maxrss: that starts from the size of the process
 * that spawned this one.
 */
export function peakOf(status) {
  const [, kib] = /^VmHWM:\s*(\d+) kB$/m.exec(status) ?? [];
  return kib === undefined ? null : Number(kib) * 1024;
}

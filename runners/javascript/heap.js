/** What V8 allocates and how often it collects, where a runtime tells: both in Node, the first in Deno. */

/** Of `performance` entries: minor collections, those that mark and sweep, and major ones; not their parts. */
const COLLECTIONS = [1, 2, 4];

/**
 * Watches this thread's heap from now on. It loads modules, which takes milliseconds and megabytes.
 *
 * @returns {() => {allocated_bytes: number | null, collections: () => Promise<number | null>}} ends it; null is
 *   what the runtime does not tell
 */
export function watchHeap() {
  const allocated = allocatedBytes();
  const counted = collections();
  const start = allocated?.();
  return () => ({
    allocated_bytes: allocated && Math.max(0, allocated() - start),
    collections: counted(),
  });
}

/** A function that tells what was allocated so far, or null. */
function allocatedBytes() {
  const v8 = process.getBuiltinModule?.("node:v8");
  const total = () => v8.getHeapStatistics().total_allocated_bytes;
  // What Bun calls so falls when it collects.
  if (v8 === undefined || process.versions.bun || total() === undefined) return null;
  // V8 counts the block that it allocates from as a whole, and each look ends that block: what a second look finds
  // more is what was left of it.
  return () => {
    const seen = total();
    return 2 * seen - total();
  };
}

/** A function that ends the count of collections, and returns one that tells it. */
function collections() {
  if (!globalThis.PerformanceObserver?.supportedEntryTypes.includes("gc")) {
    return () => async () => null;
  }
  const seen = [];
  const keep = (entries) => {
    for (const { startTime, detail } of entries) {
      if (COLLECTIONS.includes(detail.kind)) seen.push(startTime);
    }
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: "gc" });
  const start = performance.now();
  return () => {
    const end = performance.now();
    return async () => {
      // They arrive with the event loop's next turn, those of a loop that never let it turn, too.
      await new Promise((resolve) => setImmediate(resolve));
      keep(observer.takeRecords());
      observer.disconnect();
      return seen.filter((time) => time >= start && time <= end).length;
    };
  };
}

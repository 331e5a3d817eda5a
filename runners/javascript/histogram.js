/** Histograms of durations, as the contract's `Histogram` states the buckets. */

/** Buckets for everything up to 2^53 ns, 104 days. */
const BUCKETS = 6144;

/** @returns {Uint32Array} counts by bucket */
export const histogram = () => new Uint32Array(BUCKETS);

/** @param {number} ns at least 0; a fraction is cut off */
export function bucket(ns) {
  // Shifts work on 32 bits. 24 powers of two up, a bucket lies 24 * 128 further.
  return ns < 0x8000_0000 ? smallBucket(ns | 0) : 3072 + smallBucket(Math.floor(ns / 0x100_0000));
}

function smallBucket(v) {
  const e = Math.max(0, 24 - Math.clz32(v));
  return e * 128 + (v >>> e);
}

/** Count one duration. @param {Uint32Array} counts @param {number} ms */
export function record(counts, ms) {
  counts[bucket(ms * 1e6 + 0.5)]++;
}

/** @param {Uint32Array} counts @returns {{buckets: [number, number][]}} as a result holds it */
export function told(counts) {
  const buckets = [];
  for (let b = 0; b < counts.length; b++) if (counts[b] > 0) buckets.push([b, counts[b]]);
  return { buckets };
}

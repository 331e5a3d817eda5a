/** The clock of loops that look at it for each operation, in milliseconds. */

/** How long before a planned time a thread stops sleeping: longer than a wake-up takes. */
const SPIN_MS = 0.2;

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Sleep the thread. @param {number} ms */
export const sleep = (ms) => Atomics.wait(cell, 0, 0, ms);

/**
 * @typedef {object} Clock
 * @property {() => number} now
 * @property {(time: number) => number} waitUntil sleeps, spins for the rest, and returns what `now` is then
 *
 * @type {Clock}
 */
export const clock = {
  now: () => performance.now(),
  waitUntil(time) {
    const rest = time - performance.now();
    if (rest > SPIN_MS) sleep(rest - SPIN_MS);
    let now = performance.now();
    while (now < time) now = performance.now();
    return now;
  },
};

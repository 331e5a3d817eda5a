/**
 * Operations as tasks of an event loop, as in a service, and the delay of a timer on the main thread beside them.
 *
 * @typedef {object} Timer
 * @property {(records: import("./recording.js").Recording, at?: number) => void} start
 * @property {(at?: number) => void} stop when the iteration began and ended, by the timer's clock: now if the timer is
 *   told at once
 *
 * @typedef {(loop: ReturnType<typeof import("./loops.js").compileLoop>, range: {from: number, to: number},
 *   counts: import("./loops.js").Total, records: import("./recording.js").Recording, rate: number | null
 * ) => Promise<void>} Tasks performs an iteration, each operation of which is a task, at its planned time if
 *   there is a `rate`
 *
 * @typedef {object} Time in milliseconds
 * @property {() => number} now
 * @property {(action: () => void, ms: number) => unknown} set
 * @property {(handle: unknown) => void} clear
 * @property {() => Promise<void>} turn the loop's next one
 */

import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { record } from "./histogram.js";

/** How long before a planned time a task stops sleeping: timers are set to whole milliseconds. */
const SPIN_MS = 2;

/** @type {Time} */
const REAL = {
  now: () => performance.now(),
  set: setTimeout,
  clear: clearTimeout,
  // Unlike a promise alone, it lets timers come that are due, in Node, Bun and Deno.
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

/**
 * @param {number} every_ms
 * @param {Time} time
 * @returns {Timer} one on this thread; a delay counts from the planned time, also of those that a busy thread missed
 */
export function timerHere(every_ms, time = REAL) {
  let handle;
  let planned;
  let delays;
  const count = (now) => {
    for (; planned <= now; planned += every_ms) record(delays, now - planned);
  };
  const due = () => {
    count(time.now());
    handle = time.set(due, planned - time.now());
  };
  return {
    start(records, at = time.now()) {
      delays = records.timer;
      planned = at + every_ms;
      handle = time.set(due, Math.max(planned - time.now(), 0));
    },
    stop(at = time.now()) {
      time.clear(handle);
      count(at);
    },
  };
}

/** @param {Timer} timer beside the tasks @param {Time} time @returns {Tasks} */
export function tasksBeside(timer, time = REAL) {
  return async (loop, { from, to }, counts, records, rate) => {
    timer.start(records);
    try {
      const first = time.now();
      for (let i = from; i < to; i++) {
        await time.turn();
        records.planned = time.now();
        if (rate !== null) {
          records.planned = first + ((i - from) * 1000) / rate;
          await planned(records, time);
        }
        loop(i, i + 1, counts, records);
      }
      await time.turn();
    } finally {
      timer.stop();
    }
  };
}

/** Waits for the planned time, if it is still to come, without blocking the loop. */
async function planned(records, time) {
  let rest = records.planned - time.now();
  if (rest <= 0) return;
  for (; rest > 0; rest = records.planned - time.now()) {
    const sleep = rest - SPIN_MS;
    await (sleep > 0 ? new Promise((resolve) => time.set(resolve, sleep)) : time.turn());
  }
  record(records.pacing, -rest);
}

/**
 * The start line: where the workers of a job meet before and after the clock of each iteration.
 * Times are nanoseconds since the main thread's time origin, so that all threads' can be compared.
 *
 * @typedef {object} Line
 * @property {number} worker
 * @property {number} workers
 * @property {() => number} now
 * @property {() => void} meet waits until every worker has arrived
 * @property {(start: number, end: number) => number} finish waits for the others and returns the
 *   nanoseconds from the earliest start to the latest end
 */

/** @returns {Line} for one thread, which waits for nobody */
export function alone() {
  return {
    worker: 0,
    workers: 1,
    now: () => performance.now() * 1e6,
    meet() {},
    finish: (start, end) => Math.round(end - start),
  };
}

/** Another worker failed, so this one stops; not an error of its own. */
export class Aborted extends Error {}

const ARRIVED = 0;
const GENERATION = 1;
const ABORTED = 2;
const CONTROL_BYTES = 16;
/** Looks at the line before sleeping: some microseconds, the length of a wake-up saved. */
const SPINS = 1000;

/** Shared memory for a line of k workers. */
export function sharedLine(workers) {
  return new SharedArrayBuffer(CONTROL_BYTES + 16 * workers);
}

/**
 * @param {SharedArrayBuffer} memory from `sharedLine`
 * @param {number} origin the main thread's `performance.timeOrigin`
 * @returns {Line & {abort: () => void}}
 */
export function together(memory, worker, workers, origin) {
  const control = new Int32Array(memory, 0, 4);
  const times = new Float64Array(memory, CONTROL_BYTES);
  // Each thread's performance.now() counts from its own origin (in Bun and Deno; Node shares one).
  const offset = performance.timeOrigin - origin;
  const release = () => {
    Atomics.add(control, GENERATION, 1);
    Atomics.notify(control, GENERATION);
  };
  const check = () => {
    if (Atomics.load(control, ABORTED)) throw new Aborted("another worker failed");
  };
  const meet = () => {
    check();
    const generation = Atomics.load(control, GENERATION);
    if (Atomics.add(control, ARRIVED, 1) === workers - 1) {
      Atomics.store(control, ARRIVED, 0);
      release();
    } else {
      for (let spin = 0; spin < SPINS; spin++) {
        if (Atomics.load(control, GENERATION) !== generation) break;
      }
      Atomics.wait(control, GENERATION, generation);
    }
    check();
  };
  return {
    worker,
    workers,
    now: () => (offset + performance.now()) * 1e6,
    meet,
    finish(start, end) {
      times[2 * worker] = start;
      times[2 * worker + 1] = end;
      meet();
      let earliest = start;
      let latest = end;
      for (let other = 0; other < workers; other++) {
        earliest = Math.min(earliest, times[2 * other]);
        latest = Math.max(latest, times[2 * other + 1]);
      }
      return Math.round(latest - earliest);
    },
    abort() {
      Atomics.store(control, ABORTED, 1);
      release();
    },
  };
}

/**
 * Where the threads of a job meet before and after the clock of each iteration.
 * Times are nanoseconds since the main thread's time origin, so that all threads' can be compared.
 *
 * @typedef {object} Meeting
 * @property {number} thread
 * @property {() => number} now
 * @property {(time: number) => number} unix a time of `now` in microseconds of Unix time
 * @property {() => void} meet waits until every thread has arrived
 * @property {<T>(action: () => T) => T} inTurn performs the action while no other thread does
 * @property {<T>(look: () => T) => T} start the same before the clock, for the barrier across processes as well;
 *   returns what a look then shows, or shortly before where it would make this thread the last one
 * @property {(start: number, end: number, cpu: number) => number} finish waits for the others and
 *   returns the nanoseconds from the earliest start to the latest end
 * @property {(cpu: number) => number} latest the CPU time that the last to finish saw of the process
 */

const unixFrom = (origin) => (time) => origin * 1e3 + time / 1e3;

/**
 * @param {(() => void) | null} barrier across processes
 * @returns {Meeting} for one thread, which waits for nobody
 */
export function alone(barrier = null, thread = 0) {
  return {
    thread,
    now: () => performance.now() * 1e6,
    unix: unixFrom(performance.timeOrigin),
    meet() {},
    inTurn: (action) => action(),
    start(look) {
      barrier?.();
      return look();
    },
    finish: (start, end) => Math.round(end - start),
    latest: (cpu) => cpu,
  };
}

/** Another thread failed, so this one stops; not an error of its own. */
export class Aborted extends Error {}

const ARRIVED = 0;
const GENERATION = 1;
const ABORTED = 2;
const CONTROL_BYTES = 16;
/** Numbers that each thread tells at its end: start, end, CPU time of the process. */
const TOLD = 3;
/** Looks before sleeping: some microseconds, the length of a wake-up saved. */
const SPINS = 1000;
const LOOK_MS = 20;

/** Shared memory for a meeting of k threads. */
export function sharedMeeting(threads) {
  return new SharedArrayBuffer(CONTROL_BYTES + 8 * TOLD * threads);
}

/**
 * @param {SharedArrayBuffer} memory from `sharedMeeting`
 * @param {number} origin the main thread's `performance.timeOrigin`
 * @param {(() => void) | null} barrier across processes, which thread 0 sees to
 * @returns {Meeting & {abort: () => void}}
 */
export function together(memory, thread, threads, origin, barrier = null) {
  const control = new Int32Array(memory, 0, 4);
  const told = new Float64Array(memory, CONTROL_BYTES);
  const last = (which) => {
    let most = told[which];
    for (let other = 1; other < threads; other++) most = Math.max(most, told[TOLD * other + which]);
    return most;
  };
  // Each thread's performance.now() counts from its own origin (in Bun and Deno; Node shares one).
  const offset = performance.timeOrigin - origin;
  const release = () => {
    Atomics.add(control, GENERATION, 1);
    Atomics.notify(control, GENERATION);
  };
  const check = () => {
    if (Atomics.load(control, ABORTED)) throw new Aborted("another thread failed");
  };
  const meet = () => {
    // Before the check: an abort after this moment changes the generation, and ends the wait.
    const generation = Atomics.load(control, GENERATION);
    check();
    if (Atomics.add(control, ARRIVED, 1) === threads - 1) {
      Atomics.store(control, ARRIVED, 0);
      release();
    } else {
      for (let spin = 0; spin < SPINS; spin++) {
        if (Atomics.load(control, GENERATION) !== generation) break;
      }
      // In a loop that looks again: now and then a notification of Bun's reaches nobody.
      while (Atomics.load(control, GENERATION) === generation) {
        Atomics.wait(control, GENERATION, generation, LOOK_MS);
      }
    }
    check();
  };
  return {
    thread,
    now: () => (offset + performance.now()) * 1e6,
    unix: unixFrom(origin),
    meet,
    inTurn(action) {
      let value;
      for (let turn = 0; turn < threads; turn++) {
        if (turn === thread) value = action();
        meet();
      }
      return value;
    },
    start(look) {
      if (barrier !== null) {
        meet();
        if (thread === 0) barrier();
      }
      const seen = look();
      meet();
      return seen;
    },
    finish(start, end, cpu) {
      told.set([start, end, cpu], TOLD * thread);
      meet();
      let earliest = start;
      for (let other = 0; other < threads; other++) {
        earliest = Math.min(earliest, told[TOLD * other]);
      }
      return Math.round(last(1) - earliest);
    },
    latest: () => last(2),
    abort() {
      Atomics.store(control, ABORTED, 1);
      release();
    },
  };
}

/**
 * What stands around each operation in the loop of a job that asks for latencies, a rate or tolerance of
 * SQLITE_BUSY, as source text. A job that asks for none gets none, so its loop stays the plain one.
 *
 * The text names `clock` and `record` (see loops.js), and `recording`, the iteration's.
 *
 * @typedef {object} Manner
 * @property {boolean} latencies
 * @property {number | null} rate operations per second
 * @property {number} offset of the planned times, in parts of the time between two of them
 * @property {boolean} recorded whether operations are planned when the sequence says
 * @property {boolean} tolerate_busy
 * @property {boolean} tasks whether each operation is a task of its own, which others wait for; see eventloop.js
 *
 * @typedef {object} Recording
 * @property {boolean} measured no warm-up
 * @property {Uint32Array} latencies
 * @property {Uint32Array} pacing
 * @property {Uint32Array} timer delays of the timer beside tasks
 * @property {number} planned start of the next task
 * @property {number} busy
 */

const BUSY = 5;

/**
 * @param {Manner} manner
 * @param {import("./drivers/driver.js").Source} source
 * @param {string} transaction of the job
 * @returns {{setup: string, wrap: (operation: string, counters: string[]) => string}} text before the loop, and
 *   a function from the text of one operation to that with all that is around it
 */
export function recorded(manner, source, transaction) {
  const { latencies, rate, offset, tolerate_busy, tasks } = manner;
  let setup = "";
  let before = "";
  if (tasks) before = "const planned = recording.planned;";
  else if (rate !== null || manner.recorded) {
    const gap = 1000 / rate;
    setup = manner.recorded
      ? "const first = clock.now() - planned_us[from % planned_us.length] / 1000;"
      : `const first = clock.now() + ${offset * gap};`;
    const after = manner.recorded ? "planned_us[place] / 1000" : `(i - from) * ${gap}`;
    before = `const planned = first + ${after};
    if (clock.now() < planned) record(recording.pacing, clock.waitUntil(planned) - planned);`;
  } else if (latencies) before = "const planned = clock.now();";
  const after = latencies ? "record(recording.latencies, clock.now() - planned);" : "";
  const guard = tolerate_busy ? guardOf(source, transaction) : (operation) => operation;
  return {
    setup,
    wrap: (operation, counters) => `${before} ${guard(operation, counters)} ${after}`,
  };
}

/** SQLITE_BUSY undoes the operation and is counted; any other error goes on. */
function guardOf(source, transaction) {
  // The transaction of a whole iteration outlives an operation that found the database busy.
  const rollback =
    transaction === "read" ? "" : `if (${source.inTransaction}) db.exec("ROLLBACK");`;
  return (operation, counters) => `
    const ${counters.map((counter, index) => `was${index} = ${counter}`).join(", ")};
    try { ${operation} } catch (error) {
      if (!(${source.failedWith("error", BUSY)})) throw error;
      ${rollback}
      ${counters.map((counter, index) => `${counter} = was${index};`).join(" ")}
      recording.busy++;
    }`;
}

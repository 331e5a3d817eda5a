/** The source of the loops that a job is performed with. */

import { loopSource } from "./loops.js";
import { partOf } from "./parts.js";
import { pool } from "./values.js";

/**
 * @param {import("./job.js").Job} job
 * @param {import("./drivers/driver.js").Driver} driver
 * @returns {Map<string, string[]>} the SQL in a comment and the text that `compileLoop` compiles, with the threads
 *   that it does so for
 */
export function loopTexts(job, driver) {
  const verify = job.mode === "verify";
  // One connection does all workers' parts in verify mode.
  const numbers = [...Array(verify ? 1 : job.measure.workers).keys()];
  if (job.writer !== null) numbers.push(job.measure.workers);
  const texts = new Map();
  for (const number of job.steps.length > 0 ? numbers : []) {
    const part = partOf(job, number);
    const pools = part.steps.map((step) => pool(step, driver.blob));
    // The writer's rows do not enter the digest.
    const text = loopSource(part, driver.source, pools, verify && part.role === "worker");
    const sql = part.steps.map((step, index) => `// sql[${index}] = ${JSON.stringify(step.sql)}\n`);
    const whole = sql.join("") + text;
    const thread = part.role === "writer" ? "writer" : `worker ${number}`;
    texts.set(whole, [...(texts.get(whole) ?? []), thread]);
  }
  return texts;
}

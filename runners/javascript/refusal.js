/** What a driver cannot do is refused before anything is opened. */

/**
 * @param {import("./job.js").Job} job
 * @param {import("./drivers/driver.js").Driver} driver
 * @returns {string | null} one sentence on why the job is unsupported
 */
export function refusal(job, driver, name) {
  const { features } = driver;
  const lacks = (kind, value) => `${name} has no ${kind} "${value}"`;
  for (const step of job.steps) {
    if (!features.shapes.includes(step.shape)) return lacks("shape", step.shape);
    if (!features.integers.includes(step.integers)) return lacks("integers", step.integers);
    if (!features.statements.includes(step.statement))
      return lacks("statement kind", step.statement);
  }
  const [option] = Object.keys(job.connection.engine).filter(
    (key) => !features.engine.includes(key),
  );
  if (option !== undefined) return lacks("engine option", option);
  const [parameter] = Object.keys(job.database?.uri ?? {});
  if (parameter !== undefined && !driver.uri) return lacks("URI parameters such as", parameter);
  if (job.measure.rate !== null) return `${name}'s runner has no paced operations (measure.rate)`;
  return driver.refuse(job.steps);
}

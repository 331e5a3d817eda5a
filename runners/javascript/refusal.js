/** What a driver cannot do is refused before anything is opened. */

/**
 * @param {import("./job.js").Job} job
 * @param {import("./drivers/driver.js").Driver} driver
 * @returns {string | null} one sentence on why the job is unsupported
 */
export function refusal(job, driver, name) {
  const { features } = driver;
  const lacks = (kind, value) => `${name} has no ${kind} "${value}"`;
  const parts = [job.steps, job.writer?.steps ?? []];
  for (const step of parts.flat()) {
    if (!features.operations.includes(step.operation)) return lacks("operation", step.operation);
    if (!features.shapes.includes(step.shape)) return lacks("shape", step.shape);
    if (!features.integers.includes(step.integers)) return lacks("integers", step.integers);
    if (!features.statements.includes(step.statement))
      return lacks("statement kind", step.statement);
    if (step.names.length > 0 && !features.bindings.includes("named"))
      return lacks("binding", "named");
  }
  const [option] = Object.keys(job.connection.engine).filter(
    (key) => !features.engine.includes(key),
  );
  if (option !== undefined) return lacks("engine option", option);
  const [parameter] = Object.keys(job.database?.uri ?? {});
  if (parameter !== undefined && !driver.uri) return lacks("URI parameters such as", parameter);
  const flag = job.database?.flags.find((name) => !features.flags.includes(name));
  if (flag !== undefined) return lacks("open flag", flag);
  if (job.connection.per_operation) {
    return `${name} has no connection pool (connection.per_operation): its users keep connections`;
  }
  return parts.map((steps) => driver.refuse(steps)).find((reason) => reason !== null) ?? null;
}

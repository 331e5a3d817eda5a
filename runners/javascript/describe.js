/** The answer to `describe`. */

/**
 * @param {object} identity
 * @param {import("./drivers/driver.js").Driver} driver
 * @param {string[]} heap what the runtime tells of its heap
 */
export function describe(identity, driver, heap) {
  const db = driver.open({ path: ":memory:", mode: "readwrite", uri: {}, flags: [] }, []);
  const [[version, source_id]] = driver.rows(db, "SELECT sqlite_version(), sqlite_source_id()");
  const compile_options = driver.rows(db, "PRAGMA compile_options").map(([option]) => option);
  db.close();
  const setting = (name) => {
    const option = compile_options.find((text) => text.startsWith(`${name}=`));
    return option === undefined ? null : Number(option.slice(name.length + 1));
  };
  return {
    contract: 2,
    identity,
    sqlite: { version, source_id, compile_options, threadsafe: setting("THREADSAFE") },
    features: { ...driver.features, digest_figures: heap },
    limits: limits(compile_options),
  };
}

/** SQLite's limits as far as the build lists them, such as `max_variable_number`. */
function limits(compile_options) {
  const pairs = compile_options
    .map((option) => /^(MAX_\w+)=(\d+)$/.exec(option))
    .filter((match) => match !== null)
    .map(([, name, value]) => [name.toLowerCase(), Number(value)]);
  return Object.fromEntries(pairs);
}

/**
 * A whole file, as a user of the runtime reads it where nothing else waits.
 *
 * @type {(path: string) => Uint8Array}
 */
export const readFile = globalThis.Deno
  ? Deno.readFileSync // its Node layer would take longer to load than all else in a cold start
  : process.getBuiltinModule("node:fs").readFileSync;

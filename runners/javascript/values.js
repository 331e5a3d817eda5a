/** Values of the contract: parameters into a driver's types, shares of the work, and the checksum. */

/** What NULL folds into the checksum, as a signed 32-bit integer. */
export const NULL = 0x9e3779b9 | 0;

/**
 * The parameter pool by column, in the driver's own types.
 *
 * @param {import("./job.js").Step} step
 * @param {(bytes: Uint8Array) => Uint8Array} blob makes the driver's natural blob
 * @returns {{columns: unknown[][], mask: number}} execution n binds `columns[c][n & mask]`
 */
export function pool(step, blob) {
  if (step.parameters === null) return { columns: [], mask: 0 };
  const { types, rows } = step.parameters;
  const convert = converters(step.integers, blob);
  return {
    columns: types.map((type, index) =>
      rows.map((row) => (row[index] === null ? null : convert[type](row[index]))),
    ),
    mask: rows.length - 1,
  };
}

function converters(integers, blob) {
  return {
    // A decimal string stands for an integer that a number cannot hold, so it stays exact.
    integer: (value) =>
      integers === "bigint" || typeof value === "string" ? BigInt(value) : value,
    real: (value) => value,
    text: (value) => value,
    blob: (value) => blob(unhex(value)),
  };
}

/** Bytes of checked hexadecimal text; Uint8Array.fromHex is not in Node 24. */
export function unhex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Operations of worker w of k: from floor(N*w/k) up to, not including, floor(N*(w+1)/k). */
export function share(operations, worker, workers) {
  // In BigInt: N*w may pass 2^53 for counts that the contract allows.
  const bound = (number) => Number((BigInt(operations) * BigInt(number)) / BigInt(workers));
  return { from: bound(worker), to: bound(worker + 1) };
}

/** h*31 + x in 32 bits, for the read-back queries; the hot loops carry the same inline. */
export function fold(h, type, value) {
  return (Math.imul(h, 31) + contribution(type, value)) | 0;
}

function contribution(type, value) {
  if (value === null) return NULL;
  switch (type) {
    case "integer":
      return typeof value === "bigint" ? Number(BigInt.asIntN(32, value)) : value | 0;
    case "real":
      return Number(value) | 0;
    case "text":
      return value.length === 0 ? 0 : 31 * value.charCodeAt(0) + value.charCodeAt(value.length - 1);
    default:
      return value.length === 0 ? 0 : value.length + 31 * value[0] + value[value.length - 1];
  }
}

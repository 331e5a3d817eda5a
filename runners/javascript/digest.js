/** The canonical digest of rows (contract, "Verify mode"): SHA-256 over tagged, length-prefixed values. */

import { createHash } from "node:crypto";

const EMPTY = new Uint8Array(0);

export class Digest {
  #hash = createHash("sha256");
  #text = new TextEncoder();

  /**
   * Add one value under its declared type.
   *
   * @param {string} type
   * @param {unknown} value as the driver returned it
   * @param {string} name column, for the message
   * @param {boolean} nullable whether the column is declared so
   * @throws {TypeError} when the value is not of the declared type, or NULL where that cannot be
   */
  value(type, value, name, nullable = false) {
    if (value === null && nullable) return this.#tagged("n", EMPTY);
    switch (type) {
      case "integer":
        if (typeof value === "bigint" || Number.isInteger(value)) {
          return this.#tagged("i", this.#text.encode(BigInt(value).toString()));
        }
        break;
      case "real":
        if (typeof value === "number" || typeof value === "bigint") {
          const bytes = new DataView(new ArrayBuffer(8));
          bytes.setFloat64(0, Number(value), true);
          return this.#tagged("r", new Uint8Array(bytes.buffer));
        }
        break;
      case "text":
        if (typeof value === "string") return this.#tagged("t", this.#text.encode(value));
        break;
      default:
        if (value instanceof Uint8Array) return this.#tagged("b", value);
    }
    const declared = value === null ? `${type} and not nullable` : type;
    throw new TypeError(`column ${name}: declared ${declared}, the driver returned ${kind(value)}`);
  }

  /** Check that a row holds as many values as columns are declared. */
  row(row, declared) {
    const width = Array.isArray(row) ? row.length : Object.keys(row).length;
    if (width !== declared) {
      throw new TypeError(`the row holds ${width} columns, the job declares ${declared}`);
    }
  }

  /** Close one execution. @param {number} count rows returned, or affected rows of `run` */
  execution(count) {
    this.#hash.update("E");
    this.#hash.update(littleEndian(count));
  }

  /** @returns {string} lower-case hexadecimal */
  hex() {
    return this.#hash.digest("hex");
  }

  #tagged(tag, bytes) {
    this.#hash.update(tag);
    this.#hash.update(littleEndian(bytes.length));
    this.#hash.update(bytes);
  }
}

function kind(value) {
  if (value === undefined) return "nothing";
  return value === null ? "NULL" : `${typeof value} ${String(value).slice(0, 40)}`;
}

function littleEndian(count) {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setUint32(0, count, true);
  return new Uint8Array(bytes.buffer);
}

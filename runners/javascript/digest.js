/** The canonical digest of rows (contract, "Verify mode"): SHA-256 over tagged, length-prefixed values. */

import { createHash } from "node:crypto";

const EMPTY = new Uint8Array(0);
/** What is gathered before it is hashed, since a call of the hash costs more than a value does. */
const GATHERED_BYTES = 65_536;

export class Digest {
  #hash = createHash("sha256");
  #text = new TextEncoder();
  #gathered = new Uint8Array(GATHERED_BYTES);
  #view = new DataView(this.#gathered.buffer);
  #length = 0;

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
        if (Number.isSafeInteger(value)) return this.#texted("i", String(value));
        if (typeof value === "bigint" || Number.isInteger(value)) {
          return this.#texted("i", BigInt(value).toString());
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
        if (typeof value === "string") return this.#texted("t", value);
        break;
      default:
        if (value instanceof Uint8Array) return this.#tagged("b", value);
    }
    const declared = value === null ? `${type} and not nullable` : type;
    throw new TypeError(`column ${name}: declared ${declared}, the driver returned ${kind(value)}`);
  }

  /**
   * Check that a row has the asked shape and a value for each declared column.
   *
   * @param {unknown[] | object} row
   * @param {string[]} names of the columns
   * @param {string} shape
   * @throws {TypeError} when it has another shape, more or fewer values, or lacks a name
   */
  row(row, names, shape) {
    const isArray = Array.isArray(row);
    if (isArray !== (shape === "array")) {
      throw new TypeError(
        `the row is an ${isArray ? "array" : "object"}, the job asks for an ${shape}`,
      );
    }
    const width = isArray ? row.length : Object.keys(row).length;
    if (width !== names.length) {
      throw new TypeError(`the row holds ${width} columns, the job declares ${names.length}`);
    }
    const absent = isArray ? undefined : names.find((name) => !Object.hasOwn(row, name));
    if (absent !== undefined) throw new TypeError(`the row has no column ${absent}`);
  }

  /** Close one execution. @param {number} count rows returned, or affected rows of `run` */
  execution(count) {
    this.#head("E", count);
  }

  /** @returns {string} lower-case hexadecimal */
  hex() {
    this.#flush();
    return this.#hash.digest("hex");
  }

  #texted(tag, text) {
    const most = 3 * text.length;
    if (most > GATHERED_BYTES - 5) return this.#tagged(tag, this.#text.encode(text));
    if (this.#length + 5 + most > GATHERED_BYTES) this.#flush();
    const at = this.#length + 5;
    const { written } = this.#text.encodeInto(text, this.#gathered.subarray(at));
    this.#head(tag, written);
    this.#length += written;
  }

  #tagged(tag, bytes) {
    this.#head(tag, bytes.length);
    if (bytes.length > GATHERED_BYTES) {
      this.#flush();
      this.#hash.update(bytes);
      return;
    }
    if (this.#length + bytes.length > GATHERED_BYTES) this.#flush();
    this.#gathered.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A tag and a 32-bit little-endian number. */
  #head(tag, number) {
    if (this.#length + 5 > GATHERED_BYTES) this.#flush();
    this.#gathered[this.#length] = tag.charCodeAt(0);
    this.#view.setUint32(this.#length + 1, number, true);
    this.#length += 5;
  }

  #flush() {
    this.#hash.update(this.#gathered.subarray(0, this.#length));
    this.#length = 0;
  }
}

function kind(value) {
  if (value === undefined) return "nothing";
  return value === null ? "NULL" : `${typeof value} ${String(value).slice(0, 40)}`;
}

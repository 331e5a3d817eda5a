// Numbers as text; mirrors harness/sqlitmus/render/document/format.py, and a test holds the two together.

export const THIN = "\u202f";
export const UNITS = [
  ["ns", 1],
  ["µs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
];
const RATES = [
  ["/s", 1],
  ["k/s", 1e3],
  ["M/s", 1e6],
  ["G/s", 1e9],
];

/** Digits after the point: down to the first significant digit of the interval's half-width. */
export function decimals(value, low, high) {
  const lead = leadOf(value);
  if (lead === null) return 0;
  if (low == null || high == null || !(high > low)) return Math.max(0, 2 - lead);
  const wanted = -Math.floor(Math.log10((high - low) / 2));
  return Math.max(0, Math.min(wanted, 3 - lead), 1 - lead);
}

/** A number with a true minus sign, never "-0". */
export function fixed(value, places) {
  const text = value.toFixed(places);
  if (!text.startsWith("-")) return text;
  return /[1-9]/.test(text) ? `\u2212${text.slice(1)}` : text.slice(1);
}

function unitOf(value, units) {
  let chosen = units[0];
  for (const unit of units.slice(1)) {
    if (Math.abs(value) < unit[1] * 0.9995) break;
    chosen = unit;
  }
  return chosen;
}

function spread([value, low, high]) {
  const places = decimals(value, low, high);
  if (low == null || high == null) return [fixed(value, places), ""];
  return [fixed(value, places), `[${end(low, places)}, ${end(high, places)}]`];
}

function end(value, places) {
  const lead = leadOf(value);
  return fixed(value, lead === null ? places : Math.max(0, Math.min(places, 3 - lead)));
}

/** The power of ten of the first digit; null for 0 and for what is not finite. */
function leadOf(value) {
  if (value === 0 || !Number.isFinite(value)) return null;
  return Math.floor(Math.log10(Math.abs(value)));
}

function scaled(triple, [name, scale]) {
  const [text, bounds] = spread(triple.map((x) => (x == null ? null : x / scale)));
  return [text + THIN + name, bounds];
}

/** A time in ns, `[value, low, high]`, as `[text, bounds]`; `unit` is a name or "" for the fitting one. */
export function time(triple, unit = "") {
  return scaled(triple, UNITS.find(([name]) => name === unit) ?? unitOf(triple[0], UNITS));
}

/** A difference of times, with its sign. */
export function signedTime(triple, unit = "") {
  const [text, bounds] = time(triple, unit);
  return [triple[0] < 0 ? text : `+${text}`, bounds];
}

/** Operations per second. */
export function rate(triple) {
  return scaled(triple, unitOf(triple[0], RATES));
}

/** Bytes in binary units. */
export function size(bytes) {
  let value = bytes;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(value) < 1024 || unit === "GiB") return count(value) + THIN + unit;
    value /= 1024;
  }
}

/** How often something happened. */
export function count(value) {
  return fixed(value, decimals(value, null, null));
}

/** A share in percent. */
export function share(value) {
  return `${count(100 * value)} %`;
}

/** A ratio. */
export function ratio(triple) {
  const [text, bounds] = spread(triple);
  return [`${text}×`, bounds];
}

/** The inverse of a positive quantity with its interval, times `by`. */
export function inverse([value, low, high], by = 1) {
  return [by / value, high == null ? null : by / high, low == null ? null : by / low];
}

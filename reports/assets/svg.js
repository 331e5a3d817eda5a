// Log axes and what is drawn on them; the axis mirrors RatioAxis in harness/sqlitmus/render/html/charts.py.
import { html } from "./markup.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; text is always set as text. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Positions on a log axis from `low` to `high` over `width` px, `pad` px free at both ends. */
export function logAxis(low, high, width, pad) {
  const span = Math.log(high / low);
  return (value) => {
    const inside = Math.min(Math.max(value, low), high);
    return Math.round((pad + (Math.log(inside / low) / span) * (width - 2 * pad)) * 10) / 10;
  };
}

/** The tightest axis of ratios that holds all triples and 1: `{low, high, at, ticks, width}`. */
export function ratioAxis(triples, data, [width, pad, gap] = data.forest) {
  const all = triples.flat().filter((x) => x != null);
  const step = (size) => data.steps.find((one) => one >= size) ?? data.steps.at(-1);
  const low = 1 / step(1 / Math.min(1, ...all));
  const high = step(Math.max(1, ...all));
  const at = logAxis(low, high, width, pad);
  const inside = [
    ...data.steps.filter((x) => x < high),
    ...data.steps.map((x) => 1 / x).filter((x) => x > low),
  ];
  const odd = (x) => (Number.isInteger(Math.log2(x)) ? 0 : 1);
  inside.sort((a, b) => odd(a) - odd(b) || Math.abs(Math.log(a)) - Math.abs(Math.log(b)));
  const ticks = [[at(1), "1"]];
  for (const value of [low, high, ...inside]) {
    const place = at(value);
    const label = tickLabel(value);
    const room = (other) => gap + 3 * Math.max(0, label.length + other.length - 8);
    if (ticks.every(([x, other]) => Math.abs(place - x) >= room(other))) ticks.push([place, label]);
  }
  return { low, high, at, ticks: ticks.sort((a, b) => a[0] - b[0]), width };
}

/** A tick's text: two digits below 1, "1,024" with its comma. */
export function tickLabel(value) {
  // a little more, so that what lies halfway is rounded up in both languages
  const rounded = Number((value * (1 + 1e-9)).toPrecision(value < 1 ? 2 : 4));
  return rounded.toLocaleString("en", { maximumFractionDigits: 4 });
}

/** The ticks above a forest. */
export function drawTicks({ ticks, width }) {
  const marks = ticks.map(
    ([x, text]) => html`<path d="M${x} 14v4"/><text x="${x}" y="12">${text}×</text>`,
  );
  return html`<svg class="ticks" viewBox="0 0 ${width} 18" width="${width}" height="18" aria-hidden="true">${marks}</svg>`;
}

/** The interval of a forest row, or none, with the reference line and the margin's band. */
export function forest(ratio, { at, width }, margin) {
  const [centre, low, high] = (ratio ?? []).map((x, _, [value]) => at(x ?? value));
  const mark =
    ratio && html`<path class="i" d="M${low} 7H${high}"/><path class="d" d="M${centre} 7h0"/>`;
  return html`<svg class="w" viewBox="0 0 ${width} 14" aria-hidden="true"><path class="rope" d="M${at(1 / (1 + margin))} 7H${at(1 + margin)}"/><path class="z" d="M${at(1)} 0v14"/>${mark}</svg>`;
}

/** A runner's marker. */
export function key([, , , , , hue, shape]) {
  return html`<svg class="k ${hue}" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#m${shape}"/></svg>`;
}

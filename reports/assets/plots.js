// A case's samples: the strips of its runners, and their drift over the run.
import { samples } from "./data.js";
import { time } from "./format.js";
import { html } from "./markup.js";
import { logAxis } from "./svg.js";

const WIDTH = 560;
const STRIP = { height: 20, left: 138, right: 548 };

/** Both charts of a case, of those of the runners in `shown` that have samples. */
export function plots(data, index, shown, unit) {
  const item = data.cases[index];
  const timed = shown.filter((runner) => item.samples[runner]?.some((x) => x != null));
  if (!item.axis || !timed.length) return "";
  const series = timed.map((runner) => ({ runner, ...samples(item, runner) }));
  return html`${strips(item, series, data, unit)}${drift(item, series, data)}`;
}

/** A chart of a strip for each of `series`, with what stands below them. */
function figure(title, text, said, count, inside) {
  return html`<figure><figcaption><b>${title}</b> ${text}</figcaption><svg viewBox="0 0 ${WIDTH} ${count * STRIP.height + 22}" role="img" aria-label="${said}">${inside}</svg></figure>`;
}

/** A runner's row: its name, the line in the middle, a dot for each process, and `more` marks. */
function strip([name, , , , , hue], runner, middle, dots, more) {
  const { left, right } = STRIP;
  return html`<text class="end" x="${left - 10}" y="${middle + 3.5}">${name}</text><path class="rule" d="M${left - 4} ${middle}H${right + 4}"/><g class="${hue}" data-r="${runner}"><path class="dots" d="${dots.join("")}"/>${more}</g>`;
}

const middleOf = (line) => (line + 0.5) * STRIP.height;

function strips(item, series, data, unit) {
  const { height, left, right } = STRIP;
  const [low, high, ticks] = item.axis;
  const at = logAxis(low, high, right - left, 0);
  const bottom = series.length * height;
  const rows = series.map(({ runner, values }, line) => {
    const middle = middleOf(line);
    const ordered = values.filter((x) => x != null).sort((a, b) => a - b);
    const x = (share) => (left + at(quantile(ordered, share))).toFixed(1);
    const dots = ordered.map((value, i) => {
      return `M${(left + at(value)).toFixed(1)} ${(middle + ((i % 3) - 1) * 4).toFixed(1)}h0`;
    });
    const box = html`<path class="box" d="M${x(0.25)} ${middle - 7}H${x(0.75)}v14H${x(0.25)}z"/><path class="box" d="M${x(0.5)} ${middle - 7}v14"/>`;
    return strip(data.runners[runner], runner, middle, dots, box);
  });
  let last = -Infinity;
  const marks = ticks.map((tick) => {
    const x = left + at(tick);
    const near = x - last < 52;
    if (!near) last = x;
    const text = time([tick, null, null], unit)[0];
    return html`<path class="axis-line" d="M${x} ${bottom}v4"/>${!near && html`<text class="x" x="${x}" y="${bottom + 17}">${text}</text>`}`;
  });
  return figure(
    "Distribution.",
    "Each process's time as a dot; the box holds the middle half, its line is the median.",
    "The time of each process by runner; the table above has the estimates.",
    series.length,
    [rows, marks],
  );
}

/** The value at `share` of ordered values, between two of them where it lies there. */
function quantile(ordered, share) {
  const place = share * (ordered.length - 1);
  const below = Math.floor(place);
  const above = ordered[Math.min(below + 1, ordered.length - 1)];
  return ordered[below] + (above - ordered[below]) * (place - below);
}

function drift(item, series, data) {
  const { height, left, right } = STRIP;
  const places = series.flatMap((one) => one.places);
  const first = Math.min(...places);
  const span = Math.max(...places) - first || 1;
  const rows = series.map(({ runner, values, places: own }, line) => {
    const middle = middleOf(line);
    const estimate = item.time[0][runner];
    const dots = values.map((value, block) => {
      if (value == null) return "";
      const part = Math.max(-1, Math.min(1, (value / estimate - 1) / item.drift));
      const x = left + (((own[block] ?? block) - first) / span) * (right - left);
      return `M${x.toFixed(1)} ${(middle - part * (height / 2 - 2)).toFixed(1)}h0`;
    });
    return strip(data.runners[runner], runner, middle, dots);
  });
  const y = series.length * height + 16;
  const ends = html`<text x="${left}" y="${y}">first</text><text class="end" x="${right}" y="${y}">last process of the case</text>`;
  const range = `±${(item.drift * 100).toPrecision(2)} %`;
  return figure(
    "Drift.",
    `Each process against its runner's estimate, in run order; a strip spans ${range}.`,
    "Each process against its runner's estimate, in the order of the run.",
    series.length,
    [rows, ends],
  );
}

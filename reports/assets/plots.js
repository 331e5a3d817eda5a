// A case's samples: the strips of its runners, and their drift over the run.
import { samples } from "./data.js";
import { time } from "./format.js";
import { el, logAxis, svg } from "./svg.js";

const WIDTH = 560;
const STRIP = { height: 20, left: 138, right: 548 };

/** Draws both charts of a case into `place` for the runners in `shown`. */
export function drawPlots(place, data, shown, looks, unit) {
  const item = data.cases[place.dataset.plots];
  const timed = shown.filter((runner) => item.samples[runner].some((x) => x != null));
  if (!item.axis || !timed.length) return place.replaceChildren();
  const series = timed.map((runner) => ({ runner, look: looks[runner], ...samples(item, runner) }));
  place.replaceChildren(strips(item, series, data, unit), drift(item, series, data));
}

function figure(title, text, drawing) {
  return el("figure", {}, el("figcaption", {}, el("b", {}, title), ` ${text}`), drawing);
}

/** A runner's row: its name, the line in the middle, a dot for each process, and `more` marks. */
function strip(name, runner, look, middle, dots, more = []) {
  const { left, right } = STRIP;
  return [
    svg("text", { class: "end", x: left - 10, y: middle + 3.5 }, name),
    svg("path", { class: "rule", d: `M${left - 4} ${middle}H${right + 4}` }),
    svg(
      "g",
      { class: look.hue, "data-r": runner },
      svg("path", { class: "dots", d: dots.join("") }),
      ...more,
    ),
  ];
}

function strips(item, series, data, unit) {
  const { height, left, right } = STRIP;
  const [low, high, ticks] = item.axis;
  const at = logAxis(low, high, right - left, 0);
  const bottom = series.length * height;
  const root = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${bottom + 22}`,
    role: "img",
    "aria-label": "The time of each process by runner; the table above has the estimates.",
  });
  series.forEach(({ runner, look, values }, index) => {
    const middle = index * height + height / 2;
    const ordered = values.filter((x) => x != null).sort((a, b) => a - b);
    const x = (share) => (left + at(quantile(ordered, share))).toFixed(1);
    const dots = ordered.map((value, i) => {
      return `M${(left + at(value)).toFixed(1)} ${(middle + ((i % 3) - 1) * 4).toFixed(1)}h0`;
    });
    const boxes = [
      svg("path", { class: "box", d: `M${x(0.25)} ${middle - 7}H${x(0.75)}v14H${x(0.25)}z` }),
      svg("path", { class: "box", d: `M${x(0.5)} ${middle - 7}v14` }),
    ];
    root.append(...strip(data.runners[runner][0], runner, look, middle, dots, boxes));
  });
  let last = -Infinity;
  for (const tick of ticks) {
    const x = left + at(tick);
    root.append(svg("path", { class: "axis-line", d: `M${x} ${bottom}v4` }));
    if (x - last < 52) continue;
    last = x;
    root.append(svg("text", { class: "x", x, y: bottom + 17 }, time([tick, null, null], unit)[0]));
  }
  return figure(
    "Distribution.",
    "Each process's time as a dot; the box holds the middle half, its line is the median.",
    root,
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
  const root = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${series.length * height + 22}`,
    role: "img",
    "aria-label": "Each process against its runner's estimate, in the order of the run.",
  });
  series.forEach(({ runner, look, values, places: own }, index) => {
    const middle = index * height + height / 2;
    const estimate = item.time[0][runner];
    const dots = values.map((value, block) => {
      if (value == null) return "";
      const part = Math.max(-1, Math.min(1, (value / estimate - 1) / item.drift));
      const x = left + (((own[block] ?? block) - first) / span) * (right - left);
      return `M${x.toFixed(1)} ${(middle - part * (height / 2 - 2)).toFixed(1)}h0`;
    });
    root.append(...strip(data.runners[runner][0], runner, look, middle, dots));
  });
  const y = series.length * height + 16;
  root.append(
    svg("text", { x: left, y }, "first"),
    svg("text", { class: "end", x: right, y }, "last process of the case"),
  );
  const range = `±${(item.drift * 100).toPrecision(2)} %`;
  return figure(
    "Drift.",
    `Each process against its runner's estimate, in run order; a strip spans ${range}.`,
    root,
  );
}

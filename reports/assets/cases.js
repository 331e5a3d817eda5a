// One case: its forest table for a reference, and its distribution and drift charts, drawn when opened.
import { comparison, FAR, samples, triple } from "./data.js";
import { inverse, ratio, signedTime, time } from "./format.js";
import { absolute, reading } from "./matrix.js";
import { drawTicks, el, forestMark, logAxis, named, ratioAxis, svg } from "./svg.js";

const WIDTH = 560;
const ECDF = { height: 230, left: 34, right: 548, top: 8, bottom: 198 };
const STRIP = { height: 20, left: 138, right: 548 };

/** Writes the table of one opened case. */
export function paintCase(details, data, state) {
  const table = details.querySelector(".forest");
  const item = data.cases[details.dataset.c];
  const reference = data.runners.findIndex(([name]) => name === state.ref);
  const ratios = data.runners.map((_, runner) => {
    const found = comparison(data, item, runner, reference);
    return found && (state.as ? inverse(found.ratio) : found.ratio);
  });
  const axis = ratioAxis(
    ratios.filter((known) => known),
    data,
  );
  drawTicks(table.querySelector(".ticks"), axis);
  const metric = item.metric === "cold" ? "Cold" : "Time";
  const { time: head } = named(table.tHead.rows[0]);
  head.textContent = state.as ? `${item.unit}s per second` : `${metric} per ${item.unit}`;
  for (const row of table.tBodies[0].rows) {
    const runner = Number(row.dataset.r);
    const shown = reading(data, item, runner, reference, state);
    if (!shown) continue;
    row.className = shown.cls;
    const { time: own, glyph, ratio: against, verdict, over, ...figures } = named(row);
    pair(own, absolute(item, runner, state));
    const known = ratios[runner] ?? (runner === reference ? [1, 1, 1] : null);
    glyph.querySelector("svg").replaceChildren(...forestMark(known, axis, data.margin));
    pair(against, ratios[runner] ? ratio(ratios[runner]) : ["", ""]);
    verdict.replaceChildren(...judged(shown, state, ofMedians(item, runner, reference, shown)));
    for (const [name, , quantity] of data.figures) {
      const value = item.figures[name]?.[runner];
      const timed = quantity === "ns" && value != null;
      if (timed) rewrite(figures[name], time([value, null, null], state.unit)[0]);
    }
    const extra = triple(item.overhead, runner);
    if (over && extra) {
      const [text, bounds] = signedTime(extra, state.unit);
      rewrite(over, text);
      const words = over.querySelector(".v");
      words.textContent = words.textContent.replace(/\[.*?\]/, bounds);
    }
  }
  tellSecondary(table, data, reference);
}

/** The verdict of a row: its symbol and words, what would resolve it, what the median says, and where
 * one more session would lie. */
function judged({ cls, symbol, found }, state, medians) {
  if (!found) return [cls === "base" ? "reference" : "not compared"];
  const needs = found.needs ? `; needs about ${found.needs} blocks` : "";
  const parts = [el("i", { "aria-hidden": "true" }, symbol), ` ${found.verdict}${needs}`];
  const shown = (triple) => ratio(state.as ? inverse(triple) : triple);
  if (medians) {
    const text = `these medians make ${shown([medians, null, null])[0]}`;
    parts.push(" ", el("small", { class: "more" }, text));
  }
  if (found.far) parts.push(" ", el("small", { class: "more" }, FAR));
  if (found.cross) {
    const text = `but the median says ${shown(found.cross).join(" ")}`;
    parts.push(" ", el("small", { class: "more" }, text));
  }
  if (found.next) {
    parts.push(" ", el("small", { class: "more" }, `next session ${shown(found.next)[1]}`));
  }
  return parts;
}

/** The ratio of the two times shown, where that lies outside the ratio's interval; else null. */
function ofMedians(item, runner, reference, { found }) {
  const [, low, high] = found?.ratio ?? [];
  const quotient = item.time[0][runner] / item.time[0][reference];
  return low == null || high == null || (low <= quotient && quotient <= high) ? null : quotient;
}

/** Verdicts of figures beside the time are known against the report's own reference only. */
function tellSecondary(table, data, reference) {
  const away = reference !== data.reference;
  table.classList.toggle("away", away);
  const place = table.parentElement;
  const old = place.nextElementSibling;
  if (old?.classList.contains("secondary")) old.remove();
  if (!away || data.reference < 0 || !table.querySelector('td:not([data-f="over"]) .m')) return;
  const [own, other] = [data.reference, reference].map((runner) => data.runners[runner][0]);
  place.after(
    el(
      "p",
      { class: "dim secondary" },
      `Verdicts beside the time are against ${own}; `,
      el("code", {}, `./just report --reference ${other}`),
      ` renders them against ${other}.`,
    ),
  );
}

/** Writes a figure before the verdict that follows it. */
function rewrite(cell, text) {
  cell.firstChild.nodeValue = cell.childNodes.length > 1 ? `${text} ` : text;
}

function pair(cell, [text, bounds]) {
  if (!text) return cell.replaceChildren();
  cell.replaceChildren(el("b", {}, text), " ", el("small", {}, bounds));
}

/** Draws both charts of a case into `place` for the runners in `shown`. */
export function drawPlots(place, data, shown, looks, unit) {
  const item = data.cases[place.dataset.plots];
  const timed = shown.filter((runner) => item.samples[runner].some((x) => x != null));
  if (!item.axis || !timed.length) return place.replaceChildren();
  const series = timed.map((runner) => ({ runner, look: looks[runner], ...samples(item, runner) }));
  place.replaceChildren(ecdf(item, series, unit), drift(item, series, data));
}

function figure(title, text, drawing) {
  return el("figure", {}, el("figcaption", {}, el("b", {}, title), ` ${text}`), drawing);
}

function ecdf(item, series, unit) {
  const { height, left, right, top, bottom } = ECDF;
  const [low, high, ticks] = item.axis;
  const at = logAxis(low, high, right - left, 0);
  const down = (share) => Math.round((bottom - share * (bottom - top)) * 10) / 10;
  const root = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: "img",
    "aria-label":
      "Share of processes that took at most a given time, by runner; the table above has the estimates.",
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    root.append(
      svg("path", { class: "rule", d: `M${left} ${down(share)}H${right}` }),
      svg("text", { class: "y", x: left - 5, y: down(share) + 3.5 }, `${share * 100}%`),
    );
  }
  let last = -Infinity;
  for (const tick of ticks) {
    const x = left + at(tick);
    root.append(svg("path", { class: "axis-line", d: `M${x} ${bottom}v4` }));
    if (x - last < 52) continue;
    last = x;
    root.append(svg("text", { class: "x", x, y: bottom + 17 }, time([tick, null, null], unit)[0]));
  }
  for (const { runner, look, values } of series) {
    const known = values.filter((x) => x != null).sort((a, b) => a - b);
    let path = `M${left + at(known[0])} ${down(0)}`;
    known.forEach((value, index) => {
      path += `H${(left + at(value)).toFixed(1)}V${down((index + 1) / known.length)}`;
    });
    root.append(
      svg(
        "g",
        { class: `${look.hue} dash${look.shape}`, "data-r": runner },
        svg("path", { class: "line", d: path }),
      ),
    );
  }
  return figure(
    "Distribution.",
    "Share of processes at or below a time; steeper is steadier.",
    root,
  );
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
    root.append(
      svg("text", { class: "end", x: left - 10, y: middle + 3.5 }, data.runners[runner][0]),
      svg("path", { class: "rule", d: `M${left - 4} ${middle}H${right + 4}` }),
      svg(
        "g",
        { class: look.hue, "data-r": runner },
        svg("path", { class: "dots", d: dots.join("") }),
      ),
    );
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

/** Dims all series of a case but one; null lights all. */
export function light(details, runner) {
  for (const group of details.querySelectorAll("[data-r]")) {
    group.classList.toggle("dim-out", runner !== null && Number(group.dataset.r) !== runner);
  }
}

// The standings of each group against the chosen reference.
import { exp } from "./data.js";
import { inverse, ratio } from "./format.js";
import { drawTicks, el, forestMark, named, ratioAxis, svg } from "./svg.js";

const BAR = 120;

/** Rewrites every summary table for `state`. */
export function paintSummary(data, state, keyOf) {
  const reference = data.runners.findIndex(([name]) => name === state.ref);
  for (const table of document.querySelectorAll(".standing")) {
    const group = data.groups.indexOf(table.dataset.group);
    const rows = data.standings
      .filter((row) => row[0] === group && row[2] === reference)
      .map(([, runner, , value, low, high, cases, verdict, ...counts]) => {
        const known = value == null ? null : exp([value, low, high]);
        const side = verdict ? data.verdicts[verdict][2] : "un";
        return { runner, known: known && state.as ? inverse(known) : known, side, cases, counts };
      });
    rows.push({ runner: reference, known: [1, null, null], counts: null });
    const best = (row) =>
      row.known ? row.known[0] * (state.as ? -1 : 1) : Number.POSITIVE_INFINITY;
    rows.sort((a, b) => best(a) - best(b));
    const axis = ratioAxis(
      rows.flatMap((row) => (row.known ? [row.known] : [])),
      data,
      data.summary,
    );
    drawTicks(table.querySelector(".ticks"), axis);
    const old = [...table.tBodies[0].rows];
    table.tBodies[0].replaceChildren(
      ...rows.map((row) => {
        const own = old.find((tr) => Number(tr.dataset.r) === row.runner);
        return fillRow(own ?? spare(old[0], row.runner), row, axis, data, keyOf);
      }),
    );
  }
}

/** A row for a runner that had none against the last reference. */
function spare(row, runner) {
  const copy = row.cloneNode(true);
  for (const cell of copy.cells) cell.replaceChildren();
  copy.dataset.r = runner;
  return copy;
}

function fillRow(row, { runner, known, side, counts }, axis, data, keyOf) {
  const own = !counts;
  row.className = own ? "base" : side === "f" || side === "s" ? side : "un";
  const { runner: head, ratio: mean, glyph, tally } = named(row);
  head.replaceChildren(keyOf(runner), data.runners[runner][0]);
  const [text, bounds] = own
    ? ["1×", "reference"]
    : known
      ? ratio(known)
      : ["\u2013", "not compared"];
  mean.replaceChildren(el("b", {}, text), " ", el("small", {}, bounds));
  const frame = { class: "w", viewBox: `0 0 ${data.summary[0]} 14`, "aria-hidden": "true" };
  glyph.replaceChildren(svg("svg", frame, ...forestMark(known, axis)));
  tally.replaceChildren();
  if (own) return row;
  const shown = el("span", { "aria-hidden": "true" }, signs(counts, data.counts));
  const spoken = el("span", { class: "v" }, words(counts, data.counts));
  tally.append(bar(counts, data.counts), shown, spoken);
  return row;
}

function bar(counts, kinds) {
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  let place = 0;
  const parts = [];
  for (const [index, count] of counts.entries()) {
    const width = (BAR * count) / total;
    const [, , style] = kinds[index];
    const ends = { x: place.toFixed(1), width: width.toFixed(1), height: 8 };
    if (count) parts.push(svg("rect", { class: style, ...ends }));
    place += width;
  }
  return svg("svg", { viewBox: `0 0 ${BAR} 8`, "aria-hidden": "true" }, ...parts);
}

/** All counts, the last only where there are any. */
function words(counts, kinds) {
  const parts = counts.map((count, index) => `${count} ${kinds[index][0]}`);
  return (counts.at(-1) ? parts : parts.slice(0, -1)).join(", ");
}

function signs(counts, kinds) {
  const marks = counts.map((count, index) => (count ? `${count}${kinds[index][1]}` : ""));
  return marks.filter((mark) => mark).join(" ");
}

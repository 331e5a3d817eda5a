// The standings of each group against the chosen reference.
import { exp } from "./data.js";
import { inverse, ratio } from "./format.js";
import { drawTicks, el, forestMark, ratioAxis, svg } from "./svg.js";

const KINDS = ["faster", "slower", "equivalent", "unresolved", "not_ok"];
const BAR = 120;

/** Rewrites every summary table for `state`. */
export function paintSummary(data, state, keyOf) {
  const reference = data.runners.findIndex(([name]) => name === state.ref);
  for (const table of document.querySelectorAll(".standing")) {
    const group = data.groups.indexOf(table.dataset.group);
    const rows = data.standings
      .filter((row) => row[0] === group && row[2] === reference)
      .map(([, runner, , value, low, high, cases, ...counts]) => {
        const known = value == null ? null : exp([value, low, high]);
        return { runner, known: known && state.as ? inverse(known) : known, cases, counts };
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
    table.tBodies[0].replaceChildren(...rows.map((row) => line(row, axis, data, state, keyOf)));
  }
}

function line({ runner, known, counts }, axis, data, state, keyOf) {
  const name = data.runners[runner][0];
  const own = !counts;
  const [text, bounds] = own
    ? ["1×", "reference"]
    : known
      ? ratio(known)
      : ["\u2013", "not compared"];
  const glyph = svg(
    "svg",
    { class: "w", viewBox: `0 0 ${data.summary[0]} 14`, "aria-hidden": "true" },
    ...forestMark(known, axis),
  );
  return el(
    "tr",
    { class: own ? "base" : side(known, Boolean(state.as)) },
    el("th", { scope: "row" }, keyOf(runner), name),
    el("td", { class: "n" }, el("b", {}, text), " ", el("small", {}, bounds)),
    el("td", { class: "glyph" }, glyph),
    el(
      "td",
      { class: "tally" },
      ...(own
        ? []
        : [
            bar(counts),
            el("span", { "aria-hidden": "true" }, signs(counts)),
            el("span", { class: "v" }, words(counts)),
          ]),
    ),
  );
}

function side(known, more) {
  if (!known || known[1] == null || known[2] == null) return "un";
  if (known[2] < 1) return more ? "s" : "f";
  return known[1] > 1 ? (more ? "f" : "s") : "un";
}

function bar(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  let place = 0;
  const parts = [];
  for (const [index, count] of counts.entries()) {
    const width = (BAR * count) / total;
    if (count) {
      const kind = `t-${KINDS[index]}`;
      parts.push(
        svg("rect", { class: kind, x: place.toFixed(1), width: width.toFixed(1), height: 8 }),
      );
    }
    place += width;
  }
  return svg("svg", { viewBox: `0 0 ${BAR} 8`, "aria-hidden": "true" }, ...parts);
}

function words([faster, slower, equivalent, unresolved, without]) {
  const text = `${faster} faster, ${slower} slower, ${equivalent} equivalent, ${unresolved} not resolved`;
  return without ? `${text}, ${without} without result` : text;
}

function signs(counts) {
  const marks = counts.map((count, kind) => (count ? `${count}${"▲▼≈?∅"[kind]}` : ""));
  return marks.filter((mark) => mark).join(" ");
}

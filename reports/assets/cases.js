// One case: its forest table for a reference.
import { comparison, triple } from "./data.js";
import { inverse, ratio, signedTime, time } from "./format.js";
import { absolute, reading } from "./matrix.js";
import { drawTicks, el, forestMark, named, ratioAxis } from "./svg.js";

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

/** The verdict of a row: its symbol and words, what would resolve it, and where one more session
 * would lie. */
function judged({ words, symbol, found }, state, medians) {
  if (!found) return [words];
  const needs = found.needs ? `; needs about ${found.needs} blocks` : "";
  const parts = [el("i", { "aria-hidden": "true" }, symbol), ` ${found.verdict}${needs}`];
  const shown = (triple) => ratio(state.as ? inverse(triple) : triple);
  if (medians) {
    const text = `these medians make ${shown([medians, null, null])[0]}`;
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

/** Seats a case below its row of the matrix, where it opens; without a matrix it opens in its section. */
export function seat(details, grid) {
  const row = grid?.querySelector(`tr[data-c="${details.dataset.c}"]`);
  if (!row || details.closest("tr")) return;
  const cell = el("td", { colspan: row.cells.length });
  cell.append(details);
  row.after(el("tr", { class: "opened" }, cell));
}

/** Dims all series of a case but one; null lights all. */
export function light(details, runner) {
  for (const group of details.querySelectorAll("[data-r]")) {
    group.classList.toggle("dim-out", runner !== null && Number(group.dataset.r) !== runner);
  }
}

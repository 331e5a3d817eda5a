// The matrix: its cells for a reference and a measure, and its order.
import { comparison, mean, referenceOf, triple } from "./data.js";
import { figureKey, figureReading } from "./figures.js";
import { inverse, rate, ratio, time } from "./format.js";
import { html } from "./markup.js";
import { el, logAxis } from "./svg.js";

const NS_PER_S = 1e9;
// Of cases and of groups.
const ROWS = "tr[data-c], tr.group";
// More of them, and the matrix shows its groups' means first.
const MOST_ROWS = 40;
// Of the picture in a cell: width and free ends in px, and the ratio to which its axis runs.
const [GLYPH_WIDTH, GLYPH_PAD, GLYPH_MOST] = [88, 4, 4];
const glyphAt = logAxis(1 / GLYPH_MOST, GLYPH_MOST, GLYPH_WIDTH, GLYPH_PAD);

/** A cell's absolute value as text and bounds. */
export function absolute(item, runner, state) {
  const own = triple(item.time, runner);
  if (!own) return ["unknown", ""];
  return state.as ? rate(inverse(own, NS_PER_S)) : time(own, state.unit);
}

/** What one cell shows: `{cls, symbol, text, words, mark}`; null for an outcome without a number. */
export function reading(data, item, runner, reference, state) {
  if (item.outcomes[runner] !== "k") return null;
  const own = absolute(item, runner, state);
  const [apart, why] = item.apart[runner] ?? [];
  const found = comparison(data, item, runner, reference);
  if (!found) {
    const alone = uncompared(runner, reference);
    return { ...alone, text: own[0], words: why ?? alone.words, apart };
  }
  return { ...readingOf(found, state, state.view && own), found };
}

/** A ratio with its verdict, or `instead` of its numbers others. */
function readingOf(found, state, instead) {
  const mark = state.as ? inverse(found.ratio) : found.ratio;
  const [text, bounds] = instead || ratio(mark);
  return {
    cls: found.shade,
    symbol: found.symbol,
    text,
    words: `${found.verdict} ${bounds}`,
    mark,
  };
}

/** A group's mean; nothing where the cells show times, or another figure. */
function meanReading(data, group, runner, reference, state) {
  const found = state.view || state.figure ? null : mean(data, group, runner, reference);
  return found ? readingOf(found, state) : uncompared(runner, reference);
}

/** What is compared with nothing, as the reference itself is. */
function uncompared(runner, reference) {
  const base = runner === reference;
  const [cls, words] = base ? ["base", "reference"] : ["un", "not compared"];
  return { cls, symbol: "", text: "", words };
}

// Rows that are painted when they come near the screen.
let waiting;

/** Writes all cells for `state`. */
export function paint(table, data, state) {
  waiting?.disconnect();
  const reference = referenceOf(data, state);
  for (const row of table.querySelectorAll(ROWS)) paintRow(row, data, state);
  for (const head of table.tHead.querySelectorAll("[data-r]")) {
    head.classList.toggle("ref", Number(head.dataset.r) === reference);
  }
}

/**
 * Adds what the script draws to cells whose words are those of `state` already, as rendered: a row when it comes near
 * the screen, because in all of 2,000 cells it takes as long as the rest of the page.
 */
export function paintNear(table, data, state) {
  waiting = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        waiting.unobserve(target);
        paintRow(target, data, state);
      }
    },
    { rootMargin: "100%" },
  );
  for (const row of table.querySelectorAll(ROWS)) waiting.observe(row);
}

function paintRow(row, data, state) {
  const reference = referenceOf(data, state);
  const item = data.cases[row.dataset.c];
  const group = data.groups.indexOf(row.closest("tbody").dataset.group);
  const read = state.figure ? figureReading : reading;
  for (const cell of row.querySelectorAll("td[data-r]")) {
    const runner = Number(cell.dataset.r);
    const shown = item
      ? read(data, item, runner, reference, state)
      : meanReading(data, group, runner, reference, state);
    paintCell(cell, shown);
  }
}

/** Writes a cell; one without a reading is an outcome and stays. */
function paintCell(cell, shown) {
  if (!shown) return;
  const { cls, symbol, text, words, apart, mark } = shown;
  cell.className = cls;
  const sign = mark && html`<i aria-hidden="true">${symbol}</i> `;
  cell.innerHTML = html`<b>${sign}${text}</b>${apart && html`<small>${apart}</small>`}${mark && glyph(mark)}<span class="v">${words}</span>`;
}

/** An interval in the matrix; an arrow head is beyond the axis. */
function glyph([value, low, high]) {
  const over = value > GLYPH_MOST ? 1 : value < 1 / GLYPH_MOST ? -1 : 0;
  const point = over
    ? html`<path class="o" d="M${over > 0 ? GLYPH_WIDTH - 2 : 2} 5l${-4 * over}-4v8z"/>`
    : html`<path class="d" d="M${glyphAt(value)} 5h0"/>`;
  return html`<svg class="g" viewBox="0 0 ${GLYPH_WIDTH} 10" aria-hidden="true"><path class="z" d="M${GLYPH_WIDTH / 2} 0v10"/><path class="i" d="M${glyphAt(low ?? value)} 5H${glyphAt(high ?? value)}"/>${point}</svg>`;
}

/** Folds the groups of a long matrix that have a mean to show; a button at each opens it. */
export function foldGroups(table) {
  if (table.querySelectorAll("tr[data-c]").length <= MOST_ROWS) return;
  for (const body of table.tBodies) {
    if (!body.querySelector(".group > td")) continue;
    const button = asButton(body.querySelector(".group > th > span"));
    button.append(` (${body.querySelectorAll("tr[data-c]").length})`);
    button.addEventListener("click", () => fold([body], !body.matches(".folded")));
  }
  fold(table.tBodies, true);
}

/** Puts what `node` holds into a button, which it returns. */
export function asButton(node) {
  const button = el("button", { type: "button" }, ...node.childNodes);
  node.append(button);
  return button;
}

/** Hides the cases of groups behind their means, or shows them; one without a button has nothing to fold. */
export function fold(bodies, folded) {
  const buttons = [...bodies].map((body) => body.querySelector(".group button")).filter(Boolean);
  if (!buttons.length) return;
  for (const button of buttons) {
    button.closest("tbody").classList.toggle("folded", folded);
    button.setAttribute("aria-expanded", !folded);
  }
  const table = buttons[0].closest("table");
  if (table.querySelector("td[tabindex]")?.checkVisibility()) return;
  const cells = [...table.querySelectorAll("tr[data-c] td[data-r]")];
  keyStop(
    table,
    cells.find((cell) => cell.checkVisibility()),
  );
}

/** Makes a cell the one that Tab reaches; returns it. */
export function keyStop(table, cell) {
  table.querySelector("td[tabindex]")?.removeAttribute("tabindex");
  cell?.setAttribute("tabindex", "0");
  return cell;
}

/** Orders the rows of each group by a column: "case", a runner's name, or either after "-" for descending. */
export function sort(table, data, state) {
  const down = state.sort.startsWith("-");
  const name = state.sort.replace(/^-/, "");
  const runner = data.runners.findIndex(([other]) => other === name);
  const reference = referenceOf(data, state);
  const key = (row) => {
    const item = data.cases[row.dataset.c];
    if (!name) return Number(row.dataset.c);
    if (name === "case") return item.id;
    if (item.outcomes[runner] !== "k") return null;
    if (state.figure) return figureKey(data, item, runner, reference, state);
    // what the cells show: the inverse of a time is a rate
    const sense = state.as ? -1 : 1;
    if (state.view) return sense * item.time[0][runner];
    if (runner === reference) return 0;
    const logs = comparison(data, item, runner, reference)?.logs;
    return logs ? sense * logs[0] : null;
  };
  for (const body of table.tBodies) {
    const before = [...body.querySelectorAll("tr[data-c]")];
    const rows = before.map((row) => [key(row), row, row.nextElementSibling]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    // moving a row costs layout, and takes the focus from what is in it
    if (rows.some(([, row], place) => row !== before[place])) {
      const whole = ([, row, below]) => (below?.matches(".opened") ? [row, below] : [row]);
      body.append(...rows.flatMap(whole));
    }
  }
  for (const head of table.querySelectorAll("th[data-sort]")) {
    const own = head.dataset.sort;
    if (own === name) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

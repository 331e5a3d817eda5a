// A cell of the matrix in full, for pointer, touch and keyboard: a card with its samples, its interval and
// verdict, what would resolve it, the command that runs it again, and its address.
import { comparison, referenceOf, samples, triple } from "./data.js";
import { amountOf, compareFigure, figureShown } from "./figures.js";
import { inverse, ratio, time } from "./format.js";
import { html } from "./markup.js";
import { absolute, keyStop } from "./matrix.js";
import { write } from "./state.js";
import { el, logAxis } from "./svg.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const DOTS = { width: 300, height: 30, pad: 6 };

/** Makes the cells of `grid` one stop of the keyboard: arrows move in it, Enter or a click opens the card. */
export function wireCells(grid, data, stateNow) {
  const card = document.body.appendChild(
    el("div", { id: "cell-card", popover: "auto", role: "dialog", tabindex: "-1" }),
  );
  grid.setAttribute("role", "grid");
  keyStop(grid, grid.querySelector("tr[data-c] td[data-r]"));
  const open = (cell) => {
    keyStop(grid, cell);
    card.replaceChildren(...content(data, cell, stateNow()));
    card.showPopover();
    place(card, cell);
    card.focus();
  };
  const cellOf = ({ target }) => target.closest("tr[data-c] td[data-r]");
  grid.addEventListener("click", (event) => {
    if (cellOf(event)) open(cellOf(event));
  });
  grid.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (!step && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (!step) return open(cell);
    const next = neighbour(grid, cell, step);
    if (next) keyStop(grid, next).focus();
  });
}

function neighbour(grid, cell, [down, right]) {
  const rows = [...grid.querySelectorAll("tr[data-c]")].filter((row) => row.checkVisibility());
  const row = rows[rows.indexOf(cell.parentElement) + down];
  const shown = [...(row?.querySelectorAll("td[data-r]:not([hidden])") ?? [])];
  const at = shown.findIndex((one) => one.dataset.r === cell.dataset.r);
  if (!right) return shown[at];
  return shown[at + right];
}

function place(card, cell) {
  const box = cell.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - card.offsetWidth - 8);
  const below = box.bottom + 4;
  const top = below + card.offsetHeight < innerHeight ? below : box.top - card.offsetHeight - 4;
  card.style.left = `${Math.max(8, left)}px`;
  card.style.top = `${Math.max(8, top)}px`;
}

function content(data, cell, state) {
  const index = Number(cell.parentElement.dataset.c);
  const runner = Number(cell.dataset.r);
  const item = data.cases[index];
  const name = data.runners[runner][0];
  const title = el("h3", {}, `${item.title}: ${name}`);
  const address = write({ ...state, case: item.id, runner: [...new Set([state.ref, name])] }, data);
  const command = item.card.commands[runner];
  const [label, meaning] = data.outcomes[item.outcomes[runner]];
  const close = el("button", { type: "button", popovertarget: "cell-card" }, "Close");
  return [
    title,
    ...(item.outcomes[runner] === "k"
      ? linesOf(data, item, runner, state)
      : [el("p", {}, `${label}. ${item.why[runner] ?? meaning}`)]),
    ...(command ? [el("p", {}, "Again: ", el("code", {}, command))] : []),
    el("p", {}, el("a", { href: address }, "Link to this cell"), " ", close),
  ];
}

function linesOf(data, item, runner, state) {
  const reference = referenceOf(data, state);
  const [own, bounds] = absolute(item, runner, state);
  const parts = [el("p", {}, el("b", {}, own), ` ${bounds} ${state.as ? "" : `per ${item.unit}`}`)];
  const compared = comparison(data, item, runner, reference);
  if (compared) {
    const turned = (triple) => ratio(state.as ? inverse(triple) : triple).join(" ");
    const what = `${turned(compared.ratio)} the ${state.as ? "rate" : "time"} of ${state.ref}`;
    const needs = compared.needs ? `; needs about ${compared.needs} blocks` : "";
    const verdict = `${compared.symbol} ${compared.verdict}${needs}`;
    parts.push(el("p", {}, `${what}, from ${compared.blocks} blocks: `, el("b", {}, verdict)));
  }
  const [apart, why] = item.apart[runner] ?? [];
  if (apart) parts.push(el("p", {}, `Compared with nothing: ${why}.`));
  else if (!compared && runner !== reference) {
    parts.push(el("p", {}, `It is not compared with ${state.ref}.`));
  }
  const figure = figureShown(data, state);
  if (figure) parts.unshift(figureLine(data, item, figure, runner, reference, state));
  const drawn = dots(item, runner, state);
  return drawn ? [...parts, drawn] : parts;
}

function figureLine(data, item, figure, runner, reference, state) {
  const { value, mark, letter } = compareFigure(data, item, figure, runner, reference);
  const against = mark && runner !== reference ? `, ${ratio(mark)[0]} that of ${state.ref}` : "";
  const verdict = letter ? `: ${data.verdicts[letter][1]} ${figure.less[letter]}` : "";
  const amount = el("b", {}, amountOf(figure, value, state.unit));
  return el("p", {}, `${figure.title}: `, amount, `${against}${verdict}`);
}

/** Each block's time as a dot, the estimate and its interval below them. */
function dots(item, runner, state) {
  const values = samples(item, runner).values.filter((x) => x != null);
  if (!values.length) return null;
  const { width, height, pad } = DOTS;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const at = logAxis(low, high > low ? high : low * 1.01, width, pad);
  const marks = values.map((x, i) => `M${at(x)} ${6 + (i % 3) * 5}h0`).join("");
  const [middle, from, to] = triple(item.time, runner);
  const text = (x) => time([x, null, null], state.unit)[0];
  const figure = el("figure");
  figure.innerHTML = html`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true"><path class="dots" d="${marks}"/><path class="i" d="M${at(from ?? middle)} 25H${at(to ?? middle)}"/><path class="d" d="M${at(middle)} 25h0"/></svg><figcaption>${values.length} blocks, ${text(low)} to ${text(high)}; median below</figcaption>`;
  return figure;
}

// Wires the controls to the page. The page is complete without this script for its own reference.
// An A/B comparison has no matrix, no other reference and no units to choose.
import { addressed, keepAddressed, stayInFrame } from "./address.js";
import { hintScrolls, wireBar, wireHeads, wireSheet } from "./bar.js";
import { addCardTools } from "./cardcopy.js";
import { light, paintCase, seat } from "./cases.js";
import { wireCells } from "./cellcard.js";
import { copyText } from "./clipboard.js";
import { callsIn, paintDecision, wireDecision } from "./decide.js";
import { save } from "./export.js";
import { figureLead } from "./figures.js";
import { paint, sort } from "./matrix.js";
import { unpacked, wireFolds } from "./packed.js";
import { drawPlots } from "./plots.js";
import { wireScatter } from "./scatter.js";
import { defaults, read, write } from "./state.js";
import { tellTallies } from "./tally.js";
import { describe, select, show, showRow } from "./visible.js";

const $ = (id) => document.getElementById(id);
const data = JSON.parse(await unpacked($("data")));
const grid = $("grid");
const plain = JSON.stringify(defaults(data));
const names = data.runners.map(([name]) => name);
const values = (id) => [...($(id)?.querySelectorAll("button") ?? [])].map((one) => one.value);
const choices = {
  ref: [...($("ref")?.options ?? [])].map((one) => one.value),
  case: data.cases.map((item) => item.id),
  figure: [...($("figure")?.options ?? [])].map((one) => one.value),
  weights: (text) => callsIn(data.weighing, text) != null,
  sort: ["case", ...names],
  group: values("chips-group"),
  profile: values("chips-profile"),
  runner: values("chips-runner"),
};
const keys = [...document.querySelectorAll("#keys-of-runners .k")];
const looks = keys.map((key) => ({
  hue: key.classList[1],
  shape: key.firstElementChild.getAttribute("href").slice(2),
}));
const keyOf = (runner) => keys[runner].cloneNode(true);

const drawScatter = wireScatter(
  data,
  () => state,
  () => selected,
);
const fillFolds = wireFolds(data.folds, wireParts);
let state = defaults(data);
let selected = select(data, state);
// What the numbers on the page were written for; static ones are written for the defaults.
let painted = numbersKey();

function numbersKey() {
  return [state.ref, state.view, state.as, state.unit, state.figure].join();
}

function render() {
  const key = numbersKey();
  if (key !== painted) {
    painted = key;
    paint(grid, data, state);
    for (const node of document.querySelectorAll(".ref-name")) node.textContent = state.ref;
    // styles choose the words that fit
    Object.assign(document.documentElement.dataset, { as: state.as, view: state.view });
    sayFigure();
  }
  paintDecision(data, state.weights, state.runner, keyOf);
  if (grid) sort(grid, data, state);
  selected = select(data, state);
  // which folds hold a row that is left
  if (selected.cases.size < data.cases.length) fillFolds();
  show(selected);
  tellTallies(data, state, selected);
  for (const details of document.querySelectorAll("details.case[open]")) freshen(details);
  drawScatter();
  showControls();
}

/** What the matrix shows, where that is not the time. */
function sayFigure() {
  for (const node of document.querySelectorAll("#matrix .of-time")) {
    node.hidden = state.figure !== "";
  }
  for (const node of document.querySelectorAll("#matrix .of-figure")) {
    node.hidden = state.figure === "";
    node.textContent = state.figure && figureLead(data, state);
  }
}

/** Brings an opened case up to date; `data-for` says what it was drawn for. */
function freshen(details) {
  const key = `${numbersKey()},${[...selected.runners]}`;
  if (details.dataset.for === key) return;
  details.dataset.for = key;
  unfold(details);
  if (JSON.stringify({ ...state, case: "" }) !== plain || details.dataset.painted) {
    paintCase(details, data, state);
    details.dataset.painted = "1";
  }
  const shown = [...selected.runners].sort((a, b) => a - b);
  drawPlots(details.querySelector(".plots"), data, shown, looks, state.unit);
  addCopyButtons(details);
  addCardTools(details, data.run);
}

function showControls() {
  for (const id of ["ref", "unit", "theme", "figure"]) if ($(id)) $(id).value = state[id];
  if ($("decided")) $("decided").checked = state.decided;
  if ($("q").value !== state.q) $("q").value = state.q;
  const press = (id, on) => {
    for (const button of $(id)?.querySelectorAll("button") ?? []) {
      button.setAttribute("aria-pressed", on(button.value));
    }
  };
  press("view", (value) => value === state.view);
  press("as", (value) => value === state.as);
  for (const list of ["group", "profile", "runner"]) {
    press(`chips-${list}`, (value) => state[list].includes(value));
  }
  $("count").textContent = describe(data, selected);
  if (state.theme) document.documentElement.dataset.theme = state.theme;
  else delete document.documentElement.dataset.theme;
}

/** Takes a change, draws it and keeps it in the address; typing replaces the entry in the history. */
function change(part, replace = false) {
  state = { ...state, ...part };
  render();
  // An opaque origin (a sandboxed viewer) may refuse; the page works on without an address.
  try {
    keepAddressed(write(state, data), replace);
  } catch (error) {
    console.warn("the view is not kept in the address:", error.message);
  }
}

function fromAddress() {
  const hash = addressed();
  const anchor = /^#([a-z][\w-]*)$/.exec(hash)?.[1];
  if (anchor && $(anchor)) {
    openAt($(anchor));
    return;
  }
  const { state: wanted, unknown } = read(hash, data, choices);
  state = wanted;
  render();
  if (unknown.length) $("count").textContent += ` Ignored in the address: ${unknown.join(", ")}.`;
  if (state.case) openAt($(`c-${choices.case.indexOf(state.case)}`));
}

function openAt(node) {
  const details = node.closest("details");
  if (details?.matches(".case")) seat(details, grid);
  if (details) {
    details.open = true;
    showRow(details); // before the event, which comes later, since what is hidden takes no focus
  }
  // a case is known by its title, which stands above its body
  const title = details?.closest("tr.opened")?.previousElementSibling ?? details ?? node;
  title.scrollIntoView({ block: "start" });
  const target = node === details ? details.querySelector("summary") : node;
  if (details) target.focus({ preventScroll: true });
}

/** What every part of the page has, a fold once it is filled. */
function wireParts(root) {
  hintScrolls(root.querySelectorAll(".scroll"));
  addCopyButtons(root);
}

function addCopyButtons(root) {
  for (const code of root.querySelectorAll("code.copy")) {
    if (code.nextElementSibling?.tagName === "BUTTON") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", () => copyText(code.textContent, code, button));
    code.after(button);
  }
}

function wireControls() {
  for (const id of ["ref", "unit", "theme", "figure"]) {
    $(id)?.addEventListener("change", (event) => change({ [id]: event.target.value }));
  }
  $("decided")?.addEventListener("change", (event) => change({ decided: event.target.checked }));
  $("q").addEventListener("input", (event) => change({ q: event.target.value }, true));
  $("reset").addEventListener("click", () => change(defaults(data)));
  $("help-open").addEventListener("click", () => $("help").showModal());
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["view", "as"]) {
    $(id)?.addEventListener("click", ({ target }) => {
      if (target.tagName === "BUTTON") change({ [id]: target.value });
    });
  }
  for (const list of ["group", "profile", "runner"]) {
    $(`chips-${list}`)?.addEventListener("click", ({ target }) => {
      if (target.tagName !== "BUTTON") return;
      const rest = state[list].filter((value) => value !== target.value);
      change({ [list]: rest.length < state[list].length ? rest : [...rest, target.value] });
    });
  }
  for (const button of document.querySelectorAll("#downloads button")) {
    button.addEventListener("click", () => save(button.dataset.file, data));
  }
}

function wireGrid() {
  for (const head of grid.querySelectorAll("th[data-sort]")) {
    const name = head.dataset.sort;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    // Ascending, descending, then the report's own order again.
    const next = { [name]: `-${name}`, [`-${name}`]: "" };
    button.addEventListener("click", () => change({ sort: next[state.sort] ?? name }));
  }
  for (const link of grid.querySelectorAll('a[href^="#c-"]')) {
    link.setAttribute("aria-expanded", "false");
  }
  wireCells(grid, data, () => state);
  wireHeads(grid.tHead);
}

function wireLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#c-"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const index = Number(link.hash.slice(3));
    if (link.getAttribute("aria-expanded") === "true") {
      $(`c-${index}`).closest("details").open = false;
      return change({ case: "" });
    }
    change({ case: data.cases[index].id });
    openAt($(`c-${index}`));
  });
}

/** A long page keeps the body of a case as text until it is opened. */
function unfold(details) {
  const text = details.querySelector('script[type="text/html"]');
  if (!text) return;
  text.insertAdjacentHTML("beforebegin", text.textContent);
  text.remove();
  for (const node of details.querySelectorAll(".ref-name")) node.textContent = state.ref;
  details.dataset.painted = "1";
  wireRows(details);
}

function wireRows(details) {
  const rows = details.querySelector(".forest").tBodies[0];
  rows.addEventListener("mouseover", ({ target }) => {
    const row = target.closest("tr[data-r]");
    if (row) light(details, Number(row.dataset.r));
    const mark = target.closest(".m");
    if (mark) mark.title = mark.querySelector(".v").textContent.trim();
  });
  rows.addEventListener("mouseleave", () => light(details, null));
}

function wireCases() {
  for (const details of document.querySelectorAll("details.case")) {
    details.addEventListener("toggle", () => {
      showRow(details);
      if (details.open) freshen(details);
    });
    if (details.querySelector(".forest")) wireRows(details);
  }
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.case[open]")) freshen(details);
  });
}

const SHORTCUTS = {
  "/": () => $("q").focus(),
  r: () => $("ref")?.focus(),
  t: () => change({ theme: { "": "dark", dark: "light", light: "" }[state.theme] }),
  "?": () => $("help").showModal(),
};

function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement === $("q")) change({ q: "" }, true);
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName);
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !$("keys").checked) return;
    if (!SHORTCUTS[event.key] || $("help").open) return;
    event.preventDefault();
    SHORTCUTS[event.key]();
  });
}

wireControls();
wireDecision(data, change);
wireBar(document.querySelector(".bar"));
wireSheet($("more"));
wireParts(document);
if (grid) wireGrid();
wireLinks();
stayInFrame();
wireCases();
wireKeys();
$("controls").hidden = false;
if ($("figure")) $("figure").parentElement.hidden = false;
$("downloads").hidden = false;
addEventListener("hashchange", fromAddress);
addEventListener("popstate", fromAddress);
fromAddress();
document.documentElement.dataset.ready = "1";

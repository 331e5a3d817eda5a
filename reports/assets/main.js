// Wires the controls to the page, whose words and numbers are there without this script for its own reference.
// An A/B comparison has no matrix, no other reference and no units to choose.
import { addressed, keepAddressed, stayInFrame } from "./address.js";
import { hintScrolls, wireBar, wireHeads, wireSheet } from "./bar.js";
import { addCardTools } from "./cardcopy.js";
import { caseBody, caseElement, light, paintTimes } from "./cases.js";
import { wireCells } from "./cellcard.js";
import { copyText } from "./clipboard.js";
import { planned, spreadOut } from "./data.js";
import { callsIn, paintDecision, wireDecision } from "./decide.js";
import { save } from "./export.js";
import { figureLead } from "./figures.js";
import { asButton, fold, foldGroups, paint, paintNear, sort } from "./matrix.js";
import { unpacked, wireFolds } from "./packed.js";
import { plots } from "./plots.js";
import { wireScatter } from "./scatter.js";
import { defaults, read, write } from "./state.js";
import { tellTallies } from "./tally.js";
import { describe, select, show, showRow } from "./visible.js";

const $ = (id) => document.getElementById(id);
const data = spreadOut(JSON.parse(await unpacked($("data"))));
const grid = $("grid");
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

const drawScatter = wireScatter(
  data,
  () => state,
  () => selected,
);
const fillFolds = wireFolds(data.folds, wireParts);
let state = defaults(data);
let selected = select(data, state);
// What the numbers on the page were written for; as rendered, for the defaults.
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
  paintDecision(data, state.weights, state.runner);
  if (grid) sort(grid, data, state);
  selected = select(data, state);
  // which folds hold a row that is left
  if (selected.cases.size < data.cases.length) fillFolds(document);
  // what the reader asks of cases is not answered by means of groups
  const ofCases = state.sort || state.view || state.figure;
  if (grid && (ofCases || selected.cases.size < data.cases.length)) fold(grid.tBodies, false);
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
  const index = Number(details.dataset.c);
  const body = details.querySelector(".case-body");
  if (!body.hasChildNodes()) {
    body.innerHTML = caseBody(data, index);
    wireParts(details);
    addCardTools(details, data.run);
  }
  const shown = [...selected.runners]
    .filter((runner) => planned(data.cases[index], runner))
    .sort((a, b) => a - b);
  paintTimes(details, data, state, shown);
  details.querySelector(".plots").innerHTML = plots(data, index, shown, state.unit);
}

/** A case of the page: below its row of the matrix, where there is one, when it is first asked for. */
function caseAt(index) {
  const made = $(`c-${index}`)?.closest("details");
  if (made) return made;
  const details = caseElement(data, index);
  wireRows(details);
  const row = grid.querySelector(`tr[data-c="${index}"]`);
  const cell = document.createElement("td");
  cell.colSpan = grid.tHead.rows[0].cells.length;
  cell.append(details);
  const opened = document.createElement("tr");
  opened.className = "opened";
  opened.append(cell);
  row.after(opened);
  return details;
}

/** Lists the cases by group, on a page without a matrix. */
function listCases(list) {
  const groups = new Map();
  for (const [index, item] of data.cases.entries()) {
    if (!groups.has(item.group)) groups.set(item.group, []);
    const details = caseElement(data, index);
    wireRows(details);
    groups.get(item.group).push(details);
  }
  list.replaceChildren();
  for (const [name, cases] of groups) {
    const group = document.createElement("details");
    group.className = "group fold";
    const head = document.createElement("summary");
    head.textContent = `${name[0].toUpperCase()}${name.slice(1)} (${cases.length})`;
    group.append(head, ...cases);
    list.append(group);
  }
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
  const index = Number(/^c-(\d+)$/.exec(anchor)?.[1]);
  if (index < data.cases.length) caseAt(index);
  if (anchor && $(anchor)) {
    if (!document.documentElement.dataset.ready) render(); // what the script draws of the first screen
    openAt($(anchor));
    return;
  }
  const { state: wanted, unknown } = read(hash, data, choices);
  state = wanted;
  render();
  if (unknown.length) $("count").textContent += ` Ignored in the address: ${unknown.join(", ")}.`;
  if (state.case) openCase(choices.case.indexOf(state.case));
}

function openCase(index) {
  openAt(caseAt(index).querySelector(".case-body"));
}

function openAt(node) {
  const details = node.closest("details");
  if (details) {
    const group = details.closest("#grid tbody");
    if (group) fold([group], false);
    for (let box = details; box; box = box.parentElement.closest("details")) box.open = true;
    // before the event, which comes later: what is not there yet takes neither room nor focus
    fillFolds(details);
    if (details.matches(".case")) freshen(details);
    showRow(details);
  }
  // a case is known by its title, which stands above its body
  const title = details?.closest("tr.opened")?.previousElementSibling ?? details ?? node;
  title.scrollIntoView({ block: "start" });
  const target = node.matches("section, details") ? details?.querySelector("summary") : node;
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
    const button = asButton(head);
    // Ascending, descending, then the report's own order again.
    const next = { [name]: `-${name}`, [`-${name}`]: "" };
    button.addEventListener("click", () => change({ sort: next[state.sort] ?? name }));
  }
  for (const link of grid.querySelectorAll('a[href^="#c-"]')) {
    link.setAttribute("aria-expanded", "false");
  }
  wireCells(grid, data, () => state);
  foldGroups(grid); // moves the cell that Tab reaches to one that is seen
  wireHeads(grid.tHead);
  paintNear(grid, data, state);
  addEventListener("beforeprint", () => paint(grid, data, state));
}

function wireLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#c-"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const index = Number(link.hash.slice(3));
    if (link.getAttribute("aria-expanded") === "true") {
      caseAt(index).open = false;
      return change({ case: "" });
    }
    change({ case: data.cases[index].id });
    openCase(index);
  });
}

/** A row of an opened case lights its runner in the charts. */
function wireRows(details) {
  details.addEventListener("mouseover", ({ target }) => {
    const row = target.closest(".forest tr[data-r]");
    light(details, row ? Number(row.dataset.r) : null);
    const mark = target.closest(".m");
    if (mark) mark.title = mark.querySelector(".v").textContent.trim();
  });
}

function wireCases() {
  if ($("list")) listCases($("list"));
  const toggled = ({ target }) => {
    if (!target.matches("details.case")) return;
    showRow(target);
    if (target.open) freshen(target);
  };
  document.addEventListener("toggle", toggled, true);
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

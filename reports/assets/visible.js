// Which cases and runners the reader's filter leaves, and showing just those.
import { comparison, planned, referenceOf } from "./data.js";
import { facts, matches, parse, unknownKeys } from "./filter.js";

let known = null;

/** `{cases, runners, hits}`: sets of indices, and per case the runners that match the text. */
export function select(data, state) {
  known ??= data.cases.map((item) => data.runners.map((runner) => facts(item, runner)));
  const terms = parse(state.q);
  const reference = referenceOf(data, state);
  const wanted = (list, value) => !list.length || list.includes(value);
  const cases = new Set();
  const runners = new Set();
  const hits = [];
  let undecided = 0;
  data.cases.forEach((item, index) => {
    if (!wanted(state.group, item.group) || !wanted(state.profile, item.axes.profile)) return;
    const mine = [...data.runners.keys()].filter(
      (runner) =>
        planned(item, runner) &&
        wanted(state.runner, data.runners[runner][0]) &&
        matches(terms, known[index][runner]),
    );
    if (!mine.length) return;
    if (state.decided && !mine.some((r) => comparison(data, item, r, reference)?.decided)) {
      undecided++;
      return;
    }
    cases.add(index);
    hits[index] = new Set(mine);
    for (const runner of mine) runners.add(runner);
  });
  return { cases, runners, hits, undecided, unknown: unknownKeys(terms, known) };
}

/** Hides what is not selected, in the matrix, the cases and the overhead tables. */
export function show({ cases, runners, hits }) {
  for (const row of document.querySelectorAll("tr[data-c]")) {
    const index = Number(row.dataset.c);
    // tables of runners have their names there, and no filter
    if (Number.isNaN(index)) continue;
    row.hidden = !cases.has(index);
    if (row.hidden || !row.closest("#grid")) continue;
    for (const cell of row.querySelectorAll("td[data-r]")) {
      cell.classList.toggle("off", !hits[index].has(Number(cell.dataset.r)));
    }
  }
  const ofRunners = "#grid :is(th, td)[data-r]";
  for (const part of document.querySelectorAll(ofRunners)) {
    part.hidden = !runners.has(Number(part.dataset.r));
  }
  for (const details of document.querySelectorAll("details.case")) {
    details.hidden = !cases.has(Number(details.dataset.c));
    showRow(details);
  }
  for (const body of document.querySelectorAll("#grid tbody")) {
    body.hidden = !body.querySelector("tr[data-c]:not([hidden])");
    // its mean is over all of its cases
    body.classList.toggle("part", Boolean(body.querySelector("tr[data-c][hidden]")));
  }
  for (const group of document.querySelectorAll("#cases .group")) {
    group.hidden = !group.querySelector("details.case:not([hidden])");
  }
  for (const fold of document.querySelectorAll(".fold:has(tr[data-c])")) {
    fold.hidden = !fold.querySelector("tr[data-c]:not([hidden])");
  }
}

/** Shows the row of the matrix in which a case is open, and says so at its link. */
export function showRow(details) {
  const row = details.closest("tr.opened");
  if (!row) return;
  row.hidden = details.hidden || !details.open;
  row.previousElementSibling.querySelector("a").setAttribute("aria-expanded", details.open);
}

/** The selection in words; "" when nothing is left out. */
export function describe(data, { cases, runners, undecided, unknown }) {
  if (unknown.length) return `There is no filter key "${unknown[0]}".`;
  if (cases.size === data.cases.length && runners.size === data.runners.length) return "";
  if (!cases.size && !undecided) return "Nothing matches the filter.";
  const text = `${cases.size} of ${data.cases.length} cases, ${runners.size} of ${data.runners.length} runners`;
  const hidden = undecided ? `; ${undecided} with nothing decided hidden` : "";
  const whole = {
    compare: " Geometric means cover all cases.",
    claims: " The claims cover all cases.",
  };
  return `${text}${hidden}.${whole[data.kind] ?? ""}`;
}

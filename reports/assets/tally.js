// Tallies of verdicts: of a case in its title.
import { comparison, referenceOf } from "./data.js";

const KINDS = { f: "faster", s: "slower", eq: "equivalent" };
// the letters of verdicts that decide nothing
const UNDECIDED = ["n", "t"];

/** `{"faster": 4, …}` over `runners` of a case against `reference`; only the kinds that occur, in order. */
export function sides(data, item, runners, reference) {
  const order = [...Object.values(KINDS), ...UNDECIDED.map((letter) => data.verdicts[letter][0])];
  const counts = new Map(order.map((kind) => [kind, 0]));
  for (const runner of runners) {
    const compared = comparison(data, item, runner, reference);
    if (!compared) continue;
    const kind = KINDS[compared.side] ?? compared.verdict;
    counts.set(kind, counts.get(kind) + 1);
  }
  return new Map([...counts].filter(([, number]) => number));
}

/** "4 faster, 2 slower". */
export function sidesInWords(counts) {
  return [...counts].map(([kind, number]) => `${number} ${kind}`).join(", ");
}

/** Writes the tally of each case in the page, against the chosen reference and of the chosen runners. */
export function tellTallies(data, state, { cases, hits }) {
  const reference = referenceOf(data, state);
  for (const details of document.querySelectorAll("details.case")) {
    const index = Number(details.dataset.c);
    if (!cases.has(index)) continue;
    const text = sidesInWords(sides(data, data.cases[index], hits[index], reference));
    const tally = details.querySelector("summary .tally");
    if (tally.textContent !== text) tally.textContent = text;
  }
}

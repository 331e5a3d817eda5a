// A second run beside this one: its summary.json, read where it lies, and cell by cell the ratio of the times.
import { triple } from "./data.js";
import { ratio } from "./format.js";
import { el } from "./svg.js";

const ALIKE = ["unit", "metric"];

/** What the file says, or an Error with what is wrong with it. */
export function readAnother(text, data) {
  let other;
  try {
    other = JSON.parse(text);
  } catch {
    throw new Error("This is no JSON. Choose the summary.json of a run directory.");
  }
  if (!Array.isArray(other?.cases) || typeof other.run !== "string") {
    throw new Error("This is no summary of a run. Choose the summary.json of a run directory.");
  }
  if (other.version !== data.version) {
    throw new Error(
      `Its format is version ${other.version}, that of this page ${data.version}: render it again with ./just report.`,
    );
  }
  return other;
}

/**
 * Cells that both runs timed, by case: `{item, cells}` with a runner's ratio, this time over that one, and
 * whether the two intervals lie apart; `left` cases are in one run only, or in another unit.
 */
export function besideAnother(data, other) {
  const theirs = new Map(other.cases.map((one) => [one.id, one]));
  const rows = [];
  for (const item of data.cases) {
    const one = theirs.get(item.id);
    if (!one || ALIKE.some((key) => one[key] !== item[key])) continue;
    const times = new Map(one.cells.map((cell) => [cell.runner, cell.time]));
    const cells = data.runners.map(([name], runner) => {
      const [mine, that] = [triple(item.time, runner), times.get(name)];
      if (!mine || !that || !(that.value > 0)) return null;
      const bounded = [mine[1], mine[2], that.low, that.high].every((x) => x != null);
      const apart = bounded && (mine[1] > that.high || mine[2] < that.low);
      return { ratio: mine[0] / that.value, apart };
    });
    if (cells.some((cell) => cell)) rows.push({ item, cells });
  }
  const left = data.cases.length + other.cases.length - 2 * rows.length;
  return { rows, left };
}

/** What is not the same in both runs: the machine, and versions of runners. */
export function unlikeAnother(data, other) {
  const parts = [];
  for (const key of ["cpu", "os", "kernel"]) {
    const [mine, that] = [data.machine[key], other.machine?.[key]];
    if (mine && that && mine !== that) parts.push(`${key} ${mine} here, ${that} there`);
  }
  const versions = new Map(
    (other.runners ?? []).map((r) => [
      r.name,
      versionsOf([r.runtime_version, r.driver_version, r.sqlite_version]),
    ]),
  );
  for (const [name, mine] of Object.entries(data.versions)) {
    const that = versions.get(name);
    if (that && that !== versionsOf(mine))
      parts.push(`${name} ${versionsOf(mine)} here, ${that} there`);
  }
  return parts;
}

const versionsOf = (versions) => versions.filter(Boolean).join(" / ");

/** Wires the file chooser below the data. */
export function wireAnother(data) {
  const input = document.getElementById("another-file");
  const place = document.getElementById("another");
  if (!input) return;
  input.parentElement.hidden = false;
  input.addEventListener("change", async () => {
    if (!input.files.length) return place.replaceChildren();
    try {
      const other = readAnother(await input.files[0].text(), data);
      place.replaceChildren(...besides(data, other));
    } catch (error) {
      place.replaceChildren(el("p", { role: "alert" }, error.message));
    }
  });
}

function besides(data, other) {
  const { rows, left } = besideAnother(data, other);
  const unlike = unlikeAnother(data, other);
  const lead =
    `Times of ${data.run} over those of ${other.run}; below 1 is faster here. ` +
    "Bold where the two intervals lie apart. The runs were at different times, so this is no verdict: " +
    "./just compare RUN RUN judges two runs.";
  const notes = [el("p", { class: "dim" }, lead)];
  if (unlike.length)
    notes.push(el("p", { class: "dim" }, `Not the same in both: ${unlike.join("; ")}.`));
  if (left) {
    const many = left === 1 ? "1 case is" : `${left} cases are`;
    notes.push(
      el(
        "p",
        { class: "dim" },
        `${many} in one of the runs only, or measured in another unit, and not shown.`,
      ),
    );
  }
  if (!rows.length) return [...notes, el("p", {}, "The runs have no case in common.")];
  const shown = data.runners.flatMap((_, r) => (rows.some(({ cells }) => cells[r]) ? [r] : []));
  const head = [
    el("th", { scope: "col" }, "Case"),
    ...shown.map((r) => el("th", { scope: "col", class: "n" }, data.runners[r][0])),
  ];
  const body = rows.map(({ item, cells }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, item.id),
      ...shown.map((r) => el("td", { class: "n" }, written(cells[r]))),
    ),
  );
  const table = el(
    "table",
    {},
    el("caption", { class: "v" }, `This run over ${other.run}`),
    el("thead", {}, el("tr", {}, ...head)),
    el("tbody", {}, ...body),
  );
  const label = `This run over ${other.run}`;
  return [
    ...notes,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table),
  ];
}

function written(cell) {
  if (!cell) return "\u2013";
  const [text] = ratio([cell.ratio, null, null]);
  return cell.apart ? el("b", {}, text) : text;
}

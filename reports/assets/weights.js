// Who is ahead by given weights of the groups, and how it is said: the rules of analysis/choices.py and the words of
// render/document/weighed.py, which a test holds together with these.
import { ratio } from "./format.js";
import { combined, studentT } from "./student.js";

const GUARD_LEVEL = 0.99;
const GUARD_Z = 2.5758293035489004;
const POWER_Z = 0.8416212335729143;
const BOTH_Z = 1.2815515655446004;
const MOST_BLOCKS = 1000;
const CATCHING = 2;

/** `a`, `a and b`, `a, b and c`. */
export function listed(names) {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((text) => text).join(" and ");
}

/** A share in whole percent. */
export function whole(share) {
  return `${Math.floor(100 * share + 0.5)} %`;
}

/** Weights by group as shares of 1, in the order of the groups; null where all are 0. */
export function sharesOf(of, weights) {
  const values = of.groups.map(([name]) => Number(weights[name]) || 0);
  const sum = values.reduce((a, b) => a + b, 0);
  return sum > 0 ? values.map((value) => value / sum) : null;
}

/** What all is made of: `rows` of pairs by weights, and the decision. `of` is the page's `weighing`. */
export function decide(of, shares, data, out = []) {
  const table = compared(of, shares, data);
  const names = of.runners.map((place) => data.runners[place][0]);
  const used = shares.flatMap((share, place) => (share > 0 ? [place] : []));
  const absent = names.flatMap((name, r) => {
    const groups = used.filter((g) => of.groups[g][3][r] == null).map((g) => of.groups[g][0]);
    return groups.length ? [[r, name, groups]] : [];
  });
  const gone = new Set([...absent.map(([r]) => r), ...out.map((name) => names.indexOf(name))]);
  const fit = names.map((_, r) => r).filter((r) => !gone.has(r));
  const value = (r) => used.reduce((sum, g) => sum + shares[g] * of.groups[g][3][r], 0);
  const slower = (r, other) => sideOf(data, table(r, other)) === "s";
  const enough = of.blocks >= of.least;
  const many = fit.length > 1 && enough;
  const front = (many ? fit.filter((r) => !fit.some((other) => slower(r, other))) : []).sort(
    (a, b) => value(a) - value(b),
  );
  if (enough && fit.length === 1) front.push(fit[0]);
  const others = (many ? fit : [])
    .filter((r) => !front.includes(r) && table(r, front[0]))
    .sort((a, b) => table(a, front[0]).mean - table(b, front[0]).mean);
  const tied = front.flatMap((a) => front.filter((b) => a !== b).map((b) => table(a, b)));
  const alike = tied.length > 0 && tied.every((row) => row?.verdict === "e");
  const changes = many ? told(of, shares, data, table, front, fit) : [];
  const pair = many ? stillOpen(of, shares, data, table, front) : null;
  return { names, table, front, others, alike, absent, fit, changes, shares, pair };
}

/** `[runner, reference, blocks]` of a pair in front that is not settled, or null: analysis.ahead.still_open. */
function stillOpen(of, shares, data, table, front) {
  if (of.pairs.some(([, , means]) => means.length > 1) || guarded(of, shares) > 0) return null;
  const other = front
    .slice(1)
    .find((r) => table(r, front[0]) && table(r, front[0]).verdict !== "e");
  const row = other == null ? null : table(other, front[0]);
  if (!row || !Number.isFinite(row.low)) return null;
  const apart = Math.abs(row.mean);
  const within = Math.log1p(data.margin) - apart;
  const half = (row.high - row.low) / 2;
  const power = apart >= within ? POWER_Z : BOTH_Z;
  const factor = (half * (1 + power / of.z)) / Math.max(apart, within);
  return [other, front[0], Math.max(Math.ceil(of.blocks * factor ** 2), of.blocks + 1)];
}

/** What would settle it: render.document.recommendation.settled_by. */
function settledBy(of, names, [r, base, blocks]) {
  const pair = `${names[r]} against ${names[base]}`;
  if (blocks > MOST_BLOCKS)
    return `More than ${MOST_BLOCKS.toLocaleString("en-US")} blocks would be needed to settle ${pair}.`;
  const [command, seconds] = of.again;
  const minutes = Math.ceil((blocks * (seconds ?? 0)) / 60);
  const takes = minutes ? `, which take about ${minutes} minute${minutes === 1 ? "" : "s"},` : "";
  const asked = command ? `: ${command} --blocks ${blocks}` : "";
  return `About ${blocks} blocks${takes} would settle ${pair} in four of five runs${asked}.`;
}

/** `(runner, reference) -> {mean, low, high, verdict}` or null, in places among the runners. */
function compared(of, shares, data) {
  const used = shares.flatMap((share, place) => (share > 0 ? [place] : []));
  const worth = used.reduce((sum, g) => sum + shares[g] ** 2 / of.groups[g][1], 0);
  const guard = guarded(of, shares);
  const rows = new Map();
  for (const [i, j, means, squares, left, count, single] of of.pairs) {
    const sessions = means.map((mean, s) => ({
      ...weighed(used, shares, mean, squares[s]),
      freedom: left[s] > 1 ? Math.max((1.4 - 0.55 * worth) * (left[s] - 1), 1) : 0,
      count: count[s],
    }));
    const row = sessions.length > 1 ? combined(sessions) : sessions[0];
    if (!Number.isFinite(row.mean) || (sessions.length === 1 && row.count < 2)) continue;
    const one = verdictOf(row, guard, of, data);
    if (used.length === 1 && of.groups[used[0]][1] === 1)
      one.verdict = both(data, one.verdict, single[used[0]]);
    rows.set(`${i},${j}`, one);
  }
  return (runner, reference) => {
    const row = rows.get(`${runner},${reference}`);
    if (row) return row;
    const back = rows.get(`${reference},${runner}`);
    if (!back) return null;
    const { mean, low, high, verdict } = back;
    return { mean: -mean, low: -high, high: -low, verdict: data.verdicts[verdict][3] };
  };
}

function weighed(used, shares, mean, square) {
  const number = (x) => x ?? Number.NaN;
  let middle = 0;
  let spread = 0;
  for (const g of used) {
    middle += shares[g] * number(mean[g]);
    for (const h of used) {
      const [low, high] = g < h ? [g, h] : [h, g];
      spread += shares[g] * shares[h] * number(square[(high * (high + 1)) / 2 + low]);
    }
  }
  return { mean: middle, error: Math.sqrt(Math.max(spread, 0)) };
}

/** How far from 0 a mean must lie, by what the canary shows: stats.weights.weighed_guard. */
function guarded(of, shares) {
  const rows = of.groups.flatMap(([, , canary], g) =>
    canary && shares[g] > 0 ? [[shares[g], ...canary]] : [],
  );
  if (!rows.length) return 0;
  const mean = rows.reduce((sum, [w, m]) => sum + w * m, 0);
  const error = Math.sqrt(rows.reduce((sum, [w, , e]) => sum + (w * e) ** 2, 0));
  const count = Math.min(...rows.map((row) => row[4]));
  const half = error * studentT(GUARD_LEVEL, Math.min(...rows.map((row) => row[3])), GUARD_Z);
  return count >= of.least && Math.abs(mean) > half ? Math.abs(mean) + half : 0;
}

function verdictOf({ mean, error, freedom, count }, guard, of, data) {
  if (count < of.least || !Number.isFinite(error))
    return { mean, low: Number.NaN, high: Number.NaN, verdict: "t" };
  const half = error * studentT(of.level, freedom, of.z);
  const [low, high] = [mean - half, mean + half];
  const [near, far] = [Math.max(low, -high), Math.max(-low, high)];
  const limit = Math.log1p(data.margin);
  let verdict = "n";
  if (near > guard && near > 0) {
    verdict = high < 0 ? "f" : "s";
    if (near > limit) verdict = verdict.toUpperCase();
  } else if (far < limit && guard === 0) verdict = "e";
  return { mean, low, high, verdict };
}

/** No more than the verdict on the only case says: stats.groups.capped. */
function both(data, group, single) {
  if (data.verdicts[group][2] !== data.verdicts[single][2]) return group === "t" ? "t" : "n";
  return group === "F" || group === "S" ? single : group;
}

function sideOf(data, row) {
  return row && data.verdicts[row.verdict][2];
}

/** What would change the decision: `[group, runner, row or null, share or null]`. */
function told(of, shares, data, table, front, fit) {
  return of.groups.flatMap(([group], g) => {
    const alone = compared(
      of,
      shares.map((_, h) => (h === g ? 1 : 0)),
      data,
    );
    const faster = (a, b) => sideOf(data, alone(a, b)) === "f";
    if (front.length > 1) {
      const ahead = front.filter((a) => front.every((b) => a === b || faster(a, b)));
      return ahead.map((a) => [group, a, null, null]);
    }
    const all = fit
      .filter((r) => r !== front[0] && faster(r, front[0]) && table(r, front[0]))
      .map((r) => {
        const row = alone(r, front[0]);
        return [group, r, row, crossing(table(r, front[0]).mean, row.mean, shares[g])];
      })
      .filter(([, , , share]) => share != null);
    all.sort((a, b) => a[3] - b[3]);
    return all.slice(0, 1);
  });
}

/** The share of a group at which two come out equal, or null: analysis.choices.crossing. */
function crossing(total, part, share) {
  if (share >= 1) return null;
  const rest = (total - share * part) / (1 - share);
  const at = rest > part ? rest / (rest - part) : Number.NaN;
  return share < at && at < 1 ? at : null;
}

/** A row as a ratio with its bounds. */
export function bounded({ mean, low, high }) {
  return [mean, low, high].map((x) => (Number.isFinite(x) ? Math.exp(x) : null));
}

function said(row) {
  const [text, bounds] = ratio(bounded(row));
  return `${text} ${bounds || "(no interval)"}`;
}

/** The decision in sentences, for weights of the reader's own. */
export function sentences(of, found, data) {
  const { names, table, front, others, absent, changes, shares, pair } = found;
  const base = names[front[0]];
  const apart = others.filter((r) => /[fs]/.test(sideOf(data, table(r, front[0]))));
  const rest = others.filter((r) => !apart.includes(r)).map((r) => names[r]);
  const weights = shares
    .flatMap((w, g) => (w > 0 ? [[w, of.groups[g][0]]] : []))
    .sort(([v, a], [w, b]) => w - v || (a < b ? -1 : 1))
    .map(([w, group]) => `${whole(w)} ${group}`);
  const lines = [
    `For your weights (a geometric mean of ${listed(weights)}): ${verdict(of, found)}`,
  ];
  if (apart.length) {
    const taken = apart.map((r) => `${names[r]} ${said(table(r, front[0]))}`);
    taken[0] = taken[0].replace(`${names[apart[0]]} `, `${names[apart[0]]} takes `);
    lines.push(`${listed(taken)} as long as ${base}.`);
  }
  if (rest.length)
    lines.push(
      `${listed(rest)} ${rest.length === 1 ? "is" : "are"} slower than one of these, by how much is not resolved.`,
    );
  for (const [, name, groups] of absent)
    lines.push(`${name} is left out: it has no time to compare in cases of ${listed(groups)}.`);
  if (pair) lines.push(settledBy(of, names, pair));
  const telling = new Map();
  for (const [group, r, row, share] of changes) {
    if (!row) telling.set(r, [...(telling.get(r) ?? []), group]);
    else
      lines.push(
        `If ${group} had more than about ${whole(share)} of the weight, ${names[r]} would take less time than ${base}: by ${group} alone, it takes ${said(row)} as long.`,
      );
  }
  for (const [r, groups] of telling) {
    const tied = front.filter((other) => other !== r).map((other) => names[other]);
    const each = groups.length > 1 ? "each of " : "";
    lines.push(
      `By ${each}${listed(groups)} alone, ${names[r]} is shown to be ahead of ${listed(tied)}.`,
    );
  }
  const catching = of.catching.filter(
    ([r, base, g]) =>
      front.length === 1 && base === front[0] && others.includes(r) && shares[g] > 0,
  );
  lines.push(...catching.slice(0, CATCHING).map(([, , , text]) => text));
  const [asked, amounts] = of.sustained;
  const known = front.map((r) => amounts[names[r]]).filter(Boolean);
  if (known.length) lines.push(`${asked} ${known.join("; ")}.`);
  const shown = new Set([...front, ...others].map((r) => names[r]));
  return [...lines, ...of.old.filter(([name]) => shown.has(name)).map(([, text]) => text)];
}

function verdict(of, { names, front, others, alike }) {
  if (of.blocks < of.least)
    return `nobody is ranked; the run has ${of.blocks} whole block${of.blocks === 1 ? "" : "s"}, and fewer than ${of.least} tell nothing.`;
  const all = listed(front.map((r) => names[r]));
  if (!front.length) return "nobody is recommended; no runner completed these groups.";
  if (front.length > 1)
    return `${all} are ${alike ? "equivalent" : "not told apart"}, and nobody is shown to be faster.`;
  if (!others.length) return `${all} alone is left, and there is nobody to compare it with.`;
  return `${all} takes the least time.`;
}

// Who is ahead by given calls of the operations, and how it is said: the rules of analysis/ranking.py and
// stats/verdict.py and the words of render/document/ranking.py, which a test holds together with these.
import { ratio, time } from "./format.js";
import { combined, moderate, studentT } from "./student.js";

const POWER_Z = 0.8416212335729143;
const BOTH_Z = 1.2815515655446004;
const MOST_BLOCKS = 1000;
const MOST_CALLS = 1e6;
const CATCHING = 2;
const NAMED = 3;
const PER = "per 1,000 requests";

/** `a`, `a and b`, `a, b and c`. */
export function listed(names) {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((text) => text).join(" and ");
}

/** All names of up to three, of more the first and how many others. */
function few(names) {
  return names.length <= NAMED ? listed(names) : `${names[0]} and ${names.length - 1} others`;
}

/** A share in percent. */
export function whole(share) {
  return Math.floor(100 * share + 0.5);
}

/** Calls by case as numbers, in the order of the operations; null where all are 0. */
export function callsOf(of, calls) {
  const values = of.operations.map(([name]) => Number(calls[name]) || 0);
  return values.some((value) => value > 0) ? values : null;
}

/** `1 point read`, `2,000 point reads`. */
export function many(name, number) {
  const text = number.toLocaleString("en-US", { maximumSignificantDigits: 10 });
  return `${text} ${name.replaceAll("(s)", number === 1 ? "" : "s")}`;
}

function plural(name) {
  return name.replaceAll("(s)", "s");
}

/** What all is made of: `table` of pairs by calls, and the decision among the `chosen` runners, all if
 * none is. `of` is the page's `weighing`. */
export function decide(of, calls, data, out = [], chosen = []) {
  const table = compared(of, calls, data);
  const names = of.runners.map((place) => data.runners[place][0]);
  const used = placesOf(calls);
  const unchosen = names.filter((name) => chosen.length && !chosen.includes(name));
  const absent = names.flatMap((name, r) => {
    if (unchosen.includes(name)) return [];
    const missing = used.filter((o) => of.operations[o][3][r] == null);
    const reasons = [...new Set(missing.map((o) => of.operations[o][6][r]))];
    return reasons.map((why) => {
      const alike = missing.filter((o) => of.operations[o][6][r] === why);
      return [r, name, alike.map((o) => plural(of.operations[o][1])), why];
    });
  });
  const left = [...out, ...unchosen].map((name) => names.indexOf(name));
  const gone = new Set([...absent.map(([r]) => r), ...left]);
  const fit = names.map((_, r) => r).filter((r) => !gone.has(r));
  const spent = names.map((_, r) => spentBy(of, calls, used, r));
  const slower = chains(fit, (r, other) => sideOf(data, table(r, other)) === "s");
  const enough = of.blocks >= of.least;
  const many = fit.length > 1 && enough;
  const front = (many ? fit.filter((r) => !fit.some((other) => slower(r, other))) : []).sort(
    (a, b) => spent[a].time - spent[b].time,
  );
  if (enough && fit.length === 1) front.push(fit[0]);
  const over = new Map();
  for (const r of many ? fit.filter((r) => !front.includes(r)) : []) {
    const rows = front.filter((base) => table(r, base));
    const told = rows.find((base) => sideOf(data, table(r, base)) === "s") ?? rows[0];
    if (told != null) over.set(r, { base: told, row: table(r, told), implied: slower(r, told) });
  }
  const others = [...over.keys()].sort((a, b) => over.get(a).row.mean - over.get(b).row.mean);
  const tied = front.flatMap((a) => front.filter((b) => a !== b).map((b) => table(a, b)));
  const alike = tied.length > 0 && tied.every((row) => row?.verdict === "e");
  const changes = many ? told(of, calls, data, front, fit) : [];
  const pair = many ? stillOpen(of, data, table, front) : null;
  return {
    ...{ names, table, slower, over, front, others, alike, absent, fit, changes },
    ...{ calls, spent, pair },
  };
}

/** Whether one is slower than another, or slower than who is slower than the other: analysis.ranking. */
function chains(fit, slower) {
  const known = new Set(
    fit.flatMap((a) => fit.filter((b) => slower(a, b)).map((b) => `${a},${b}`)),
  );
  for (const middle of fit)
    for (const a of fit)
      for (const b of fit)
        if (a !== b && known.has(`${a},${middle}`) && known.has(`${middle},${b}`))
          known.add(`${a},${b}`);
  return (a, b) => known.has(`${a},${b}`);
}

/** Runs of rows of which none is slower than another, as `[first, last]`, each in a lane. */
export function brackets(shown, slower) {
  const apart = (a, b) => slower(shown[a], shown[b]) || slower(shown[b], shown[a]);
  const runs = [];
  for (let first = 0; first < shown.length; first++) {
    let last = first;
    const open = (next) => {
      for (let k = first; k < next; k++) if (apart(k, next)) return false;
      return true;
    };
    while (last + 1 < shown.length && open(last + 1)) last++;
    if (last > first && !runs.some(([, end]) => end >= last)) runs.push([first, last]);
  }
  return runs;
}

function placesOf(calls) {
  return calls.flatMap((number, o) => (number > 0 ? [o] : []));
}

/** ns of 1,000 requests with a runner, and by operation its share of them; null where one is not known. */
function spentBy(of, calls, used, r) {
  if (used.some((o) => of.operations[o][3][r] == null)) return null;
  const times = used.map((o) => calls[o] * Math.exp(of.operations[o][3][r]));
  const sum = times.reduce((a, b) => a + b, 0);
  return { time: sum, parts: new Map(used.map((o, k) => [o, times[k] / sum])) };
}

/** `[runner, reference, blocks]` of a pair in front that is not settled, or null: analysis.ranking.still_open. */
function stillOpen(of, data, table, front) {
  if (of.pairs.some(([, , sessions]) => sessions.length > 1)) return null;
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

/** What would settle it: render.document.ranking.settled_by. */
function settledBy(of, names, [r, base, blocks]) {
  const pair = `${names[r]} against ${names[base]}`;
  if (blocks > MOST_BLOCKS)
    return `More than ${MOST_BLOCKS.toLocaleString("en-US")} blocks would be needed to settle ${pair}.`;
  const [command, seconds] = of.again;
  const minutes = Math.ceil((blocks * (seconds ?? 0)) / 60);
  const takes = minutes ? `, which take about ${minutes} minute${minutes === 1 ? "" : "s"},` : "";
  const asked = command ? `: ${command} --blocks ${blocks}` : "";
  return `About ${blocks} blocks${takes} would settle ${pair} with 80 % power${asked}.`;
}

/** `(runner, reference) -> {mean, low, high, verdict}` or null, in places among the runners. */
function compared(of, calls, data) {
  const used = placesOf(calls);
  const rows = new Map();
  const sums = of.pairs.map(([, , differences, middles, squares, left, count]) =>
    differences.map((difference, s) => ({
      ...summed(used, calls, difference, middles[s], squares[s], left[s]),
      count: count[s],
    })),
  );
  const several = sums.some((sessions) => sessions.length > 1);
  const family = several ? sums.map(combined) : moderate(sums.map(([only]) => only));
  for (const [k, [i, j, , , , , , single]] of of.pairs.entries()) {
    const row = family[k];
    if (!Number.isFinite(row.mean) || (!several && row.count < 2)) continue;
    const one = verdictOf(row, of, data);
    if (used.length === 1) one.verdict = both(data, one.verdict, single[used[0]]);
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

/** A pair's log ratio of sums with its error: stats.verdict.summed. */
function summed(used, calls, difference, middle, square, left) {
  const number = (x) => x ?? Number.NaN;
  const size = difference.length;
  const sums = [1, -1].map((sign) =>
    used.map((o) => calls[o] * Math.exp(number(middle[o]) + (sign * number(difference[o])) / 2)),
  );
  const [upper, lower] = sums.map((terms) => terms.reduce((a, b) => a + b, 0));
  const p = sums[0].map((term) => term / upper);
  const q = sums[1].map((term) => term / lower);
  const slope = [...p.map((x, k) => (x + q[k]) / 2), ...p.map((x, k) => x - q[k])];
  const at = [...used, ...used.map((o) => o + size)];
  let spread = 0;
  const own = [];
  for (const [k, g] of at.entries()) {
    for (const [l, h] of at.entries()) {
      const [low, high] = g < h ? [g, h] : [h, g];
      const term = slope[k] * slope[l] * number(square[(high * (high + 1)) / 2 + low]);
      spread += term;
      if (k === l) own.push(term);
    }
  }
  const total = own.reduce((a, b) => a + b, 0);
  const worth = total > 0 ? total ** 2 / own.reduce((sum, x) => sum + x ** 2, 0) : 1;
  const freedom = left > 1 ? Math.max((1.4 - 0.55 / worth) * (left - 1), 1) : 0;
  return { mean: Math.log(upper / lower), error: Math.sqrt(Math.max(spread, 0)), freedom };
}

function verdictOf({ mean, error, freedom, count }, of, data) {
  if (count < of.least || !Number.isFinite(error))
    return { mean, low: Number.NaN, high: Number.NaN, verdict: "t" };
  const half = error * studentT(of.level, freedom, of.z);
  const [low, high] = [mean - half, mean + half];
  const [near, far] = [Math.max(low, -high), Math.max(-low, high)];
  const limit = Math.log1p(data.margin);
  let verdict = "n";
  if (near > 0) {
    verdict = high < 0 ? "f" : "s";
    if (near > limit) verdict = verdict.toUpperCase();
  } else if (far < limit) verdict = "e";
  return { mean, low, high, verdict };
}

/** No more than the verdict on the only case that is called says: stats.groups.capped. */
function both(data, group, single) {
  if (data.verdicts[group][2] !== data.verdicts[single][2]) return group === "t" ? "t" : "n";
  return group === "F" || group === "S" ? single : group;
}

function sideOf(data, row) {
  return row && data.verdicts[row.verdict][2];
}

/** What would change the decision: `[operation, runner, row or null, calls or null]`. */
function told(of, calls, data, front, fit) {
  return of.operations.flatMap(([, , , levels], o) => {
    const alone = compared(
      of,
      calls.map((_, h) => (h === o ? 1 : 0)),
      data,
    );
    const faster = (a, b) => sideOf(data, alone(a, b)) === "f";
    if (front.length > 1) {
      const ahead = front.filter((a) => front.every((b) => a === b || faster(a, b)));
      return ahead.map((a) => [o, a, null, null]);
    }
    const all = fit
      .filter((r) => r !== front[0] && faster(r, front[0]))
      .map((r) => [o, r, alone(r, front[0]), crossing(of, calls, o, front[0], r, levels)])
      .filter(([, , , at]) => at != null);
    all.sort((a, b) => a[3] - b[3]);
    return all.slice(0, 1);
  });
}

/** The calls of an operation at which two come out equal, or null: analysis.ranking.crossing. */
function crossing(of, calls, place, lead, other, levels) {
  const cost = (o, r) => Math.exp(of.operations[o][3][r] ?? Number.NaN);
  const rest = placesOf(calls).filter((o) => o !== place);
  const behind = rest.reduce((sum, o) => sum + calls[o] * (cost(o, other) - cost(o, lead)), 0);
  const gained = Math.exp(levels[lead]) - Math.exp(levels[other]);
  const at = gained > 0 ? behind / gained : Number.NaN;
  return calls[place] < at && at <= MOST_CALLS ? at : null;
}

/** A row as a ratio with its bounds. */
export function bounded({ mean, low, high }) {
  return [mean, low, high].map((x) => (Number.isFinite(x) ? Math.exp(x) : null));
}

function said(row) {
  const [text, bounds] = ratio(bounded(row));
  return `${text} ${bounds || "(no interval)"}`;
}

/** The decision in sentences, for calls of the reader's own, among the `chosen` runners if any are. */
export function sentences(of, found, data, chosen = []) {
  const { names, front, others, absent, changes, calls, spent, pair } = found;
  const base = names[front[0]];
  const told = (o) => plural(of.operations[o][1]);
  const byMost = (numbers) => (a, b) =>
    numbers(b) - numbers(a) || (of.operations[a][1] < of.operations[b][1] ? -1 : 1);
  const called = placesOf(calls).sort(byMost((o) => calls[o]));
  const asked = listed(called.map((o) => many(of.operations[o][1], calls[o])));
  const starts = called.some((o) => of.operations[o][2]);
  const among = chosen.length ? `Among ${few(chosen)}, for` : "For";
  const lines = [
    `${among} your calls, ${verdict(of, found, starts, data.margin)}`,
    `P${PER.slice(1)}: ${asked}.`,
  ];
  lines.push(...behind(found, data));
  lines.push(...spentOn([...front, ...others], called, spent, told, names, byMost));
  for (const [, name, missing, why] of absent) {
    const reason = why ? `, for ${why} in` : ": it has no time to compare for";
    lines.push(`${name} is left out${reason} ${listed(missing)}.`);
  }
  if (pair) lines.push(settledBy(of, names, pair));
  const telling = new Map();
  for (const [o, r, row, at] of changes) {
    if (!row) telling.set(r, [...(telling.get(r) ?? []), told(o)]);
    else
      lines.push(
        `With more than about ${about(at)} ${told(o)} ${PER}, ${names[r]} would be ahead of ${base}: for ${told(o)} alone, it takes ${said(row)} as long.`,
      );
  }
  for (const [r, alone] of telling) {
    const tied = front.filter((other) => other !== r).map((other) => names[other]);
    const each = alone.length > 1 ? "each of " : "";
    lines.push(`For ${each}${listed(alone)} alone, ${names[r]} is ahead of ${listed(tied)}.`);
  }
  const catching = of.catching.filter(
    ([r, base, o]) => front.length === 1 && base === front[0] && others.includes(r) && calls[o] > 0,
  );
  lines.push(...catching.slice(0, CATCHING).map(([, , , text]) => text));
  const shown = new Set([...front, ...others].map((r) => names[r]));
  return [...lines, ...of.old.filter(([name]) => shown.has(name)).map(([, text]) => text)];
}

/** How much longer the others take, by whom they are held against; then what else is known of them. */
function behind({ names, over, front, others, spent }, data) {
  const limit = Math.log1p(data.margin);
  const near = ({ low, high, verdict }) =>
    data.verdicts[verdict][2] !== "un" && low > -limit && high < limit;
  const apart = (r) => /[fs]/.test(sideOf(data, over.get(r).row)) && !near(over.get(r).row);
  const lines = front.flatMap((base) => {
    const taken = others
      .filter((r) => over.get(r).base === base && apart(r))
      .map((r, k) => {
        const long = k ? "" : ` as long as ${names[base]}`;
        return `${names[r]}${k ? "" : " takes"} ${ns(spent[r])} (${said(over.get(r).row)}${long})`;
      });
    return taken.length ? [`${listed(taken)}.`] : [];
  });
  const words = new Map();
  for (const r of others.filter((r) => !apart(r))) {
    const { base, row, implied } = over.get(r);
    const slower = `slower than ${names[base]}, by how much is not resolved`;
    const open = row.verdict === "t" ? "not testable against" : "tied with";
    const what = near(row)
      ? `within ${percent(data.margin)} of ${names[base]}`
      : implied
        ? slower
        : `${open} ${names[base]}`;
    words.set(what, [...(words.get(what) ?? []), `${names[r]} (${ns(spent[r])})`]);
  }
  for (const [what, each] of words)
    lines.push(`${listed(each)} ${each.length === 1 ? "is" : "are"} ${what}.`);
  return lines;
}

/** What most of the time is, or what the time of the first consists of. */
function spentOn(shown, called, spent, told, names, byMost) {
  if (shown.length < 2 || called.length < 2) return [];
  const first = spent[shown[0]].parts;
  const order = [...called].sort(byMost((o) => first.get(o)));
  const shares = shown.map((r) => spent[r].parts.get(order[0]));
  if (Math.min(...shares) > 0.5) {
    const [low, high] = [Math.min(...shares), Math.max(...shares)].map(whole);
    const between = low === high ? `${high} %` : `${low} to ${high} %`;
    return [`Most of this time goes to ${told(order[0])}: ${between}.`];
  }
  const each = order.map((o) => `${whole(first.get(o))} % to ${told(o)}`);
  return [`${names[shown[0]]}'s time goes ${listed(each)}.`];
}

function percent(margin) {
  return `${Number((100 * margin).toPrecision(6))} %`;
}

/** A number of two significant digits. */
function about(number) {
  const step = 10 ** (Math.floor(Math.log10(number)) - 1);
  const rounded = Math.floor(number / step + 0.5) * step;
  return rounded.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

function ns(of) {
  return time([of.time, null, null])[0];
}

function verdict(of, { names, front, others, alike, spent }, starts, margin) {
  if (of.blocks < of.least) return `too few blocks for a verdict: ${of.blocks} of ${of.least}.`;
  if (!front.length)
    return others.length
      ? "no runner is fastest."
      : "no runner is recommended: no runner can be compared in all of these.";
  const per = ` of ${starts ? "start-up and database time" : "database time"} ${PER}`;
  if (front.length > 1) {
    const are = alike ? `equivalent (within ${percent(margin)})` : "tied";
    const span = [...new Set([front[0], front.at(-1)].map((r) => ns(spent[r])))].join(" to ");
    return `${few(front.map((r) => names[r]))} are ${are}: ${span}${per}.`;
  }
  if (!others.length)
    return `${names[front[0]]} alone is left, and no other can be compared with it.`;
  return `${names[front[0]]} is fastest: ${ns(spent[front[0]])}${per}.`;
}

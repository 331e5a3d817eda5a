// Access to the embedded columns; harness/sqlitmus/render/html/embed.py describes them.

const LOG_UNIT = 1e6;

/** The data with columns over all runners and pairs; they are kept of the runners with a time. */
export function spreadOut(data) {
  for (const item of data.cases) {
    const codes = [...item.outcomes];
    const places = codes.flatMap((code, place) => (code === "k" ? [place] : []));
    const pairs = places.flatMap((high, k) => places.slice(0, k).map((low) => pairOf(low, high)));
    const over = (at) => (column) => {
      const whole = [];
      for (const [k, place] of at.entries()) whole[place] = column[k];
      return whole;
    };
    const [ofRunners, ofPairs] = [over(places), over(pairs)];
    for (const name of ["time", "overhead", "pairs", "next"])
      item[name] = item[name].map(name === "pairs" || name === "next" ? ofPairs : ofRunners);
    for (const name of ["exponents", "samples", "positions", "over"])
      item[name] = ofRunners(item[name]);
    for (const columns of [item.figures, ...Object.values(item.judged)])
      for (const [name, column] of Object.entries(columns)) columns[name] = ofRunners(column);
    item.verdicts = ofPairs(item.verdicts);
    if (Array.isArray(item.blocks)) item.blocks = ofPairs(item.blocks);
  }
  return data;
}

/** Whether the run's plan holds a case's cell of this runner. */
export function planned(item, runner) {
  return item.outcomes[runner] !== "a";
}

/** The place of the runner that the others are compared with. */
export function referenceOf(data, state) {
  return data.runners.findIndex(([name]) => name === state.ref);
}

function pairOf(low, high) {
  return (high * (high - 1)) / 2 + low;
}

/** One quantity of a cell as `[value, low, high]`, or null. */
export function triple(columns, runner) {
  return columns[0]?.[runner] == null ? null : columns.map((column) => column[runner]);
}

/** Style class of a decided ratio: deeper with distance from 1. */
function shade(levels, verdict, side, value) {
  if (side !== "f" && side !== "s") return side;
  if (!verdict.startsWith("materially")) return `${side}1`;
  const size = Math.max(value, 1 / value);
  return side + (1 + levels.filter((level) => size >= level).length);
}

/** The stored comparison of two runners, turned where only its inverse is stored; null without one. */
export function comparison(data, item, runner, reference) {
  if (runner === reference) return null;
  const turned = runner < reference;
  const [low, high] = turned ? [runner, reference] : [reference, runner];
  const pair = pairOf(low, high);
  const stored = item.verdicts[pair];
  if (stored === " " || stored === undefined) return null;
  const logs = item.pairs.map((column) => column[pair]);
  const code = turned ? data.verdicts[stored][3] : stored;
  const [verdict, symbol, side] = data.verdicts[code];
  const ordered = turned ? turn(logs) : logs;
  const ratio = exp(ordered);
  return {
    logs: ordered,
    ratio,
    verdict,
    symbol,
    side,
    shade: shade(data.levels, verdict, side, ratio[0]),
    decided: side !== "un",
    blocks: Array.isArray(item.blocks) ? item.blocks[pair] : item.blocks,
    needs: item.needs[pair] ?? null,
    // Where one more session would lie.
    next:
      item.next.length &&
      ends([item.pairs[0][pair], item.next[0][pair], item.next[1][pair]], turned),
  };
}

/** A group's geometric mean of a runner over another's, with its verdict; null where there is none. */
export function mean(data, group, runner, reference) {
  const found = data.standings.find(
    ([of, mine, other]) => of === group && mine === runner && other === reference,
  );
  if (!found?.[6]) return null;
  const ratio = exp(found.slice(3, 6));
  const [verdict, symbol, side] = data.verdicts[found[6]];
  return { ratio, verdict, symbol, shade: shade(data.levels, verdict, side, ratio[0]) };
}

function ends(logs, turned) {
  return logs[1] != null ? exp(turned ? turn(logs) : logs) : null;
}

/** Logarithms of the inverse: signs and bounds change places. */
export function turn([value, low, high]) {
  const not = (x) => (x == null ? null : -x);
  return [not(value), not(high), not(low)];
}

/** Ratios from stored logarithms. */
export function exp(logs) {
  return logs.map((x) => (x == null ? null : Math.exp(x / LOG_UNIT)));
}

/** A cell's samples in ns, in block order, and their places in the run. */
export function samples(item, runner) {
  const scale = 10 ** item.exponents[runner];
  let place = 0;
  const places = (item.positions[runner] ?? []).map((step) => {
    place += step;
    return place;
  });
  const values = (item.samples[runner] ?? []).map((x) => (x == null ? null : x * scale));
  return { values, places };
}

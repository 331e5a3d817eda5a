// Two runners against each other: a point per case, their times per unit of work on both axes.
import { time } from "./format.js";
import { html } from "./markup.js";
import { reading } from "./matrix.js";

const FIELD = { size: 420, left: 64, bottom: 376, top: 12, right: 408 };
const DECADE = 10;

/** Wires the two choices; `stateNow` and `selectedNow` are the page's. Returns what draws the points again. */
export function wireScatter(data, stateNow, selectedNow) {
  const section = document.getElementById("scatter");
  if (!section) return () => {};
  const timed = [...data.runners.keys()].filter((runner) =>
    data.cases.some((item) => item.outcomes[runner] === "k"),
  );
  if (timed.length < 2) return () => {};
  const fold = section.querySelector("details");
  const [across, up] = ["scatter-x", "scatter-y"].map((id) => document.getElementById(id));
  const others = timed.filter((runner) => runner !== data.reference);
  for (const [choice, first] of [
    [across, timed.includes(data.reference) ? data.reference : timed[0]],
    [up, others[0]],
  ]) {
    const names = timed.map(
      (runner) => html`<option value="${runner}">${data.runners[runner][0]}</option>`,
    );
    choice.innerHTML = names.join("");
    choice.value = first;
  }
  const draw = () => {
    if (!fold.open) return;
    const pair = [Number(across.value), Number(up.value)];
    const [x, y] = pair.map((runner) => data.runners[runner][0]);
    const points = pointsOf(data, pair, stateNow(), selectedNow());
    document.getElementById("scatter-plot").innerHTML = plot(points, [x, y]);
    const above = points.filter((point) => point.y > point.x).length;
    const decided = points.filter((point) => point.decided).length;
    const count = points.length === 1 ? "1 case" : `${points.length} cases`;
    document.getElementById("scatter-said").textContent =
      x === y
        ? "Choose two different runners."
        : `${count} that both completed: ${y} took longer in ${above}; in ${decided} the difference is resolved.`;
  };
  for (const choice of [across, up]) choice.addEventListener("change", draw);
  fold.addEventListener("toggle", draw);
  section.hidden = false;
  return draw;
}

/** The shown cases that both completed, with their verdict of `y` over `x`. */
function pointsOf(data, [x, y], state, { cases }) {
  return [...cases].flatMap((index) => {
    const item = data.cases[index];
    if (item.outcomes[x] !== "k" || item.outcomes[y] !== "k") return [];
    const { cls, words, text, found } = reading(data, item, y, x, { ...state, view: "", as: "" });
    return [
      {
        ...{ index, id: item.id, cls, words: `${words}, ${text}` },
        ...{ x: item.time[0][x], y: item.time[0][y], decided: found?.decided },
      },
    ];
  });
}

function plot(points, [across, up]) {
  const { size, left, bottom, top, right } = FIELD;
  const all = points.flatMap(({ x, y }) => [x, y]);
  const low = DECADE ** Math.floor(Math.log10(Math.min(...all, 1e3)));
  const high = DECADE ** Math.ceil(Math.log10(Math.max(...all, 1e4)));
  const share = (value) => Math.log(value / low) / Math.log(high / low);
  const atX = (value) => Math.round((left + share(value) * (right - left)) * 10) / 10;
  const atY = (value) => Math.round((bottom - share(value) * (bottom - top)) * 10) / 10;
  const ticks = [];
  for (let tick = low; tick <= high * 1.01; tick *= DECADE) {
    const text = time([tick, null, null])[0];
    ticks.push(
      html`<path class="rule" d="M${atX(tick)} ${bottom}V${top}M${left} ${atY(tick)}H${right}"/><text class="x" x="${atX(tick)}" y="${bottom + 15}">${text}</text><text class="end" x="${left - 6}" y="${atY(tick) + 3.5}">${text}</text>`,
    );
  }
  const marks = points.map(({ index, id, cls, words, x, y }) => {
    const said = `${id}: ${words}`;
    return html`<a href="#c-${index}" class="${cls}" aria-label="${said}"><title>${said}</title><circle cx="${atX(x)}" cy="${atY(y)}" r="5"/></a>`;
  });
  return html`<svg class="scatter" viewBox="0 0 ${size} ${size}" width="${size}" role="group" aria-label="Time per unit of work: ${across} across, ${up} up.">${ticks}<path class="equal" d="M${left} ${bottom}L${right} ${top}"/><text class="x" x="${(left + right) / 2}" y="${size - 6}">${across} →</text><text class="x" transform="translate(12 ${(top + bottom) / 2}) rotate(-90)">${up} →</text>${marks}</svg>`;
}

// One case in full, drawn when it is opened: its times against a reference, its samples, its statements and
// how they were proven equal, and how to run a cell of it again.
import { comparison, exp, referenceOf, triple } from "./data.js";
import { amountOf } from "./figures.js";
import { inverse, ratio, signedTime } from "./format.js";
import { html } from "./markup.js";
import { absolute, reading } from "./matrix.js";
import { drawTicks, forest, key, ratioAxis } from "./svg.js";

/** A case with its title, closed and without its body. */
export function caseElement(data, index) {
  const { title, axes, varies } = data.cases[index];
  const details = document.createElement("details");
  details.className = "case";
  details.dataset.c = index;
  const shown = varies.map((name) => [name, axes[name]]);
  details.innerHTML = html`<summary><span class="title">${title}</span> ${axesOf(shown)}<span class="tally"></span></summary><div class="case-body" id="c-${index}" tabindex="-1"></div>`;
  return details;
}

const axesOf = (pairs) =>
  pairs.map(([name, value]) => html`<span class="axis"><i>${name}</i> ${value}</span>`);

/** The body of a case but its times, which `paintTimes` writes, and its plots. */
export function caseBody(data, index) {
  const { id, title, axes, bound, steady, card } = data.cases[index];
  const name = (runner) => data.runners[runner][0];
  const unsteady = Object.entries(steady).filter(([, kind]) => data.steadiness[kind][1]);
  const dim = (text) => html`<p class="dim">${text}</p>`;
  const part = (head, text) => text && html`<h4>${head}</h4><p>${text}</p>`;
  const several = card.plans.length > 1;
  return html`<p class="question">${card.question} <span class="dim">Bound by: ${bound}. ${card.scope}. <code>${id}</code></span></p>
${card.notes.map((note) => html`<p class="note">${note}</p>`)}
<div class="scroll" tabindex="0" role="region" aria-label="${title}: times"><table class="forest" data-c="${index}"></table></div>
<div class="beside"></div>
${unsteady.map(([runner, kind]) => html`<p class="note"><b>${name(runner)}: ${kind}.</b> In the pilot ${data.steadiness[kind][0]}.</p>`)}
${card.said.map(dim)}
<div class="plots" data-plots="${index}"></div>
<div class="two">
<div>
<h4>Statements</h4>
${card.sql.length ? card.sql.map((sql) => html`<pre><code>${sql}</code></pre>`) : dim("None: the process starts and stops.")}
<h4>Query plan${several && html` <strong class="differs">differs</strong>`}</h4>
${card.plans.length ? card.plans.map(([names, lines]) => html`<p class="plan"><span class="dim">${several ? names : "the same in every runner that reports one"}</span><br><code>${lines.join(" · ")}</code></p>`) : dim("None reported.")}
</div>
<div>
<h4>Settings</h4>
<p class="settings">${axesOf(Object.entries(axes))}</p>
<p><code>${card.pragmas || "no pragma set"}</code></p>
${part("Made durable", card.syncs)}${part("Proven equal", card.checks)}${part("Work", card.work)}
${again(Object.entries(card.commands))}
</div>
</div>
${card.evidence.map(([runner, label, why, log]) => html`<div class="evidence"><p><b>${runner}: ${label}.</b> ${why}</p>${log && html`<pre>${log}</pre>`}</div>`)}`;
}

function again(commands) {
  const lines = commands.map(([, text]) => html`<li><code class="copy">${text}</code></li>`);
  if (!lines.length) return "";
  return html`<details class="again"><summary>Run one cell again</summary><ul>${lines}</ul></details>`;
}

/** Writes the table of an opened case, of the runners in `shown`. */
export function paintTimes(details, data, state, shown) {
  const [table, note] = caseTimes(data, details.dataset.c, state, shown);
  details.querySelector(".forest").innerHTML = table;
  details.querySelector(".beside").innerHTML = note;
}

/** What stands in the table of a case, and a note below it. */
export function caseTimes(data, index, state, shown) {
  const item = data.cases[index];
  const reference = referenceOf(data, state);
  const away = reference !== data.reference;
  const ratios = data.runners.map((_, runner) => {
    const found = comparison(data, item, runner, reference);
    return found && (state.as ? inverse(found.ratio) : found.ratio);
  });
  const axis = ratioAxis(
    ratios.filter((ratio) => ratio),
    data,
  );
  const figures = data.figures.filter(([name]) => item.figures[name]);
  const ref = html`<span class="ref-name">${state.ref}</span>`;
  const metric = item.metric === "cold" ? "Cold" : "Time";
  const first = state.as ? `${item.unit}s per second` : `${metric} per ${item.unit}`;
  const heads = [...figures.map((figure) => figure[5]), "Steadiness"];
  if (data.floor >= 0) heads.push("Over the floor");
  const rows = shown.map((runner) => {
    const known = ratios[runner] ?? (runner === reference ? [1, 1, 1] : null);
    const read = reading(data, item, runner, reference, state);
    const head = html`<th scope="row">${key(data.runners[runner])}${data.runners[runner][0]}</th>`;
    if (!read) return outcomeRow(data, item, runner, head, 4 + heads.length);
    const medians = ofMedians(item, runner, reference, read);
    return html`<tr class="${read.cls}" data-r="${runner}">${head}<td data-f="time">${pair(absolute(item, runner, state))}</td><td data-f="glyph">${forest(known, axis, data.margin)}</td><td data-f="ratio">${ratios[runner] && pair(ratio(ratios[runner]))}</td><td data-f="verdict">${judged(read, state, medians)}</td>${figures.map((figure) => figureCell(data, item, figure, runner, state, away))}<td data-f="steadiness">${steadiness(data, item.steady[runner])}</td>${data.floor >= 0 && overCell(data, item, runner, state)}</tr>`;
  });
  const table = html`<caption class="v">${item.title}: ${state.as ? "rates" : "times"} by runner and their ratio to ${ref}</caption>
<thead><tr><th scope="col">Runner</th><th scope="col" data-f="time">${first}</th><th scope="col" data-f="glyph">${drawTicks(axis)}</th><th scope="col">vs ${ref}</th><th scope="col" data-f="verdict">Verdict</th>${heads.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows}</tbody>`;
  return [
    table,
    away && data.reference >= 0 && Object.keys(item.judged).length ? secondary(data, state) : "",
  ];
}

/** A row of a runner without a time. */
function outcomeRow(data, item, runner, head, wide) {
  const code = item.outcomes[runner];
  const [label, meaning] = data.outcomes[code];
  return html`<tr class="na x-${code}" data-r="${runner}">${head}<td class="na" colspan="${wide}"><b>${label}</b> ${item.why[runner] ?? meaning}</td></tr>`;
}

function pair([text, bounds]) {
  return html`<b>${text}</b> <small>${bounds}</small>`;
}

const symbolOf = (symbol) => html`<i aria-hidden="true">${symbol}</i>`;

/** The verdict of a row: its symbol and words, what would resolve it, and where one more session
 * would lie. */
function judged({ words, symbol, found }, state, medians) {
  if (!found) return words;
  const shown = (triple) => ratio(state.as ? inverse(triple) : triple);
  const needs = found.needs ? `; needs about ${found.needs} blocks` : "";
  const more = [
    medians && `these medians make ${shown([medians, null, null])[0]}`,
    found.next && `next session ${shown(found.next)[1]}`,
  ].filter((text) => text);
  return html`${symbolOf(symbol)} ${found.verdict}${needs}${more.map((text) => html` <small class="more">${text}</small>`)}`;
}

/** The ratio of the two times shown, where that lies outside the ratio's interval; else null. */
function ofMedians(item, runner, reference, { found }) {
  const [, low, high] = found?.ratio ?? [];
  const quotient = item.time[0][runner] / item.time[0][reference];
  return low == null || high == null || (low <= quotient && quotient <= high) ? null : quotient;
}

/** A figure beside the time; verdicts on it are known against the report's own reference only. */
function figureCell(data, item, [name, , unit, , words], runner, state, away) {
  const value = item.figures[name][runner];
  const text = value == null ? "unknown" : amountOf({ unit }, value, state.unit);
  const letter = away ? null : item.judged[name]?.[3][runner];
  if (!letter || letter === " ") return html`<td data-f="${name}">${text}</td>`;
  const [, symbol, style] = data.verdicts[letter];
  const [times, bounds] = ratio(exp(triple(item.judged[name].slice(0, 3), runner)));
  return html`<td data-f="${name}">${text} <span class="m ${style}">${symbolOf(symbol)} ${times}<span class="v"> ${words[letter]} ${bounds}</span></span></td>`;
}

function steadiness(data, kind) {
  if (!kind) return "\u2013";
  return data.steadiness[kind][1] ? html`<b>! ${kind}</b>` : kind;
}

/** Time over the floor, and whether that is a difference. */
function overCell(data, item, runner, state) {
  const extra = triple(item.overhead, runner);
  if (!extra) return html`<td data-f="over">\u2013</td>`;
  const [text, bounds] = signedTime(extra, state.unit);
  const [verdict, symbol, style] = data.verdicts[item.over[runner]] ?? [];
  if (!verdict) return html`<td data-f="over">${text}<span class="v"> ${bounds}</span></td>`;
  return html`<td data-f="over">${text} <span class="m ${style}">${symbolOf(symbol)}<span class="v"> ${bounds} against the floor: ${verdict}</span></span></td>`;
}

function secondary(data, { ref }) {
  const own = data.runners[data.reference][0];
  return html`<p class="dim secondary">Verdicts beside the time are against ${own}; <code>./just report --reference ${ref}</code> renders them against ${ref}.</p>`;
}

/** Dims all series of a case but one; null lights all. */
export function light(details, runner) {
  for (const group of details.querySelectorAll("[data-r]")) {
    group.classList.toggle("dim-out", runner !== null && Number(group.dataset.r) !== runner);
  }
}

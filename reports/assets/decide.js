// The first screen's decision: a preset or calls of the reader's own, who is ahead by them, and one picture of it.
import { addDecisionTools } from "./cardcopy.js";
import { copyText } from "./clipboard.js";
import { ratio, size, time } from "./format.js";
import { html } from "./markup.js";
import { drawTicks, forest, key, ratioAxis } from "./svg.js";
import { bounded, brackets, callsOf, decide, listed, many, sentences, whole } from "./weights.js";

// Of the axis: its width, which style sheets give it in such windows, its ends, the room of a label.
const overall = () => [innerWidth > 1180 ? 300 : 150, 12, 34];
const LANE = 8;

/** The calls in the address: a preset's name, or `get-pk:600~all:250`; null for what is neither. */
export function callsIn(of, text) {
  if (!of) return null;
  const preset = of.presets.find(({ name }) => name === text);
  if (preset || !text) return (preset ?? of.presets[0]).calls;
  const parts = text.split("~").map((part) => part.split(":"));
  const fits = ([name, number, ...rest]) =>
    !rest.length && of.operations.some(([one]) => one === name) && /^\d{1,6}$/.test(number);
  if (!parts.every(fits)) return null;
  const calls = Object.fromEntries(parts.map(([name, number]) => [name, Number(number)]));
  return callsOf(of, calls) ? calls : null;
}

/** Wires chooser and sliders; `change` takes what belongs into the address. */
export function wireDecision(data, change) {
  const of = data.weighing;
  const box = document.getElementById("decision");
  if (!of || !box) return;
  const sliders = [...box.querySelectorAll("input[type=range]")];
  for (const part of box.querySelectorAll("form, .row")) part.hidden = false;
  box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  box.querySelector("select").addEventListener("change", ({ target }) => {
    const [first] = of.presets;
    change({ weights: target.value === first.name ? "" : target.value });
  });
  for (const slider of sliders) {
    slider.addEventListener("input", () => {
      const parts = sliders.filter(({ value }) => value !== "0");
      // nothing is called: what was moved last keeps one call
      if (!parts.length) slider.value = 1;
      const kept = parts.length ? parts : [slider];
      change({ weights: kept.map(({ name, value }) => `${name}:${value}`).join("~") }, true);
    });
  }
  addDecisionTools(box, data);
  for (const button of box.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", () => copyDecision(box, button));
  }
}

/** Brings sentence, sliders and picture to `text`, the weights in the address, and the `chosen` runners. */
export function paintDecision(data, text, chosen) {
  const of = data.weighing;
  const box = document.getElementById("decision");
  if (!of || !box) return;
  const preset = of.presets.find(({ name }) => name === (text || of.presets[0].name));
  const calls = callsIn(of, text) ?? of.presets[0].calls;
  const numbers = callsOf(of, calls);
  const ranked = numbers && (preset?.ranked ?? true);
  const made = ranked ? decide(of, numbers, data, preset?.out, chosen) : null;
  const own = made && (!preset || chosen.length > 0);
  const [answer, ...rest] = own ? sentences(of, made, data, chosen) : preset.text;
  box.querySelector(".answer").textContent = answer;
  box.querySelector(".rest").innerHTML = rest.map((line) => html`<p>${line}</p>`).join("");
  box.querySelector("select").value = preset?.name ?? "";
  box.querySelector(".use").textContent = preset?.summary ?? "calls of your own";
  // sliders that decide are in sight
  if (!preset || chosen.length) box.querySelector(".own").open = true;
  for (const slider of box.querySelectorAll("input[type=range]")) {
    const number = calls[slider.name] ?? 0;
    const [, name] = of.operations.find(([one]) => one === slider.name);
    slider.value = number;
    const caption = many(name, number);
    slider.setAttribute("aria-valuetext", caption);
    slider.previousElementSibling.textContent = caption;
  }
  paintOverall(box.querySelector("figure"), of, made, data);
}

function paintOverall(figure, of, made, data) {
  const shown = made ? [...made.front, ...made.others] : [];
  figure.hidden = shown.length < 2;
  if (figure.hidden) return;
  const base = made.front[0];
  const rows = shown.map((r) => (r === base ? null : made.table(r, base)));
  const triples = rows.map((row) => (row ? bounded(row) : [1, null, null]));
  const axis = ratioAxis(triples, data, overall());
  figure.querySelector(".axis-of").innerHTML = drawTicks(axis);
  const lanes = brackets(shown, made.slower);
  const lines = shown.map((r, line) => {
    const row = rows[line];
    const [times, bounds] = row ? ratio(triples[line]) : ["1×", ""];
    const { time: ns, parts } = made.spent[r];
    const code = row && data.verdicts[row.verdict][2];
    const cls = code === "f" || code === "s" ? code : row ? "un" : "base";
    const cost = costs(of, made, r).map((words) => html`<td class="n cost">${words}</td>`);
    return html`<tr class="${cls}"><th scope="row">${key(data.runners[of.runners[r]])}${made.names[r]}</th><td class="n"><b>${time([ns, null, null])[0]}</b>${partsOf(of, parts)}</td><td class="n">${times} <small>${bounds}</small></td><td class="tie" width="${LANE * lanes.length + 4}">${bracket(lanes, line)}<span class="v">${ties(lanes, line, shown, made)}</span></td><td class="glyph">${forest(triples[line], axis, data.margin)}</td>${cost}</tr>`;
  });
  figure.querySelector("tbody").innerHTML = lines.join("");
}

/** The parts of a runner's time as a bar, with their shares for who points at it. */
function partsOf(of, parts) {
  const order = [...parts].sort(([a], [b]) => a - b);
  const said = order.map(([o, share]) => `${whole(share)} % ${of.operations[o][1]}`).join(", ");
  const words = said.replaceAll("(s)", "s");
  const pieces = order.map(([o, share]) => html`<i class="p${o % 6}" style="flex:${share}"></i>`);
  return html`<span class="parts" title="${words}">${pieces}<span class="v">${words}</span></span>`;
}

function bracket(lanes, line) {
  const parts = lanes.map(([first, last], lane) => {
    if (line < first || line > last) return "";
    const x = LANE * lane + 6;
    const top = line === first ? `M${x - 4} 12H${x}` : `M${x} 0`;
    const end = line === last ? `V12H${x - 4}` : "V24";
    return html`<path d="${top}${end}"/>`;
  });
  const width = LANE * lanes.length + 2;
  return html`<svg class="bracket" preserveAspectRatio="none" viewBox="0 0 ${width} 24" width="${width}" height="24" aria-hidden="true">${parts}</svg>`;
}

/** The same in words, for who does not see it. */
function ties(lanes, line, shown, made) {
  const with_ = new Set(
    lanes
      .filter(([first, last]) => line >= first && line <= last)
      .flatMap(([first, last]) => shown.slice(first, last + 1)),
  );
  with_.delete(shown[line]);
  const names = [...with_].map((r) => made.names[r]);
  return names.length ? `tied with ${listed(names)}` : "";
}

/** CPU time of 1,000 requests, most memory, start to first answer. */
function costs(of, made, r) {
  const used = made.calls.flatMap((number, o) => (number > 0 ? [o] : []));
  const each = used.map((o) => of.operations[o][4][r]);
  const cpu = each.every((ns) => ns != null)
    ? used.reduce((sum, o, k) => sum + made.calls[o] * each[k], 0)
    : null;
  const memory = Math.max(...used.map((o) => of.operations[o][5][r] ?? 0));
  const text = (ns) => (ns == null ? "\u2013" : time([ns, null, null])[0]);
  return [text(cpu), memory ? size(memory) : "\u2013", text(of.start[r])];
}

function copyDecision(box, button) {
  const said = [box.querySelector(".answer"), ...box.querySelectorAll(".rest p")];
  const [answer, ...rest] = said.map((node) => node.textContent);
  const text = button.dataset.copy === "md" ? [`**${answer}**`, ...rest] : [answer, ...rest];
  copyText(text.join(" "), box.querySelector(".say"), button);
}

// A case's card, or the decision, to take away: as Markdown, and as a picture that stands alone.
import { el, svg } from "./svg.js";

// Places on a picture, in px: of a case, and of the decision.
const CASE = { width: 940, name: 14, time: 200, glyph: 300, words: 480 };
const DECISION = { width: 1090, name: 14, about: 170, time: 500, tie: 565, glyph: 605, words: 930 };
const ROW = 24;
const LINE = 20;
// Characters of a sentence on a line of a picture.
const BROAD = 108;
// What of a mark's look lies in the page's style and has to come along.
const LOOK = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity"];

/** Buttons that copy the card of an opened case; added once, and each copies what the card shows then. */
export function addCardTools(details, run) {
  const body = details.querySelector(".case-body");
  if (body.querySelector(".card-tools")) return;
  const tools = toolsOf("Take this card: ", `${run}-case-${details.dataset.c}`, {
    Markdown: () => markdownOf(details, run),
    ...pictures(() => picture(details, run)),
  });
  body.querySelector(".question").after(el("p", {}, tools));
}

/** Buttons that copy the decision as a picture, as it stands when one is pressed. */
export function addDecisionTools(box, data) {
  const tools = toolsOf("Take this picture: ", `${data.run}-decision`, {
    ...pictures(() => decisionPicture(box, data)),
  });
  box.querySelector(".words .row").append(" ", tools);
}

const pictures = (draw) => ({
  SVG: () => new XMLSerializer().serializeToString(draw()),
  PNG: () => pixels(draw()),
});

const TYPES = {
  Markdown: ["text/plain", "md"],
  SVG: ["image/svg+xml", "svg"],
  PNG: ["image/png", "png"],
};

/** A button for each of the `forms` that a `name` can be taken in. */
function toolsOf(lead, name, forms) {
  const tools = el("span", { class: "card-tools dim" }, lead);
  for (const [label, make] of Object.entries(forms)) {
    const [type, ending] = TYPES[label];
    const file = `${name}.${ending}`.replace(/[^\w.-]+/g, "_");
    const button = el("button", { type: "button" }, label);
    button.addEventListener("click", async () => hand(button, await make(), type, file));
    tools.append(button, " ");
  }
  return tools;
}

/** Copies, and saves a file where the browser refuses; the button says which until it is left. */
async function hand(button, content, type, name) {
  button.dataset.label ??= button.textContent;
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  try {
    if (type === "image/png")
      await navigator.clipboard.write([new ClipboardItem({ [type]: blob })]);
    else await navigator.clipboard.writeText(content);
    button.textContent = "copied";
  } catch {
    const link = el("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    button.textContent = "saved";
  }
  const restore = () => {
    button.textContent = button.dataset.label;
  };
  button.addEventListener("blur", restore, { once: true });
}

/** What a reader sees of a node, in one line. */
function seen(node) {
  const copy = node.cloneNode(true);
  for (const hidden of copy.querySelectorAll(".v, svg")) hidden.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

const rowsOf = (details) =>
  [...details.querySelectorAll(".forest tbody tr")].filter((row) => !row.hidden);
const titleOf = (details) =>
  [...details.querySelector("summary").children]
    .filter((part) => !part.classList.contains("tally"))
    .map(seen)
    .filter((text) => text)
    .join(" · ");
const footOf = (details, run) =>
  `${seen(details.querySelector(".question code"))} · sqlitmus, run ${run}`;

/** The table of a case as Markdown, below its title and its question. */
export function markdownOf(details, run) {
  const escaped = (text) => text.replace(/[\\|`*_<>[\]]/g, "\\$&");
  const [head] = details.querySelectorAll(".forest thead tr");
  const columns = [...head.cells].map((cell, at) => ({
    at,
    drawn: cell.dataset.f === "glyph",
    cell,
  }));
  const kept = columns.filter(({ drawn }) => !drawn);
  const line = (cells) => `| ${cells.map(escaped).join(" | ")} |`;
  const lines = rowsOf(details).map((row) => {
    const cells = [...row.cells];
    // a row without figures has its reason in one wide cell
    if (cells.some((cell) => cell.colSpan > 1)) {
      const [name, why] = cells.map(seen);
      return line([name, why, ...kept.slice(2).map(() => "")]);
    }
    return line(kept.map(({ at }) => seen(cells[at])));
  });
  return [
    `**${escaped(titleOf(details))}**`,
    "",
    line(kept.map(({ cell }) => seen(cell))),
    line(kept.map(() => "---")),
    ...lines,
    "",
    escaped(footOf(details, run)),
    "",
  ].join("\n");
}

/** The intervals of a case with times, ratios and verdicts, in the colours of the page. */
export function picture(details, run) {
  const rows = rowsOf(details).map((row) => {
    const by = Object.fromEntries([...row.cells].map((cell) => [cell.dataset.f ?? "", cell]));
    const name = seen(row.cells[0]);
    if (!by.time) return { name, time: seen(row.cells[1]) };
    const words = `${seen(by.ratio)} ${seen(by.verdict)}`.trim();
    const glyph = by.glyph.querySelector("svg");
    return { name, time: seen(by.time).split(" [")[0], glyph, words };
  });
  const ticks = details.querySelector(".forest .ticks");
  return drawn(CASE, [titleOf(details)], ticks, rows, [footOf(details, run)]);
}

/** The decision: its sentence, its ranked runners with their versions, the machine and the run. */
function decisionPicture(box, data) {
  const { versions, origin } = data.weighing;
  const figure = box.querySelector("figure");
  const rows = [...figure.querySelectorAll("tbody tr")].map((row) => ({
    name: seen(row.cells[0]),
    about: versions[seen(row.cells[0])],
    time: seen(row.cells[1].querySelector("b")),
    tie: row.querySelector(".bracket"),
    glyph: row.querySelector(".glyph svg"),
    words: seen(row.cells[2]),
  }));
  const answer = lines(seen(box.querySelector(".answer")));
  const address = location.protocol.startsWith("http") ? [location.href] : [];
  const foot = [...origin, ...address].flatMap(lines);
  return drawn(DECISION, answer, figure.querySelector(".ticks"), rows, foot);
}

/** A sentence in lines. */
function lines(text) {
  const broken = [""];
  for (const word of text.split(" ")) {
    if (broken.at(-1).length + word.length > BROAD) broken.push("");
    broken.push(`${broken.pop()} ${word}`.trim());
  }
  return broken;
}

/** Titles, rows below an axis, and foot, at the places of such a picture. */
function drawn(places, titles, ticks, rows, foot) {
  const { width, name } = places;
  const page = getComputedStyle(document.body);
  const top = 44 + titles.length * LINE;
  const bottom = top + rows.length * ROW + 22;
  const tall = bottom + foot.length * LINE - 8;
  const text = (x, y, content, size = 12, weight = 400) =>
    svg("text", { x, y, "font-size": size, "font-weight": weight }, content ?? "");
  const root = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    ...{ width, height: tall, viewBox: `0 0 ${width} ${tall}` },
    ...{ "font-family": "system-ui, sans-serif", fill: page.color },
  });
  root.append(svg("rect", { width, height: tall, fill: page.backgroundColor }));
  titles.forEach((title, line) => {
    root.append(text(name, 26 + line * LINE, title, 15, 600));
  });
  if (ticks) root.append(moved(ticks, places.glyph, top - 22));
  rows.forEach((row, index) => {
    const y = top + index * ROW;
    root.append(text(name, y + 16, row.name, 12, 600), text(places.time, y + 16, row.time));
    if (row.about) root.append(text(places.about, y + 16, row.about, 11));
    if (row.tie) root.append(moved(row.tie, places.tie, y));
    if (row.glyph) root.append(moved(row.glyph, places.glyph, y + 5));
    if (row.words) root.append(text(places.words, y + 16, row.words));
  });
  foot.forEach((line, at) => {
    root.append(text(name, bottom + at * LINE, line, 11));
  });
  return root;
}

/** A drawing of the page at another place, with its look. */
function moved(drawing, x, y) {
  const group = svg("g", { transform: `translate(${x} ${y})` });
  for (const part of drawing.children) {
    const copy = part.cloneNode(true);
    const look = getComputedStyle(part);
    copy.removeAttribute("class");
    for (const name of LOOK) copy.setAttribute(name, look.getPropertyValue(name));
    if (part.tagName === "text") {
      copy.setAttribute("font-size", look.fontSize);
      copy.setAttribute("text-anchor", look.textAnchor);
    }
    group.append(copy);
  }
  return group;
}

/** The picture as a PNG of twice its size. */
async function pixels(drawing) {
  const image = new Image();
  const text = new XMLSerializer().serializeToString(drawing);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

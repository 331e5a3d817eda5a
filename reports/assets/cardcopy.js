// A case's card to take away: its table as Markdown, its intervals as a picture that stands alone.
import { el, svg } from "./svg.js";

const PICTURE = { width: 940, row: 24, top: 64, name: 14, time: 200, glyph: 300, words: 480 };
// What of a mark's look lies in the page's style and has to come along.
const LOOK = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity"];

/** Buttons that copy the card of an opened case; added once, and each copies what the card shows then. */
export function addCardTools(details, run) {
  const body = details.querySelector(".case-body");
  if (body.querySelector(".card-tools")) return;
  const button = (label, action) => {
    const made = el("button", { type: "button" }, label);
    made.addEventListener("click", () => action(made));
    return made;
  };
  const name = `${run}-case-${details.dataset.c}`.replace(/[^\w.-]+/g, "_");
  const tools = el(
    "p",
    { class: "card-tools dim" },
    "Take this card: ",
    button("Markdown", (own) => hand(own, markdownOf(details, run), "text/plain", `${name}.md`)),
    " ",
    button("SVG", (own) => hand(own, pictureText(details, run), "image/svg+xml", `${name}.svg`)),
    " ",
    button("PNG", async (own) => {
      hand(own, await pixels(picture(details, run)), "image/png", `${name}.png`);
    }),
  );
  body.querySelector(".question").after(tools);
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
  const { width, row: height, top, name, time, glyph, words } = PICTURE;
  const rows = rowsOf(details);
  const page = getComputedStyle(document.body);
  const tall = top + rows.length * height + 34;
  const text = (x, y, content, size = 12, weight = 400) =>
    svg("text", { x, y, "font-size": size, "font-weight": weight }, content);
  const root = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    ...{ width, height: tall, viewBox: `0 0 ${width} ${tall}` },
    ...{ "font-family": "system-ui, sans-serif", fill: page.color },
  });
  root.append(
    svg("rect", { width, height: tall, fill: page.backgroundColor }),
    text(name, 26, titleOf(details), 15, 600),
  );
  const ticks = details.querySelector(".forest .ticks");
  if (ticks) root.append(moved(ticks, glyph, top - 22));
  rows.forEach((row, index) => {
    const y = top + index * height + 16;
    const by = Object.fromEntries([...row.cells].map((cell) => [cell.dataset.f ?? "", cell]));
    root.append(text(name, y, seen(row.cells[0]), 12, 600));
    if (!by.time) {
      root.append(text(time, y, seen(row.cells[1])));
      return;
    }
    root.append(text(time, y, seen(by.time).split(" [")[0]));
    const mark = by.glyph.querySelector("svg");
    if (mark) root.append(moved(mark, glyph, y - 11));
    root.append(text(words, y, `${seen(by.ratio)} ${seen(by.verdict)}`.trim()));
  });
  root.append(text(name, tall - 12, footOf(details, run), 11));
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

const pictureText = (details, run) => new XMLSerializer().serializeToString(picture(details, run));

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

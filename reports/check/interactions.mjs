// What a reader does with the page, by kind of report, as [what, expression]; an expression answers "" or
// what went wrong. They hold for any report with at least two timed runners; each puts the page back.

import { follow } from "./follow.mjs";
import { steps } from "./steps.mjs";

const suite = [
  steps(
    "a long matrix shows its groups' means first; a button, a link and a filter open them",
    `const buttons = [...document.querySelectorAll("#grid .group button")];
		const of = (button) => [...button.closest("tbody").querySelectorAll("tr[data-c]")];
		const seen = () => rows().filter((r) => r.checkVisibility());
		const reached = () => $("grid").querySelector("td[tabindex]")?.checkVisibility();
		if (data.cases.length <= 40) return buttons.length || seen().length < data.cases.length ? "a short matrix folds" : "";
		if (buttons.length < 2 || seen().length > data.cases.length / 4) return seen().length + " rows before anything is opened";
		if (seen().length && !reached()) return "Tab reaches no cell at first";
		const alone = seen().length, [one, two, three] = buttons;
		one.click();
		if (seen().length !== alone + of(one).length || one.getAttribute("aria-expanded") !== "true") return "a button opens " + (seen().length - alone) + " of " + of(one).length + " rows";
		if (!reached()) return "Tab reaches no cell";
		const cell = of(one)[0].querySelector("td[data-r]");
		cell.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
		if (document.activeElement.closest("tr") !== of(one)[1]) return "an arrow leaves the rows that are seen";
		one.click();
		if (seen().length !== alone || one.getAttribute("aria-expanded") !== "false") return "a button does not close";
		const index = of(two).at(-1).dataset.c;
		location.hash = "case=" + encodeURIComponent(data.cases[index].id);
		if (!(await until(() => $("c-" + index)?.checkVisibility()))) return "a link's case is not seen";
		if (!reached() || seen().length !== alone + of(two).length) return "a link opens " + (seen().length - alone) + " of " + of(two).length + " rows";
		const { scenario } = data.cases[of(three)[0].dataset.c];
		set("q", "scenario:" + scenario, "input");
		if (seen().length !== data.cases.filter((c) => c.scenario === scenario).length) return "a filter shows " + seen().length + " rows";
		$("reset").click();`,
  ),
  steps(
    "the script leaves every table the rows that it had",
    `for (const table of document.querySelectorAll("main table")) {
			const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
			if (rows.length && rows.every((row) => row.hidden)) return "no row is left of: " + table.caption?.textContent;
		}`,
  ),
  follow,
  steps(
    "a cell opens its card with the keyboard; its link leads to the cell",
    `const item = data.cases.findIndex((c) => [...c.outcomes].some((o, r) => o === "k" && r !== data.reference));
		const runner = [...data.cases[item].outcomes].findIndex((o, r) => o === "k" && r !== data.reference);
		const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		if (document.querySelectorAll("#grid td[tabindex]").length !== 1) return "the matrix is more than one stop";
		const stop = document.querySelector("#grid td[tabindex]");
		stop.focus();
		const [next, key] = stop.nextElementSibling ? [stop.nextElementSibling, "ArrowRight"] : [stop.previousElementSibling, "ArrowLeft"];
		press(key);
		if (document.activeElement !== next) return "the arrow does not move";
		document.querySelector("#grid tr[data-c='" + item + "'] td[data-r='" + runner + "']").focus();
		document.querySelector("#grid tr[data-c='" + item + "'] td[data-r='" + runner + "']").click();
		const card = $("cell-card");
		if (!card.matches(":popover-open")) return "no card";
		if (!card.textContent.includes(data.runners[runner][0])) return "card: " + card.textContent;
		const words = document.querySelector("#grid tr[data-c='" + item + "'] td[data-r='" + runner + "'] .v").textContent;
		const verdict = words.split(" [")[0].trim();
		if (!card.textContent.includes(verdict)) return "the card does not say " + verdict + ": " + card.textContent;
		const link = card.querySelector("a").getAttribute("href");
		card.hidePopover();
		location.hash = link; await frame();
		if (!(await until(() => document.querySelector("details.case[data-c='" + item + "']").open))) return "the link opens nothing: " + link;
		const left = [...document.querySelectorAll("details.case[data-c='" + item + "'] .forest tbody tr:not([hidden])")];
		if (!left.some((r) => Number(r.dataset.r) === runner) || left.length > 2) return left.length + " runners are shown";`,
  ),
  steps(
    "repainting the default view gives the text that was rendered",
    `const before = rendered;
		const forest = [...document.querySelectorAll(".forest")][0].textContent;
		await opened();
		set("unit", "s");
		if (cellsText() === before) return "a unit changes nothing: the page was not repainted";
		set("unit", "");
		const now = cellsText().split("|"), was = before.split("|");
		const at = now.findIndex((x, i) => !alike(x, was[i]));
		if (at >= 0) return "cell " + at + ": " + was[at] + " became " + now[at];
		const again = [...document.querySelectorAll(".forest")][0].textContent;
		const squeeze = (x) => x.replace(/\\s+/g, " ");
		if (!alike(squeeze(again), squeeze(forest))) return "forest: " + squeeze(forest) + " became " + squeeze(again);`,
  ),
  steps(
    "another reference turns ratios round and comes back",
    `const before = cellsText();
		const other = [...$("ref").options].find((o) => o.value !== $("ref").value)?.value;
		const own = $("ref").value;
		set("ref", other);
		if (cellsText() === before) return "no cell changed";
		if (!location.hash.includes("ref=" + encodeURIComponent(other))) return "address: " + location.hash;
		if ([...document.querySelectorAll(".ref-name")].some((n) => n.textContent !== other)) return "a heading names the old reference";
		set("ref", own);
		if (!alike(cellsText(), before)) return "cells differ after coming back";
		if (location.hash !== "") return "address holds a default: " + location.hash;`,
  ),
  steps(
    "absolute, rate and unit change the numbers",
    `const seen = new Set([cellsText()]);
		document.querySelector("#view [value=absolute]").click(); seen.add(cellsText());
		document.querySelector("#as [value=rate]").click(); seen.add(cellsText());
		document.querySelector("#view [value='']").click(); seen.add(cellsText());
		if (seen.size !== 4) return "only " + seen.size + " different views of 4";
		$("reset").click();
		if (![...seen].some((x) => alike(x, cellsText())) || location.hash) return "reset did not restore the view";`,
  ),
  steps(
    "the matrix shows other figures, as the page's data has them",
    `const before = cellsText();
		const lead = document.querySelector("#matrix .of-figure");
		if (!lead.hidden) return "a figure's sentence stands over times";
		for (const { value } of [...$("figure").options].slice(1)) {
			const title = data.figures.find(([name]) => name === value)[3];
			set("figure", value);
			if (lead.hidden || !lead.textContent.startsWith(title)) return value + ": " + lead.textContent;
			if (!document.querySelector("#reading").hidden) return value + ": the sentence on times stays";
			let checked = 0;
			for (const cell of document.querySelectorAll("#grid tr[data-c] td[data-r]")) {
				const item = data.cases[cell.parentElement.dataset.c];
				const r = Number(cell.dataset.r);
				const [mine, base] = [item.figures[value]?.[r], item.figures[value]?.[data.reference]];
				if (item.outcomes[r] !== "k" || r === data.reference || !(mine > 0) || !(base > 0)) continue;
				const letter = item.judged[value]?.[3][r] ?? " ";
				const exact = letter === " " ? mine / base : Math.exp(item.judged[value][0][r] / 1e6);
				const parsed = /([\\d.]+)×/.exec(cell.querySelector("b").textContent.replace(/,/g, ""));
				if (!parsed) return value + ": " + cell.textContent;
				const places = (parsed[1].split(".")[1] ?? "").length;
				if (Math.abs(Number(parsed[1]) - exact) > 0.75 * 10 ** -places + 1e-3 * exact) return value + ": " + parsed[1] + " for " + exact;
				const says = letter === " " ? "no verdict" : data.figures.find(([name]) => name === value)[4][letter];
				if (!cell.querySelector(".v").textContent.startsWith(says)) return value + ": " + cell.textContent + " is not " + says;
				checked++;
			}
		}
		set("figure", "");
		if (!alike(cellsText(), before)) return "cells differ after coming back";
		if (!lead.hidden || location.hash) return "the figure stays";`,
  ),
  steps(
    "the filter picks rows and columns and says how many",
    `const item = data.cases[0], runner = data.runners[0][0];
		set("q", "scenario:" + item.scenario + " runner:" + runner, "input");
		const want = data.cases.filter((c) => c.scenario === item.scenario).length;
		const got = rows().filter((r) => !r.hidden);
		if (got.length !== want) return got.length + " rows instead of " + want;
		const columns = [...got[0].querySelectorAll("td[data-r]")].filter((c) => !c.hidden).length;
		if (columns !== 1) return columns + " runners instead of 1";
		if (!$("count").textContent.startsWith(want + " of " + data.cases.length)) return "count: " + $("count").textContent;
		set("q", "no-such-thing-anywhere", "input");
		if (!/Nothing matches/.test($("count").textContent)) return "count: " + $("count").textContent;
		set("q", "", "input");
		if (rows().some((r) => r.hidden)) return "rows stay hidden";`,
  ),
  steps(
    "hiding undecided cases tells how many",
    `$("decided").click();
		const hidden = rows().filter((r) => r.hidden).length;
		const said = Number(/(\\d+) with nothing decided/.exec($("count").textContent)?.[1] ?? 0);
		$("decided").click();
		if (hidden !== said) return hidden + " hidden, " + said + " said";`,
  ),
  steps(
    "sorting sets aria-sort, orders within groups and returns",
    `const order = () => rows().map((r) => r.dataset.c).join();
		const before = order();
		const timed = data.runners.findIndex((r, i) => i !== data.reference && data.cases.some((c) => c.outcomes[i] === "k"));
		const head = () => document.querySelector("#grid thead th[data-r='" + timed + "']");
		head().querySelector("button").click();
		if (head().getAttribute("aria-sort") !== "ascending") return "aria-sort " + head().getAttribute("aria-sort");
		head().querySelector("button").click();
		if (head().getAttribute("aria-sort") !== "descending") return "aria-sort " + head().getAttribute("aria-sort");
		head().querySelector("button").click();
		if (head().hasAttribute("aria-sort") || order() !== before) return "the report's order is not restored";`,
  ),
  steps(
    "a row's link opens its case with charts, and the address keeps it",
    `const body = (await opened()).querySelector(".case-body");
		const link = document.querySelector("#grid a[href^='#c-']");
		body.closest("details").open = false; await frame();
		link.click(); await frame();
		if (!body.closest("details").open) return "the case is closed";
		if (!(await until(() => body.querySelector(".plots svg")))) return "no charts drawn";
		if (!location.hash.startsWith("#case=")) return "address: " + location.hash;
		if (!body.querySelector(".copy + button") && body.querySelector(".copy")) return "no copy button";
		const row = body.closest("tr");
		if (row?.previousElementSibling !== link.closest("tr")) return "it does not open below its row";
		if (document.activeElement !== body) return "the focus is on " + document.activeElement.tagName;
		document.querySelector("#grid thead th[data-sort='case'] button").click();
		if (row.previousElementSibling !== link.closest("tr")) return "sorting parts it from its row";
		link.click(); await frame();
		if (!row.hidden || location.hash.includes("case=")) return "the link does not close it again";
		$("reset").click();`,
  ),
  steps(
    "a card is taken as Markdown, SVG and PNG, as it stands",
    `const details = await opened();
		const [markdown, drawn, image] = [...details.querySelectorAll(".card-tools button")];
		const taken = {};
		const clipboard = {
			writeText: async (text) => { taken.text = text; },
			write: async ([item]) => { taken.image = await item.getType("image/png"); },
		};
		Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
		const names = [...details.querySelectorAll(".forest tbody tr")].map((row) => row.cells[0].textContent.trim());
		const times = [...details.querySelectorAll(".forest td[data-f='time'] b")].map((b) => b.textContent.replace(/\\s/g, " "));
		markdown.click();
		if (!(await until(() => taken.text))) return "no Markdown";
		const lines = taken.text.split("\\n").filter((line) => line.startsWith("|"));
		if (lines.length !== names.length + 2) return lines.length + " lines of a table";
		const bars = new Set(lines.map((line) => line.replaceAll("\\\\|", "").split("|").length));
		if (bars.size !== 1) return "rows of different widths: " + lines.join("\\n");
		const lost = times.filter((time) => !taken.text.includes(time));
		if (lost.length) return "not in the Markdown: " + lost;
		taken.text = "";
		drawn.click();
		if (!(await until(() => taken.text))) return "no SVG";
		const tree = new DOMParser().parseFromString(taken.text, "image/svg+xml");
		if (tree.querySelector("parsererror")) return tree.querySelector("parsererror").textContent;
		const said = tree.documentElement.textContent;
		const left = [...names, ...times].filter((text) => !said.includes(text));
		if (left.length) return "not in the SVG: " + left;
		if (/var\\(|class=/.test(taken.text)) return "the SVG does not stand alone";
		image.click();
		if (!(await until(() => taken.image))) return "no PNG";
		if (taken.image.size < 5000) return "a PNG of " + taken.image.size + " bytes";`,
  ),
  steps(
    "the points of two runners are the cases that both completed, with their verdicts",
    `const fold = $("scatter")?.querySelector("details");
		if (!fold) return data.runners.length < 2 ? "" : "no scatter";
		fold.open = true; await frame();
		const timed = [...$("scatter-x").options].map((o) => Number(o.value));
		for (const [x, y] of [[timed[0], timed.at(-1)], [timed.at(-1), timed[0]]]) {
			set("scatter-x", x); set("scatter-y", y); await frame();
			const both = data.cases.flatMap((c, i) => (c.outcomes[x] === "k" && c.outcomes[y] === "k" ? [i] : []));
			const links = [...$("scatter-plot").querySelectorAll("a")];
			if (links.length !== both.length) return links.length + " points, " + both.length + " cases";
			for (const [n, index] of both.entries()) {
				if (links[n].getAttribute("href") !== "#c-" + index) return "point " + n + " leads to " + links[n].getAttribute("href");
				const item = data.cases[index], mark = links[n].querySelector("circle");
				const above = item.time[0][y] > item.time[0][x];
				const line = 376 - (Number(mark.getAttribute("cx")) - 64) / (408 - 64) * (376 - 12);
				if (Math.abs(Number(mark.getAttribute("cy")) - line) > 0.5 && (Number(mark.getAttribute("cy")) < line) !== above) return item.id + " on the wrong side";
				if (!links[n].getAttribute("aria-label").startsWith(item.id + ": ")) return links[n].getAttribute("aria-label");
			}
			const slower = both.filter((i) => data.cases[i].time[0][y] > data.cases[i].time[0][x]).length;
			if (!$("scatter-said").textContent.includes("took longer in " + slower + ";")) return $("scatter-said").textContent;
		}
		set("q", "scenario:" + data.cases[0].scenario, "input"); await frame();
		const kept = data.cases.filter((c) => c.scenario === data.cases[0].scenario && c.outcomes[timed[0]] === "k" && c.outcomes[timed.at(-1)] === "k").length;
		const got = $("scatter-plot").querySelectorAll("a").length;
		$("reset").click();
		fold.open = false;
		if (got !== kept) return got + " points under a filter, " + kept + " cases";`,
  ),
  steps(
    "a shared address restores the view; what is unknown is named",
    `const other = [...$("ref").options].find((o) => o.value !== $("ref").value).value;
		location.hash = "ref=" + encodeURIComponent(other) + "&as=rate&theme=dark&nonsense=1"; await frame();
		if (!(await until(() => $("ref").value === other))) return "reference " + $("ref").value;
		if (document.documentElement.dataset.theme !== "dark") return "theme not applied";
		if (!/nonsense=1/.test($("count").textContent)) return "unknown part not named: " + $("count").textContent;
		$("reset").click();
		if (document.documentElement.dataset.theme) return "theme stays";`,
  ),
  steps(
    "another reference takes away the verdicts that were against the first",
    `const own = $("ref").value, other = [...$("ref").options].find((o) => o.value !== own).value;
		const details = await opened();
		const marks = () => [...details.querySelectorAll(".forest td:not([data-f='over']) .m")];
		const shown = () => marks().filter((m) => getComputedStyle(m).display !== "none").length;
		if (marks().length && !shown()) return "no verdict is shown for the report's own reference";
		set("ref", other); await frame();
		if (shown()) return shown() + " verdicts against " + own + " stay";
		const note = details.querySelector(".secondary")?.textContent ?? "";
		if (!note.includes("--reference " + other) && marks().length) return "note: " + note;
		set("ref", own); await frame();
		if (details.querySelector(".secondary")) return "the note stays";
		if (marks().length && !shown()) return "the verdicts do not come back";`,
  ),
];

/** What the filter leaves of the parts that `selector` finds, which are one for each case. */
const filters = (what, selector) =>
  steps(
    what,
    `const left = () => [...document.querySelectorAll("${selector}")].filter((one) => !one.hidden && !one.parentElement.closest("[hidden]"));
		const all = left().length;
		const item = data.cases[0];
		set("q", "scenario:" + item.scenario, "input");
		const want = data.cases.filter((c) => c.scenario === item.scenario).length;
		if (left().length !== want) return left().length + " parts instead of " + want;
		// Nothing is said where every case fits.
		const said = want < data.cases.length ? want + " of " + data.cases.length : "";
		if (!$("count").textContent.startsWith(said)) return "count: " + $("count").textContent;
		set("q", "", "input");
		if (left().length !== all || all !== data.cases.length) return left().length + " of " + data.cases.length + " parts come back";`,
  );

const compare = [
  steps(
    "rows without a difference are folded, counted and shown on request",
    `const fold = document.querySelector("#answer > .fold");
		if (!fold) return "";
		const said = [...fold.querySelector("summary").textContent.matchAll(/\\d+/g)].reduce((sum, [n]) => sum + Number(n), 0);
		const held = fold.querySelectorAll("tbody tr").length;
		if (said !== held) return said + " said, " + held + " folded";
		if (fold.open) return "the fold is open";`,
  ),
  filters("the filter picks cases in every table and says how many", "#answer tbody tr"),
  steps(
    "a row's link opens its case with charts, and the address keeps it",
    `const link = document.querySelector("#answer a[href^='#c-']");
		link.click(); await frame();
		const body = document.querySelector(link.getAttribute("href"));
		if (!body.closest("details").open) return "the case is closed";
		if (!(await until(() => body.querySelector(".plots svg")))) return "no charts drawn";
		if (!location.hash.startsWith("#case=")) return "address: " + location.hash;
		$("reset").click();`,
  ),
];

const claims = [
  steps(
    "a line of the answer opens its claim, and a row of that its case",
    `const link = [...document.querySelectorAll("#answer a[href^='#claim-']")].at(-1);
		link.click(); await frame();
		const claim = document.querySelector(link.getAttribute("href"));
		if (!(await until(() => claim.closest("details")?.open && claim.closest("details").querySelector("table")))) return "the claim is closed";
		const row = claim.closest("details").querySelector("tbody a[href^='#c-']");
		row.click(); await frame();
		const body = document.querySelector(row.getAttribute("href"));
		if (!body.closest("details").open || !body.checkVisibility()) return "its row's case is closed";
		if (!location.hash.startsWith("#case=")) return "address: " + location.hash;
		$("reset").click();`,
  ),
  filters("the filter picks cases of the list and says how many", "#list details.case"),
  steps(
    "an address opens its case in the list, with charts",
    `const timed = data.cases.findLastIndex((c) => c.outcomes.includes("k"));
		const details = document.querySelector("#list details.case[data-c='" + timed + "']");
		location.hash = "case=" + encodeURIComponent(data.cases[timed].id);
		if (!(await until(() => details.open && details.querySelector(".plots svg")))) return "no charts drawn";
		if (!details.checkVisibility()) return "its group is closed";
		$("reset").click();`,
  ),
];

const both = [
  steps(
    "keys: / goes to the filter, ? opens help",
    `const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		press("/");
		if (document.activeElement !== $("q")) return "focus is on " + document.activeElement.tagName;
		$("q").blur(); press("?");
		if (!$("help").open) return "help is closed";
		$("help").close();`,
  ),
  steps(
    "downloads hold every cell",
    `const texts = [];
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { texts.push(blob.text()); return make(blob); };
		const click = HTMLAnchorElement.prototype.click;
		HTMLAnchorElement.prototype.click = function () {};
		for (const button of document.querySelectorAll("#downloads button")) button.click();
		URL.createObjectURL = make; HTMLAnchorElement.prototype.click = click;
		const [cells, pairs, samples, json] = await Promise.all(texts);
		const lines = cells.trimEnd().split("\\r\\n").length - 1;
		const want = data.cases.reduce((sum, item) => sum + item.outcomes.replaceAll("a", "").length, 0);
		if (lines !== want) return lines + " lines for " + want + " cells";
		if (JSON.parse(json).cases.length !== data.cases.length) return "cases missing from the JSON";
		if (!pairs.includes("materially") && !pairs.includes("not ") && pairs.split("\\n").length < 3) return "no comparisons";
		if (samples.split("\\n").length < 3) return "no samples";`,
  ),
];

const MERGED = `
const here = data.machines.filter((one) => one.here).map((one) => one.name);
const inner = () => $("own").querySelector("iframe")?.contentWindow;
const ready = () => until(() => inner()?.document.documentElement?.dataset.ready === "1");
const go = async (hash) => { location.hash = hash; await frame(); };
const machineHash = (name, more = "") => new URLSearchParams({ machine: name }).toString() + more;
`;

const merged = [
  steps(
    "the filter and the word pick rows, and the address keeps them",
    `const all = [...document.querySelectorAll("main tr[data-c]:has([data-f='holds'])")];
		const runner = all[0].querySelector("[data-f='runner']").textContent;
		set("q", runner.toLowerCase(), "input");
		const left = all.filter((r) => !r.hidden);
		if (!left.length || left.length === all.length) return left.length + " of " + all.length + " rows";
		if (!location.hash.includes("q=")) return "address: " + location.hash;
		set("q", "", "input");
		const rank = (r) => Number(r.dataset.rank ?? 0);
		set("word", data.words[rank(all[0])]);
		if (all.some((r) => r.hidden === (rank(r) === rank(all[0])))) return "the word picks other rows";
		set("word", "");
		if (all.some((r) => r.hidden) || location.hash) return "rows stay hidden, or " + location.hash;`,
  ),
  steps(
    "a machine's link opens its page, and going back returns to the front",
    `${MERGED}
		for (const name of here) {
			document.querySelector("#selector a[data-machine='" + name + "']").click();
			if (!(await until(() => location.hash && inner()))) return name + ": no frame";
			if (!(await ready())) return name + ": the page is not ready";
			if (!inner().document.querySelector("#grid tbody td")) return name + ": no matrix";
			if (!$("front").hidden) return "the front stays";
			if (inner().document.documentElement.scrollWidth > inner().innerWidth) return name + ": page too wide";
		}
		history.back();
		if (!(await until(() => new URLSearchParams(location.hash.slice(1)).get("machine") === here.at(-2)))) return "back: " + location.hash;
		await go("");
		if (!(await until(() => !$("front").hidden && !inner()))) return "the front does not come back";`,
  ),
  steps(
    "the address holds the machine and the view of its page, and restores both",
    `${MERGED}
		await go(machineHash(here[0], "&view=absolute"));
		if (!(await ready())) return "the page is not ready";
		const pressed = () => inner().document.querySelector("#view [value=absolute]").getAttribute("aria-pressed");
		if (pressed() !== "true") return "the view is not restored";
		inner().document.querySelector("#as [value=rate]").click();
		const parts = new URLSearchParams(location.hash.slice(1));
		if (parts.get("machine") !== here[0] || parts.get("as") !== "rate") return "address: " + location.hash;
		history.back();
		if (!(await until(() => inner().document.querySelector("#as [value='']").getAttribute("aria-pressed") === "true"))) return "back does not undo";
		if (pressed() !== "true") return "back undoes too much";
		await go("");
		await until(() => !inner());`,
  ),
  steps(
    "links within a machine's page stay in it",
    `${MERGED}
		await go(machineHash(here[0]));
		if (!(await ready())) return "the page is not ready";
		const own = inner();
		own.document.querySelector(".toc a[href='#matrix']").click();
		if (!(await until(() => own.scrollY > 0))) return "it does not scroll";
		await frame();
		if (inner() !== own || own.document.documentElement.dataset.ready !== "1") return "the frame went elsewhere";
		if (!own.document.querySelector("#grid")) return "the frame went elsewhere";
		own.document.querySelector("#grid a[href^='#c-']").click();
		if (!(await until(() => location.hash.includes("case=")))) return "address: " + location.hash;
		if (!own.document.querySelector("details.case[open]")) return "the case is closed";
		await go("");
		await until(() => !inner());`,
  ),
  steps(
    "an unknown machine is told, and the front stays",
    `${MERGED}
		await go("machine=no-such-machine");
		if (!(await until(() => $("count").textContent.includes("no-such-machine")))) return "nothing is said";
		if ($("front").hidden) return "the front is hidden";
		await go("");`,
  ),
];

const decision = [
  steps(
    "presets and calls decide in words that the picture bears out",
    `const box = $("decision"), of = data.weighing;
		if (!box) return of ? "no decision is shown" : "";
		const answer = () => box.querySelector(".answer").textContent;
		const all = () => [answer(), ...[...box.querySelectorAll(".rest p")].map((p) => p.textContent)].join(" ");
		const tied = () => box.querySelector("figure tbody tr .tie .v")?.textContent;
		const borne = () => box.querySelector("figure").hidden || answer().includes(" is fastest: ") === !tied();
		const choose = (name) => { const list = box.querySelector("select"); list.value = name; list.dispatchEvent(new Event("change", { bubbles: true })); };
		for (const { name, text } of of.presets) {
			choose(name);
			if (all() !== text.join(" ")) return name + ": " + all();
			if (!borne()) return name + ": the picture says otherwise than " + answer();
		}
		for (const slider of box.querySelectorAll("input[type=range]")) {
			slider.value = 90;
			slider.dispatchEvent(new Event("input", { bubbles: true }));
			if (!answer().startsWith("For your calls, ")) return slider.name + ": " + answer();
			if (!all().includes(slider.previousElementSibling.textContent)) return slider.name + " is not in " + all();
			if (!borne()) return slider.name + ": the picture says otherwise than " + answer();
			if (!location.hash.includes("weights=")) return "address: " + location.hash;
		}
		const last = all(), kept = location.hash;
		$("reset").click();
		const names = of.runners.map((place) => data.runners[place][0]);
		const wanted = [names.at(-1), names[0]];
		for (const name of wanted) document.querySelector("#chips-runner [value='" + name + "']").click();
		if (!/^Among .+, for your calls/.test(answer()) || !wanted.every((name) => answer().includes(name))) return "of two: " + answer();
		const drawn = [...box.querySelectorAll("figure tbody th")].map((th) => th.textContent);
		if (!box.querySelector("figure").hidden && drawn.sort().join() !== [...wanted].sort().join()) return "of two the picture has " + drawn;
		const others = names.filter((name) => !wanted.includes(name));
		if (others.some((name) => all().includes(name + " takes"))) return "others are held against them: " + all();
		const seen = [...document.querySelectorAll("#grid thead th[data-r]:not([hidden])")].map((th) => th.dataset.sort);
		if (seen.sort().join() !== [...wanted].sort().join()) return "of two the matrix has " + seen;
		if (!location.hash.includes("runner=")) return "the address does not keep them: " + location.hash;
		$("reset").click();
		if (all() !== of.presets[0].text.join(" ") || location.hash !== "") return "the reset leaves " + location.hash;
		location.hash = kept;
		if (!(await until(() => all() === last))) return "the address " + kept + " gives " + all();
		$("reset").click();`,
  ),
  steps(
    "the picture of the decision is taken as SVG and PNG, with its sentence, versions and machine",
    `const box = $("decision"), of = data.weighing;
		if (!box || box.querySelector("figure").hidden) return "";
		const taken = {};
		const clipboard = {
			writeText: async (text) => { taken.text = text; },
			write: async ([item]) => { taken.image = await item.getType("image/png"); },
		};
		Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
		const [drawn, image] = [...box.querySelectorAll(".card-tools button")];
		for (const { name } of of.presets.filter(({ ranked }) => ranked)) {
			const list = box.querySelector("select"); list.value = name;
			list.dispatchEvent(new Event("change", { bubbles: true })); await frame();
			taken.text = "";
			drawn.click();
			if (!(await until(() => taken.text))) return "no SVG";
			const tree = new DOMParser().parseFromString(taken.text, "image/svg+xml");
			if (tree.querySelector("parsererror")) return tree.querySelector("parsererror").textContent;
			const texts = [...tree.querySelectorAll("text")].map((text) => text.textContent);
			const all = texts.join(" ").replace(/\\s+/g, " ");
			const rows = [...box.querySelectorAll("figure tbody tr")];
			const runners = rows.map((row) => row.cells[0].textContent.trim());
			const asked = [box.querySelector(".answer").textContent, ...of.origin, ...runners, ...runners.map((runner) => of.versions[runner])];
			const left = asked.filter((text) => !all.includes(text.replace(/\\s+/g, " ")));
			if (left.length) return name + ", not in the SVG: " + left;
			const shown = document.importNode(tree.documentElement, true);
			const host = document.createElement("div"); // the page's style does not reach into it
			host.attachShadow({ mode: "open" }).append(shown);
			document.body.append(host);
			const cut = [...shown.querySelectorAll("text")].filter((text) => { const { x, width } = text.getBBox(); return x + width > shown.width.baseVal.value; });
			host.remove();
			if (cut.length) return "cut off in the SVG: " + cut.map((text) => text.textContent);
			const marks = tree.querySelectorAll("circle, path").length;
			if (marks < rows.length) return marks + " marks of " + rows.length + " runners";
			if (/var\\(|class=/.test(taken.text)) return "the SVG does not stand alone";
		}
		image.click();
		if (!(await until(() => taken.image))) return "no PNG";
		if (taken.image.size < 5000) return "a PNG of " + taken.image.size + " bytes";
		$("reset").click();`,
  ),
];

export const interactions = {
  merged,
  suite: [...suite, ...both, ...decision],
  compare: [...compare, ...both],
  claims: [...claims, ...both],
  advise: [], // one runner: there is nothing to compare it with, choose or sort
};

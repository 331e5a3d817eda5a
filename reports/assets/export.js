// The page's data as files.
import { comparison, planned, samples, triple } from "./data.js";

/** A CSV line; texts that a spreadsheet would take for a formula get an apostrophe. */
export function csvLine(values) {
  const cells = values.map((value) => {
    if (value == null) return "";
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${cells.join(",")}\r\n`;
}

const round = (x) => (x == null ? null : Number(x.toPrecision(6)));

const cells = (data) => data.cases.flatMap((item) => cellsOf(data, item));

function cellsOf(data, item) {
  return data.runners.flatMap(([name], runner) =>
    planned(item, runner) ? [{ item, runner, name }] : [],
  );
}

function* comparisons(data) {
  for (const { item, runner, name } of cells(data)) {
    for (const [other, [reference]] of data.runners.entries()) {
      const found = comparison(data, item, runner, other);
      if (found) yield { item, name, reference, found };
    }
  }
}

function cellsCsv(data) {
  const parts = ["time", "overhead"].flatMap((x) => [`${x}_ns`, `${x}_low_ns`, `${x}_high_ns`]);
  const lines = [
    csvLine([
      "case",
      "unit",
      "metric",
      "runner",
      "outcome",
      ...parts,
      ...data.figures.map(([, column]) => column),
    ]),
  ];
  for (const { item, runner, name } of cells(data)) {
    const none = [null, null, null];
    lines.push(
      csvLine([
        item.id,
        item.unit,
        item.metric,
        name,
        data.outcomes[item.outcomes[runner]][0],
        ...(triple(item.time, runner) ?? none),
        ...(triple(item.overhead, runner) ?? none),
        ...data.figures.map(([figure]) => item.figures[figure]?.[runner]),
      ]),
    );
  }
  return lines.join("");
}

function comparisonsCsv(data) {
  const lines = [
    csvLine(["case", "runner", "reference", "time_ratio", "low", "high", "verdict", "blocks"]),
  ];
  for (const { item, name, reference, found } of comparisons(data)) {
    lines.push(
      csvLine([item.id, name, reference, ...found.ratio.map(round), found.verdict, found.blocks]),
    );
  }
  return lines.join("");
}

function samplesCsv(data) {
  const lines = [csvLine(["case", "runner", "block", "position", "value_ns"])];
  for (const { item, runner, name } of cells(data)) {
    const { values, places } = samples(item, runner);
    values.forEach((value, block) => {
      lines.push(csvLine([item.id, name, block, places[block], round(value)]));
    });
  }
  return lines.join("");
}

function reportJson(data) {
  const cases = data.cases.map((item) => ({
    id: item.id,
    title: item.title,
    group: item.group,
    axes: item.axes,
    metric: item.metric,
    unit: item.unit,
    cells: cellsOf(data, item).map(({ runner, name }) => ({
      runner: name,
      outcome: data.outcomes[item.outcomes[runner]][0],
      time_ns: triple(item.time, runner),
      overhead_ns: triple(item.overhead, runner),
      samples_ns: samples(item, runner).values.map(round),
    })),
    comparisons: data.runners.flatMap(([name], runner) =>
      data.runners.flatMap(([reference], other) => {
        const found = comparison(data, item, runner, other);
        if (!found) return [];
        const { verdict, blocks } = found;
        return [{ runner: name, reference, ratio: found.ratio.map(round), verdict, blocks }];
      }),
    ),
  }));
  return JSON.stringify({ title: data.title, run: data.run, margin: data.margin, cases }, null, 1);
}

const FILES = {
  "cells.csv": cellsCsv,
  "comparisons.csv": comparisonsCsv,
  "samples.csv": samplesCsv,
  "report.json": reportJson,
};

/** The text of a named file. */
export function fileText(name, data) {
  return FILES[name](data);
}

/** Hands a file to the reader. */
export function save(name, data) {
  const type = name.endsWith(".json") ? "application/json" : "text/csv";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([fileText(name, data)], { type }));
  link.download = `${data.run}-${name}`.replace(/[^\w.-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

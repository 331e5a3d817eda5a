// The matrix by another figure than the time, such as memory: its values, and its ratios where it is judged.
import { exp } from "./data.js";
import { count, ratio, share, size, time } from "./format.js";

/** `{name, unit, title, said}` of the figure that the matrix shows, or null for the time. */
export function figureShown(data, state) {
  const row = data.figures.find(([name]) => name === state.figure);
  return row ? { name: row[0], unit: row[2], title: row[3], less: row[4] } : null;
}

/** A figure's value as text. */
export function amountOf(figure, value, unit) {
  if (value == null) return "\u2013";
  if (figure.unit === "ns") return time([value, null, null], unit)[0];
  return { bytes: size, count, share }[figure.unit](value);
}

/** The value of a figure, and its ratio to the reference's: `{value, mark, letter}`. */
export function compareFigure(data, item, figure, runner, reference) {
  const column = item.figures[figure.name];
  const value = column?.[runner] ?? null;
  const base = column?.[reference] ?? null;
  const judged = reference === data.reference ? item.judged[figure.name] : null;
  const letter = judged?.[3][runner] ?? " ";
  if (letter !== " ") return { value, letter, mark: exp([judged[0][runner], null, null]) };
  const mark = value > 0 && base > 0 && runner !== reference ? [value / base, null, null] : null;
  return { value, letter: null, mark };
}

/** What one cell of the matrix shows of a figure; null for an outcome without a number. */
export function figureReading(data, item, runner, reference, state) {
  if (item.outcomes[runner] !== "k") return null;
  const figure = figureShown(data, state);
  const { value, mark, letter } = compareFigure(data, item, figure, runner, reference);
  const own = amountOf(figure, value, state.unit);
  if (value == null) return { cls: "un", symbol: "", text: own, words: "not measured" };
  if (runner === reference) return { cls: "base", symbol: "", text: own, words: "reference" };
  if (!mark) return { cls: "un", symbol: "", text: own, words: "not compared" };
  const text = state.view ? own : ratio(mark)[0];
  if (!letter) return { cls: "un", symbol: "", text, words: "no verdict", mark };
  const [, symbol, side] = data.verdicts[letter];
  const cls = side === "f" || side === "s" ? `${side}2` : side;
  return { cls, symbol, text, words: figure.less[letter], mark };
}

/** The sentence above the matrix. */
export function figureLead(data, state) {
  const { title, unit } = figureShown(data, state);
  const what = state.view ? title : `${title}, relative to ${state.ref}`;
  const own = data.runners[data.reference]?.[0];
  const judged = data.cases.some((item) => item.judged[state.figure]);
  const verdicts = !judged
    ? "It is not judged"
    : state.ref === own
      ? "Verdicts are for cases in which all runners did the same"
      : `Verdicts on it are known against ${own} only`;
  const turned =
    unit === "ns" && state.as ? ", a time also where operations per second are shown" : "";
  return `${what}${turned}; less is better. ${verdicts}. The cases below have all figures.`;
}

/** What the rows are ordered by in the column of `runner`, null for none. */
export function figureKey(data, item, runner, reference, state) {
  const figure = figureShown(data, state);
  const { value, mark } = compareFigure(data, item, figure, runner, reference);
  if (state.view || value == null) return value;
  return runner === reference ? 1 : (mark?.[0] ?? null);
}

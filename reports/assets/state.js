// What the reader has chosen, kept in the address: only what differs from the default.

const TEXTS = {
  view: ["absolute"],
  as: ["rate"],
  unit: ["ns", "µs", "ms", "s"],
  theme: ["light", "dark"],
};
const LISTS = ["group", "profile", "runner"];

/** The default choice. */
export function defaults(data) {
  const ref = data.runners[data.reference]?.[0] ?? "";
  return {
    ref,
    view: "",
    as: "",
    unit: "",
    theme: "",
    q: "",
    figure: "",
    sort: "",
    case: "",
    weights: "",
    decided: false,
    group: [],
    profile: [],
    runner: [],
  };
}

/** The choice in a hash; what this page does not know is left at its default and named in `unknown`. */
export function read(hash, data, choices) {
  const state = defaults(data);
  const unknown = [];
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (LISTS.includes(key)) {
      const wanted = value.split("~");
      state[key] = wanted.filter((one) => choices[key].includes(one));
      unknown.push(...wanted.filter((one) => !choices[key].includes(one)));
    } else if (key === "decided") state.decided = value === "1";
    else if (key === "q") state.q = value;
    else if (
      (key === "ref" && choices.ref.includes(value)) ||
      (key === "figure" && choices.figure.includes(value)) ||
      (key === "case" && choices.case.includes(value)) ||
      (key === "weights" && choices.weights(value)) ||
      (key === "sort" && choices.sort.includes(value.replace(/^-/, ""))) ||
      TEXTS[key]?.includes(value)
    )
      state[key] = value;
    else unknown.push(`${key}=${value}`);
  }
  return { state, unknown };
}

/** The hash of a choice; "" when nothing differs from the default. */
export function write(state, data) {
  const normal = defaults(data);
  const found = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (Array.isArray(value)) {
      if (value.length) found.set(key, value.join("~"));
    } else if (value !== normal[key]) found.set(key, value === true ? "1" : value);
  }
  const text = found.toString();
  return text && `#${text}`;
}

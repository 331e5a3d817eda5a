// Student's t and the combination of sessions; mirrors harness/sqlitmus/stats, and a test holds the two together.

/** Γ(x + 1/2) / Γ(x): the asymptotic series, from where it is exact. */
function gammaRatio(x) {
  let factor = 1;
  let at = x;
  for (; at < 80; at++) factor *= at / (at + 0.5);
  const u = 1 / at;
  const series = 1 - u / 8 + u ** 2 / 128 + (5 * u ** 3) / 1024 - (21 * u ** 4) / 32768;
  return factor * Math.sqrt(at) * series;
}

/** DLMF 8.17.22 without its first factor, from the inside out. */
function betaFraction(x, a, b) {
  let value = 1;
  for (let k = Math.floor(Math.min(100, 16 + 6 * Math.sqrt(2 * (a + b)))); k > 0; k--) {
    const m = Math.floor(k / 2);
    const factor = k % 2 ? -(a + m) * (a + b + m) : m * (b - m);
    value = 1 + ((factor / ((a + k - 1) * (a + k))) * x) / value;
  }
  return 1 / value;
}

/** P(|T| >= |t|) for `f` degrees of freedom. */
export function studentP(t, f) {
  const half = f / 2;
  const r = (t * t) / f;
  const logs = -half * Math.log1p(r) - Math.log1p(1 / r) / 2;
  const front = (Math.exp(logs) * gammaRatio(half)) / Math.sqrt(Math.PI);
  const [x, y] = [1 / (1 + r), 1 / (1 + 1 / r)];
  if (x * (half + 2.5) < half + 1) return (front / half) * betaFraction(x, half, 0.5);
  return 1 - 2 * front * betaFraction(y, 0.5, half);
}

const quantiles = new Map();

/** The t with P(|T| <= t) = `coverage`; `z` is the normal one. NaN below 1 degree of freedom. */
export function studentT(coverage, f, z) {
  if (!(f >= 1)) return Number.NaN;
  const key = `${coverage},${f}`;
  if (quantiles.has(key)) return quantiles.get(key);
  const root = Math.sqrt(f);
  let angle = Math.atan2(z, root);
  const scale = (2 / Math.sqrt(Math.PI)) * gammaRatio(f / 2);
  for (let turn = 0; turn < 100; turn++) {
    const missing = studentP(root * Math.tan(angle), f) - (1 - coverage);
    const step = missing / (scale * Math.cos(angle) ** (f - 1));
    angle += step;
    if (!(Math.abs(step) > 1e-13 * angle)) break;
  }
  quantiles.set(key, root * Math.tan(angle));
  return quantiles.get(key);
}

/** Digamma (`order` 0) or trigamma (1) of x > 0: recurrence up to 10 and the asymptotic series there. */
function polygamma(order, x) {
  const y = x + 10;
  const u = 1 / (y * y);
  const steps = Array.from({ length: 10 }, (_, k) => 1 / (x + k));
  if (order === 0) {
    const series = u * (1 / 12 - u * (1 / 120 - u * (1 / 252 - u / 240)));
    return Math.log(y) - 1 / (2 * y) - series - steps.reduce((a, b) => a + b, 0);
  }
  const series = 1 / 6 - u * (1 / 30 - u * (1 / 42 - u / 30));
  return 1 / y + u / 2 + (u / y) * series + steps.reduce((sum, b) => sum + b * b, 0);
}

function trigammaInverse(value) {
  let [low, high] = [-30, 30];
  for (let turn = 0; turn < 60; turn++) {
    const middle = (low + high) / 2;
    if (polygamma(1, Math.exp(middle)) > value) low = middle;
    else high = middle;
  }
  return Math.exp(low);
}

const MOST_PRIOR = 3;
const LEAST_FAMILY = 6;

/** The rows of one family with the errors of the moderated t: stats.estimate.moderate. */
export function moderate(rows) {
  const family = rows.filter((row) => Number.isFinite(row.mean) && row.error > 0);
  if (family.length < LEAST_FAMILY) return rows;
  const average = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const logs = family.map(
    ({ error, freedom: f }) => Math.log(error ** 2) - polygamma(0, f / 2) + Math.log(f / 2),
  );
  const middle = average(logs);
  const spread = (average(logs.map((x) => (x - middle) ** 2)) * logs.length) / (logs.length - 1);
  const excess = spread - average(family.map((row) => polygamma(1, row.freedom / 2)));
  let [most, square] = [MOST_PRIOR, Math.exp(middle)];
  if (excess >= 1e-6) {
    const half = trigammaInverse(excess);
    most = Math.min(2 * half, MOST_PRIOR);
    square = Math.exp(middle + polygamma(0, half) - Math.log(half));
  }
  return rows.map((row) => {
    if (!family.includes(row)) return row;
    const prior = most * Math.min(square / row.error ** 2, 1);
    const freedom = row.freedom + prior;
    const error = Math.sqrt((prior * square + row.freedom * row.error ** 2) / freedom);
    return { ...row, error, freedom };
  });
}

const LEVEL = 0.95;
const Z95 = 1.959963984540054;

/** Sessions, each `{mean, error, freedom, count}`, as one: stats.sessions.combine. */
export function combined(sessions) {
  const count = sessions.reduce((sum, one) => sum + one.count, 0);
  const rows = sessions.filter((one) => Number.isFinite(one.mean) && Number.isFinite(one.error));
  const variances = rows.map((one) => one.error ** 2);
  const about = (tau2) => {
    const weights = variances.map((variance) => 1 / (variance + tau2));
    const total = weights.reduce((a, b) => a + b, 0);
    const mean = rows.reduce((sum, one, k) => sum + weights[k] * one.mean, 0) / total;
    const squares = rows.map((one, k) => weights[k] * (one.mean - mean) ** 2);
    return { weights, total, mean, squares, sum: squares.reduce((a, b) => a + b, 0) };
  };
  let tau2 = 0;
  for (let turn = 0; turn < 200; turn++) {
    const now = about(tau2);
    const excess = now.sum - (rows.length - 1);
    const slope = now.squares.reduce((sum, square, k) => sum + square * now.weights[k], 0);
    const step = excess > 0 ? excess / slope : 0;
    tau2 += step;
    if (!(step > 1e-13 * tau2)) break;
  }
  const { mean, total, sum } = about(tau2);
  const freedom = Math.max(rows.length - 1, 0);
  if (rows.length < 2) return { mean, error: Number.NaN, freedom, count };
  const plain = about(0);
  const degrees =
    1 / plain.weights.reduce((s, w, k) => s + (w / plain.total) ** 2 / rows[k].freedom, 0);
  const fixed = studentT(LEVEL, Math.floor(degrees + 1e-9), Z95) / Math.sqrt(plain.total);
  const knapp = Math.sqrt(sum / (total * freedom));
  const t = studentT(LEVEL, freedom, Z95);
  const half = Number.isNaN(fixed) ? t * knapp : Math.max(t * knapp, fixed);
  return { mean, error: half / t, freedom, count };
}

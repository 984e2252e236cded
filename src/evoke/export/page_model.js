"use strict";
/* A fitted model that reads step by step, as `stream()` does in Python. `plan` has its numbers; the names are those of
 * evoke.export.plan.Plan. A chromosome is [z | input | forget | output] x [inputs, cells]. */
function evokeModel(plan) {
  const cells = plan.genomes[0].length, inputs = plan.genomes[0][0].length / 4 - cells;
  const logistic = (x) => 1 / (1 + Math.exp(-x));
  const zeros = () => plan.genomes.map((genome) => genome.map(() => 0));
  const scaled = (row, scale) => row.map((value, k) => {
    const one = (value - scale.mean[k]) * scale.inverse[k];
    return scale.limit === null ? one : Math.min(Math.max(one, -scale.limit), scale.limit);
  });
  let state;

  function reset() {
    state = { s: zeros(), phi: zeros(), past: [], t: 0, pool: {} };
    for (const kept of ["mean", "squares", "max", "min", "positive", "change"]) state.pool[kept] = zeros();
  }

  /* After the series of fit; returns its last values. */
  function resume() {
    reset();
    state.s[0] = plan.end[0].slice();
    state.phi[0] = plan.end[1].slice();
    return plan.last.slice();
  }

  /* From what a step is given to the inputs of the networks. */
  function prepared(x) {
    if (plan.feedback_scale !== null) return x.map((value, k) => k < plan.n_features ? value : plan.feedback_scale * value);
    if (plan.inputs === null) return x;
    const columns = x.slice();
    for (const lag of plan.lags) {
      const before = state.past[state.past.length - lag];
      columns.push(...x.map((value, k) => before === undefined ? 0 : value - before[k]));
    }
    state.past.push(x.slice());
    if (state.past.length > Math.max(0, ...plan.lags)) state.past.shift();
    return [...scaled(columns, plan.inputs), 1];
  }

  /* The statistics of the steps so far; the washout counts as long as there is nothing else. */
  function count(n, h, phi, before) {
    const pool = state.pool, since = state.t < plan.washout ? state.t : state.t - plan.washout, first = since === 0;
    const deviation = phi - pool.mean[n][h];
    pool.mean[n][h] = first ? phi : pool.mean[n][h] + deviation / (since + 1);
    pool.squares[n][h] = first ? 0 : pool.squares[n][h] + deviation * (phi - pool.mean[n][h]);
    pool.max[n][h] = first ? phi : Math.max(phi, pool.max[n][h]);
    pool.min[n][h] = first ? phi : Math.min(phi, pool.min[n][h]);
    pool.positive[n][h] = (first ? 0 : pool.positive[n][h]) + (phi > 0 ? 1 : 0);
    pool.change[n][h] = first ? 0 : pool.change[n][h] + Math.abs(phi - before);
  }

  const statistics = {
    last: (n, h) => state.phi[n][h],
    mean: (n, h) => state.pool.mean[n][h],
    std: (n, h, steps) => Math.sqrt(state.pool.squares[n][h] / steps),
    max: (n, h) => state.pool.max[n][h],
    min: (n, h) => state.pool.min[n][h],
    positive: (n, h, steps) => state.pool.positive[n][h] / steps,
    change: (n, h, steps) => state.pool.change[n][h] / Math.max(1, steps - 1),
  };

  function read() {
    const t = state.t - 1, steps = (t < plan.washout ? t : t - plan.washout) + 1, found = [];
    for (let n = 0; n < plan.genomes.length; n++)
      for (const name of plan.pool.length ? plan.pool : ["last"])
        for (let h = 0; h < cells; h++) found.push(statistics[name](n, h, steps));
    return plan.read === null ? found : scaled(found, plan.read);
  }

  function decide(row) {
    const { kernel, gamma, coef0, degree, vectors, coef } = plan.machine, values = plan.machine.intercept.slice();
    const add = (factor, weights) => weights.forEach((weight, o) => { values[o] += factor * weight; });
    if (kernel === "linear") {
      row.forEach((value, k) => add(value, coef[k]));
      return values;
    }
    vectors.forEach((vector, j) => {
      let sum = 0;
      if (kernel === "rbf") {
        for (let k = 0; k < row.length; k++) sum += (row[k] - vector[k]) ** 2;
        add(Math.exp(-gamma * sum), coef[j]);
      } else {
        for (let k = 0; k < row.length; k++) sum += row[k] * vector[k];
        let value = 1;
        for (let power = 0; power < degree; power++) value *= gamma * sum + coef0;
        add(value, coef[j]);
      }
    });
    return values;
  }

  /* Reads a step and returns the values after it. */
  function step(x) {
    const given = prepared(x);
    for (let n = 0; n < plan.genomes.length; n++) {
      const before = state.phi[n], source = [...given, ...before], width = inputs + cells, s = state.s[n];
      state.phi[n] = plan.genomes[n].map((weights, h) => {
        const net = [0, ...plan.gate_bias];
        for (let gate = 0; gate < 4; gate++)
          for (let k = 0; k < width; k++) net[gate] += weights[gate * width + k] * source[k];
        const lstm = plan.cell === "lstm";
        s[h] = logistic(net[2]) * s[h] + logistic(net[1]) * (lstm ? Math.tanh(net[0]) : net[0]);
        const phi = lstm ? logistic(net[3]) * Math.tanh(s[h]) : Math.tanh(logistic(net[3]) * s[h]);
        if (plan.pool.length) count(n, h, phi, before[h]);
        return phi;
      });
    }
    state.t += 1;
    return decide(read());
  }

  /* What values say: a label, or a yes or no of every output; null of a regressor or forecaster. */
  function label(values) {
    if (plan.multilabel) return values.map((value) => value > 0);
    if (plan.labels === null) return null;
    return plan.labels[values.length === 1 ? Number(values[0] > 0) : values.indexOf(Math.max(...values))];
  }

  /* The largest difference from what the model said in Python. */
  function difference(given, expected) {
    let largest = 0;
    reset();
    given.forEach((x, t) => step(x).forEach((value, o) => {
      const size = Math.abs(value - expected[t][o]);
      if (!(size <= largest)) largest = size;
    }));
    reset();
    return largest;
  }

  reset();
  return { reset, resume, step, label, difference, cells: () => state.phi[0].slice() };
}
